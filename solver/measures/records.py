"""Measure risk by record: ranks, margins and attribute contributions under each attack, by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.names import code_in_words, group_in_words, names_in_words
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, Role
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.formulations.linkage.forms import DistanceForm, FormKind
from linkrisk.formulations.linkage.pair import Direction, LinkagePair, Ties
from linkrisk.formulations.linkage.rows import lost_blocks
from linkrisk.solver.inputs.problem import shares
from linkrisk.solver.linkage.baselines import baseline_forms
from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.linkage.lexicographic import best_order
from linkrisk.solver.linkage.records_table import MOST_ROWS
from linkrisk.solver.measures.base import OF_WEIGHTS, Finding, Measure, MeasureResult, Unit, Worse, jsonable
from linkrisk.solver.measures.task import RiskTask, portion
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import count, percent

_ROWS_AT_ONCE = 20_000
"""Rows compared at a time for equal attribute distances."""


def contributions(form: DistanceForm, c: FloatArray) -> FloatArray:
    """Split the distance into additive contributions of attributes.

    `form`: a distance d. `c` (rows, attributes): attribute distances. Returns shape (rows, attributes): non-
    negative, but for a quadratic form with terms that cancel.

    Every d here is homogeneous, ``d(t c) = t**r d(c)`` with r = 1, or 2 for a quadratic form, so by Euler's
    theorem ``d = 1/r sum_k c_k dd/dc_k``, and the k-th term is the part of attribute k:

    - weighted mean: ``p_k c_k``;
    - OWA: ``p_r c_k``, where r is the rank of ``c_k``;
    - Choquet: ``c_(i) (mu(A_(i)) - mu(A_(i+1)))``, the increments ``(c_(i) - c_(i-1)) mu(A_(i))`` summed by
      parts (Grabisch 1996, Eq. 4), where ``A_(i)`` are the attributes from rank i upwards;
    - 2-additive: ``p_kk c_k`` and what ``p_kl min(c_k, c_l)`` gives to the smaller of the two;
    - quadratic: ``z_k (M z)_k``.

    Of equal attribute distances, among which the derivative is not unique, each gets the mean of theirs.
    """
    parts = np.empty(c.shape)
    for first in range(0, len(c), _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        parts[some] = _PARTS[form.kind](c[some], form.parameters)
    return parts


def _ordered_sum(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(-c, axis=1, kind="stable")
    return _even(_back(-np.sort(-c, axis=1) * p, order), c)


def _choquet(c: FloatArray, p: FloatArray) -> FloatArray:
    order = np.argsort(c, axis=1, kind="stable")
    above = np.cumsum(np.left_shift(1, order)[:, ::-1], axis=1)[:, ::-1]
    worth = p[above]
    steps = worth - np.hstack([worth[:, 1:], np.zeros((len(c), 1))])
    return _even(_back(np.take_along_axis(c, order, axis=1) * steps, order), c)


def _pairwise(c: FloatArray, p: FloatArray) -> FloatArray:
    parts = c * np.diag(p)
    for k, row in enumerate(p):
        for other in range(k + 1, len(p)):
            least = row[other] * np.minimum(c[:, k], c[:, other])
            share = np.where(c[:, k] == c[:, other], 0.5, c[:, k] < c[:, other])
            parts[:, k] += share * least
            parts[:, other] += (1.0 - share) * least
    return parts


def _back(values: FloatArray, order: NDArray[np.intp]) -> FloatArray:
    parts = np.empty_like(values)
    np.put_along_axis(parts, order, values, axis=1)
    return parts


def _even(parts: FloatArray, c: FloatArray) -> FloatArray:
    """Give equal attribute distances of a row equal contributions."""
    same = c[:, :, None] == c[:, None, :]
    return np.asarray((same * parts[:, None, :]).sum(axis=2) / same.sum(axis=2))


_PARTS: Mapping[FormKind, Callable[[FloatArray, FloatArray], FloatArray]] = {
    FormKind.WEIGHTED_SUM: lambda c, p: c * p,
    FormKind.ORDERED_SUM: _ordered_sum,
    FormKind.CHOQUET: _choquet,
    FormKind.PAIRWISE: _pairwise,
    FormKind.QUADRATIC: lambda c, p: (c @ p) * c,
}


TIMES = 1.1
"""Ratio to the partner's distance up to which a rival is near."""


