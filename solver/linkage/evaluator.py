"""Decide which records are linked; no other module does."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import BoxedCandidates, LinkagePair, Ties
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.formulations.linkage.tie_tolerance import GRAIN_SHARE
from linkrisk.formulations.threads import each
from linkrisk.solver.linkage.distance_kernels import (
    Boxes,
    Compared,
    Found,
    as_arrays,
    as_numbers,
    missing_arrays,
    nothing_found,
)
from linkrisk.solver.linkage.distance_ranks import COUNTING, NEAREST, RANKING, draw, settle
from linkrisk.solver.run.work import COMPARISON, Spend, ignore

Stop = Callable[[], bool]

ReportTasks = Callable[[str], object]
"""Callback for the number of completed tasks, in words."""


class Mark(Protocol):
    """A picklable predicate of a block, independent of other blocks."""

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Evaluate it on the blocks of a pair, shape (blocks,); False after the stop."""


class BlockWorkers(Protocol):
    """Workers that evaluate blocks in other processes, with the same answers as this one."""

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray, stop: Stop | None) -> Found | None:
        """Rank the partners of some blocks of a pair; None to do it in this process."""

    def listen(self, report: ReportTasks) -> None:
        """Change the callback of reports."""

    def marked(self, mark: Mark, stop: Stop) -> BoolArray | None:
        """Mark the blocks of a pair; None to do it in this process."""


@dataclass(frozen=True)
class Lost:
    """Whether a single rival keeps a block from being linked (`lost_blocks`)."""

    aggregator: Aggregator

    def __call__(self, pair: LinkagePair, stop: Stop, threads: int | None = None) -> BoolArray:
        """Mark the blocks of a pair."""
        return lost_blocks(pair, self.aggregator, stop, threads)


def marked(mark: Mark, pair: LinkagePair, stop: Stop, workers: BlockWorkers | None) -> BoolArray:
    """Mark the blocks of a pair, on workers where that is faster."""
    found = None if workers is None else workers.marked(mark, stop)
    return mark(pair, stop) if found is None else found


_COUNTS_KEPT = 16


@dataclass(frozen=True)
class Evaluation:
    """Links, ranks and distances of every block under fixed parameters."""

    # (blocks,): the partner is strictly nearer than every rival; near-ties (`linkage.ties`) are not linked
    linked: NDArray[np.bool_]
    rank: IndexArray  # (blocks,): 1 + number of rivals strictly nearer than the partner
    ties: IndexArray  # (blocks,): rivals exactly as near as the partner
    distance: FloatArray  # (blocks,): distance to the partner; inf when it cannot be the partner at all
    # (blocks,): distance to the nearest rival; inf when there is none that can be the partner
    nearest_other: FloatArray
    weight: FloatArray  # (blocks,): weight of each block
    # (blocks,): the rival that prevents a link most clearly; -1 where there is no rival
    rival: IndexArray
    # (blocks,): whether the block was compared in time. If not, it counts as not linked, and its rank is 0.
    settled: NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Number of linked blocks."""
        return int(self.linked.sum())

    @property
    def linked_weight(self) -> float:
        """Weight of the linked blocks, the objective of engines."""
        return float(self.weight[self.linked].sum())

    @property
    def margin(self) -> FloatArray:
        """Distance to the nearest rival minus distance to the partner, shape (blocks,).

        -inf for a partner that is impossible, whatever the rivals are.
        """
        possible = np.isfinite(self.distance) & self.settled
        margin = np.full(self.distance.size, -np.inf)
        margin[possible] = self.nearest_other[possible] - self.distance[possible]
        return margin


def _key(form: DistanceForm) -> bytes:
    return f"{form.kind:d} {form.differences} ".encode() + form.parameters.tobytes()


class BestCounts:
    """Cache of the counts of the best distances, which saves a final recount."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Evaluation] = {}

    def note(self, form: DistanceForm, evaluation: Evaluation) -> None:
        """Cache a count among the best few; of equal ones, the last."""
        key = _key(form)
        before = self._kept.get(key)
        kept = {**self._kept, key: evaluation if before is None else _completed(evaluation, before)}
        if len(kept) > _COUNTS_KEPT:
            worst = min(kept, key=lambda key: kept[key].linked_weight)
            del kept[worst]
        self._kept = kept

    def known(self, form: DistanceForm) -> Evaluation | None:
        """Look a distance up; None when it is not cached."""
        return self._kept.get(_key(form))


