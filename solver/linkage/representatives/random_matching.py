"""Random one-to-one matching: what linking without looking achieves, drawn and in exact probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker
from linkrisk.solver.run.errors import UsageError


def probability_of_links(links: int, records: int) -> float:
    """Probability that a random matching of n records with themselves links exactly r of them rightly.

    ``sum_(v=0)^(n-r) (-1)^v / v!  /  r!`` (Torra and Nin 2008, Proposition 4). The alternating sum is a whole
    number of derangements over (n - r)!, so it is added up in whole numbers: no digits cancel.

    Parameters
    ----------
    links, records : int
        r and n, 0 <= r <= n.

    Raises
    ------
    UsageError
        If they are out of range.
    """
    _check(links, records)
    fixed_free, arrangements = _derangements(records - links)
    return fixed_free / (arrangements * math.factorial(links))


def probability_of_at_least(links: int, records: int) -> float:
    """Probability that a random matching of n records with themselves links r or more of them rightly.

    The sum of `probability_of_links` from r to n, its smallest terms first: never one minus the rest, whose
    difference would have no digit left where the probability is small.
    """
    _check(links, records)
    if links == 0:
        return 1.0
    # Beyond 180 more links a term is smaller than the first by 1e-300.
    last = min(records, links + 180)
    return math.fsum(probability_of_links(more, records) for more in range(last, links - 1, -1))


def _derangements(size: int) -> tuple[int, int]:
    """Permutations that leave nothing in its place, and all permutations.

    From 30 on, where the sum does not change within double precision, that of 30.
    """
    count, factorial = 1, 1
    for k in range(1, min(size, 30) + 1):
        count = k * count + (-1) ** k
        factorial *= k
    return count, factorial


def _check(links: int, records: int) -> None:
    if records < 1:
        raise UsageError(f"a random matching of {records} records has no probabilities; give at least one")
    if not 0 <= links <= records:
        raise UsageError(f"{links} links of {records} records are impossible; give 0 to {records}")


@dataclass(frozen=True)
class RandomMatching(Linker):
    """Every query gets a candidate drawn at random, no candidate twice before all are taken.

    Files in bijection have r right links with the probability `probability_of_links`.
    """

    name: ClassVar[str] = "random"
    common_attributes: ClassVar[bool] = False

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Draw the matching, by the seed of the task."""
        queries, candidates = len(task.queries), len(task.candidates)
        if not candidates:
            raise UsageError("there is no candidate to draw; give a file with at least one record")
        generator = np.random.default_rng(task.seed)
        rounds = [generator.permutation(candidates) for _ in range(-(-queries // candidates))]
        drawn = np.concatenate([*rounds, np.empty(0, dtype=np.intp)])
        return _Drawn(drawn[:queries].astype(np.intp), candidates, task.seed)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The matching of the seed in the parameters."""
        seed = parameters.get("seed")
        if not isinstance(seed, int) or seed < 0:
            raise UsageError(f"these are not parameters of {cls.name}: they need a seed, a number from 0")
        return cls().learn(replace(task, seed=seed))


class _Drawn(LearnedLinker):
    def __init__(self, drawn: IndexArray, candidates: int, seed: int) -> None:
        self.parameters = {"seed": seed}
        self._drawn, self._candidates = drawn, candidates

    def scores(self, rows: IndexArray) -> FloatArray:
        """1 for the candidate that was drawn, 0 for the others."""
        return np.asarray((self._drawn[rows][:, None] == np.arange(self._candidates)).astype(np.float64))
