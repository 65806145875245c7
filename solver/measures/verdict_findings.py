"""Collect the findings of a verdict, one registered function per kind.

A new kind is a function that takes what is `Known` and yields `VerdictFinding`, and a line of `SOURCES`.
Readers outside learn that there is one, and no more, unless `report.outside` has words for its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.pairs.released_columns import ColumnLeftIn, listed
from linkrisk.errors import called
from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.measures.base import MeasureResult
from linkrisk.solver.measures.membership import MembershipRisk, most_records
from linkrisk.solver.measures.releases import ReleasesRisk
from linkrisk.solver.measures.task import RiskTask, linked_parts
from linkrisk.solver.measures.verdict import (
    ALIKE,
    ATTACK,
    IDENTIFIERS,
    NO_BOUND,
    NOT_COMPARABLE,
    NOT_SEARCHED,
    NUMBERS,
    ORDER,
    RELATED,
    RELEASES,
    UNCHANGED,
    UNWEIGHTED,
    WITHOUT_LOTS,
    WORST_CASE,
    Severity,
    Verdict,
    VerdictFinding,
    sentence_by_key,
    severity_of,
    verdict,
)
from linkrisk.solver.schemas.intervals import WEIGHTED, is_bound, objective, without_recoding
from linkrisk.solver.worst_case.result import Family, FamilyFit

Ends = tuple[float, float]

BASELINES = {
    "euclid": ("equal_weights", "equal weights"),
    "mahalanobis": ("classical_mahalanobis", "classical Mahalanobis"),
}
"""Baselines that every search counts."""


@dataclass(frozen=True, eq=False)
class Known:
    """All results on a release from which its verdict is made."""

    task: RiskTask  # files with their roles, worst cases, choices
    measures: Mapping[str, MeasureResult]  # those that were taken
    not_measured: Mapping[str, str]  # why others were not
    tolerated: float  # share of records that may be re-identified

    @cached_property
    def bounded(self) -> dict[str, FamilyFit]:
        """List the families with a non-trivial bound, by name."""
        return self.task.worst.with_bound

    @cached_property
    def by_weights(self) -> bool:
        """Whether records have unequal sampling weights."""
        weight = self.task.first.survey.weight
        return weight is not None and not (weight == weight[0]).all()

    def graded(
        self, key: str, about: tuple[str, ...], ends: Ends, confidence: float | None = None
    ) -> VerdictFinding:
        """Make a finding on an attack's links, with the severity of its interval."""
        return _worded(VerdictFinding(key, severity_of(*ends, self.tolerated), "", about, *ends, confidence))


def verdict_of(known: Known) -> Verdict:
    """Make the verdict on all results."""
    weighted = objective(known.task.worst.worst.details) == WEIGHTED
    found: dict[tuple[str, tuple[str, ...]], VerdictFinding] = {}
    for finding in (each for source in SOURCES for each in source(known)):
        found.setdefault((finding.key, finding.about), finding)  # what two have counted is one finding
    return verdict(found.values(), known.tolerated, weighted=weighted)


# ---- distances


def worst_cases(known: Known) -> Iterator[VerdictFinding]:
    """Report the links of the families, and the bound on the searched ones."""
    worst, total, bounded = known.task.worst, known.task.total, known.bounded
    low, high = (end / total for end in worst.bounded_interval)
    names = tuple(words_of(name).title for name in (bounded or worst.results))
    other = _by_other_rule(known)
    if other is not None and known.task.first.pair.ties is Ties.STRICT:  # what was searched is the lesser one
        (low, high), other = other, (low, high)
    if bounded:
        yield known.graded(WORST_CASE, names, (low, high), worst.confidence)
    if other is not None:
        yield replace(
            known.graded(WITHOUT_LOTS, names, other, worst.confidence), severity=Severity.INFORMATION
        )


def unweighted(known: Known) -> Iterator[VerdictFinding]:
    """Report the worst case in records beside that in weights: the tolerated share applies to both."""
    pair, survey, worst = known.task.first.pair, known.task.first.survey, known.task.worst
    if survey.weight is None or not known.by_weights:
        return
    each, strict = 1.0 / pair.equals, pair.ties is Ties.STRICT
    lots = float(each[(pair.equals > 1) & pair.reachable].sum()) if strict else 0.0
    low = max(_by_lot(family, pair.equals, each) for family in worst.families)
    high = most_records(worst, known.bounded)
    if not strict:  # of equals one counts a part, and so does what it stands for
        bound = max(result.interval[1] for result in (known.bounded or worst.results).values())
        high = min(high, _lightest(each[pair.reachable], survey.weight[pair.reachable], bound))
    high += lots
    found = known.measures.get(MembershipRisk.measure)
    if isinstance(found, MembershipRisk):
        low, high = max(low, found.linked), min(high, found.most + lots)
    low, high = low / known.task.records, min(1.0, max(low, high) / known.task.records)
    names = tuple(words_of(name).title for name in (known.bounded or worst.results))
    if is_bound(low, high, 1.0):
        yield known.graded(UNWEIGHTED, names, (low, high), worst.confidence)
    else:
        severity = severity_of(low, 1.0, known.tolerated)
        yield _worded(VerdictFinding(UNWEIGHTED, severity, "", names, low))


