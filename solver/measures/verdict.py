"""One sentence for whoever decides whether the file may be released, as far as the worst case goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.results import WEIGHTED, objective

if TYPE_CHECKING:  # a report from JSON needs the sentences alone
    from linkrisk.solver.worst_case.family_results import FitResults

TOLERATED = 0.05
"""Share of records that may be re-identified where nothing else is said."""


class Answer(StrEnum):
    """What the worst case says beside what is tolerated."""

    BELOW = "below"
    ABOVE = "above"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """The worst case beside what is tolerated.

    Attributes
    ----------
    answer : Answer
        ``above``: a distance was found that re-identifies more than is tolerated. ``below``: none of these
        families does, which is proven, or certain with `confidence`. ``open``: the interval holds both.
    low, high : float
        The interval of the worst case, as shares.
    tolerated : float
        Share of records.
    confidence : float or None
        Of `high`, where samples were searched.
    sentence : str
        All of it for a reader.
    """

    answer: Answer
    low: float
    high: float
    tolerated: float
    confidence: float | None
    sentence: str


def verdict(worst: FitResults, tolerated: float, besides: Sequence[tuple[float, float]] = ()) -> Verdict:
    """The verdict on worst cases, and on others that are to be known `besides`, as shares."""
    total = worst.worst.total
    ends = [(worst.interval[0] / total, worst.interval[1] / total), *besides]
    low, high = max(end for end, _ in ends), max(end for _, end in ends)
    answer = Answer.ABOVE if low > tolerated else Answer.BELOW if high <= tolerated else Answer.OPEN
    weighted = objective(worst.worst.details) == WEIGHTED
    said = sentence_of(answer, low, high, tolerated, worst.confidence, weighted=weighted)
    return Verdict(answer, low, high, tolerated, worst.confidence, said)


def sentence_of(
    answer: str, low: float, high: float, tolerated: float, confidence: float | None, *, weighted: bool
) -> str:
    """The verdict for a reader, without a capital and a full stop."""
    sure = "" if confidence is None else f", with {100.0 * confidence:g} % confidence"
    limit = f"the {percent(tolerated)} that are tolerated"
    records = "the weighted records" if weighted else "the records"
    if answer == Answer.ABOVE:
        more = "" if high <= low else " or more"
        return f"at worst {percent(low)}{more} of {records} can be re-identified, above {limit}"
    if answer == Answer.BELOW:
        return f"no distance re-identifies more than {percent(high)} of {records}{sure}, within {limit}"
    return (
        f"at worst between {percent(low)} and {percent(high)} of {records} can be re-identified"
        f"{sure}: whether that is within {limit} is open, and a longer time limit may tell"
    )
