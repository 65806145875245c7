"""Solves the cover problem: every minimal unsafe combination of every record loses a value, at least cost.

So mu-ARGUS protects a file (Hundepool and Willenborg 1997): a suppressed value makes its combinations safe,
and the output is not recounted. Records are coupled only by the variables of their households, so that the
problem decomposes into many small set covers, each solved to optimality.

The recount of sets with a limited number of key variables repeats it: if a missing value is a category of its
own, suppression makes no combination of values more frequent. Every unsafe combination of the input must
therefore lose a value, and the optimum of the cover is a dual bound. Its answer is recounted, and new unsafe
combinations are covered, too, until there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.hitting_sets import (
    MOST_HOUSEHOLD_KEYS,
    different_problems,
    solve_household,
    solve_problems,
)
from linkrisk.formulations.suppression.key_table import MISSING, Codes, KeyTable
from linkrisk.formulations.suppression.unsafe_combinations import MinimalUnsafe, minimal_unsafe
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.suppression import steering
from linkrisk.solver.suppression.answer import Answer, SearchTask
from linkrisk.solver.suppression.problem import Problem

PROOF = "record by record"
"""Branch and bound for every record, or household, alone."""

PROOF_BY_INPUT = "unsafe combinations of the input"
"""Cover of the unsafe combinations of the input."""


def cover(task: SearchTask, minimal: MinimalUnsafe) -> Answer:
    """Find the least costly cover; once the time is over, records keep greedy answers and simple bounds."""
    problem = task.problem
    minimal = _with_values(problem, minimal)
    problems = different_problems(minimal.start, minimal.sets)
    _check_possible(problem, minimal)
    answers = np.zeros((len(problems), 3), dtype=np.int64)
    solve_problems(problems.start, problems.sets, problem.cost, problem.allowed, 0, answers)
    open_ones = np.flatnonzero(answers[:, 1] > answers[:, 2])
    for batch in range(0, open_ones.size, steering.COVERS_AT_ONCE):
        if task.clock.expired:
            break
        task.tell(f"{batch:,} of {open_ones.size:,} kinds of records")
        for at in open_ones[batch : batch + steering.COVERS_AT_ONCE]:
            begin, end = problems.start[at], problems.start[at + 1]
            ends, sets = np.array([0, end - begin], dtype=np.int64), problems.sets[begin:end]
            one = answers[at : at + 1]
            solve_problems(ends, sets, problem.cost, problem.allowed, steering.BRANCHES, one)
    each = answers[problems.of[problem.table.types.of]]
    if problem.household is None or not problem.shared:
        return _sum_of(each[:, 0].copy(), each[:, 1], each[:, 2])
    return _with_households(problem, minimal, each, task.clock)


def _with_values(problem: Problem, minimal: MinimalUnsafe) -> MinimalUnsafe:
    """Leave out variables without a value in the record: there is nothing to suppress."""
    types = problem.table.types
    present = ((types.codes >= 0) @ (1 << np.arange(types.codes.shape[1], dtype=np.int64))).astype(np.int64)
    rows = np.repeat(np.arange(len(types)), np.diff(minimal.start))
    return replace(minimal, sets=minimal.sets & present[rows])


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
    """Join the covers of members where variables of the household are in unsafe combinations."""
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
        steps = 0 if clock.expired else steering.BRANCHES
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
    """Members of every household that has a variable of the household in an unsafe combination."""
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


def anonymise_some_keys(task: SearchTask) -> Answer:
    """Suppress values until every combination of at most `problem.dimension` keys is that of k records."""
    problem = task.problem
    if problem.table.records < problem.k:
        raise FormulationError(f"fewer than {problem.k} records can never be alike: give a smaller k")
    own = problem.meaning.alpha == 0.0
    taken = np.zeros(problem.table.records, dtype=np.int64)
    bound: int | None = None
    bits = 1 << np.arange(len(problem.table.names), dtype=np.int64)
    there = (problem.table.codes != MISSING) @ bits
    while True:
        codes = np.where((taken[:, None] & bits) != 0, MISSING, problem.table.codes).astype(np.int32)
        now = replace(problem, table=KeyTable(problem.table.names, codes, problem.table.weights))
        minimal = minimal_unsafe(now.table.types, now.tables, now.meaning)
        if minimal.sets.size:
            found = cover(replace(task, problem=now, report=None), minimal)
            bound = (found.bound if own else _cheapest(problem)) if bound is None else bound
            more = found.taken
        else:
            more = _joining(now, codes) if own else np.zeros_like(taken)
        if not more.any():
            break
        taken |= more & there
        task.tell(f"{int(_cells(taken, bits).sum()):,} values")
    cost = int((_cells(taken, bits) * problem.cost).sum())
    return Answer(taken=taken, cost=cost, bound=min(bound or 0, cost), proof=PROOF_BY_INPUT)


def _cells(taken: LongArray, bits: LongArray) -> NDArray[np.bool_]:
    return np.asarray((taken[:, None] & bits) != 0)


def _cheapest(problem: Problem) -> int:
    """Return the least cost of a value."""
    return min(int(cost) for at, cost in enumerate(problem.cost) if problem.allowed >> at & 1)


def _joining(problem: Problem, codes: Codes) -> LongArray:
    """Suppress further cheapest values if fewer than k records lack all values of some keys.

    Missing values of these keys are then a combination of k records, like any other.
    """
    gaps, keys = codes == MISSING, range(codes.shape[1])
    for size in range(1, problem.dimension + 1):
        for some in map(list, combinations(keys, size)):
            without = gaps[:, some].all(axis=1)
            lacking = problem.k - int(without.sum())
            if not 0 < lacking < problem.k:
                continue
            mask = sum(1 << at for at in some)
            price = (~gaps[:, some] * problem.cost[some]).sum(axis=1)
            kept = [at for at in some if not problem.allowed >> at & 1]
            able = np.flatnonzero(~without & gaps[:, kept].all(axis=1))
            if able.size < lacking:
                names = ", ".join(problem.table.named(mask))
                raise FormulationError(
                    f"fewer than {problem.k} records can be without {names}: let these be suppressed"
                )
            joining = np.zeros(len(codes), dtype=np.int64)
            joining[able[np.argsort(price[able], kind="stable")][:lacking]] = mask
            return joining
    return np.zeros(len(codes), dtype=np.int64)
