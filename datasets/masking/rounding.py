"""Rounding: values become multiples of a base."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import NumericMethod
from linkrisk.datasets.masking.parameters import RoundingParameters

_SLACK = 4 * float(np.finfo(np.float64).eps)
"""How much a quotient of two decimals may be off in doubles, relative to itself."""


@dataclass(frozen=True, kw_only=True)
class Rounding(RoundingParameters, NumericMethod):
    """Round every value to the nearest multiple of a base, halves away from 0 (Hundepool et al. 2012, 3.4).

    Exact amounts and sampling weights lead to whoever knows them; rounded ones do so to fewer. Missing values
    stay missing.

    Attributes
    ----------
    base : float
        Above 0.
    positive : bool
        Whether values above 0 become one base at least: a sampling weight of 0 would be no record.

    Raises
    ------
    DataError
        If the base is not above 0.
    """

    name: ClassVar[str] = "rounding"
    chance: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.base > 0:
            raise DataError(f"base is {self.base:g}; it must be above 0")

    @property
    def action(self) -> str:
        """What is done, with the parameters."""
        least = f" (at least {self.base:g})" if self.positive else ""
        return f"rounding to multiples of {self.base:g}{least}"

    def mask_values(
        self,
        values: FloatArray,
        generator: np.random.Generator,  # noqa: ARG002 - nothing is left to chance
    ) -> FloatArray:
        """See `NumericMethod.mask_values`."""
        exact = np.abs(values) / self.base
        steps = np.floor(exact)
        # 5.05 is 50.499999999999993 times 0.1 in doubles: what no decimals of a file tell apart is a half.
        steps += exact - steps >= 0.5 - np.minimum(exact * _SLACK, 0.25)
        if self.positive:
            steps = np.where(values > 0, np.maximum(steps, 1.0), steps)
        # 0.1 times 3 is 0.30000000000000004: digits that the base has not say nothing.
        places = max(0, -int(Decimal(repr(float(self.base))).as_tuple().exponent))
        return np.asarray(np.copysign(np.round(steps * self.base, places), values) + 0.0, dtype=np.float64)
