"""Recount of some keys: every combination of at most so many key variables occurs k times in the output.

No suppression of other records makes a combination of values more frequent where a missing value is a
category of its own. So every unsafe combination of the input loses a value, whatever else is taken, and the
optimum of `cover` is a bound. Its answer is counted again, and what has become unsafe loses a value too,
until nothing is.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import MISSING, Codes, KeyTable
from linkrisk.formulations.suppression.minimal_unsafe import minimal_unsafe
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.suppression.answer import PHASE, Answer
from linkrisk.solver.suppression.cover import cover
from linkrisk.solver.suppression.problem import Problem

PROOF = "unsafe combinations of the input"
"""What proves the bound: each of them loses a value."""


def anonymise_some_keys(problem: Problem, clock: Clock, report: Reporter | None = None) -> Answer:
    """Take values out until every combination of at most `problem.dimension` keys is that of k records.

    Parameters
    ----------
    problem : Problem
    clock : Clock
        When it has expired, records keep greedy answers and simple bounds.
    report : callable, optional
        Told how many values are taken.

    Raises
    ------
    FormulationError
        If there are fewer than k records, or what is unsafe is not to be touched.
    """
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
        assert minimal is not None  # nothing ends it
        if minimal.sets.size:
            found = cover(now, minimal, clock)
            bound = (found.bound if own else _cheapest(problem)) if bound is None else bound
            more = found.taken
        else:
            more = _joining(now, codes) if own else np.zeros_like(taken)
        if not more.any():
            break
        taken |= more & there
        if report is not None:
            report(Progress.uncounted(PHASE, f"{int(_cells(taken, bits).sum()):,} values"))
    cost = int((_cells(taken, bits) * problem.cost).sum())
    return Answer(taken=taken, cost=cost, bound=min(bound or 0, cost), proof=PROOF)


def _cells(taken: LongArray, bits: LongArray) -> NDArray[np.bool_]:
    return np.asarray((taken[:, None] & bits) != 0)


def _cheapest(problem: Problem) -> int:
    """What one value costs at least."""
    return min(int(cost) for at, cost in enumerate(problem.cost) if problem.allowed >> at & 1)


def _joining(problem: Problem, codes: Codes) -> LongArray:
    """What others lose so that nobody is nearly alone without any value of some keys; the cheapest join.

    That these are missing is a combination of k records, then, as any other.
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
