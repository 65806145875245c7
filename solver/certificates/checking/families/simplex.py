"""What families share whose parameters are weights: non-negative, of sum one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.certificates.checking.families.base import Family, Multipliers, Row
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.parameters import check_weights, named_numbers


class SimplexFamily(Family):
    """A family whose domain is all weights on the simplex: its corners decide.

    What is left to a subclass is `dimension`, `features`, the same in `rounded`, and the `names` of the
    weights; and what it has beyond that, as a member or as a limit.
    """

    keys: ClassVar[tuple[str, ...]] = ("weights",)
    simplex: ClassVar[bool] = True

    @abstractmethod
    def rounded(self, c: FloatArray) -> FloatArray:
        """True features, without the common factor, in double precision.

        None of them above the largest attribute distance. Shape (rows, attributes) becomes (rows, dimension).
        """

    @abstractmethod
    def names(self, attributes: Sequence[str]) -> Sequence[str]:
        """What the JSON calls each weight."""

    def nowhere_positive(self, row: Row, multipliers: Multipliers, total: int) -> bool:
        """No entry is positive."""
        return not multipliers and total == 0 and max(row) <= 0

    def distance(self, theta: FloatArray, c: FloatArray) -> FloatArray:
        """The sum of weight times feature."""
        return np.asarray(self.rounded(c) @ theta)

    def excess(self, own: FloatArray, tied: FloatArray, rivals: FloatArray) -> FloatArray:
        """At the best corner."""
        del own
        return np.asarray((self.rounded(rivals) - self.rounded(tied[None, :])).max(axis=1))

    def parameters(self, fields: Fields, attributes: Sequence[str]) -> list[Fraction]:
        """The weights, which must be on the simplex."""
        theta = named_numbers(fields, "weights", self.names(attributes))
        check_weights(theta, fields.where)
        return theta
