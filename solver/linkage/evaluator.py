"""The evaluator: the only place that decides whether a record is linked."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.distances import Differences, DistanceTables
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.formulations.linkage.ties import GRAIN_SHARE, TIE_TOLERANCE
from linkrisk.solver.linkage.arrays import Boxes, Compared, Form, Found, Missing, Tables, nothing_found
from linkrisk.solver.linkage.boxes import Bounded, bounded
from linkrisk.solver.linkage.elsewhere import Elsewhere
from linkrisk.solver.linkage.evaluation import BestCounts, Evaluation, completed, spread
from linkrisk.solver.linkage.settling import COUNTING, NEAREST, RANKING, draw, settle
from linkrisk.solver.run.work import COMPARISON, Spend, ignore

BLOCKS_AT_ONCE = 512
"""Blocks that are counted between two questions whether to stop."""

_MISSED = 50
"""Candidates that are looked at until one is found that stands in the way, roughly."""

_PAIRS_PER_TASK = 3_000_000
"""So that whether to stop is asked again within a fraction of a second."""

_FEWEST_AT_ONCE = 32
"""Blocks however many candidates there are: boxes leave most of these out, and calls have their price."""

_DIFFERENCES = {Differences.SQUARED: 0, Differences.ABSOLUTE: 1, Differences.SIGNED: 2}


class Evaluator:
    """Counts links of one file pair for any parameters, by compiled code on all cores.

    Parameters
    ----------
    pair : LinkagePair
        The blocks and their candidates.
    threads : int, optional
        Threads to use; all cores when absent.
    stop : callable, optional
        Asked again and again whether to stop. Blocks that were not looked at by then are not `settled` and
        count as not linked, so that a count is never too high.
    spend : callable
        Called with the cost of every count.
    blocks_at_once : int
        Blocks that are counted before `stop` is asked again; fewer where there are many candidates.
    elsewhere : Elsewhere, optional
        Who counts where there is much to count; the answers are the same.
    """

    def __init__(
        self,
        pair: LinkagePair,
        threads: int | None = None,
        stop: Callable[[], bool] | None = None,
        spend: Spend = ignore,
        blocks_at_once: int = BLOCKS_AT_ONCE,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._elsewhere = elsewhere
        self.pair, self._blocks_at_once = pair, blocks_at_once
        self.threads = threads or os.cpu_count() or 1
        self._stop, self._spend = stop, spend
        self._open: IndexArray | None = None
        self._asked = pair
        self.best = BestCounts()

    def mark_lost(self, lost: NDArray[np.bool_]) -> None:
        """Mark blocks, shape (blocks,), as lost: counts skip them."""
        self._open = np.flatnonzero(~lost).astype(np.intp)
        self._asked = self.pair.part(self._open)

    def count(self, form: DistanceForm) -> NDArray[np.bool_]:
        """Which blocks are linked, shape (blocks,): stops at each block's first nearer rival."""
        return self.counted(form).linked

    def weight(self, form: DistanceForm) -> float:
        """Weight of the linked blocks."""
        return self.counted(form).linked_weight

    def counted(self, form: DistanceForm) -> Evaluation:
        """Which blocks are linked and which were looked at; ranks, ties and distances are not complete."""
        return self._noted(form, COUNTING)

    def recount(self, form: DistanceForm, blocks: IndexArray) -> Evaluation:
        """`counted` of some blocks alone; all others are not `settled`."""
        part = self._settle(form, COUNTING, self.pair.part(blocks), self._stop, blocks)
        evaluation = spread(part, blocks, self.pair.weight, settled=False)
        self.best.note(form, evaluation)
        return evaluation

    def nearest(self, form: DistanceForm) -> Evaluation:
        """The nearest rival of every block, and whether it is linked; ranks and ties are not complete."""
        return self._noted(form, NEAREST)

    def _noted(self, form: DistanceForm, purpose: int) -> Evaluation:
        evaluation = self._settle(form, purpose, self._asked, self._stop, self._open)
        if self._open is not None:
            evaluation = spread(evaluation, self._open, self.pair.weight, settled=True)
        self.best.note(form, evaluation)
        return evaluation

    def table(self, form: DistanceForm, blocks: IndexArray | None = None) -> Evaluation:
        """Rank, ties and distances of every block, or of some alone."""
        pair = self.pair if blocks is None else self.pair.part(blocks)
        return self._settle(form, RANKING, pair, self._stop, blocks)

    def final(self, form: DistanceForm, stop: Callable[[], bool]) -> Evaluation:
        """`table` with another time to stop, and where that comes too soon, what was counted before.

        Blocks that only the count has looked at are `settled` and have rank 0.
        """
        evaluation = self._settle(form, RANKING, self.pair, stop)
        known = self.best.known(form)
        return evaluation if known is None else completed(evaluation, known)

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray) -> Found:
        """What became of some blocks, here: what `Elsewhere` asks of another process."""
        return self._found_here(form, purpose, self.pair.part(blocks), self._stop)

    def claims(self, form: DistanceForm, seed: int) -> IndexArray:
        """Which candidate an intruder claims for each block: of those that are nearest, one by lot.

        Returns
        -------
        ndarray of int, shape (blocks,)
            -1 where there was no time to look, or no candidate is possible.
        """
        pair, bounds = self.pair, bounded(self.pair, form)
        compared, boxes = _compared(pair, form, bounds), as_boxes(pair, bounds)
        lots = np.random.default_rng(seed).integers(2**64, size=pair.blocks, dtype=np.uint64)
        numbers, chosen = as_numbers(form), np.full(pair.blocks, -1, dtype=np.intp)
        turns = np.argsort(compared.partner, kind="stable").astype(np.intp)

        def some(blocks: IndexArray) -> None:
            draw(numbers, compared, boxes, pair.partner, lots, blocks, chosen)

        _in_turns(some, turns, self._stop, self.threads, _at_once(compared, self._blocks_at_once))
        return chosen

    def _settle(
        self,
        form: DistanceForm,
        purpose: int,
        pair: LinkagePair,
        stop: Callable[[], bool] | None,
        blocks: IndexArray | None = None,
    ) -> Evaluation:
        """Settle the blocks of `pair`, which has all candidates: some blocks of the whole pair, or all."""
        found = None
        if self._elsewhere is not None:
            asked = np.arange(pair.blocks) if blocks is None else blocks
            found = self._elsewhere.found(form, purpose, asked, stop)
        if found is None:
            found = self._found_here(form, purpose, pair, stop)
        linked = (found.rank == 1) & (found.ties == 0) & pair.reachable
        self._spend(_cost(pair, int(linked.sum()), purpose))
        return Evaluation(
            linked,
            found.rank,
            found.ties,
            found.distance,
            found.nearest_other,
            pair.weight,
            found.rival,
            settled=found.rank > 0,
        )

    def _found_here(
        self, form: DistanceForm, purpose: int, pair: LinkagePair, stop: Callable[[], bool] | None
    ) -> Found:
        """Settle the blocks of `pair`, in this process."""
        bounds = bounded(pair, form)
        compared, boxes = _compared(pair, form, bounds), as_boxes(pair, bounds)
        # Neighbours one after the other: what one of them looks at is still at hand for the next.
        turns = np.argsort(compared.partner, kind="stable").astype(np.intp)
        return settled(form, purpose, compared, boxes, turns, stop, self.threads, self._blocks_at_once)