def _completed(evaluation: Evaluation, known: Evaluation) -> Evaluation:
    """Fill unsettled blocks of an evaluation from an earlier one."""
    linked = np.where(evaluation.settled, evaluation.linked, known.linked)
    return replace(evaluation, linked=linked, settled=evaluation.settled | known.settled)


def spread(part: Evaluation, blocks: IndexArray, weight: FloatArray, *, settled: bool) -> Evaluation:
    """Extend an evaluation to all blocks, of these weights: others are lost, or not `settled`."""
    many = weight.size
    full = Evaluation(
        linked=np.zeros(many, dtype=np.bool_),
        rank=np.full(many, 2 if settled else 0),
        ties=np.zeros(many, int),
        distance=np.full(many, np.nan),
        nearest_other=np.full(many, np.nan),
        weight=weight,
        rival=np.full(many, -1),
        settled=np.full(many, settled),
    )
    for name in ("linked", "rank", "ties", "distance", "nearest_other", "rival", "settled"):
        getattr(full, name)[blocks] = getattr(part, name)
    return full


_MATTERS = 1.0 / 64.0
"""Share of the largest importance above which an attribute splits boxes."""

_WORTH_A_TREE = 256
"""Blocks from which a tree for this distance pays; fewer use one built for any distance."""

_ROUNDED = 2.0**-44
"""Factor on the number of attributes that bounds rounding errors of matrix products."""


class Bounded(NamedTuple):
    """Bounding boxes of candidates, with a lower bound of a block's distance to the candidates in a box.

    The bound is `form` of the least differences of the block's point and the box, each less by `shift`; that
    less `blur`.
    """

    candidates: BoxedCandidates
    points: FloatArray  # (blocks, dimensions): the blocks where the boxes are
    form: DistanceForm  # whether the form is monotone
    of_values: bool  # whether the points are values, which may be missing or categories
    shift: float = 0.0  # zero unless rounding matters
    blur: float = 0.0


def bounded(pair: LinkagePair, form: DistanceForm) -> Bounded:
    """Choose boxes that prune most candidates for a distance, and its lower bound in them."""
    if form.kind is not FormKind.QUADRATIC:
        monotone, raised = form.monotone()
        boxed = _by_values(pair, np.maximum(form.importance, 0.0))
        blur = raised * float(_largest(pair, monotone.differences).max()) if raised else 0.0
        return Bounded(boxed, pair.queries, monotone, True, blur=blur)
    # Only signed differences are coordinates that can be rotated.
    numeric = pair.tables is None and pair.missing is None and form.differences is Differences.SIGNED
    if numeric and pair.blocks >= _WORTH_A_TREE:
        return _turned(pair, form)
    diagonal = form.diagonal()
    return Bounded(_by_values(pair, diagonal.importance), pair.queries, diagonal, True)


def _by_values(pair: LinkagePair, importance: FloatArray) -> BoxedCandidates:
    """Build the tree whose boxes are split by the attributes that matter to a distance."""
    matters = importance >= _MATTERS * importance.max()
    if pair.blocks < _WORTH_A_TREE and not pair.by_candidate.has_boxed(matters.tobytes()):
        matters[:] = True
    return pair.boxed(matters)


def _turned(pair: LinkagePair, form: DistanceForm) -> Bounded:
    """Write a quadratic form as the sum of squares of rotated coordinates ``B z``, ``B' B`` being its matrix.

    B comes from eigenvalues and eigenvectors; negative eigenvalues, which rounding makes, are left out.
    """
    matrix, n = form.parameters, len(pair.attributes)
    values, vectors = np.linalg.eigh(matrix)
    turn = np.sqrt(values.clip(0.0))[:, None] * vectors.T
    own = pair.queries @ turn.T
    key = (b"turned", matrix.tobytes())
    boxed = pair.by_candidate.boxed(key, np.ones(n), points=lambda: pair.candidates @ turn.T)
    largest = _largest(pair, Differences.SQUARED)
    left_out = _ROUNDED * n * float(np.abs(values).max()) - float(values.min(initial=0.0))
    # Rounding error of the evaluator, and its part of a tie, for the farthest rival.
    with np.errstate(invalid="ignore"):
        noise = 2.0 * form.noise * float(np.diag(matrix) @ largest)
    far = np.maximum(np.abs(pair.by_candidate.extremes).max(axis=0), np.abs(pair.queries).max(axis=0))
    shift = _ROUNDED * n * float((np.abs(turn) @ far).max())
    squares = DistanceForm(FormKind.WEIGHTED_SUM, Differences.SQUARED, np.ones(n))
    return Bounded(boxed, own, squares, False, shift, left_out * float(largest.sum()) + noise)


