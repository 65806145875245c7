"""Price the work of runs that are limited by work, by numbers that are the same on every machine.

Counted are the operations that a piece of work needs by its size, not the seconds that it takes. The costs
below are rough, so that a unit is about a second of one processor: what matters is that they depend on
nothing but the problem, the seed and what was found before.
"""

from __future__ import annotations

from collections.abc import Callable

Spend = Callable[[float], object]
"""Called with the operations that a piece of work has taken, as `Clock.spend`."""

UNIT = 4e8
"""Operations in a unit of work."""

COMPARISON = 2.0
"""Of two records in one attribute."""

ENTRY = 1.0
"""Of a row, times one of the parameters."""

PROGRAM = 3e5
"""For a linear program to be solved at all, however small the change since it was solved before."""

ITERATION = 30.0
"""Of the simplex method, for each row and column of the program."""


def ignore(operations: float) -> None:
    """Count nothing: for work of which no limit depends."""
    del operations
