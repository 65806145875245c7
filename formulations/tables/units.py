"""Rescales tables whose values are below the absolute tolerance of 1e-9, and finds their common grid.

Published amounts are integers, cents or thousands: a value off the common grid shows that it was changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.cell_table import CellTable

MOST_DECIMALS = 9
"""Decimals beyond which values have no grid that a reader would notice."""

_MOST_STEPS = 2.0**50
"""Steps of a grid beyond which values are not exact in floating point."""

_NEAR = 1e-12
"""Rounding error of sums of decimals, relative to a value."""

_CLOSE = 1e-9
"""Relative excess over a step of the grid up to which a level is not rounded up."""


@dataclass(frozen=True)
class Grid:
    """Coarsest step of which all values of a table are multiples: ``factor / 10**decimals``.

    Attributes
    ----------
    factor : int
        A product of 2 and 5 only, as amounts are rounded to: 25 with two decimals is a step of 0.25.
    decimals : int
        Of the values, at most `MOST_DECIMALS`.
    """

    factor: int
    decimals: int

    @classmethod
    def of(cls, values: FloatArray) -> Grid | None:
        """Return the grid of some values; None if they have more digits than written decimals."""
        for decimals in range(MOST_DECIMALS + 1):
            scaled = np.abs(values) * 10.0**decimals
            whole = np.round(scaled)
            if whole.max(initial=0.0) > _MOST_STEPS:
                return None
            if (np.abs(scaled - whole) <= _NEAR * scaled).all():
                common = int(np.gcd.reduce(whole.astype(np.int64), initial=0))
                return cls(_of_twos_and_fives(common), decimals)
        return None

    @property
    def step(self) -> float:
        """Return the step, in units of the values."""
        return float(self.factor / 10.0**self.decimals)

    def steps(self, values: FloatArray) -> FloatArray:
        """Convert values to steps, which need not be integral."""
        return np.asarray(values * 10.0**self.decimals / self.factor)

    def values(self, steps: FloatArray) -> FloatArray:
        """Convert integral steps to values, each the float nearest to its decimals."""
        return np.asarray(np.round(steps) * self.factor / 10.0**self.decimals)

    def nearest(self, values: FloatArray) -> FloatArray:
        """Round values to the grid."""
        return self.values(self.steps(values)) + 0.0

    def above(self, levels: FloatArray) -> FloatArray:
        """Round levels up to the grid."""
        steps = self.steps(levels)
        return self.values(np.ceil(steps * (1.0 - _CLOSE)))

    def table(self, table: CellTable) -> CellTable:
        """Return a table in integral steps, with bounds rounded inwards and levels rounded up.

        A direction without a multiple within the bounds is closed, as its level is 0.

        Raises
        ------
        FormulationError
            If no multiple is as far from the value of a sensitive cell as its level asks for.
        """
        value = np.round(self.steps(table.value))
        ends = self.steps(table.lower), self.steps(table.upper)
        lower = np.ceil(ends[0] * (1.0 - _NEAR * np.sign(ends[0])))
        upper = np.floor(ends[1] * (1.0 + _NEAR * np.sign(ends[1])))
        levels = [np.round(self.steps(self.above(one))) for one in (table.lower_level, table.upper_level)]
        asked = (levels[0] > 0) | (levels[1] > 0)
        levels[0][levels[0] > value - lower] = 0.0
        levels[1][levels[1] > upper - value] = 0.0
        beyond: BoolArray = table.primary & asked & (levels[0] == 0) & (levels[1] == 0)
        if beyond.any():
            raise FormulationError(
                f"{table.title(int(np.argmax(beyond)))}: no multiple of {self.step:g} within its bounds is "
                "as far from its value as its level asks for; lower it, or widen the bounds"
            )
        return replace(
            table,
            value=value,
            lower=lower,
            upper=upper,
            lower_level=levels[0],
            upper_level=levels[1],
            sliding_level=np.zeros(len(table)),
        )


def _of_twos_and_fives(whole: int) -> int:
    """Return the largest divisor that is a product of 2 and 5; 1 for 0."""
    found = 1
    for prime in (2, 5):
        while whole and whole % (found * prime) == 0:
            found *= prime
    return found


def in_units(table: CellTable) -> tuple[CellTable, float]:
    """Rescale a table such that some cell can move by 1 at least; return the unit, at most 1, too.

    The unit is a power of 2, so that no digit is lost. Costs are unchanged.

    Parameters
    ----------
    table : CellTable
    """
    room = float(max(table.below.max(initial=0.0), table.above.max(initial=0.0)))
    if not 0.0 < room < 1.0:
        return table, 1.0
    unit = float(2.0 ** np.floor(np.log2(room)))
    insiders = tuple(
        replace(
            one,
            lower=one.lower / unit,
            upper=one.upper / unit,
            lowered={key: level / unit for key, level in one.lowered.items()},
        )
        for one in table.insiders
    )
    made = replace(
        table,
        value=table.value / unit,
        lower=table.lower / unit,
        upper=table.upper / unit,
        lower_level=table.lower_level / unit,
        upper_level=table.upper_level / unit,
        sliding_level=table.sliding_level / unit,
        insiders=insiders,
    )
    return made, unit
