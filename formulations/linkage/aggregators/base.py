"""The contract of an aggregator: a feature map, a convex domain of parameters, a decode, and its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from linkrisk.arrays import FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.domains import Domain, Simplex
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.tie_tolerance import ROW_SHARE, Partners


@dataclass(frozen=True)
class Words:
    """The words of an aggregator, for summaries, reports and messages."""

    title: str  # the family, as it stands after "the" or "no": ``weighted mean``
    # title of the one number that is printed for each attribute (or for each rank, or part): ``weight of
    # each attribute``
    numbers: str
    column: str = "Weight"  # heading of these numbers in a table: ``Weight``
    owner: str = "Attribute"  # heading of what they belong to: ``Attribute``
    owners: str = "attributes"  # the same as a key of the JSON: ``attributes``


ROUNDED = 1e-6
"""Parameters that miss their domain by less were rounded to a few digits when they were written down."""

NEGLIGIBLE = 1e-12
"""Parameters that miss their domain by less are inside it up to floating point."""


Lift = Callable[[FloatArray], FloatArray]
"""Turns parameters of a simpler aggregator into those of a richer one that give the same distance."""


class Aggregator(ABC):
    """What turns attribute distances ``c`` into one distance ``features(c) @ theta``.

    Everything about solving is left to the engines: an aggregator is its feature map, the convex domain
    of its parameters ``theta``, and the translation of ``theta`` into what a user reads.

    Parameters
    ----------
    attributes : tuple of str
        Names of the attributes, in file order.
    differences : Differences or str, optional
        Which attribute distances to take; the first of `allowed_differences` when absent.

    Attributes
    ----------
    name : str
        What `--aggregator` takes.
    words : Words
        What people read about it.
    monotone : bool
        Whether a larger attribute distance never makes the aggregated distance smaller, for every
        parameter of the domain. It lets dominated rivals be left out.
    symmetric : bool
        Whether the family of distances stays the same when the attributes change places.
    allowed_differences : tuple of Differences
        The attribute distances it is defined for, the default first.

    Examples
    --------
    >>> import numpy as np
    >>> from linkrisk.distances import make_aggregator
    >>> mean = make_aggregator("weighted-mean", ("age", "income"))
    >>> float((mean.features(np.array([[1.0, 3.0]])) @ mean.equal()).item())
    2.0
    """

    name: ClassVar[str]
    words: ClassVar[Words]
    monotone: ClassVar[bool] = True
    symmetric: ClassVar[bool] = True
    allowed_differences: ClassVar[tuple[Differences, ...]] = (Differences.SQUARED, Differences.ABSOLUTE)

    def __init__(self, attributes: tuple[str, ...], differences: Differences | str | None = None) -> None:
        self.attributes = tuple(attributes)
        self.differences = self.allowed_differences[0] if differences is None else Differences(differences)
        if self.differences not in self.allowed_differences:
            allowed = " or ".join(kind.value for kind in self.allowed_differences)
            raise FormulationError(
                f"the {self.name} aggregator takes {allowed} differences, not {self.differences.value}"
            )

    @property
    def options(self) -> dict[str, Any]:
        """Options beyond the attributes, as JSON."""
        return {}

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of ``theta``."""

    @property
    @abstractmethod
    def parameter_names(self) -> tuple[str, ...]:
        """Name of each entry of ``theta``, for model files."""

    @abstractmethod
    def features(self, c: FloatArray) -> sparse.csr_array:
        """Feature map: attribute distances of shape (rows, attributes) to shape (rows, dimension)."""

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The domain of the parameters. Its type is what engines go by; make it once (`cached_property`)."""

    @abstractmethod
    def form(self, theta: FloatArray) -> DistanceForm:
        """The distance with its parameters fixed, for the evaluator."""

    @abstractmethod
    def decode(self, theta: FloatArray) -> dict[str, Any]:
        """Parameters as the JSON result shows them."""

    @abstractmethod
    def encode(self, parameters: Mapping[str, Any]) -> FloatArray:
        """Read what `decode` wrote; FormulationError when it is not of this aggregator and attributes."""

    def admit(self, theta: FloatArray) -> FloatArray:
        """`theta` from a file, moved into the domain where rounding to a few digits has left it outside.

        Raises
        ------
        FormulationError
            If it misses the domain by more than `ROUNDED`; the message names the rule that it breaks most.
        """
        domain = self.domain.rows
        activity = domain.matrix @ theta
        below = np.concatenate([domain.column_lower - theta, domain.row_lower - activity])
        above = np.concatenate([theta - domain.column_upper, activity - domain.row_upper])
        worst = np.maximum(below, above)
        at = int(np.argmax(worst))
        if worst[at] > ROUNDED:
            name = (*self.parameter_names, *domain.row_names)[at]
            value = np.concatenate([theta, activity])[at]
            side, bounds = ("below", "lower") if below[at] > above[at] else ("above", "upper")
            limits = (getattr(domain, f"column_{bounds}"), getattr(domain, f"row_{bounds}"))
            raise FormulationError(
                f"these are not parameters of {self.name}: {name} is {value:.6g}, {side} "
                f"{np.concatenate(limits)[at]:g}; take them from the JSON of a fit"
            )
        return self.domain.repair(theta) if worst[at] > NEGLIGIBLE else theta

    @abstractmethod
    def equal(self) -> FloatArray:
        """The parameters that treat all attributes alike: the Euclidean distance."""

    def comparable(self, c: FloatArray) -> FloatArray:
        """Vectors for `monotone` families: whose vector is nowhere above another's is never farther."""
        return c

    def reach(self, c: FloatArray) -> FloatArray:
        """The largest attribute distances of a rival that may be nearer than the partner in all respects.

        Parameters
        ----------
        c : ndarray of float64, shape (rows, attributes)
            Attribute distances up to which a rival ties with the partner.

        Returns
        -------
        ndarray of float64, shape (rows, attributes)
            For those whose `comparable` vectors are nowhere above the partner's. Rivals beyond are overlooked
            where lost blocks are looked for, so too little makes a bound weaker, not wrong.
        """
        return c

    @property
    def tied_differences(self) -> Differences:
        """The kind of the attribute distances up to which a rival ties (`Partners.tied`)."""
        return self.differences

    def partners(self, pair: LinkagePair) -> Partners:
        """The partners of all blocks as `rows` takes them, ties with `ROW_SHARE`."""
        return pair.partners(self.differences, self.tied_differences, ROW_SHARE)

    def rows(self, partners: Partners, rival: FloatArray) -> sparse.csr_array:
        """What must be positive for rivals to be farther than the partner by more than a tie, row by row.

        Parameters
        ----------
        partners : Partners
            Of as many rows.
        rival : ndarray of float64, shape (rows, attributes)
            Attribute distances.

        Returns
        -------
        scipy.sparse.csr_array, shape (rows, dimension)
        """
        return sparse.csr_array(self.features(rival) - self.features(partners.tied))

    def least(self, partners: Partners, rival: FloatArray) -> FloatArray:
        """The least that ``rows @ theta`` can be on the domain.

        Adding a constant to all attribute distances adds it to a monotone distance, so that distance grows by
        no less than the smallest difference of attribute distances and by no more than the largest; the
        parameters that look at one attribute alone (or at one rank) attain both.

        Returns
        -------
        ndarray of float64, shape (rows,)
            Its negative is the smallest constant C of D11.2, Eq. 5, that cuts off no parameter of the domain.
        """
        return np.asarray((self.comparable(rival) - self.comparable(partners.tied)).min(axis=1))

    def most(self, partners: Partners, rival: FloatArray) -> FloatArray:
        """The most that ``rows @ theta`` can be on the domain, shape (rows,)."""
        return np.asarray((self.comparable(rival) - self.comparable(partners.tied)).max(axis=1))

    def starts(self, partner: FloatArray) -> FloatArray:
        """Parameters worth trying first, shape (any, dimension), from the partners' attribute distances.

        Equal weights, and whatever is worth trying first of the simpler aggregator.
        """
        relative = self.simpler()
        if relative is None:
            return self.equal()[None, :]
        simpler, lift = relative
        c = partner if simpler.differences is self.differences else partner**2
        return np.stack([lift(theta) for theta in simpler.starts(c)])

    def simpler(self) -> tuple[Aggregator, Lift] | None:
        """A simpler aggregator whose distances are all in this family, and its parameters' map to these."""
        return None

    def lift_from(self, other: Aggregator) -> Lift | None:
        """The map from parameters of another aggregator on these attributes to those of this one.

        None unless every distance of the other is in this family.
        """
        relative = self.simpler()
        if relative is None:
            return None
        simpler, lift = relative
        same = type(other) is type(simpler) and other.differences is simpler.differences
        return lift if same else None

    def data_rows(self, partner: FloatArray) -> sparse.csr_array | None:
        """Rows that must be non-negative on the data (D11.2, Table 1); None when the domain implies them."""
        del partner
        return None

    def importance(self, theta: FloatArray) -> dict[str, float] | None:
        """Share of each attribute in the distance; None where attributes have no separate shares."""
        del theta
        return None

    def interaction(self, theta: FloatArray) -> list[list[float]] | None:
        """Pairwise interaction of attributes; None where the family has none."""
        del theta
        return None