def _largest(pair: LinkagePair, kind: Differences) -> FloatArray:
    """Bound the finite attribute distances from above, shape (attributes,)."""
    # Without records all is NaN, which counts for nothing here.
    low, high = pair.by_candidate.extremes
    low = np.fmin(low, np.fmin.reduce(pair.queries, initial=np.nan))
    high = np.fmax(high, np.fmax.reduce(pair.queries, initial=np.nan))
    largest = high - low
    if pair.missing is not None:
        found = [pair.missing.of_queries, pair.missing.of_candidates, pair.missing.of_both[None, :]]
        for values in found:
            largest = np.fmax(largest, np.fmax.reduce(np.abs(values), initial=np.nan))
    for k, table in pair.looked_up.items():
        largest[k] = table[np.isfinite(table)].max(initial=0.0)
    with np.errstate(over="ignore"):  # bounds of minus infinity prune no candidate
        return np.asarray(largest if kind is Differences.ABSOLUTE else largest**2)


BLOCKS_AT_ONCE = 512
"""Blocks between two stop checks: more cost less, and react later."""

_MISSED = 50
"""Average number of candidates compared before one prevents a link."""

_PAIRS_PER_TASK = 3_000_000
"""Pairs of a task, such that stop checks are a fraction of a second apart."""

_FEWEST_AT_ONCE = 32
"""Minimum blocks of a task, as boxes prune most candidates and calls have overhead."""


