"""Search the worst case of each release with the earlier ones, and intersect candidates over releases.

Where releases cannot be aligned, an intruder looks for a person in every release and keeps the candidates
that are not much farther than the nearest. What distinguishes candidates beside what is compared, such
as confidential values that no masking changed, must agree in all releases: he intersects (004, section 2.2;
Stokes and Torra 2012; Ganta, Kasiviswanathan and Smith 2008).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.several_files import same_files, side_by_side
from linkrisk.formulations.linkage.aggregators import Aggregator
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.forms import DistanceForm
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import problem_of
from linkrisk.solver.inputs.releases import Releases
from linkrisk.solver.measures.attributes import contained
from linkrisk.solver.measures.records import in_units_of
from linkrisk.solver.measures.task import RiskTask, parameters_of, portion
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import noted
from linkrisk.solver.run.limits import no_time
from linkrisk.solver.schemas.intervals import is_bound
from linkrisk.solver.worst_case.families import family_problems, search_families
from linkrisk.solver.worst_case.result import Family, FamilyFit
from linkrisk.solver.worst_case.search import Start


def embedded(
    smaller: Aggregator, larger: Aggregator, positions: Sequence[int], theta: FloatArray
) -> FloatArray | None:
    """Embed a distance in a family with more attributes; None for an OWA, whose ranks would change.

    A weighted mean gives the others weight zero, a quadratic form rows and columns of zeros, and a measure
    counts of every set the members that there were before. `positions`: of the attributes in the larger one.
    """
    m, at = len(larger.attributes), np.asarray(positions, dtype=np.intp)
    if type(smaller) is not type(larger):
        return None
    if isinstance(larger, WeightedMean):
        weights = np.zeros(m)
        weights[at] = theta
        return weights
    if isinstance(smaller, Mahalanobis) and isinstance(larger, Mahalanobis):
        matrix = np.zeros((m, m))
        matrix[np.ix_(at, at)] = smaller.domain.matrix(theta)
        return larger.domain.theta(matrix)
    if type(larger) is Choquet:
        sets = np.arange(1, 2**m)
        before = sum(((sets >> position) & 1) << k for k, position in enumerate(at.tolist()))
        return np.asarray(np.concatenate([[0.0], theta])[before])
    return None


@dataclass(frozen=True, eq=False)
class Stage:
    """The releases available at one time, and their worst cases."""

    number: int  # how many releases there are by then: that of the last one, from 1
    members: tuple[int, ...]  # attacked together: the last release, and those aligned with it
    files: FilePair  # of these, side by side
    problems: Mapping[str, Problem]  # of every family that was searched
    families: tuple[Family, ...]  # results, or why there are none; shared by stages of the same files

    @property
    def results(self) -> dict[str, FamilyFit]:
        """Of the families that have one."""
        return {family.aggregator: family.result for family in self.families if family.result is not None}


def searched_stages(task: RiskTask, releases: Releases, clock: Clock) -> list[Stage]:
    """Search every stage, from the attacks of earlier ones; equal stages once."""
    number = len(releases.files)
    last = Stage(number, (number,), task.files, task.problems, task.worst.families)
    known, stages = [last], []
    groups = [releases.group(number) for number in range(1, number + 1)]
    all_files = [side_by_side(releases.of(group), group) for group in groups]
    left = sum(not _among(files, [last.files, *all_files[:at]]) for at, files in enumerate(all_files))
    for number, files in enumerate(all_files, start=1):
        same = next((stage for stage in known if same_files(stage.files, files)), None)
        if same is not None:
            stages.append(Stage(number, releases.group(number), files, same.problems, same.families))
            continue
        part = portion(clock, 1.0 / max(left, 1))
        stage = _searched(task, releases, number, files, known, part)
        left -= 1
        known.append(stage)
        stages.append(stage)
    return stages


def _among(files: FilePair, others: Sequence[FilePair]) -> bool:
    return any(same_files(files, other) for other in others)


def _searched(
    task: RiskTask, releases: Releases, number: int, files: FilePair, known: Sequence[Stage], clock: Clock
) -> Stage:
    """Search the worst cases of one stage, or give the reason why there is none."""
    names, members = [family.aggregator for family in task.worst.families], releases.group(number)
    if clock.expired:
        return Stage(
            number, members, files, {}, tuple(Family(name, None, no_time("search")) for name in names)
        )
    try:
        first = problem_of(files, task.first.options)
        found = family_problems(first, names, releases.options)
        problems = {name: problem for name, problem in found.items() if isinstance(problem, Problem)}
        starts = {name: list(_starts(problem, known)) for name, problem in problems.items()}
        families = search_families(first, found, task.request, clock, starts).families
    except Exception as error:  # the other stages go on
        why = noted(error)
        return Stage(number, members, files, {}, tuple(Family(name, None, why) for name in names))
    return Stage(number, members, files, problems, families)


def latest(stages: Sequence[Stage], number: int) -> list[Stage]:
    """List the last stage by then of every group of releases that can be aligned."""
    found = {stage.members[0]: stage for stage in stages if stage.number <= number}
    return list(found.values())


def _starts(problem: Problem, known: Sequence[Stage]) -> Iterator[Start]:
    """Lift the attacks of other stages to this problem, where it contains them."""
    name = problem.aggregator.name
    for at, stage in enumerate(known):
        result, smaller = stage.results.get(name), stage.problems.get(name)
        if result is None or smaller is None:
            continue
        # The first is the last release by itself, whose attributes have its number beside those of others.
        number = f" (release {stage.number})" if at == 0 else ""
        positions = _positions(smaller.files.attributes, problem.files.attributes, number)
        if positions is None:
            continue
        theta = embedded(smaller.aggregator, problem.aggregator, positions, parameters_of(smaller, result))
        if theta is not None:
            linked = dict(zip(result.table.record.tolist(), result.table.linked.tolist(), strict=True))
            yield Start(
                theta, np.array([linked.get(label, False) for label in problem.labels], dtype=np.bool_)
            )


def _positions(smaller: Sequence[str], larger: Sequence[str], number: str) -> list[int] | None:
    """Find the positions of attributes among others, numeric or not; None where one is absent."""
    found = [f"{name}{number}" if f"{name}{number}" in larger else name for name in smaller]
    return [larger.index(name) for name in found] if set(found) <= set(larger) else None


WIDTHS = (1.0, 1.1, 1.5, 2.0, 3.0)
"""Ratios to the nearest distance up to which a candidate is kept, chosen by the intruder."""

_MEGABYTES = 16.0
_ROUNDING = 1e-12
"""Rounding tolerance, relative to a distance and in deviations."""


@dataclass(frozen=True, eq=False)
class SearchedRelease:
    """One release and the intruder's distance for it."""

    pair: LinkagePair  # its blocks are the persons, the same ones in the same order in all releases
    form: DistanceForm
    mark: IndexArray  # (candidates,): from 0, comparable between releases