def _lightest(part: np.ndarray, weight: np.ndarray, bound: float) -> float:
    """Count the most records, the lightest first, with a total weight within a bound."""
    order = np.argsort(weight)
    taken = np.append(0.0, np.cumsum((part * weight)[order]))
    return float(np.interp(bound * (1.0 + 2e-9), taken, np.append(0.0, np.cumsum(part[order]))))


def without_bounds(known: Known) -> Iterator[VerdictFinding]:
    """Report families without a bound; they settle nothing where others have one."""
    for name, result in known.task.worst.results.items():
        if name in known.bounded:
            continue
        low = result.interval[0] / known.task.total
        severity = Severity.INFORMATION if known.bounded else Severity.AGAINST_GREEN
        severity = Severity.RED if low > known.tolerated else severity
        yield _worded(VerdictFinding(NO_BOUND, severity, "", (words_of(name).title,), low))
    for family in known.task.worst.families:
        if family.result is None:
            about = (words_of(family.aggregator).title,)
            yield _worded(VerdictFinding(NOT_SEARCHED, Severity.INFORMATION, "", about))


def not_comparable(known: Known) -> Iterator[VerdictFinding]:
    """Report columns that cannot be compared: no common category, and no known recoding."""
    names = known.task.files.not_comparable
    if names:
        yield VerdictFinding(NOT_COMPARABLE, Severity.AGAINST_GREEN, without_recoding(names), names)


def _by_other_rule(known: Known) -> Ends | None:
    """Bound the links under the other tie rule; None without equal candidates.

    Whoever is strictly nearest has no equals, and is linked by lot as well: whatever the parameters, strict
    links are never more than expected ones, nor fewer by more than the shares of those who have equals.
    """
    pair, unit, total = known.task.first.pair, known.task.first.survey.unit, known.task.total
    alone = pair.equals == 1
    if alone.all():
        return None
    families = known.task.worst.families
    most = max(result.interval[1] for result in (known.bounded or known.task.worst.results).values())
    if pair.ties is Ties.SHARE:
        low = max(_weight(family, alone, pair.weight) for family in families) * unit
        ends = low, max(low, min(most, float(pair.weight[alone & pair.reachable].sum()) * unit))
    else:
        share = pair.weight / pair.equals
        lots = float(share[~alone & pair.reachable].sum()) * unit
        low = max(_by_lot(family, pair.equals, share) for family in families) * unit
        ends = low, max(low, min(most + lots, total))
    return ends[0] / total, ends[1] / total


def _weight(family: Family, among: np.ndarray, weight: np.ndarray) -> float:
    return 0.0 if family.counted is None else float(weight[family.counted.linked & among].sum())


def _by_lot(family: Family, equals: np.ndarray, share: np.ndarray) -> float:
    """Report a family's links with ties broken at random."""
    counted = family.counted
    if counted is None:
        return 0.0
    lots = (counted.rank == 1) & (counted.ties == equals - 1) & (equals > 1)
    return float(share[counted.linked | lots].sum())


# ---- attacks of other kinds


def baselines(known: Known) -> Iterator[VerdictFinding]:
    """Report the baselines that every search counts."""
    for name, (key, words) in BASELINES.items():
        counts = [result.details["baselines"].get(name) for result in known.task.worst.results.values()]
        found = [count for count in counts if count is not None]
        if found:
            alike = _of_records(known, name) if known.by_weights else None
            yield from _attack(known, key, words, max(found) / known.task.total, alike)


def _of_records(known: Known, name: str) -> float | None:
    """Compute the share of records that a baseline links; None without time to count all."""
    found = known.task.baseline(name, known.task.clock)
    pair = known.task.first.pair
    return float(linked_parts(found.linked, pair).mean()) if found.settled.all() else None


def counted_attacks(known: Known) -> Iterator[VerdictFinding]:
    """Report attacks counted by measures, besides the worst case."""
    for result in known.measures.values():
        for attack in result.counted_attacks:
            yield from _attack(known, attack.key, attack.words, attack.share, attack.unweighted)


def _attack(
    known: Known, key: str, words: str, share: float, alike: float | None = None
) -> Iterator[VerdictFinding]:
    """Report an attack's links, by weights and by records: the tolerated share applies to both."""
    yield known.graded(f"{ATTACK}{key}", (words,), (share, share))
    if alike is not None:
        yield known.graded(f"{ATTACK}{key}{ALIKE}", (words,), (alike, alike))