def near_rivals(pair: LinkagePair, form: DistanceForm, stop: Callable[[], bool]) -> FloatArray:
    """Count rivals within `TIMES` of the partner, (blocks,); NaN if impossible or out of time.

    Neither the partner nor, with shared ties, its twins are counted.
    """
    factor = in_units_of(form, TIMES)
    label = pair.twin_group if pair.ties is Ties.SHARE else np.arange(len(pair.candidates))
    candidates = np.arange(len(pair.candidates))
    counts = np.full(pair.blocks, np.nan)
    for part, distances in pair.chunks(form.differences, megabytes=16.0):
        if stop():
            break
        blocks = np.arange(pair.blocks)[part]
        found = form(distances)
        own = found[np.arange(blocks.size), pair.partner[blocks]]
        rival = label[None, :] != label[pair.partner[blocks]][:, None]
        rival &= pair.possible(blocks[:, None], candidates)
        # Not more than rounding beyond, so that what ties with the partner is near whatever the factor.
        counts[blocks] = (rival & (found <= factor * own[:, None] * (1.0 + 1e-12))).sum(axis=1)
    return np.where(pair.reachable, counts, np.nan)


def in_units_of(form: DistanceForm, times: float) -> float:
    """Convert a ratio of distances to one of the form's values, which are squares for some."""
    squares = form.differences is Differences.SQUARED or form.kind is FormKind.QUADRATIC
    return times**2 if squares else times


BASELINES = {"euclid": "equal-weights", "mahalanobis": "classical-mahalanobis"}
"""Names of the baselines."""


@dataclass(frozen=True, eq=False)
class AttackOnRecords:
    """Records under one attack; all arrays have shape (blocks,), or (blocks, attributes)."""

    attack: str  # a family; ``equal-weights``; or ``classical-mahalanobis``
    attributes: tuple[str, ...]
    reachable: BoolArray  # whether the partner is possible at all
    settled: BoolArray  # whether there was time for the record; else it counts as not linked
    linked: BoolArray  # the partner is strictly nearer than every rival
    rank: IndexArray  # 1 + number of rivals strictly nearer than the partner; 0 where that is not known
    ties: IndexArray  # rivals exactly as near as the partner. Fewer are worse
    margin: FloatArray  # distance to the nearest rival minus that to the partner; higher is better
    near: FloatArray  # rivals hardly farther than the partner, or nearer (`near_rivals`). Fewer are worse
    to_partner: FloatArray  # contributions of attributes to the distance; NaN without one
    to_rival: FloatArray

    @property
    def apart(self) -> dict[str, float] | None:
        """Share of each attribute in the margins of linked records; None if none is linked."""
        gaps = (self.to_rival - self.to_partner)[self.linked]
        gaps = gaps[~np.isnan(gaps).any(axis=1)].sum(axis=0)
        if not gaps.size or gaps.sum() <= 0.0:
            return None
        return dict(zip(self.attributes, (gaps / gaps.sum()).tolist(), strict=True))

    def to_frame(self, record: Sequence[str]) -> pd.DataFrame:
        """One row per record and attribute: record, attack, attribute, to_partner, to_rival."""
        count = len(self.attributes)
        return pd.DataFrame(
            {
                "record": np.repeat(np.array(record, dtype=object), count),
                "attack": self.attack,
                "attribute": list(self.attributes) * len(record),
                "to_partner": self.to_partner.ravel(),
                "to_rival": self.to_rival.ravel(),
            }
        )


def attacks_of(task: RiskTask, clock: Clock) -> Iterator[tuple[str, DistanceForm, Evaluation]]:
    """List the learned attacks, the one that links most first, and the baselines."""
    learned = task.attacks
    for name in sorted(learned, key=lambda name: -learned[name].evaluation.linked_weight):
        attack = learned[name]
        yield name, attack.problem.aggregator.form(attack.theta), attack.evaluation
    for name, form in baseline_forms(task.first.pair).items():
        yield BASELINES[name], form, task.baseline(name, clock)


