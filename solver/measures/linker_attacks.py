"""Attacks by linkers: probabilistic, Bayesian, and likelihood ratios learned from known partners.

The intruder of the likelihood ratios knows the partners of most records. He learns how often an attribute is
the same for partners, which counts the more the rarer a value is, and nothing where one is missing (Newcombe
et al. 1959; Fellegi and Sunter 1969); and how the numbers of a released record depend on all that he knows of
a person, as a linear regression in the scale (values, logarithms, ranks) in which that is clearest: so he
finds columns that were exchanged, turned or derived from others, a factor that all amounts of a record have
in common, and other units for some. Of households that he finds by some members he has the others among few:
the one who was changed beyond recognition is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.tables import Table
from linkrisk.datasets.pairs.alignment import BY_ROW, TablePair
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.linkage_frames import linkage_frames, recoded_frames
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.inputs.link_tasks import linkage_task, twin_group
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.judging import judged_links
from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Truth, in_chunks
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.other_scales import ranks, traits
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

_SCORES_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Claims:
    """The link of each record to its best candidate."""

    record: IndexArray  # (claims,): the row of the query
    candidate: IndexArray  # (claims,): of several equally good ones, one by chance
    score: FloatArray  # (claims,)
    right: BoolArray  # (claims,)


def linker_task(task: RiskTask) -> tuple[LinkageTask, Truth]:
    """Build the linkage task of the pair, and the true links."""
    files, options = task.files, task.first.options
    pair = TablePair(
        Table(files.original, "original"),
        Table(files.masked, "masked"),
        files.partner,
        files.original_labels,
        files.masked_labels,
    )
    names = files.attributes
    frames = linkage_frames(
        pair,
        (names, names),
        nominal=[name for name in options.nominal if name in names],
        ordinal=[name for name in options.ordinal if name in names],
        schema=task.schema,
        recoded=True,
    )
    if NOT_INFERRED not in files.masking:
        frames = recoded_frames(frames, files.partner)
    found, _, partner = linkage_task(pair, frames, Direction(options.direction), task.seed)
    group = twin_group(found) if task.first.pair.ties is Ties.SHARE else None
    return found, Truth.of(partner, len(found.candidates), group)


def best_candidates(learned: LearnedLinker, truth: Truth, seed: int, clock: Clock) -> Claims:
    """Find the best candidate of each query with a partner and a finite score, while there is time."""
    random = np.random.default_rng(seed)
    chosen = np.full(truth.query_rows.size, -1, dtype=np.intp)
    best = np.full(truth.query_rows.size, -np.inf)
    for part, scores in in_chunks(learned, truth.query_rows, truth.candidates, _SCORES_AT_ONCE):
        best[part] = scores.max(axis=1)
        # The largest of random numbers among the best ones: each of these is as likely.
        lots = np.where(scores == best[part][:, None], random.random(scores.shape), -1.0)
        chosen[part] = lots.argmax(axis=1)
        if clock.expired:
            break
    made = np.flatnonzero(np.isfinite(best))
    return Claims(
        truth.query_rows[made], chosen[made], best[made], np.asarray(chosen[made] == truth.partner[made])
    )


_OTHER = "released {}"
"""Names of a candidate's attributes for a linker without common ones."""


def by_probability(task: RiskTask) -> FloatArray:
    """Link by probabilistic record linkage (EM, no true links), shape (blocks,): 1, 0 or a share."""
    given, truth = linker_task(task)
    found = judged_links(Probabilistic().learn(given), truth, curve=False).evaluation
    return np.asarray(found.linked * truth.weight)


def by_bayes(task: RiskTask) -> FloatArray:
    """Link by the Bayesian linker, trained on the known partners of half of the records.

    It learns from that half how released values depend on original ones, and attacks the other half among
    all candidates; then the other way round.
    """
    given, truth = linker_task(task)
    blocks = truth.query_rows.size
    half = np.random.default_rng(task.seed).permutation(blocks) < blocks // 2
    linked = np.zeros(blocks)
    for known in (half, ~half):
        attacked = np.flatnonzero(~known)
        partner = np.full(truth.queries, -1, dtype=np.intp)
        partner[truth.query_rows[attacked]] = truth.partner[attacked]
        judge = Truth.of(partner, truth.candidates, truth.twin_group)
        linker = Bayesian(match_share=1.0 / max(2, truth.candidates))
        learned = linker.learn(trained_by(given, truth, np.flatnonzero(known)))
        found = judged_links(learned, judge, curve=False).evaluation
        linked[attacked] = found.linked * judge.weight
    return linked