def named_values(
    parameters: Mapping[str, Any], key: str, names: tuple[str, ...], aggregator: str
) -> FloatArray:
    """Read ``parameters[key]``, a number for each of `names`, as an array; FormulationError if it is not."""
    table = parameters.get(key)
    if not isinstance(table, Mapping):
        raise FormulationError(f"parameters of {aggregator} need the key '{key}' with one number per name")
    missing = [name for name in names if name not in table]
    unknown = [name for name in table if name not in names]
    if missing or unknown:
        what = f"have no '{missing[0]}'" if missing else f"have the unknown name '{unknown[0]}'"
        raise FormulationError(
            f"parameters of {aggregator} {what}: they were learned on other attributes "
            f"({key}: {', '.join(str(name) for name in table)})"
        )
    return finite([table[name] for name in names], f"{aggregator} {key}")


def finite(values: Any, what: str) -> FloatArray:
    """`values` as a float array; FormulationError naming `what` unless all are finite numbers."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if not np.isfinite(array).all():
        raise FormulationError(f"{what} must be finite numbers")
    return array


class SimplexAggregator(Aggregator):
    """An aggregator whose parameters are all non-negative weights that sum to one (D11.2, Table 1).

    A subclass says what the weights belong to, and how they are written to JSON; and gives `equal`, where
    the features are not the attribute distances themselves in some order.
    """

    @cached_property
    def domain(self) -> Simplex:
        """Non-negative weights that sum to one."""
        return Simplex(self.dimension)

    def equal(self) -> FloatArray:
        """Equal weights: the arithmetic mean, which is the Euclidean distance (D11.2, Eq. 1)."""
        return np.full(self.dimension, 1.0 / self.dimension)