def attack_on_records(
    pair: LinkagePair, name: str, form: DistanceForm, found: Evaluation, near: FloatArray
) -> AttackOnRecords:
    """Build the records of an attack from its evaluation."""
    blocks = np.arange(pair.blocks)
    sides = (pair.partner, found.rival)
    parts = [contributions(form, pair.distances(blocks, of, form.differences)) for of in sides]
    parts[0][~pair.reachable] = np.nan
    parts[1][found.rival < 0] = np.nan
    finite = np.isfinite(found.margin)
    return AttackOnRecords(
        attack=name,
        attributes=pair.attributes,
        reachable=pair.reachable,
        settled=found.settled,
        linked=found.linked,
        rank=found.rank,
        ties=found.ties,
        margin=np.where(finite, found.margin, np.nan),
        near=near,
        to_partner=parts[0],
        to_rival=parts[1],
    )


def out_of_reach(task: RiskTask, stop: Callable[[], bool]) -> dict[str, BoolArray]:
    """For each family mark the records that a single rival dominates, for all parameters.

    Without those that comparing attributes, or ranks, one after another links: parameters come as near to
    that as doubles allow (see `search_state.beside_orders`).
    """
    pair, names = task.first.pair, task.worst.results
    lost = {name: lost_blocks(pair, task.problems[name].aggregator, stop) for name in names}
    if not any(one.any() for one in lost.values()):
        return lost
    in_order = np.zeros(task.records, dtype=np.bool_)
    for ranked in (False, True):
        in_order |= best_order(pair, stop, ranked=ranked).linked
    return {name: one & ~in_order for name, one in lost.items()}


MOST_CATEGORIES = 12
"""Categories of a column; the rarest beyond are merged."""

OTHERS = "all others"
MISSING = "missing"


@dataclass(frozen=True)
class Group:
    """Records of one category."""

    column: str
    category: str
    records: int
    linked: int  # by the worst attack; expected where equal candidates are guessed among
    by_any: int  # by any of the attacks
    population: float  # what the records stand for: the sum of their sampling weights
    share: float  # linked of these, weighted; a count of this file, not an estimate
    title: str = ""  # column and category in words, where the file or a schema has labels; else empty
    said: str = ""

    @property
    def words(self) -> str:
        """Format column and category, with labels where there are any."""
        if not (self.title or self.said):
            return f"{self.column} {self.category}"
        return ": ".join(group_in_words(vars(self)))


def group_columns(task: RiskTask) -> tuple[str, ...]:
    """List the columns to group by: requested ones, or keys and strata of the schema.

    Numeric keys are left out, unless they are requested or have few values. Without a schema, texts
    and attributes that are compared as categories. Never what leads to persons.
    """
    original, schema, asked = task.files.original, task.schema, task.choices.groups
    if asked is not None:
        return asked
    if schema is None:
        texts = [str(name) for name in original.columns if not pd.api.types.is_numeric_dtype(original[name])]
        often = [name for name in texts if original[name].nunique() <= len(original) / 2]
        return tuple(dict.fromkeys([*task.files.categorical, *often]))
    found = list(task.columns(Role.STRATUM))
    for name in task.columns(Role.KEY):
        scales = {one.scale for one in schema.attributes if one.name == name}
        few = original[name].nunique() <= min(MOST_CATEGORIES, len(original) / 2)
        if few or scales & CATEGORICAL or not pd.api.types.is_numeric_dtype(original[name]):
            found.append(name)
    hidden = {name for role in NAMES_RECORDS for name in task.columns(role)}
    return tuple(name for name in dict.fromkeys(found) if name not in hidden)


def groups(task: RiskTask, columns: Sequence[str], linked: BoolArray, by_any: BoolArray) -> tuple[Group, ...]:
    """Count links by category of each column of the original file, the most frequent first."""
    pair, problem = task.first.pair, task.first
    original = Direction(problem.options.direction) is Direction.ORIGINAL_TO_MASKED
    weight = np.ones(pair.blocks) if problem.survey.weight is None else problem.survey.weight
    rows = pair.query_rows if original else pair.partner
    worth = shares(problem)
    found: list[Group] = []
    labels = task.files.labels
    titles = dict(zip(columns, names_in_words(columns, labels), strict=True))
    for name in columns:
        category = shown_categories(task.files.original[name].iloc[rows])
        for each in category.value_counts(sort=True).index:
            of = (category == each).to_numpy()
            right, right_by_any = (round(float(worth[of & way].sum())) for way in (linked, by_any))
            stands_for = float(weight[of].sum())
            share = float((weight * worth)[of & linked].sum()) / stands_for
            words = (titles[name], code_in_words(name, str(each), labels)) if name in labels else ("", "")
            counts = int(of.sum()), right, right_by_any
            found.append(Group(name, str(each), *counts, stands_for, share, *words))
    return tuple(found)


