"""Whoever looks at blocks in other processes, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from linkrisk.arrays import BoolArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.linkage.distance_kernels import Found

Stop = Callable[[], bool]

Told = Callable[[str], object]
"""Called with how many tasks are done, in words."""


class Mark(Protocol):
    """A question that each block answers with yes or no, whatever other blocks there are; can be pickled."""

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Which blocks of a pair; not those that were not looked at when it was time to stop."""


class Elsewhere(Protocol):
    """Whoever looks at blocks in other processes; the answers are those of this one."""

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """What became of some blocks of the whole pair; None where they are to be counted here."""

    def listen(self, told: Told) -> None:
        """Tell somebody from now on how many tasks are done."""

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Which blocks of the whole pair; None where they are to be looked at here."""


@dataclass(frozen=True)
class Lost:
    """Which blocks one rival alone keeps from being linked (`lost_blocks`).

    Attributes
    ----------
    aggregator : Aggregator
    """

    aggregator: Aggregator

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Those of a pair."""
        return lost_blocks(pair, self.aggregator, stop, threads)


def marked(mark: Mark, pair: LinkagePair, stop: Stop, elsewhere: Elsewhere | None) -> BoolArray:
    """Which blocks of a pair, by whoever is there."""
    found = None if elsewhere is None else elsewhere.marked(mark, stop)
    return mark(pair, stop) if found is None else found
