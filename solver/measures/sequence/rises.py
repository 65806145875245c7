"""By how much a worst case rises from release to release, as far as it is certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from linkrisk.solver.measures.links.withheld import contained
from linkrisk.solver.measures.sequence.stages import Stage, latest
from linkrisk.solver.run.results import is_bound


@dataclass(frozen=True)
class ReleaseRisk:
    """The worst case of one family at one time. Numbers are shares; higher is worse."""

    number: int  # how many releases there are by then
    # which of them are attacked together here, such as ``1+2``: the last one, with those before it that can
    # be aligned with it
    attacked: str
    aggregator: str
    attributes: int  # what is compared, how many records have a partner, and among how many
    records: int
    candidates: int
    # the worst case: what an attack links of these records (or of the sum of their weights), and what none
    # exceeds. None where it was not searched
    low: float | None = None
    high: float | None = None
    confidence: float | None = None  # of `high`, where samples were searched; None where it is certain
    # the same of the records of the first release, where that is one of those that are attacked
    first_low: float | None = None
    first_high: float | None = None
    # by how much more an intruder links than with the first release alone: of the attacks found, at least,
    # and at most. Of releases that cannot be aligned he takes the best group that there is by then
    rise: float | None = None
    rise_low: float | None = None
    rise_high: float | None = None
    reason: str | None = None  # why there is none

    @property
    def bounded(self) -> bool:
        """Whether more is known of the worst case than that no more than all can be linked."""
        return self.low is not None and self.high is not None and is_bound(self.low, self.high, 1.0)


def release_risks(stages: Sequence[Stage]) -> list[ReleaseRisk]:
    """All families at all stages, one stage after the other."""
    names = [family.aggregator for family in stages[0].families]
    by_family = {name: _of_family(name, stages) for name in names}
    return [by_family[name][at] for at in range(len(stages)) for name in names]


def _of_family(name: str, stages: Sequence[Stage]) -> list[ReleaseRisk]:
    """One family at all stages."""
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
    """The worst case of one stage as it was found."""
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
    """Whether all distances of a stage are distances of a later one, between the same records."""
    problem = after.problems.get(name)
    if problem is None or not contained(problem):
        return False
    sides = [(set(stage.files.original_labels), set(stage.files.masked_labels)) for stage in (before, after)]
    return sides[0] == sides[1]


def _carried(name: str, stages: Sequence[Stage], rows: Sequence[ReleaseRisk]) -> list[ReleaseRisk]:
    """Bounds of later stages are bounds of those that they contain, and attacks of these are theirs."""
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
    """The worst case of the records of the first release: what the attack links of them, and at most all."""
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
    """What an intruder has who takes the better of two groups; not known where that of one is not."""
    if one.low is None or other.low is None or one.high is None or other.high is None:
        return one if one.low is None else other
    sure = one.confidence if other.confidence is None else other.confidence
    return replace(other, low=max(one.low, other.low), high=max(one.high, other.high), confidence=sure)


def _risen(
    row: ReleaseRisk, first: ReleaseRisk, last: ReleaseRisk, *, same: bool, at_least: float
) -> ReleaseRisk:
    """The row with its rise; none where either worst case is not known."""
    if first.low is None or first.high is None or last.low is None or last.high is None:
        return row
    if same:
        return replace(row, rise=0.0, rise_low=0.0, rise_high=0.0)
    low, high = max(last.low - first.high, at_least), last.high - first.low
    return replace(row, rise=min(max(last.low - first.low, low), high), rise_low=low, rise_high=high)
