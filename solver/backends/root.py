"""Rows separated at optima of the relaxation, before anything is solved in whole numbers."""

from __future__ import annotations

from linkrisk.formulations.programs import Cuts, MilpModel
from linkrisk.solver.backends.base import SolveOptions
from linkrisk.solver.backends.linear.registry import linear_program
from linkrisk.solver.run.clock import Clock

_VIOLATED = 1e-6
"""Violations below the tolerance of optimisers cannot be fixed."""

_STALLED = 1e-9
"""Relative rise of the bound below which another round is not worth its rows."""

_SHARE = 0.2
"""Share of the time that these rounds may take."""


def cut_at_the_root(model: MilpModel, options: SolveOptions, clock: Clock) -> tuple[MilpModel, int]:
    """Add rows that optima of the relaxation violate, where the separator can be asked about them.

    Parameters
    ----------
    model : MilpModel
    options : SolveOptions
    clock : Clock

    Returns
    -------
    model : MilpModel
        With the rows written down.
    cuts : int
        How many there are.
    """
    separator = model.separator
    if separator is None or not separator.fractional:
        return model, 0
    program, found = linear_program(model), list[Cuts]()
    until, last = clock.share(_SHARE, float("inf")), -float("inf")
    for _ in range(options.root_rounds):
        solution = program.solve(seconds=max(0.0, until - clock.seconds) if until < float("inf") else None)
        if solution.objective is None:
            break
        if found and solution.objective - last <= _STALLED * max(1.0, abs(last)):
            break
        last = solution.objective
        cuts = separator(solution.point)
        if cuts.violation(solution.point) <= _VIOLATED:
            break
        program.add_rows(cuts.matrix, cuts.lower, cuts.upper)
        found.append(cuts)
    for cuts in found:
        model = model.with_rows(cuts)
    return model, sum(cuts.count for cuts in found)
