"""A linear program that is solved as long as a clock has time for it."""

from __future__ import annotations

from linkrisk.solver.backends.linear.base import LinearProgram, LinearSolution, LinearStatus
from linkrisk.solver.run.clock import Clock

_SLICE = 2.0
"""Seconds between two looks at the clock."""


def solved_by(program: LinearProgram, clock: Clock) -> LinearSolution:
    """What a program says; not optimal where the clock was out before that.

    Parameters
    ----------
    program : LinearProgram
    clock : Clock
        Of a run that may be ended by its user, too. Where work is counted, seconds end nothing.
    """
    while True:
        left = None if clock.counts else min(_SLICE, clock.time_left)
        solution = program.solve(seconds=left)
        if solution.status is not LinearStatus.TIME or clock.expired:
            return solution
