"""How a run or a solve ended: one vocabulary for backends, engines and results."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How it ended, in the vocabulary of OR-tools MathOpt."""

    OPTIMAL = "optimal"  # a solution, and a bound that proves it (the gap is closed)
    FEASIBLE = "feasible"  # a solution and a bound, with a gap between them
    INFEASIBLE = "infeasible"  # there is no solution, in the optimiser's opinion
    NO_SOLUTION = "no_solution"  # no solution in hand when a limit came
    INTERRUPTED = "interrupted"  # the user stopped it; whatever was found is returned


class Limit(StrEnum):
    """Which limit ended it; or that what counts as a tie keeps bound and attack apart."""

    TIME = "time"
    WORK = "work"
    MEMORY = "memory"
    USER = "user"
    TIES = "ties"
