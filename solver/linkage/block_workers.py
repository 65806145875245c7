"""The interface of workers that examine blocks in other processes, and a question that they answer."""

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

ReportTasks = Callable[[str], object]
"""Called with the number of tasks that are done, in words."""


class Mark(Protocol):
    """A predicate of a block, whatever other blocks there are; can be pickled."""

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Blocks of a pair for which it holds (blocks,); False of those not examined before the stop."""


class BlockWorkers(Protocol):
    """Examine blocks in other processes; the answers are those of this one."""

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """Rank the partners of some blocks of a pair; None where this process is to do it."""

    def listen(self, report: ReportTasks) -> None:
        """Report to another function from now on."""

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Mark the blocks of a pair; None where this process is to do it."""


@dataclass(frozen=True)
class Lost:
    """Whether a single rival keeps a block from being linked (`lost_blocks`)."""

    aggregator: Aggregator

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Mark the blocks of a pair."""
        return lost_blocks(pair, self.aggregator, stop, threads)


def marked(mark: Mark, pair: LinkagePair, stop: Stop, workers: BlockWorkers | None) -> BoolArray:
    """Mark the blocks of a pair, by workers where that is worth it."""
    found = None if workers is None else workers.marked(mark, stop)
    return mark(pair, stop) if found is None else found
