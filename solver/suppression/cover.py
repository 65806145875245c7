"""Cover: every minimal unsafe combination of every record loses a value, at least cost, proven.

That is how mu-ARGUS protects a file (Hundepool and Willenborg 1997): a value that is taken out makes the
combinations that it was in safe, and nothing is counted again. Records are apart from each other but for the
variables of their households, so that the optimum is the sum of many small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from linkrisk.arrays import LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.hitting import (
    MOST_HOUSEHOLD_KEYS,
    HittingProblems,
    different_problems,
    solve_household,
    solve_problems,
)
from linkrisk.formulations.suppression.minimal_unsafe import MinimalUnsafe
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.suppression.answer import PHASE, Answer
from linkrisk.solver.suppression.problem import Problem

PROOF = "record by record"
"""What proves the sum: branch and bound for every record, or household, by itself."""

_STEPS = 1 << 20
"""Branches for one record, after which it keeps its best answer and bound."""

_BATCH = 256
"""Problems that are solved between two looks at the clock."""


def cover(problem: Problem, minimal: MinimalUnsafe, clock: Clock, report: Reporter | None = None) -> Answer:
    """Find the least costly cover.

    Parameters
    ----------
    problem : Problem
    minimal : MinimalUnsafe
        Of its row types.
    clock : Clock
        When it has expired, the rest keeps a greedy answer and a simple bound.
    report : callable, optional
        Told how many of the different problems are solved.

    Raises
    ------
    FormulationError
        If variables that are not to be touched make up an unsafe combination, or a household has too many
        variables of its own.
    """
    minimal = _with_values(problem, minimal)
    problems = different_problems(minimal.start, minimal.sets)
    _check_possible(problem, minimal)
    answers = np.zeros((len(problems), 3), dtype=np.int64)
    solve_problems(problems.start, problems.sets, problem.cost, problem.allowed, 0, answers)
    open_ones = np.flatnonzero(answers[:, 1] > answers[:, 2])
    for batch in range(0, open_ones.size, _BATCH):
        if clock.expired:
            break
        if report is not None:
            report(Progress.uncounted(PHASE, f"{batch:,} of {open_ones.size:,} kinds of records"))
        for at in open_ones[batch : batch + _BATCH]:
            _solve_one(problem, problems, int(at), answers)
    each = answers[problems.of[problem.table.types.of]]
    if problem.household is None or not problem.shared:
        return _sum_of(each[:, 0].copy(), each[:, 1], each[:, 2])
    return _with_households(problem, minimal, each, clock)


def _with_values(problem: Problem, minimal: MinimalUnsafe) -> MinimalUnsafe:
    """The same sets without variables whose value is missing in the record: there is nothing to take."""
    types = problem.table.types
    present = ((types.codes >= 0) @ (1 << np.arange(types.codes.shape[1], dtype=np.int64))).astype(np.int64)
    rows = np.repeat(np.arange(len(types)), np.diff(minimal.start))
    return replace(minimal, sets=minimal.sets & present[rows])


def _solve_one(problem: Problem, problems: HittingProblems, at: int, answers: LongArray) -> None:
    begin, end = problems.start[at], problems.start[at + 1]
    ends = np.array([0, end - begin], dtype=np.int64)
    sets = problems.sets[begin:end]
    solve_problems(ends, sets, problem.cost, problem.allowed, _STEPS, answers[at : at + 1])


def _check_possible(problem: Problem, minimal: MinimalUnsafe) -> None:
    stuck = np.flatnonzero((minimal.sets & problem.allowed) == 0)
    if stuck.size:
        names = ", ".join(problem.table.named(int(minimal.sets[stuck[0]])))
        row_type = int(np.searchsorted(minimal.start, stuck[0], side="right")) - 1
        row = int(np.argmax(problem.table.types.of == row_type)) + 1
        raise FormulationError(
            f"record {row} has an unsafe combination of {names} alone, which are not to be touched: let one "
            "of them be suppressed, or recode it"
        )


def _with_households(problem: Problem, minimal: MinimalUnsafe, each: LongArray, clock: Clock) -> Answer:
    """Put what members take together where variables of the household are in it."""
    assert problem.household is not None
    taken, value, bound = each[:, 0].copy(), each[:, 1].copy(), each[:, 2].copy()
    for members in _concerned(problem, minimal):
        types = problem.table.types.of[members]
        sets = [minimal.of(int(one)) for one in types]
        start = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
        joined = np.concatenate(sets).astype(np.int64)
        occurring = int(np.bitwise_or.reduce(joined)) & problem.shared & problem.allowed
        if occurring.bit_count() > MOST_HOUSEHOLD_KEYS:
            raise FormulationError(
                f"more than {MOST_HOUSEHOLD_KEYS} variables of a household are in unsafe combinations: "
                "recode some, or leave some out"
            )
        chosen = np.empty(len(members), dtype=np.int64)
        steps = 0 if clock.expired else _STEPS
        cost, least = solve_household(
            start, joined, problem.cost, problem.allowed, problem.shared, steps, chosen
        )
        taken[members] = chosen
        value[members], bound[members] = 0, 0
        value[members[0]], bound[members[0]] = cost, least
    return _sum_of(taken, value, bound)


def _sum_of(taken: LongArray, value: LongArray, bound: LongArray) -> Answer:
    return Answer(taken=taken, cost=int(value.sum()), bound=int(bound.sum()), proof=PROOF)


def _concerned(problem: Problem, minimal: MinimalUnsafe) -> Iterator[LongArray]:
    """The members of every household that has a variable of the household in an unsafe combination."""
    assert problem.household is not None
    types = problem.table.types
    inside = np.zeros(len(types), dtype=np.bool_)
    rows = np.repeat(np.arange(len(types)), np.diff(minimal.start))
    inside[rows[(minimal.sets & problem.shared) != 0]] = True
    homes = np.unique(problem.household[inside[types.of]])
    order = np.argsort(problem.household, kind="stable")
    ends = np.searchsorted(problem.household[order], [homes, homes + 1])
    for begin, end in ends.T:
        yield order[begin:end].astype(np.int64)