class Evaluator:
    """Counts links of one file pair for any parameters, by compiled code on all cores.

    Parameters
    ----------
    pair : LinkagePair
        The blocks and their candidates.
    threads : int, optional
        Threads to use; all cores when absent.
    stop : callable, optional
        Checked again and again for whether to stop. Blocks that were not compared by then are not `settled`
        and count as not linked, so that a count is never too high.
    spend : callable
        Called with the cost of every count.
    blocks_at_once : int
        Blocks that are counted before `stop` is checked again; fewer where there are many candidates.
    workers : BlockWorkers, optional
        Workers that count where there is much to count; the answers are the same.

    Examples
    --------
    >>> from linkrisk.distances import Evaluator, make_problem
    >>> problem = make_problem()  # of the embedded pair
    >>> mean = problem.aggregator
    >>> int(Evaluator(problem.pair).count(mean.form(mean.equal())).linked.sum())
    364
    """

    def __init__(
        self,
        pair: LinkagePair,
        threads: int | None = None,
        stop: Callable[[], bool] | None = None,
        spend: Spend = ignore,
        blocks_at_once: int = BLOCKS_AT_ONCE,
        workers: BlockWorkers | None = None,
    ) -> None:
        self._workers = workers
        self.pair, self._blocks_at_once = pair, blocks_at_once
        self.threads = threads or os.cpu_count() or 1
        self._stop, self._spend = stop, spend
        self._open: IndexArray | None = None
        self._open_pair = pair
        self.best = BestCounts()

    def mark_lost(self, lost: NDArray[np.bool_]) -> None:
        """Mark blocks, shape (blocks,), as lost, so that counts skip them."""
        self._open = np.flatnonzero(~lost).astype(np.intp)
        self._open_pair = self.pair.part(self._open)

    def count(self, form: DistanceForm, blocks: IndexArray | None = None) -> Evaluation:
        """Decide which blocks are linked; stops at each block's first rival that prevents it.

        Ranks, ties and distances are not complete. With `blocks` all others are not `settled`.
        """
        return self._noted(form, COUNTING, blocks)

    def weight(self, form: DistanceForm) -> float:
        """Count the weight of the linked blocks; `GrowingRows` records rivals here, too."""
        return self.count(form).linked_weight

    def nearest(self, form: DistanceForm) -> Evaluation:
        """Find the nearest rival of every block, and the links; ranks and ties are incomplete."""
        return self._noted(form, NEAREST)

    def rank(
        self, form: DistanceForm, blocks: IndexArray | None = None, stop: Callable[[], bool] | None = None
    ) -> Evaluation:
        """Find rank, ties and distances of every block, or of some.

        With a `stop` of its own that comes too soon, blocks that only an earlier count of the same distance
        has compared are `settled` and have rank 0.
        """
        evaluation = self._settle(form, RANKING, blocks, stop or self._stop)
        known = None if stop is None else self.best.known(form)
        return evaluation if known is None else _completed(evaluation, known)

    def _noted(self, form: DistanceForm, purpose: int, blocks: IndexArray | None = None) -> Evaluation:
        asked = self._open if blocks is None else blocks
        evaluation = self._settle(form, purpose, asked, self._stop)
        if asked is not None:
            evaluation = spread(evaluation, asked, self.pair.weight, settled=blocks is None)
        self.best.note(form, evaluation)
        return evaluation

    def found(self, form: DistanceForm, purpose: int, blocks: IndexArray) -> Found:
        """Compare some blocks with their rivals in this process; `BlockWorkers` do it on workers."""
        return self._compare(form, purpose, self.pair.part(blocks), self._stop)

    def claims(self, form: DistanceForm, seed: int) -> IndexArray:
        """Draw the candidate that an intruder claims for each block among the nearest ones.

        Returns
        -------
        ndarray of int, shape (blocks,)
            -1 where time was up before, or no candidate is possible.
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
        blocks: IndexArray | None,
        stop: Callable[[], bool] | None,
    ) -> Evaluation:
        """Evaluate all blocks, or some, with all candidates, on workers where there are any."""
        if blocks is None:
            pair = self.pair
        else:
            pair = self._open_pair if blocks is self._open else self.pair.part(blocks)
        found = None
        if self._workers is not None:
            asked = np.arange(pair.blocks) if blocks is None else blocks
            found = self._workers.found(form, purpose, asked, stop)
        if found is None:
            found = self._compare(form, purpose, pair, stop)
        linked = (found.rank == 1) & (found.ties == 0) & pair.reachable
        self._spend(_cost(pair, int(linked.sum()), purpose))
        seen = found.rank, found.ties, found.distance, found.nearest_other
        return Evaluation(linked, *seen, pair.weight, found.rival, settled=found.rank > 0)

    def _compare(
        self, form: DistanceForm, purpose: int, pair: LinkagePair, stop: Callable[[], bool] | None
    ) -> Found:
        bounds = bounded(pair, form)
        compared, boxes = _compared(pair, form, bounds), as_boxes(pair, bounds)
        # Neighbours are consecutive, so that their candidates stay in the cache.
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
    """Compare all blocks with their rivals in the order of `turns`, until stopped."""
    numbers, found = as_numbers(form), nothing_found(turns.size)

    def some(blocks: IndexArray) -> None:
        settle(numbers, compared, boxes, purpose, blocks, found)

    _in_turns(some, turns, stop, threads, _at_once(compared, blocks_at_once))
    return found


def _at_once(compared: Compared, blocks: int) -> int:
    """Choose the blocks between two stop checks; fewer with many candidates."""
    return min(blocks, max(_FEWEST_AT_ONCE, _PAIRS_PER_TASK // max(1, len(compared.candidates))))


def _in_turns(
    work: Callable[[IndexArray], None],
    turns: IndexArray,
    stop: Callable[[], bool] | None,
    threads: int,
    together: int,
) -> None:
    """Process `together` blocks at a time, by threads, until stopped."""

    def task(first: int) -> None:
        if stop is None or not stop():
            work(turns[first : first + together])

    each(task, range(0, turns.size, together), threads)


def _cost(pair: LinkagePair, linked: int, purpose: int) -> float:
    """Count the operations: all candidates where no rival prevents a link, or ranks are counted."""
    full = pair.blocks if purpose == RANKING else linked
    pairs = full * len(pair.candidates) + (pair.blocks - full) * min(_MISSED, len(pair.candidates))
    return COMPARISON * len(pair.attributes) * pairs


def _compared(pair: LinkagePair, form: DistanceForm, bounds: Bounded) -> Compared:
    """Convert blocks and candidates for compiled code, the candidates in the order of the boxes."""
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
    """Compute the tie tolerance of partners, shape (attributes,) (`ties.grain`)."""
    squared = form.differences is not Differences.ABSOLUTE or form.kind is FormKind.QUADRATIC
    return pair.grains**2 if squared else GRAIN_SHARE * pair.grains


def as_boxes(pair: LinkagePair, bounds: Bounded) -> Boxes:
    """Convert the boxes of candidates for compiled code."""
    tree = bounds.candidates.tree
    return Boxes(
        points=bounds.points,
        low=tree.low,
        high=tree.high,
        lacking=tree.lacking,
        codes=tree.codes,
        levels=tree.levels,
        form=as_numbers(bounds.form),
        tables=as_arrays(pair if bounds.of_values else None),
        shift=bounds.shift,
        blur=bounds.blur,
    )