@dataclass(frozen=True, eq=False)
class Intersections:
    """Remaining candidates after each release; all arrays have shape (widths, releases, persons)."""

    size: FloatArray  # marks that candidates of all releases up to this one have; NaN where there was no time
    holds: BoolArray  # whether the person's own mark is among them


def marks(groups: Sequence[Sequence[FilePair]], confidential: Sequence[str]) -> list[IndexArray]:
    """Number the distinguishable masked records of several groups of releases, from 0.

    By the values of confidential columns that no masking changed, in the last release of the group that has
    the person; without any, by the person, as if another released value gave that away.
    """
    found: list[dict[str, object]] = []
    for group in groups:
        found.append({})
        for pair in group:  # persons stay where they first are, as side by side; what is told is the last
            found[-1].update(zip(pair.masked_labels, _keys(pair, confidential), strict=True))
    keys = [key for group in found for key in group.values()]
    numbers: dict[object, int] = {}
    codes = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
    ends = np.cumsum([len(group) for group in found])
    return list(np.split(codes, ends[:-1]))


def _keys(pair: FilePair, confidential: Sequence[str]) -> Sequence[object]:
    """List the confidential values of every masked record, or its identity."""
    if not confidential:
        return pair.masked_labels
    columns = [pair.masked[name] for name in confidential]
    cells = [["" if pd.isna(cell) else spelled(cell) for cell in column] for column in columns]
    return list(zip(*cells, strict=True))