def releases(known: Known) -> Iterator[VerdictFinding]:
    """Report the risk of several releases, all of them or the first alone."""
    if known.task.releases is None:
        return
    found = known.measures.get(ReleasesRisk.measure)
    assert found is None or isinstance(found, ReleasesRisk)
    ends = None if found is None else found.worst_of_any
    several = (f"{len(known.task.releases.files)} releases",)
    if found is None or ends is None:
        sentence = "what the releases allow together has not been searched"
        yield VerdictFinding(RELEASES, Severity.AGAINST_GREEN, sentence, several, 0.0, 1.0)
    else:
        yield known.graded(RELEASES, several, ends, found.confidence)


# ---- columns that are not compared


def left_in(known: Known) -> Iterator[VerdictFinding]:
    """Report direct identifiers, and unchanged columns that no distance uses."""
    left = known.task.files.left_in
    if left.identifiers:
        names = tuple(one.column for one in left.identifiers)
        many = max(one.records for one in left.identifiers)
        yield VerdictFinding(
            IDENTIFIERS,
            Severity.RED,
            f"the release names {_of(many, left.records)}: it has the {_columns(left.identifiers)} of the "
            f"original, which `mask` leaves out with {called('drop', list(names))}",
            names,
        )
    if left.unchanged:
        were = "were released as they are and are" if left.unchanged[1:] else "was released as it is and is"
        yield VerdictFinding(
            UNCHANGED,
            Severity.AGAINST_GREEN,
            f"the {_columns(left.unchanged)} {were} not compared: whoever knows "
            f"{'them' if left.unchanged[1:] else 'it'} finds {_of(left.unique, left.records)}"
            f"{_each(left.unchanged)}",
            tuple(one.column for one in left.unchanged),
        )
    if left.masked:
        go = "are not compared, and go" if left.masked[1:] else "is not compared, and goes"
        most = max(one.records for one in left.masked)
        yield VerdictFinding(
            RELATED,
            Severity.AGAINST_GREEN,
            f"the {_columns(left.masked)} {go} with the original: whoever knows "
            f"{'one of them' if left.masked[1:] else 'it'} finds {_of(most, left.records)} by that alone"
            f"{_each(left.masked)}",
            tuple(one.column for one in left.masked),
        )
    if left.numbers:
        yield VerdictFinding(
            NUMBERS,
            Severity.INFORMATION,
            f"the release has the {'columns' if left.numbers[1:] else 'column'} "
            f"{shown_names(left.numbers)} of the original, which "
            f"{'number' if left.numbers[1:] else 'numbers'} its records: "
            f"`mask` makes new ones with {called('shuffle', True)} and "
            f"{called('renumber', list(left.numbers))}",
            left.numbers,
        )


def order_kept(known: Known) -> Iterator[VerdictFinding]:
    """Report an order of the original that the release keeps: sorting links records without a distance."""
    files, survey = known.task.files, known.task.first.survey
    if (order := files.left_in.order) is None:
        return
    right, rows = order.right, known.task.first.pair.query_rows
    if Direction(known.task.first.options.direction) is Direction.MASKED_TO_ORIGINAL:
        right = np.zeros(len(files.masked))
        right[files.partner[files.partner >= 0]] = order.right[files.partner >= 0]
    share = float(np.average(right[rows], weights=survey.weight))
    about = ("the order of the records",)
    if share > known.tolerated:
        yield VerdictFinding(ORDER, Severity.RED, order.sentence, about, share, share)
    else:
        yield VerdictFinding(ORDER, Severity.AGAINST_GREEN, order.sentence, about)


def _columns(columns: Sequence[ColumnLeftIn]) -> str:
    return f"{'columns' if columns[1:] else 'column'} {listed(columns)}"


def _each(columns: Sequence[ColumnLeftIn]) -> str:
    """Format the number of records that each column identifies, where there are several."""
    by_column = ", ".join(f"{one.records:,} by {shown_name(one.column)}" for one in columns)
    return f" ({by_column})" if columns[1:] else ""


def _of(many: int, records: int) -> str:
    return f"{many:,} of {records:,} records"


def _worded(finding: VerdictFinding) -> VerdictFinding:
    """Set the sentence of a finding."""
    return replace(finding, sentence=sentence_by_key(vars(finding)) or "")


SOURCES: tuple[Callable[[Known], Iterator[VerdictFinding]], ...] = (
    worst_cases,
    unweighted,
    without_bounds,
    not_comparable,
    releases,
    baselines,
    counted_attacks,
    left_in,
    order_kept,
)
"""Functions that yield findings, one for each kind."""
