"""Whether numbers of results contradict each other, as those of a JSON may that was edited or cut.

That they agree does not make them true: what is true, certificates prove and `verify` checks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from linkrisk.solver.measures.verdict import answer_of, severity_of
from linkrisk.solver.report.content.results import FamilyResult, Json, Results
from linkrisk.solver.report.content.wording import family_words
from linkrisk.solver.run.errors import UsageError

ROUNDING = 1e-6
"""Sums of weights are rounded: ends of intervals may be wrong by so much, relatively."""


def check(results: Results) -> None:
    """Refuse results that contradict themselves.

    Raises
    ------
    UsageError
        With the first contradiction.
    """
    for fault in _faults(results):
        raise UsageError(f"these results contradict themselves, {fault}: give the JSON as it was written")


def _faults(results: Results) -> Iterator[str]:
    if results.sweep is None and results.worst is None:
        yield "there is no worst case of any family"
    for family in results.found:
        yield from _of_family(family)
    if results.verdict is not None:
        yield from _of_verdict(results.verdict, results)


def _of_family(family: FamilyResult) -> Iterator[str]:
    interval = family.interval
    low, high, total = interval.low, interval.high, interval.total
    if not (all(map(math.isfinite, (low, high, total))) and _rising(0.0, low, high, total) and total > 0.0):
        yield f"the {family_words(family.name)} links {low:g}, at most {high:g}, of {total:g}"


def _of_verdict(verdict: Json, results: Results) -> Iterator[str]:
    low, high, tolerated = (float(verdict[name]) for name in ("low", "high", "tolerated"))
    findings = verdict["findings"]
    others = [one["severity"] for one in findings if one["low"] is None]
    answer = answer_of([severity_of(low, high, tolerated), *others])
    if not _rising(0.0, low, high, 1.0):
        yield f"the verdict is about {low:g} to {high:g} of 1"
    if verdict["answer"] != answer:
        yield f"the verdict says {verdict['answer']!s:.20} and its numbers say {answer}"
    interval = results.interval
    if interval is not None and not all(
        _rising(least, end) for least, end in zip(interval.shares, (low, high), strict=True)
    ):
        yield "the verdict is below the worst case of a family"
    if any(one["low"] is not None and not _rising(one["low"], low) for one in findings):
        yield "the verdict is below one of its own findings"


def _rising(*numbers: float) -> bool:
    """Whether none is below the one before it; false with what is no number."""
    return all(a <= b + ROUNDING * abs(a) for a, b in pairwise(numbers))