def intersections(
    releases: Sequence[SearchedRelease], stop: Callable[[], bool], seed: int, widths: Sequence[float] = WIDTHS
) -> Intersections:
    """Intersect every person's candidates over the releases, or groups of releases, by width."""
    persons = releases[0].pair.blocks
    size = np.full((len(widths), len(releases), persons), np.nan)
    holds = np.zeros(size.shape, dtype=np.bool_)
    most = max(release.pair.candidates.nbytes for release in releases)
    at_once = max(1, int(_MEGABYTES * 2**20 / max(most, 1)))
    order = np.random.default_rng(seed).permutation(persons)
    kinds = 1 + max(int(release.mark.max()) for release in releases)
    for begin in range(0, persons, at_once):
        if begin and stop():
            break
        some = order[begin : begin + at_once]
        left = np.ones((len(widths), some.size, kinds), dtype=np.bool_)
        for at, release in enumerate(releases):
            distance, own = _distances(release, some), release.mark[release.pair.partner[some]]
            for w, width in enumerate(widths):
                left[w] &= _marked(_near(distance, release.form, width), release.mark, kinds)
            size[:, at, some] = left.sum(axis=2)
            holds[:, at, some] = left[:, np.arange(some.size), own]
    return Intersections(size, holds)


def _distances(release: SearchedRelease, persons: IndexArray) -> FloatArray:
    """Compute the distances, inf for impossible candidates, shape (persons, candidates)."""
    pair, form = release.pair, release.form
    candidates = np.arange(len(pair.candidates))
    distance = np.maximum(form(pair.distances(persons[:, None], candidates, form.differences)), 0.0)
    distance[~pair.possible(persons[:, None], candidates)] = np.inf
    return np.asarray(distance)


def _near(distance: FloatArray, form: DistanceForm, width: float) -> BoolArray:
    """Find candidates within a ratio of the nearest, shape (persons, candidates)."""
    nearest = distance.min(axis=1, keepdims=True)
    limit = in_units_of(form, width) * nearest * (1.0 + _ROUNDING) + in_units_of(form, _ROUNDING)
    return np.asarray(np.isfinite(distance) & (distance <= limit))


def _marked(near: BoolArray, mark: IndexArray, kinds: int) -> BoolArray:
    """Find the marks of near candidates, shape (persons, kinds)."""
    order = np.argsort(mark, kind="stable")
    present, begins = np.unique(mark[order], return_index=True)
    found = np.zeros((len(near), kinds), dtype=np.bool_)
    found[:, present] = np.logical_or.reduceat(near[:, order], begins, axis=1)
    return found


@dataclass(frozen=True)
class ReleaseRisk:
    """The worst case of one family at one time. Numbers are shares; higher is worse."""

    number: int  # how many releases there are by then
    attacked: str  # the releases that are attacked together, such as ``1+2``
    aggregator: str
    attributes: int  # what is compared, how many records have a partner, and among how many
    records: int
    candidates: int
    low: float | None = None  # the worst case: what is linked, and what none exceeds, or None
    high: float | None = None
    confidence: float | None = None  # of `high`, where samples were searched; None where it is certain
    first_low: float | None = None  # the same of the records of the first release
    first_high: float | None = None
    # by how much more an intruder links than with the first release alone: of the attacks found, at least,
    # and at most. Of releases that cannot be aligned he takes the best group that there is by then
    rise: float | None = None
    rise_low: float | None = None
    rise_high: float | None = None
    reason: str | None = None  # why there is none

    @property
    def bounded(self) -> bool:
        """Whether there is a non-trivial bound."""
        return self.low is not None and self.high is not None and is_bound(self.low, self.high, 1.0)


def release_risks(stages: Sequence[Stage]) -> list[ReleaseRisk]:
    """Compute the risk of all families at all stages."""
    names = [family.aggregator for family in stages[0].families]
    by_family = {name: _of_family(name, stages) for name in names}
    return [by_family[name][at] for at in range(len(stages)) for name in names]