def settled(
    form: DistanceForm,
    purpose: int,
    compared: Compared,
    boxes: Boxes,
    turns: IndexArray,
    stop: Callable[[], bool] | None,
    threads: int,
    blocks_at_once: int = BLOCKS_AT_ONCE,
) -> Found:
    """Settle all blocks of `compared` in the order of `turns`, until it is time to stop."""
    numbers, found = as_numbers(form), nothing_found(turns.size)

    def some(blocks: IndexArray) -> None:
        settle(numbers, compared, boxes, purpose, blocks, found)

    _in_turns(some, turns, stop, threads, _at_once(compared, blocks_at_once))
    return found


def _at_once(compared: Compared, blocks: int) -> int:
    """Blocks between two questions whether to stop: so many, but fewer where there are many candidates."""
    return min(blocks, max(_FEWEST_AT_ONCE, _PAIRS_PER_TASK // max(1, len(compared.candidates))))


def _in_turns(
    work: Callable[[IndexArray], None],
    turns: IndexArray,
    stop: Callable[[], bool] | None,
    threads: int,
    together: int,
) -> None:
    """Do the work for so many blocks at a time, by threads, until it is time to stop."""

    def task(first: int) -> None:
        if stop is None or not stop():
            work(turns[first : first + together])

    firsts = range(0, turns.size, together)
    if len(firsts) == 1 or threads == 1:
        for first in firsts:
            task(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(task, firsts))


def _cost(pair: LinkagePair, linked: int, purpose: int) -> float:
    """Operations of a count: all candidates where no rival prevents a link, or ranks are counted."""
    whole = pair.blocks if purpose == RANKING else linked
    pairs = whole * len(pair.candidates) + (pair.blocks - whole) * min(_MISSED, len(pair.candidates))
    return COMPARISON * len(pair.attributes) * pairs


def _compared(pair: LinkagePair, form: DistanceForm, bounds: Bounded) -> Compared:
    """Blocks and candidates, these in their places."""
    order, missing = bounds.candidates.tree.order, missing_arrays(pair)
    return Compared(
        queries=pair.queries,
        candidates=bounds.candidates.records,
        number=order,
        group=pair.twin_group[order] if pair.ties is Ties.SHARE else order,
        partner=bounds.candidates.place[pair.partner],
        known=np.full(pair.blocks, np.inf),
        rounding=pair.rounding,
        allowance=allowance(pair, form),
        tables=as_arrays(pair),
        missing=(missing[0], missing[1][order] if pair.missing else missing[1], missing[2]),
    )


def allowance(pair: LinkagePair, form: DistanceForm) -> FloatArray:
    """What every attribute distance of a partner is longer by, shape (attributes,)."""
    squared = form.differences is not Differences.ABSOLUTE or form.kind is FormKind.QUADRATIC
    return pair.grains**2 if squared else GRAIN_SHARE * pair.grains


def as_boxes(pair: LinkagePair, bounds: Bounded) -> Boxes:
    """The boxes of candidates as compiled code takes them."""
    tree = bounds.candidates.tree
    return Boxes(
        points=bounds.points,
        low=tree.low,
        high=tree.high,
        lacking=tree.lacking,
        levels=tree.levels,
        form=as_numbers(bounds.form),
        tables=as_arrays(pair if bounds.of_values else None),
        shift=bounds.shift,
        blur=bounds.blur,
    )


def as_numbers(form: DistanceForm) -> Form:
    """A distance as compiled code takes it."""
    flat = form.parameters.ndim == 1
    return Form(
        kind=int(form.kind),
        vector=form.parameters if flat else np.empty(0),
        matrix=np.empty((0, 0)) if flat else form.parameters,
        differences=_DIFFERENCES[form.differences],
        tolerance=TIE_TOLERANCE,
        noise=form.noise,
    )


def as_arrays(pair: LinkagePair | None) -> Tables:
    """The tables of a pair as compiled code takes them; none where there is none."""
    tables = (pair and pair.tables) or DistanceTables.of(())
    return tables.attributes, tables.values, tables.first, tables.width


def missing_arrays(pair: LinkagePair) -> Missing:
    """Differences to missing values of a pair as compiled code takes them, of no length without any."""
    if pair.missing is None:
        return np.empty((0, 0)), np.empty((0, 0)), np.empty(0)
    return pair.missing.of_queries, pair.missing.of_candidates, pair.missing.of_both


def evaluate_parameters(
    pair: LinkagePair, aggregator: Aggregator, theta: FloatArray, threads: int | None = None
) -> Evaluation:
    """Settle every block of `pair` under the parameters `theta`."""
    return Evaluator(pair, threads).table(aggregator.form(theta))
