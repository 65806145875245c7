"""The contract of a family of distances in whole numbers: features, rows, and when a row is nowhere positive.

With attribute distances c of the partner, c+ up to which a rival ties with it (`ties.py`) and d of a rival,
the block is linked by theta when ``(features(d) - features(c+)) . theta > 0`` for every rival. A common
factor of all features makes no difference to that, so what has a denominator, such as a mean, is multiplied
by it (`factor`): features of whole numbers are whole numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.shapes import Shape
from linkrisk.solver.certificates.checking.ties import TIE_SHIFT, Partner
from linkrisk.solver.run.errors import UsageError

Multipliers = Sequence[tuple[int, int, int]]
"""(subset A, attribute k, y): y times the inequality ``mu(A + k) >= mu(A)``; subsets are bit masks."""

Row = list[int]

Interaction = dict[tuple[int, int], Fraction]
"""Of each two attributes, the first of them first."""


class Family(ABC):
    """A family of distances on n attributes.

    Parameters
    ----------
    attributes : int
        Their number n.

    Attributes
    ----------
    name : str
        That of the aggregator. The family is found by it: it stands in the class of one file in this folder.
    title : str
        The family in words, after "no": ``weighted mean``.
    differences : tuple of str
        The kinds of attribute distances that it is defined for.
    keys : tuple of str
        What the JSON of its parameters holds; the first one must be there.
    simplex : bool
        Whether the domain is all non-negative parameters that sum to one, so that a simplex tree is a proof.
    squares : bool
        Whether ties are squares, whatever the attribute distances are.
    shift : int
        Rows are in units of ``2**-shift`` features.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    differences: ClassVar[tuple[str, ...]] = ("squared", "absolute")
    keys: ClassVar[tuple[str, ...]]
    simplex: ClassVar[bool] = False
    squares: ClassVar[bool] = False
    shift: ClassVar[int] = TIE_SHIFT

    def __init__(self, attributes: int) -> None:
        self.attributes = attributes

    @classmethod
    def of(cls, attributes: int, options: Mapping[str, Any], where: str) -> Family:
        """The family with the options of a fit, such as the k of a k-additive integral.

        Raises
        ------
        UsageError
            If it has no such options, or cannot be checked on so many attributes; `where` is what to name.
        """
        if options:
            raise UsageError(f"{where}, aggregator_options: {cls.name} takes no options")
        return cls(attributes)

    @property
    def words(self) -> str:
        """The family in words, with its options."""
        return self.title

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of parameters."""

    @property
    def orders(self) -> tuple[bool, ...]:
        """Lexicographic orders that are limits of this family: False for attributes, True for ranks."""
        return ()

    # ---- in whole numbers: what proves

    @property
    def factor(self) -> int:
        """What true features are multiplied by to be whole, such as the denominator of a mean."""
        return 1

    @abstractmethod
    def features(self, c: Sequence[int]) -> Row:
        """Features of attribute distances, times `factor`."""

    def row(self, partner: Partner, rival: Sequence[int]) -> Row:
        """What must be positive for the rival not to keep the block from being linked.

        In units of ``2**-shift`` of `features`.
        """
        tied, other = self.features(partner.tied), self.features(rival)
        return [(b << self.shift) - a for a, b in zip(tied, other, strict=True)]

    def never(self, partner: Partner, rival: Sequence[int]) -> bool:
        """Whether the rival keeps the block from being linked for all parameters."""
        return self.nowhere_positive(self.row(partner, rival), (), 0)

    @abstractmethod
    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """Whether ``row . theta <= 0`` on the whole domain, by weak duality with these multipliers.

        `multipliers` are of inequalities of a measure, and `total` is that of the equation that Moebius
        coefficients sum to one; a family without them takes none.
        """

    def coefficients(self, row: Row) -> Row:
        """The row as coefficients of the parameters, where it is something else."""
        return row

    # ---- in double precision: what is too clear to be computed exactly

    @abstractmethod
    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """Distances of attribute distances of shape (rows, attributes), shape (rows,)."""

    def size(self, c: FloatArray) -> FloatArray:
        """What rounding errors of distances are in proportion to, shape (rows,)."""
        return np.asarray(np.abs(c).max(axis=1))

    @property
    def roundings(self) -> int:
        """By how many roundings a distance may be off, in `counting.ERROR` of `size` and the parameters."""
        return max(self.dimension, self.attributes) + 16

    @abstractmethod
    def shape(self, theta: Sequence[Fraction]) -> Shape:
        """The distance by which candidates are enumerated."""

    def slack(self, theta: FloatArray, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """By how much each rival may be farther than the partner and still tie, shape (rivals,).

        Parameters
        ----------
        theta : ndarray of float64, shape (dimension,)
        own, tied : ndarray of float64, shape (rivals, attributes)
            Attribute distances of each rival's partner, and up to which it ties with it (`squares`).
        rivals : ndarray of float64, shape (rivals, attributes)
        """
        del rivals
        return self.distance(theta, tied) - self.distance(theta, own)

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """About how much farther than a tie some parameters can make each rival, shape (rivals,).

        It only says where to look first for a rival that rules a block out. Parameters are those of `slack`,
        but for one partner, of shape (attributes,).
        """
        del own
        return np.asarray((rivals - tied).max(axis=1))

    # ---- parameters, and what a fit shows of them

    def read(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """The exact parameters, as coefficients of the features up to their common factor.

        Raises
        ------
        UsageError
            If they are of another family or other attributes.
        RejectedError
            If they are outside the family's domain, up to a common factor.
        """
        if not {self.keys[0]} <= set(fields.keys()) <= set(self.keys):
            raise UsageError(f"{fields.where} must hold {self.keys[0]} and nothing else")
        return self.parameters(fields, attributes)

    @abstractmethod
    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """What `read` returns, of fields with the right keys."""

    def importance(self, theta: Sequence[Fraction]) -> list[Fraction] | None:
        """Importance of each attribute; None where a fit shows none."""
        del theta
        return None

    def interaction(self, theta: Sequence[Fraction]) -> Interaction | None:
        """Interaction of each two attributes; None where a fit shows none."""
        del theta
        return None

    def measure(self, theta: Sequence[Fraction]) -> list[Fraction]:
        """The measure that a fit shows beside other parameters, by bit mask; of families with such a key."""
        raise NotImplementedError(f"{type(self).__name__} has a measure among its keys and does not say it")

    @property
    def euclidean(self) -> list[Fraction] | None:
        """The Euclidean distance with the ties of this family; None where it is that of the weighted mean."""
        return None