def _of_family(name: str, stages: Sequence[Stage]) -> list[ReleaseRisk]:
    first, rows = stages[0], _carried(name, stages, [_alone(name, stage) for stage in stages])
    rows = [_of_first(name, stage, first, row) for stage, row in zip(stages, rows, strict=True)]
    found = []
    for stage, row in zip(stages, rows, strict=True):
        now = latest(stages, stage.number)
        best = reduce(_best, [rows[one.number - 1] for one in now])
        same = all(one.families is first.families for one in now)
        grown = next(one for one in now if one.members[0] == first.number)
        at_least = 0.0 if grown is first or _grows(name, first, grown) else -1.0
        found.append(_risen(row, rows[0], best, same=same, at_least=at_least))
    return found


def _alone(name: str, stage: Stage) -> ReleaseRisk:
    """Convert the worst case of one stage, without other stages."""
    family = next(family for family in stage.families if family.aggregator == name)
    files, result = stage.files, family.result
    row = ReleaseRisk(
        stage.number,
        "+".join(map(str, stage.members)),
        name,
        len(files.attributes),
        int((files.partner >= 0).sum()),
        len(files.masked),
        reason=family.reason,
    )
    if result is None:
        return row
    low, high = (end / result.total for end in result.interval)
    return replace(row, low=low, high=high, confidence=result.confidence)


def _grows(name: str, before: Stage, after: Stage) -> bool:
    """Whether a later stage contains all distances of a stage, on the same records."""
    problem = after.problems.get(name)
    if problem is None or not contained(problem):
        return False
    sides = [(set(stage.files.original_labels), set(stage.files.masked_labels)) for stage in (before, after)]
    return sides[0] == sides[1]


def _carried(name: str, stages: Sequence[Stage], rows: Sequence[ReleaseRisk]) -> list[ReleaseRisk]:
    """Pass bounds down to contained stages, and attacks up."""
    found = list(rows)
    for later in reversed(stages):
        if len(later.members) < 2:
            continue
        at, earlier = later.members[-2], stages[later.members[-2] - 1]
        before, after = found[at - 1], found[later.number - 1]
        if before.high is None or after.high is None or not _grows(name, earlier, later):
            continue
        if before.confidence is None and after.confidence is None:
            assert before.low is not None
            found[at - 1] = replace(before, high=max(before.low, min(before.high, after.high)))
    return found


def _of_first(name: str, stage: Stage, first: Stage, row: ReleaseRisk) -> ReleaseRisk:
    """Restrict the worst case to the records of the first release: links of the attack, and at most all."""
    result = stage.results.get(name)
    if first.number not in stage.members or result is None or row.low is None or row.high is None:
        return row
    if stage.files.masked_labels == first.files.masked_labels:
        return replace(row, first_low=row.low, first_high=row.high)
    there = set(first.files.masked_labels)  # partners are called the same
    of_first = np.array([label in there for label in result.table.record.tolist()], dtype=np.bool_)
    weight = stage.problems[name].pair.weight * stage.problems[name].survey.unit
    total = float(weight[of_first].sum())
    if total <= 0.0:
        return row
    linked = float(weight[of_first & result.table.linked].sum())
    most = min(row.high * result.total, total)
    return replace(row, first_low=linked / total, first_high=max(linked, most) / total)


def _best(one: ReleaseRisk, other: ReleaseRisk) -> ReleaseRisk:
    """Take the better of two groups; unknown where one is."""
    if one.low is None or other.low is None or one.high is None or other.high is None:
        return one if one.low is None else other
    sure = one.confidence if other.confidence is None else other.confidence
    return replace(other, low=max(one.low, other.low), high=max(one.high, other.high), confidence=sure)


def _risen(
    row: ReleaseRisk, first: ReleaseRisk, last: ReleaseRisk, *, same: bool, at_least: float
) -> ReleaseRisk:
    if first.low is None or first.high is None or last.low is None or last.high is None:
        return row
    if same:
        return replace(row, rise=0.0, rise_low=0.0, rise_high=0.0)
    low, high = max(last.low - first.high, at_least), last.high - first.low
    return replace(row, rise=min(max(last.low - first.low, low), high), rise_low=low, rise_high=high)
