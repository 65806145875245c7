"""Define the costs of operations for work limits, which give the same result on every machine.

Operations are counted by the size of a step, not measured in seconds. The costs are rough, such that a unit
is about a second of one processor: they must depend on nothing but the problem, the seed and earlier results.
"""

from __future__ import annotations

from collections.abc import Callable

Spend = Callable[[float], object]
"""Callback for the operations of a step, as `Clock.spend`."""

UNIT = 4e8
"""Operations per unit of work."""

COMPARISON = 2.0
"""Cost of comparing two records in one attribute."""

ENTRY = 1.0
"""Cost of an entry of a row times a parameter."""

PROGRAM = 3e5
"""Fixed cost of solving a linear program, even from its last basis."""

ITERATION = 30.0
"""Cost of a simplex iteration, for each row and column of the program."""


def ignore(operations: float) -> None:
    """Counter that ignores everything, for work that no limit depends on."""
    del operations
