"""Measure the risk added by further releases: the certified rise of the worst case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.several_files import same_files
from linkrisk.errors import called
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.releases import Releases, Way, spelled_groups
from linkrisk.solver.measures.base import (
    OF_WEIGHTS,
    CountedAttack,
    Finding,
    Kind,
    Measure,
    MeasureResult,
    Unit,
    Worse,
)
from linkrisk.solver.measures.release_sequences import (
    WIDTHS,
    ReleaseRisk,
    SearchedRelease,
    Stage,
    intersections,
    latest,
    marks,
    release_risks,
    searched_stages,
)
from linkrisk.solver.measures.task import RiskTask, linked_parts, parameters_of, portion, shares_of
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent

_NO_BOUND = ", and no bound was found in time on how much more"


@dataclass(frozen=True)
class CandidatesLeft:
    """Remaining candidates after intersection, on average over the persons in every release."""

    aggregator: str  # whose learned distances were used, one for each group
    times: float  # candidates that are at most so many times as far as the nearest were kept
    number: int  # groups of releases that were intersected, from the first; of releases apart, each is one
    records: int  # persons that were counted
    candidates: float  # what is left; fewer are worse
    alone: float  # share of persons of whom nothing but the truth is left. Higher is worse
    expected: float  # right guesses when an intruder takes one of what is left at random, as a share
    lost: float  # share of persons of whom the truth is not left
    unweighted: float | None = None  # `expected` as a share of the records, if weighted


@dataclass(frozen=True, eq=False, repr=False)
class ReleasesRisk(MeasureResult):
    """Worst cases of several releases of one file."""

    measure: ClassVar[str] = "releases"
    releases: int
    way: str  # ``together``, ``apart``, or which are attacked together, such as ``1+2,3``
    groups: tuple[tuple[int, ...], ...]  # the same as numbers of releases, from 1
    risks: tuple[ReleaseRisk, ...]  # every family at every time, in shares of its records
    left: tuple[CandidatesLeft, ...]  # where not all are attacked together
    told_by: tuple[str, ...]  # confidential columns that distinguished candidates
    remarks: tuple[str, ...]  # the notes
    unweighted: float | None = None  # most that is linked, as a share of the records

    @property
    def at_worst(self) -> tuple[float, float] | None:
        """Find the worst case of all families and releases, of the worst group; None where none is known."""
        last = {group[-1] for group in self.groups}
        return self._worst_of([risk for risk in self.risks if risk.number in last])

    @property
    def worst_of_any(self) -> tuple[float, float] | None:
        """Find the worst case over subsets too, as an intruder may ignore later releases."""
        return self._worst_of(self.risks)

    def _worst_of(self, risks: Sequence[ReleaseRisk]) -> tuple[float, float] | None:
        """Find the worst of some worst cases; None where none is known."""
        ends = [(risk.low, risk.high) for risk in risks if risk.low is not None and risk.high is not None]
        return (max(low for low, _ in ends), max(high for _, high in ends)) if ends else None

    @property
    def confidence(self) -> float | None:
        """Confidence of the ends, where samples were searched."""
        return next((risk.confidence for risk in self.risks if risk.confidence is not None), None)

    @property
    def counted_attacks(self) -> tuple[CountedAttack, ...]:
        """List attacks: guessing among intersected candidates, and links by distance, in both units."""
        found = []
        if (left := self._worst_left) is not None:
            words = "intersecting candidates"
            found.append(CountedAttack("intersected", words, left.expected, left.unweighted))
        if self.unweighted is not None and self.worst_of_any is not None:
            several = f"{self.releases} releases"
            found.append(CountedAttack("releases", several, self.worst_of_any[0], self.unweighted))
        return tuple(found)

    @property
    def _last(self) -> list[ReleaseRisk]:
        return [risk for risk in self.risks if risk.number == self.releases and risk.rise is not None]

    @property
    def _kind(self) -> Kind:
        sure = all(risk.confidence is None for risk in self.risks)
        return Kind.CERTAIN if sure else Kind.CONFIDENCE

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report all releases, the rise of every family, and the intersection."""
        found = []
        if (ends := self.at_worst) is not None:
            several = f"{self.releases} releases"
            known = {
                Way.TOGETHER.value: f"all {several} together",
                Way.APART.value: f"the worst of {several}",
            }
            words = known.get(self.way, f"the worst of releases {self._spoken}")
            found.append(Finding("all_releases", words, ends[0], low=ends[0], high=ends[1], kind=self._kind))
        if (first := self._worst_of([risk for risk in self.risks if risk.number == 1])) is not None:
            words = "the first release alone"
            alone = Finding("first_release", words, first[0], low=first[0], high=first[1], kind=self._kind)
            found.insert(0, alone)
        for risk in self._last:
            key, words = (
                f"rise_{risk.aggregator.replace('-', '_')}",
                f"rise since the first, {risk.aggregator}",
            )
            low, high = risk.rise_low, risk.rise_high if risk.bounded else None
            found.append(Finding(key, words, risk.rise, low=low, high=high, kind=self._kind))
        if (left := self._worst_left) is not None:
            if (before := self._most_guessed(1)) is not None:
                words = f"guessed with the first{self._many}, {before.aggregator}"
                found.append(Finding("guessed_with_first", words, before.expected))
            found.append(Finding("intersected", f"guessed by intersecting, {left.aggregator}", left.expected))
            words = f"candidates left, {left.aggregator}"
            found.append(Finding("candidates_left", words, left.candidates, Unit.NUMBER, Worse.LOWER))
        return tuple(found)

    @property
    def _spoken(self) -> str:
        """Format the groups, such as ``1+2 and 3``."""
        return " and ".join("+".join(map(str, group)) for group in self.groups)

    @property
    def _many(self) -> str:
        """Number of releases of the first group, if more than one."""
        return f" {many}" if (many := len(self.groups[0])) > 1 else ""

    @property
    def _worst_left(self) -> CandidatesLeft | None:
        """Find the intersection of all groups, by family and width, with most correct guesses."""
        return self._most_guessed(len(self.groups))

    def _most_guessed(self, number: int) -> CandidatesLeft | None:
        intersected = [left for left in self.left if left.number == number]
        return max(intersected, key=lambda left: left.expected, default=None)

    @property
    def paragraph(self) -> str:
        """Report the family that rises most, and the effect of intersection."""
        ways = {Way.TOGETHER.value: "attacked together", Way.APART.value: "attacked one by one"}
        how = ways.get(self.way, f"attacked as {self._spoken}")
        if not self._last:
            return f"there was no time for the worst cases of {self.releases} releases, {how}."
        firsts = {risk.aggregator: risk.low or 0.0 for risk in self.risks if risk.number == 1}
        most = max(self._last, key=lambda risk: firsts[risk.aggregator] + (risk.rise or 0.0))
        first = firsts[most.aggregator]
        assert most.rise is not None
        assert most.rise_low is not None
        assert most.rise_high is not None
        sure = "for certain" if self._kind is Kind.CERTAIN else "with the confidence of the samples"
        at_most = f" and {percent(most.rise_high)} at most, {sure}" if most.bounded else _NO_BOUND
        text = (
            f"{self.releases} releases, {how}: the worst attack found ({most.aggregator}) links "
            f"{percent(first)} with the first release and {percent(first + most.rise)} with all; its worst "
            f"case rises by {percent(most.rise_low)} at least{at_most}."
        )
        if (left := self._worst_left) is None:
            return text
        before = self._most_guessed(1)
        assert before is not None
        return (
            f"{text} Who intersects candidates keeps {left.candidates:.3g} of each person in every release "
            f"and guesses {percent(left.expected)} of them ({left.aggregator}); "
            f"{f'the first{self._many} releases' if self._many else 'the first release'} alone "
            f"{'allow' if self._many else 'allows'} {percent(before.expected)}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Note properties of the releases."""
        return self.remarks

    def to_frame(self) -> pd.DataFrame:
        """One row per time and family, as `ReleaseRisk` describes its columns."""
        return pd.DataFrame([vars(risk) for risk in self.risks], columns=list(ReleaseRisk.__annotations__))

    def candidates_frame(self) -> pd.DataFrame:
        """One row per family, width and number of releases, as `CandidatesLeft` describes its columns."""
        return pd.DataFrame([vars(left) for left in self.left], columns=list(CandidatesLeft.__annotations__))


class SeveralReleases(Measure):
    """Compares the first release with all of them."""

    name: ClassVar[str] = "releases"
    title: ClassVar[str] = "Several releases: what the last one adds"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 30.0

    def lacking(self, task: RiskTask) -> str | None:
        """Require more than one release."""
        if task.releases is not None:
            return None
        return f"there is one release; {called('masked')} can be given several times"

    def take(self, task: RiskTask, clock: Clock) -> ReleasesRisk:
        """Search every stage, and intersect candidates where some releases cannot be aligned."""
        releases = task.releases
        assert releases is not None
        stages = searched_stages(task, releases, clock)
        several = len(releases.groups) > 1
        told_by = _common_confidential(task, releases) if several else ()
        left = tuple(_left(task, latest(stages, len(stages)), releases, told_by, clock)) if several else ()
        remarks = tuple(_remarks(stages, releases, left))
        way, risks = spelled_groups(releases.groups), tuple(release_risks(stages))
        alike = max((share for stage in stages for share in _alike(stage)), default=None)
        return ReleasesRisk(len(stages), way, releases.groups, risks, left, told_by, remarks, alike)


def _alike(stage: Stage) -> Iterator[float]:
    """Compute the links of a stage's distances as shares of the records, where these have weights."""
    for family in stage.families:
        if family.counted is not None:
            problem = stage.problems[family.aggregator]
            right = linked_parts(family.counted.linked, problem.pair)
            found = shares_of(right, problem.survey.weight).unweighted
            if found is not None:
                yield found


def _common_confidential(task: RiskTask, releases: Releases) -> tuple[str, ...]:
    """List the confidential columns of every release."""
    named = () if task.schema is None else task.schema.select(role=Role.CONFIDENTIAL)
    return tuple(name for name in named if all(name in pair.masked.columns for pair in releases.files))


def _left(
    task: RiskTask, stages: Sequence[Stage], releases: Releases, told_by: Sequence[str], clock: Clock
) -> Iterator[CandidatesLeft]:
    """Intersect the candidates of the groups' last stages, family by family."""
    mark = marks([releases.of(stage.members) for stage in stages], told_by)
    names = [name for name in stages[0].results if all(name in stage.results for stage in stages)]
    for at, name in enumerate(names):
        part = portion(clock, 1.0 / (len(names) - at))
        problems = [stage.problems[name] for stage in stages]
        blocks = [{label: block for block, label in enumerate(problem.labels)} for problem in problems]
        persons = [label for label in blocks[0] if all(label in others for others in blocks)]
        if not persons:
            return
        searched = []
        for stage, problem, block, own in zip(stages, problems, blocks, mark, strict=True):
            form = problem.aggregator.form(parameters_of(problem, stage.results[name]))
            pair = problem.pair.part(np.array([block[label] for label in persons], dtype=np.intp))
            searched.append(SearchedRelease(pair, form, own))
        weight = _weights(problems[-1], [blocks[-1][label] for label in persons])
        found = intersections(searched, lambda clock=part: clock.expired, task.seed)  # type: ignore[misc]
        for width, sizes, held in zip(WIDTHS, found.size, found.holds, strict=True):
            for number, (size, holds) in enumerate(zip(sizes, held, strict=True), start=1):
                seen = ~np.isnan(size)
                yield _left_of(name, width, number, (size[seen], holds[seen], weight[seen]))


def _weights(problem: Problem, blocks: Sequence[int]) -> FloatArray:
    weight = problem.survey.weight
    return np.ones(len(blocks)) if weight is None else weight[blocks]


def _left_of(
    name: str, width: float, number: int, seen: tuple[FloatArray, BoolArray, FloatArray]
) -> CandidatesLeft:
    """Average over the counted persons: candidates, whether the truth remains, and weights."""
    size, holds, weight = seen
    expected = shares_of(np.where(holds, 1.0 / np.maximum(size, 1.0), 0.0), weight)
    return CandidatesLeft(
        aggregator=name,
        times=width,
        number=number,
        records=size.size,
        candidates=float(size.mean()),
        alone=shares_of(holds & (size == 1.0), weight).share,
        expected=expected.share,
        lost=shares_of(~holds, weight).share,
        unweighted=expected.unweighted,
    )


def _remarks(stages: Sequence[Stage], releases: Releases, left: Sequence[CandidatesLeft]) -> Iterator[str]:
    """Note differences between releases, and what time did not allow."""
    notes: list[str] = []
    for stage in latest(stages, len(stages)):
        if len(stage.members) > 1:
            notes += _of_group(stage, stages, releases)
    if left and left[0].records < (persons := _persons(releases)):
        notes.append(f"candidates of {left[0].records:,} of {persons:,} persons were intersected in the time")
    for stage in stages:
        notes += [
            f"no worst case of {family.aggregator} at release {stage.number}: {family.reason}"
            for family in stage.families
            if family.result is None
        ]
    return (f"releases: {remark}" for remark in notes)


def _of_group(last: Stage, stages: Sequence[Stage], releases: Releases) -> Iterator[str]:
    """Describe which releases of a group add little or nothing."""
    everywhere = set.intersection(*(set(pair.masked_labels) for pair in releases.of(last.members)))
    released = len(last.files.masked)
    if alone := released - len(everywhere):
        which = "every release" if len(last.members) == len(stages) else f"each of releases {_named(last)}"
        yield (
            f"{alone:,} of {released:,} released records are not in {which}; what a release does "
            f"not hold of them is missing, and compared by {called('missing', releases.options.missing)}"
        )
    for before, after in pairwise(stages[number - 1] for number in last.members):
        if same_files(before.files, after.files):
            yield f"release {after.number} holds nothing that those before it do not hold"


def _named(stage: Stage) -> str:
    """Name releases attacked together, such as ``1+2``."""
    return "+".join(map(str, stage.members))


def _persons(releases: Releases) -> int:
    """Find persons in some release of every group."""

    def of(pair: FilePair) -> set[str]:
        return {pair.original_labels[row] for row in np.flatnonzero(pair.partner >= 0)}

    groups = [set.union(*(of(pair) for pair in releases.of(group))) for group in releases.groups]
    return len(set.intersection(*groups))