def trained_by(given: LinkageTask, truth: Truth, known: IndexArray | slice = slice(None)) -> LinkageTask:
    """Add known pairs as training records, with distinct names for the candidates' attributes."""
    names = {name: _OTHER.format(name) for name in given.candidate_attributes}
    while set(names.values()) & set(given.query_attributes):
        names = {name: f"{other} " for name, other in names.items()}
    candidates = given.candidates.rename(columns=names)
    sides = given.queries.iloc[truth.query_rows[known]], candidates.iloc[truth.partner[known]]
    chosen = zip(sides, (given.query_attributes, names.values()), strict=True)
    training = pd.concat([side[list(names)].reset_index(drop=True) for side, names in chosen], axis=1)
    own = [given.schema[name] for name in given.query_attributes]
    schema = Schema((*own, *(replace(given.schema[old], name=new) for old, new in names.items())))
    attributes = tuple(names.values())
    return replace(
        given, candidates=candidates, candidate_attributes=attributes, schema=schema, training=training
    )


Both = tuple[FloatArray, FloatArray]
_Scale = Callable[[FloatArray], FloatArray]

_SCALES: tuple[_Scale | None, ...] = (None, np.log, ranks)

_CELLS_AT_ONCE = 2_000_000

_FOLDS = 5
"""Folds of cross-fitting: each is attacked by an intruder who knows all others."""

_EACH = 4
"""Records with known partners required per regression parameter: more avoid overfitting."""

_CATEGORIES = 24
"""Most frequent categories of an attribute that have indicators in the regression."""

_DEPENDENT = 0.5
"""Share of residual variance below which the order of records is informative."""

_NEVER = 1e-3
"""Pseudo-count of partners that differ in an attribute."""

_COLLINEAR = 1e-12
"""Share of the largest sum of squares below which a column is collinear."""

_EXACT = 1e-9
"""Share of the variance that is treated as zero."""

_ODD = np.log(0.01)
"""Lower limit on a log likelihood ratio, as any record may have changed much."""

_SAME = 1e-5
"""Tolerance at which log likelihood ratios are equal."""