def shown_categories(values: pd.Series) -> pd.Series:
    """Format categories, with names for missing and for rare ones."""
    missing = values.isna().to_numpy()
    numbers = pd.api.types.is_float_dtype(values) and bool((values[~missing] % 1 == 0).all())
    texts = (values[~missing].astype("int64") if numbers else values[~missing]).astype(str)
    counts = texts.value_counts()
    kept = set(counts.index if len(counts) <= MOST_CATEGORIES else counts.index[: MOST_CATEGORIES - 1])
    shown = np.full(len(values), MISSING, dtype=object)
    shown[~missing] = [text if text in kept else OTHERS for text in texts]
    return pd.Series(shown)


_MOST_PARTS = 2_000
"""Records up to which the JSON has the contributions of all."""

_LEAST_GROUP = 10
"""Minimum size of a group reported as the worst."""


@dataclass(frozen=True, eq=False, repr=False)
class RecordsAtRisk(MeasureResult):
    """Risk of every record under all attacks."""

    measure: ClassVar[str] = "records"
    record: tuple[str, ...]  # what the records are called
    attacks: tuple[AttackOnRecords, ...]  # learned distances, the worst first, then baselines
    out_of_reach: dict[str, BoolArray]  # (blocks,): of each family, provably never linked
    groups: tuple[Group, ...]  # risk by category of columns of the original file
    weight: FloatArray | None = None  # (blocks,): sampling weights, which shares are of
    worth: FloatArray | None = None  # (blocks,): chance of a link among equal candidates
    near_times: float = TIMES  # a rival is near when it is at most so many times as far as the partner

    @property
    def linked_by(self) -> NDArray[np.intp]:
        """Number of attacks that link each record, shape (blocks,)."""
        return np.asarray(np.sum([attack.linked for attack in self.attacks], axis=0, dtype=np.intp))

    @property
    def never(self) -> BoolArray:
        """Mark records that provably no parameters of any of the families link."""
        return np.asarray(np.logical_and.reduce(list(self.out_of_reach.values())))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report records by the number of attacks that link them, hidden ones, and the worst group."""
        by, worst = self.linked_by, self.attacks[0]
        hidden, every = ~worst.linked & (worst.near >= 2), by == len(self.attacks)
        found = [
            Finding("linked_by_any", "re-identified by any of these attacks", self._linked_share(by > 0)),
            Finding("linked_by_all", "by all of them", self._linked_share(every)),
            Finding(
                "out_of_reach", "provably by no parameters of any family", self._share(self.never),
                worse=Worse.LOWER,
            ),
        ]  # fmt: skip
        if not np.isnan(worst.near).any():
            words = f"not by {worst.attack}, and two near rivals"
            found.append(Finding("hidden", words, self._share(hidden), Unit.SHARE, Worse.LOWER))
        if (group := self._worst_group()) is not None:
            words = f"worst group, {group.words}"[:42]
            found.append(Finding("worst_group", words, group.share))
        return tuple(found)

    def _share(self, these: BoolArray) -> float:
        """Compute the share of some records, by sampling weight where there are any."""
        return float(np.average(these, weights=self.weight))

    def _right(self, linked: BoolArray) -> FloatArray:
        """Compute the probability that each record's link is correct."""
        return linked.astype(np.float64) if self.worth is None else linked * self.worth

    def _linked_share(self, linked: BoolArray) -> float:
        """Compute the share of links, those to one of several equal candidates by their probability."""
        return float(np.average(self._right(linked), weights=self.weight))

    def _worst_group(self) -> Group | None:
        large = [
            one
            for one in self.groups
            if one.records >= _LEAST_GROUP and one.category != OTHERS and one.linked
        ]
        return max(large, key=lambda group: group.share, default=None)

    @property
    def paragraph(self) -> str:
        """Report how many attacks agree, and which attributes lead to the records."""
        by, total, worst = self.linked_by, len(self.record), self.attacks[0]
        any_of, all_of = (
            count(round(float(self._right(linked).sum()), 2)) for linked in (by > 0, by == len(self.attacks))
        )
        lots = "" if self.worth is None else ", expected where equal candidates are guessed among"
        text = (
            f"{any_of} of {total:,} records are re-identified by at least one of {len(self.attacks)} attacks "
            f"and {all_of} by all of them{lots}; {int(self.never.sum()):,} provably by no parameters of any "
            "family."
        )
        if (group := self._worst_group()) is not None:
            of = "" if self.weight is None else " of what they stand for"
            text += (
                f" The worst group is {group.words}: {group.linked:,} of {group.records:,} records"
                f" ({percent(group.share)}{of})."
            )
        apart = worst.apart
        if apart is None:
            return text
        most = max(apart, key=lambda name: apart[name])
        return (
            f"{text} What tells records apart most is {most} ({100.0 * apart[most]:.0f} %, {worst.attack})."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note what is not listed or was not counted."""
        notes = []
        if len(self.record) > MOST_ROWS:
            notes.append(f"records: more than {MOST_ROWS:,} records are not listed in the JSON")
        elif len(self.record) > _MOST_PARTS:
            notes.append(
                f"records: of more than {_MOST_PARTS:,} the parts of distances are not in the JSON, but in "
                "`to_contributions`"
            )
        if cut := [attack.attack for attack in self.attacks if not attack.settled.all()]:
            notes.append(
                f"records: there was no time to look at all of them under {', '.join(cut)}; the others count "
                "as not re-identified"
            )
        if any(np.isnan(attack.near[attack.reachable]).any() for attack in self.attacks):
            notes.append("records: there was no time to count all near rivals")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """The JSON as a dictionary; of many records without long lists."""
        if len(self.record) <= _MOST_PARTS:
            return super().to_dict()
        nothing = np.empty((0, len(self.attacks[0].attributes)))
        shorter = [replace(attack, to_partner=nothing, to_rival=nothing) for attack in self.attacks]
        if len(self.record) <= MOST_ROWS:
            return super(RecordsAtRisk, replace(self, attacks=tuple(shorter))).to_dict()
        return {
            "findings": [jsonable(finding) for finding in self.findings],
            "groups": jsonable(self.groups),
            "near_times": self.near_times,
            "notes": list(self.notes),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per record: attacks that link it, whether none can, and columns of each attack."""
        columns: dict[str, Any] = {
            "record": list(self.record), "linked_by": self.linked_by, "never": self.never
        }  # fmt: skip
        for attack in self.attacks:
            for what in ("linked", "rank", "margin", "ties", "near"):
                columns[f"{what}_{attack.attack}"] = getattr(attack, what)
        return pd.DataFrame(columns)

    def to_groups(self) -> pd.DataFrame:
        """One row per category, as `Group` describes its columns."""
        return pd.DataFrame([vars(group) for group in self.groups], columns=list(Group.__annotations__))

    def to_contributions(self) -> pd.DataFrame:
        """One row per record, attack and attribute: record, attack, attribute, to_partner, to_rival."""
        return pd.concat([attack.to_frame(self.record) for attack in self.attacks], ignore_index=True)


class Records(Measure):
    """Evaluates every record under every attack, by requested groups or those of the schema."""

    name: ClassVar[str] = "records"
    title: ClassVar[str] = "Which records"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 2.0

    def take(self, task: RiskTask, clock: Clock) -> RecordsAtRisk:
        """Evaluate every record under every attack."""
        pair = task.first.pair
        counted = list(attacks_of(task, clock))
        beyond = out_of_reach(task, lambda: clock.expired)
        attacks = []
        for at, (name, form, evaluation) in enumerate(counted):  # last what compares every pair
            near = _near(pair, form, clock, len(counted) - at)
            attacks.append(attack_on_records(pair, name, form, evaluation, near))
        by_any = np.logical_or.reduce([attack.linked for attack in attacks])
        return RecordsAtRisk(
            tuple(task.first.labels),
            tuple(attacks),
            beyond,
            groups(task, group_columns(task), attacks[0].linked, by_any),
            task.first.survey.weight,
            None if np.allclose(worth := shares(task.first), 1.0) else worth,
        )


def _near(pair: LinkagePair, form: DistanceForm, clock: Clock, left: int) -> FloatArray:
    """Count near rivals under one attack, in its share of the remaining time."""
    part = portion(clock, 1.0 / left)
    return near_rivals(pair, form, lambda: part.expired)