def by_likelihood(
    problem: Problem, beside: Both, seed: int, most_matched: int, stop: Callable[[], bool]
) -> FloatArray | None:
    """Compute the chances that a record is linked by an intruder who knows the other folds.

    Candidates are drawn by lot among the likeliest, or matched one to one where that links more. `beside`:
    what either file has besides attributes; the masked one's may depend on what is known of a person.
    """
    pair = problem.pair
    turned = Direction(problem.options.direction) is Direction.MASKED_TO_ORIGINAL
    sides = Sides.of(problem.files, beside, pair.query_rows, turned=turned)
    linked, matrix = np.zeros(pair.blocks), np.empty((0, 0))
    if max(pair.blocks, len(pair.candidates)) <= most_matched:
        matrix = np.empty((pair.blocks, len(pair.candidates)))
    size = max(1, _CELLS_AT_ONCE // len(pair.candidates))
    for known, attacked in folds(pair.blocks, seed):
        model = Model(sides, known, pair.partner[known])
        for first in range(0, attacked.size, size):
            if stop():
                return None
            some = attacked[first : first + size]
            scores = model.scores(some)
            linked[some] = _by_lot(scores, pair.partner[some])
            if matrix.size:
                matrix[some] = scores
    return (
        max(linked, _one_to_one(matrix, pair.partner, sides.alike, seed), key=np.sum)
        if matrix.size
        else linked
    )


def folds(blocks: int, seed: int) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Split the blocks into known and attacked ones, such that each is attacked once."""
    fold = np.random.default_rng(seed).permutation(blocks) % _FOLDS
    for one in range(_FOLDS):
        yield np.flatnonzero(fold != one), np.flatnonzero(fold == one)


def _one_to_one(scores: FloatArray, partner: IndexArray, alike: IndexArray, seed: int) -> FloatArray:
    """Compute the chances of correct links in the likeliest assignment, with ties broken at random."""
    order = np.random.default_rng(seed).permutation(scores.shape[1])  # places say nothing where scores do not
    rows, columns = linear_sum_assignment(scores[:, order], maximize=True)
    right = np.zeros(partner.size)
    right[rows] = alike[order[columns]] == alike[partner[rows]]
    return np.asarray(right / np.bincount(alike)[alike[partner]])


def places(files: FilePair) -> Both:
    """Compute positions of records in the masked file, and in the original if it is not aligned."""
    both = (files.original, files.masked)
    mine, theirs = (np.arange(len(frame), dtype=np.float64)[:, None] for frame in both)
    return mine[:, : int(files.alignment != BY_ROW)], theirs


def order_tells(problem: Problem, seed: int) -> bool:
    """Test whether the order of the masked records depends on known attributes."""
    pair = problem.pair
    if Direction(problem.options.direction) is Direction.MASKED_TO_ORIGINAL:
        return False
    sides = Sides.of(problem.files, places(problem.files), pair.query_rows, turned=False)
    known, _ = next(folds(pair.blocks, seed))
    same = [True] * len(sides.coded)
    found = _regression(sides, same, (known, pair.partner[known]), ranks)
    return found is not None and float(found.left.min()) < _DEPENDENT


def _by_lot(scores: FloatArray, partner: IndexArray) -> FloatArray:
    """Compute the chances of partners, with ties broken at random, shape (rows,)."""
    best = scores >= scores.max(axis=1, keepdims=True) - _SAME
    return np.asarray(best[np.arange(partner.size), partner] / best.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Sides:
    """Records and candidates with numeric attributes, NaN where missing."""

    queries: FloatArray  # (blocks or candidates, attributes): categories by (recoded) positions
    candidates: FloatArray
    coded: tuple[bool, ...]  # which attributes are categories
    only: tuple[FloatArray, FloatArray]  # what one side alone has

    @cached_property
    def scaled(self) -> dict[_Scale | None, list[FloatArray]]:
        """Standardise queries, candidates, and attributes of one side alone."""
        numbers = ~np.array(self.coded, dtype=np.bool_)
        found: dict[_Scale | None, list[FloatArray]] = {}
        for scale in _SCALES:
            sides = [self.queries.copy(), self.candidates.copy()]
            for side in sides:
                side[:, numbers] = _scaled(side[:, numbers], scale)
            found[scale] = [*sides, *(_scaled(side, scale) for side in self.only)]
        return found

    @property
    def alike(self) -> IndexArray:
        """Label candidates such that equal ones share a label."""
        values = pd.DataFrame(np.column_stack((self.candidates, self.only[1])))
        return np.asarray(values.groupby(list(values.columns), dropna=False).ngroup(), dtype=np.intp)

    @classmethod
    def of(cls, files: FilePair, beside: Both, rows: IndexArray, *, turned: bool) -> Sides:
        """Build both sides from two files; `rows` are queries, masked records if `turned`."""
        mine, theirs = beside
        original, masked = files.compared_values.copy(), files.masked_values.copy()
        for at, one in ((files.attributes.index(name), one) for name, one in files.categorical.items()):
            size = len(one.categories)
            if one.possible is not None:
                single = one.possible.sum(axis=1) == 1
                becomes = np.append(np.where(single, one.possible.argmax(axis=1), np.arange(size)), size)
                original[:, at] = becomes[original[:, at].astype(np.intp)]
            for side in (original, masked):
                side[side[:, at] == size, at] = np.nan
        coded = tuple(name in files.categorical for name in files.attributes)
        if turned:
            return cls(masked[rows], original, coded, (theirs[rows], mine))
        return cls(original[rows], masked, coded, (mine[rows], theirs))


class Model:
    """Model learned from some blocks and their partners."""

    def __init__(self, sides: Sides, known: IndexArray, partner: IndexArray) -> None:
        columns = zip(sides.queries.T, sides.candidates.T, strict=True)
        self.equal = [Equal(mine, theirs, known, partner) for mine, theirs in columns]
        same = [one.share >= 0.5 for one in self.equal]
        found = [_regression(sides, same, (known, partner), scale) for scale in _SCALES]
        tried = [one for one in found if one is not None]
        self.linear = max(tried, key=lambda one: one.information, default=None)
        self.candidates = len(sides.candidates)

    def scores(self, blocks: IndexArray) -> FloatArray:
        """Compute log likelihood ratios of some blocks with all candidates."""
        shape = blocks.size, self.candidates
        scores = np.zeros(shape) if self.linear is None else self.linear.scores(blocks)
        for one in self.equal:
            scores += one.scores(blocks)
        return scores


class Equal:
    """Likelihood ratio of agreement on an attribute, from its frequency among known partners."""

    def __init__(self, mine: FloatArray, theirs: FloatArray, known: IndexArray, partner: IndexArray) -> None:
        codes = pd.factorize(np.concatenate((mine, theirs)))[0]
        self.mine, self.theirs = codes[: mine.size], codes[mine.size :]
        self.there = (self.theirs >= 0).astype(np.float64)
        both = (self.mine[known] >= 0) & (self.theirs[partner] >= 0)
        many, same = both.sum(), (both & (self.mine[known] == self.theirs[partner])).sum()
        self.share = float(same / max(1, many))
        often = np.bincount(codes[codes >= 0], minlength=codes.max(initial=0) + 1)[self.mine]
        chance = (often + 0.5) / ((codes >= 0).sum() + 1.0)
        # What differs for none of the known ones is next to impossible.
        ratios = (same + 0.5) / (many + 1.0) / chance, (many - same + _NEVER) / (many + 1.0) / (1.0 - chance)
        self.agree, self.differ = (np.where(self.mine < 0, 0.0, np.log(ratio)) for ratio in ratios)

    def scores(self, blocks: IndexArray) -> FloatArray:
        """Compute its log likelihood ratios of some blocks and all candidates."""
        same = self.mine[blocks][:, None] == self.theirs
        agree, differ = (each[blocks][:, None] for each in (self.agree, self.differ))
        return np.asarray(np.where(same, agree, differ) * self.there)


@dataclass(frozen=True, eq=False)
class _Linear:
    """Regression of candidates on queries, in coordinates with independent errors."""

    expected: FloatArray  # (blocks or candidates, coordinates): of partners, and found; variance 1
    found: FloatArray
    left: FloatArray  # (coordinates,): which part of the variance the regression leaves

    @property
    def information(self) -> float:
        """Information of queries on their partners, invariant under scaling of columns."""
        return -float(np.log(self.left).sum())

    def scores(self, blocks: IndexArray) -> FloatArray:
        """Compute log densities of candidates as partners, relative to those among all."""
        own = self.expected[blocks]
        scores: FloatArray = (own / self.left) @ self.found.T
        scores -= 0.5 * (self.found**2 @ (1.0 / self.left - 1.0))
        scores -= 0.5 * (own**2 @ (1.0 / self.left))[:, None]
        return scores


def _regression(
    sides: Sides, same: Sequence[bool], known: tuple[IndexArray, IndexArray], scale: _Scale | None
) -> _Linear | None:
    """Fit the regression of masked numbers and one-sided attributes; None with too few known partners."""
    coded = sides.coded
    most = (known[0].size // _EACH - len(coded) - sides.only[0].shape[1]) // max(1, sum(coded))
    own, others, *only = sides.scaled[scale]
    first, _ = traits(own, others, coded, max(0, min(most, _CATEGORIES)))
    rest = [at for at, one in enumerate(same) if not one]
    _, second = traits(own[:, rest], others[:, rest], [coded[at] for at in rest], _CATEGORIES)
    queries, candidates = (np.column_stack(both) for both in zip((first, second), only, strict=True))
    if 0 in (queries.shape[1], candidates.shape[1]) or known[0].size < _EACH * queries.shape[1]:
        return None
    return _fitted(queries, candidates, *known)


def _scaled(values: FloatArray, scale: _Scale | None) -> FloatArray:
    """Standardise columns, missing values at the mean; constants become 0."""
    scaled = np.zeros_like(values)
    for at, column in enumerate(values.T):
        if np.isnan(column).all():
            continue
        if scale is not None and (scale is not np.log or np.nanmin(column) > 0.0):
            column = scale(column)
        if (spread := np.nanstd(column)) > 0.0:
            scaled[:, at] = np.nan_to_num((column - np.nanmean(column)) / spread)
    return scaled


def _fitted(queries: FloatArray, candidates: FloatArray, known: IndexArray, partner: IndexArray) -> _Linear:
    """Fit least squares, in directions with independent errors (canonical correlations)."""
    mine, theirs = queries[known].mean(axis=0), candidates[partner].mean(axis=0)
    own, other = queries[known] - mine, candidates[partner] - theirs
    sizes, axes = np.linalg.eigh(own.T @ own)
    kept = sizes > _COLLINEAR * sizes[-1]
    axes = axes[:, kept] / np.sqrt(sizes[kept])
    slope = axes @ (axes.T @ (own.T @ other))
    rest = other - own @ slope
    errors = rest.T @ rest / max(1, known.size - 1 - int(kept.sum()))
    spread, directions = np.linalg.eigh(np.atleast_2d(np.cov(candidates.T, ddof=0)))
    kept = spread > _EXACT * spread[-1]
    white = directions[:, kept] / np.sqrt(spread[kept])
    left, turned = np.linalg.eigh(white.T @ errors @ white)
    axes = white @ turned
    expected, found = (queries - mine) @ slope @ axes, (candidates - theirs) @ axes
    return _Linear(expected, found, np.clip(left, _EXACT, 1.0))


def by_members(
    problem: Problem, beside: Both, homes: tuple[IndexArray, IndexArray], seed: int, stop: Callable[[], bool]
) -> FloatArray | None:
    """Link by households of the originals and the masked records, numbered from 0."""
    pair = problem.pair
    turned = Direction(problem.options.direction) is Direction.MASKED_TO_ORIGINAL
    mine, theirs = homes[::-1] if turned else homes
    households = _Households(mine[pair.query_rows], theirs, pair.partner)
    sides = Sides.of(problem.files, beside, pair.query_rows, turned=turned)
    alike, linked = sides.alike, np.zeros(pair.blocks)
    for known, attacked in folds(households.count, seed):
        blocks = households.members(known)
        model = Model(sides, blocks, pair.partner[blocks])
        sizes = Equal(*households.sizes, known, households.partner[known])
        for some in households.parts(attacked, max(1, _CELLS_AT_ONCE // len(pair.candidates))):
            if stop():
                return None
            rows = households.members(some)
            scores = model.scores(rows)
            chance = households.found(some, rows, scores, sizes)
            for place, home in zip(*_placed(households.mine[rows], some, chance), strict=True):
                among = households.inside(households.partner[home])
                partner = pair.partner[rows[place]]
                right = _eliminated(scores[np.ix_(place, among)], alike[among], alike[partner])
                linked[rows[place]] = chance[some == home] * right * np.isin(partner, among)
    return linked


def _placed(mine: IndexArray, some: IndexArray, chance: FloatArray) -> tuple[list[IndexArray], list[int]]:
    """List households that can be linked, and the positions of their members."""
    found = some[chance > 0.0]
    return [np.flatnonzero(mine == home) for home in found], found.tolist()


def _eliminated(scores: FloatArray, alike: IndexArray, partner: IndexArray) -> FloatArray:
    """Compute chances of partners in the likeliest assignment of members, with ties broken at random."""
    rows, columns = linear_sum_assignment(np.maximum(scores, _ODD), maximize=True)
    given = np.full(len(scores), -1, dtype=np.intp)
    given[rows] = alike[columns]
    many = (alike == partner[:, None]).sum(axis=1)
    return np.asarray((given == partner) / np.maximum(many, 1))


class _Households:
    """Households of blocks and of candidates, with sizes and labels of equal ones."""

    def __init__(self, mine: IndexArray, theirs: IndexArray, partner: IndexArray) -> None:
        _, first, self.mine = np.unique(mine, return_index=True, return_inverse=True)
        self.count = int(self.mine.max()) + 1
        self.partner = theirs[partner[first]]
        self._order = np.argsort(theirs, kind="stable")
        sizes = np.bincount(theirs)
        self._first = np.r_[0, np.cumsum(sizes)]
        self.sizes = np.bincount(self.mine).astype(np.float64), sizes.astype(np.float64)
        self._own = np.argsort(self.mine, kind="stable")
        self._own_first = np.r_[0, np.cumsum(np.bincount(self.mine))]

    def members(self, homes: IndexArray) -> IndexArray:
        """List the blocks of some households, household by household."""
        pieces = [self._own[self._own_first[home] : self._own_first[home + 1]] for home in homes]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.intp)

    def inside(self, home: int) -> IndexArray:
        """List the candidates of a household."""
        return self._order[self._first[home] : self._first[home + 1]]

    def parts(self, homes: IndexArray, most: int) -> Iterator[IndexArray]:
        """Split households into batches of so many members, or one household."""
        number = np.cumsum(self.sizes[0][homes]) // most
        yield from np.split(homes, np.flatnonzero(np.diff(number)) + 1)

    def found(self, homes: IndexArray, rows: IndexArray, scores: FloatArray, sizes: Equal) -> FloatArray:
        """Compute chances that households are linked correctly, with ties broken at random."""
        most = scores.max(axis=1, keepdims=True)
        ratios = np.exp(scores - most)[:, self._order]
        with np.errstate(divide="ignore"):
            together = np.log(np.add.reduceat(ratios, self._first[:-1], axis=1) / self.sizes[1]) + most
        together = np.logaddexp(together, _ODD)
        starts = np.r_[0, np.flatnonzero(np.diff(self.mine[rows])) + 1]
        each = np.add.reduceat(together, starts, axis=0) + sizes.scores(homes)
        best = each >= each.max(axis=1, keepdims=True) - _SAME
        own = best[np.arange(len(homes)), self.partner[homes]]
        return np.asarray(own / best.sum(axis=1))
