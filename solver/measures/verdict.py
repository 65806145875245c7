"""Make the verdict on a release: the most severe of all findings.

What is known is a list of findings, which `verdict_findings` collects. Each has a severity, and the verdict
is that of the most severe: red where more can be re-identified than is tolerated, not green while something
stands against it. Terminal, report and application say it by `sentence_of` and `grounds_of`, from its JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from linkrisk.solver.run.number_format import percent, with_confidence
from linkrisk.solver.schemas.intervals import by_lot, meets, percents

Json = Mapping[str, Any]

TOLERATED = 0.05
"""Default share of records that may be re-identified."""

WORST_CASE, WITHOUT_LOTS, NO_BOUND, RELEASES = "worst_case", "without_lots", "no_bound", "releases"
NOT_SEARCHED, NOT_COMPARABLE, ATTACK = "not_searched", "not_comparable", "attack_"
"""Keys of findings about what an intruder links; those of attacks begin with the last."""

ALIKE = "_unweighted"
"""Keys of findings on shares of the records end so, where links are counted by sampling weights."""

UNWEIGHTED = f"{WORST_CASE}{ALIKE}"
"""Key of that on the worst case."""

_OF_SEARCH = (WORST_CASE, NO_BOUND, UNWEIGHTED)

IDENTIFIERS, UNCHANGED, NUMBERS = "identifiers_left_in", "unchanged_not_compared", "numbers_left_in"
RELATED, ORDER = "masked_not_compared", "order_kept"
"""Keys of findings about columns that are not compared, and places, that say something of the original."""

_OF_RECORDS = " of the records, unweighted"

_MANY = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


class Answer(StrEnum):
    """Comparison of the findings with the tolerated share."""

    BELOW = "below"
    ABOVE = "above"
    OPEN = "open"


class Severity(StrEnum):
    """Effect of a finding on the verdict."""

    RED = "red"  # more than is tolerated is re-identified, or the release must not happen
    AGAINST_GREEN = "against-green"  # with this, the verdict cannot be green
    INFORMATION = "information"


@dataclass(frozen=True)
class VerdictFinding:
    """One finding on a release."""

    key: str  # what it is, in lower case joined by underscores: always the same for the same kind of finding
    severity: Severity
    sentence: str  # one sentence, without a capital and a full stop
    about: tuple[str, ...] = ()  # what it is about: families of distances, an attack, columns
    # low, high: share of the records that can be re-identified: at least, and at most. None where it says
    # nothing of that.
    low: float | None = None
    high: float | None = None
    confidence: float | None = None  # of the ends; None where they are certain, or there are none


def severity_of(low: float, high: float, tolerated: float) -> Severity:
    """The severity of an interval of shares of records."""
    if low > tolerated:
        return Severity.RED
    return Severity.AGAINST_GREEN if high > tolerated else Severity.INFORMATION


@dataclass(frozen=True)
class Verdict:
    """The most severe of all findings, and the tolerated share.

    Attributes
    ----------
    answer : Answer
        ``above``: more can be re-identified than is tolerated, or the release must not happen for another
        reason. ``below``: nothing that was examined allows more, which is proven, or certain with
        `confidence`. ``open``: neither, or something stands against a green verdict.
    low, high : float
        The interval of the worst that is known, as shares.
    tolerated : float
        Share of records.
    confidence : float or None
        Of the ends, where samples were searched.
    sentence : str
        The most important for a reader, without a capital and a full stop.
    findings : tuple of VerdictFinding
        What it is the worst of, the most severe first; before all others that the release names its records.
    weighted : bool
        Whether shares are of sampling weights.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> verdict = linkrisk.risk(iris, masked, aggregator="weighted-mean", measures=["uniqueness"]).verdict
    >>> verdict.low <= verdict.high, verdict.tolerated
    (True, 0.05)
    """

    answer: Answer
    low: float
    high: float
    tolerated: float
    confidence: float | None
    sentence: str
    findings: tuple[VerdictFinding, ...] = ()
    weighted: bool = False


def verdict(findings: Iterable[VerdictFinding], tolerated: float, *, weighted: bool = False) -> Verdict:
    """Make the verdict from findings and a tolerated share of records."""
    order = list(Severity)
    sorted_ones = sorted(
        findings, key=lambda one: (order.index(one.severity), one.key != IDENTIFIERS, -(one.low or 0.0))
    )
    low = max((one.low for one in sorted_ones if one.low is not None), default=0.0)
    high = max((one.high for one in sorted_ones if one.high is not None), default=1.0)
    telling = [one for one in sorted_ones if one.severity is not Severity.INFORMATION]
    if any(one.low is not None and one.high is None for one in telling):
        high = 1.0
    confidence = next((one.confidence for one in sorted_ones if one.confidence is not None), None)
    found = Verdict(
        answer_of([one.severity for one in sorted_ones]),
        low,
        max(low, high),
        tolerated,
        confidence,
        "",
        tuple(sorted_ones),
        weighted,
    )
    return replace(found, sentence=sentence_of(_json(found)))


def answer_of(severities: Sequence[str]) -> Answer:
    """Derive the answer from the most severe of some findings."""
    if Severity.RED in severities:
        return Answer.ABOVE
    return Answer.OPEN if Severity.AGAINST_GREEN in severities else Answer.BELOW


def _json(found: Verdict) -> Json:
    return {**vars(found), "findings": [vars(one) for one in found.findings]}


# ---- in words


def sentence_of(found: Json) -> str:
    """The most important of a verdict for a reader, without a capital and a full stop, from its JSON."""
    limit = f"the {percent(found['tolerated'])} that are tolerated"
    lead = next(iter(found["findings"]), None)
    if lead is None or found["answer"] == Answer.BELOW:
        return f"{_at_most(found)}, within {limit}"
    if found["answer"] == Answer.ABOVE:
        return str(lead["sentence"]) if lead["low"] is None else f"{_above(found, lead)}, above {limit}"
    if lead["high"] is not None:
        whose = lead if _finding(found, UNWEIGHTED) else found
        ends = f"between {percent(whose['low'])} and {percent(whose['high'])} of {_records(found, lead)}"
        return (
            f"at worst {ends} can be re-identified{_lots(found)}{with_confidence(lead['confidence'])}: "
            f"whether that is within {limit} is open, and a longer time limit may tell"
        )
    if lead["key"] in (NO_BOUND, UNWEIGHTED) and _finding(found, WORST_CASE) is None:
        least = f"at worst {percent(lead['low'])} or more of {_records(found, lead)}"
        return (
            f"{least} can be re-identified{_lots(found)}: no bound was found in time, so whether that is "
            f"within {limit} is open, and a longer time limit may tell"
        )
    return f"{_at_most(found)}, but {lead['sentence']}"


def grounds_of(found: Json) -> Iterator[str]:
    """List further findings against the release, and limits of the verdict's basis, as sentences."""
    sentence = sentence_of(found)
    for one in found["findings"]:
        limits = one["key"] in (NO_BOUND, NOT_SEARCHED, WITHOUT_LOTS, NUMBERS)
        telling = limits or one["severity"] != Severity.INFORMATION
        less = one["key"].startswith(ATTACK) or one["key"] in (WORST_CASE, RELEASES)
        less |= one["key"] == WITHOUT_LOTS and _lots(found) in sentence
        less |= one["key"] == UNWEIGHTED and "unweighted" in sentence
        if telling and not less and one["sentence"] not in sentence:
            text: str = one["sentence"]
            yield f"{text[:1].upper()}{text[1:]}."


def sentence_by_key(one: Json) -> str | None:
    """The sentence of a finding about what an intruder links, made of its numbers; None of another one."""
    key, about, low, high = (one[name] for name in ("key", "about", "low", "high"))
    named = ", ".join(about)
    if key.startswith(ATTACK):
        return f"{named} re-identifies {percent(low)}{_OF_RECORDS if is_unweighted(one) else ''}"
    say: dict[str, Callable[[], str]] = {
        WORST_CASE: lambda: f"of the distances searched ({named}) the worst links {percents(low, high)}",
        WITHOUT_LOTS: lambda: (
            f"without guessing among equal records {percents(low, high)} can be re-identified"
        ),
        UNWEIGHTED: lambda: f"{_ends(low, high)} of the records, unweighted, can be re-identified",
        NO_BOUND: lambda: f"no bound was found in time for the {named}, which links {percent(low)} or more",
        NOT_SEARCHED: lambda: f"the {named} was not searched",
        RELEASES: lambda: f"several releases together allow {percents(low, high)}",
    }
    return say[key]() if key in say else None


def _above(found: Json, lead: Json) -> str:
    """Report how far the most severe finding exceeds the tolerated share."""
    low, high = lead["low"], lead["high"]
    more = "" if high is not None and meets(low, high) else " or more"
    text = f"at worst {percent(low)}{more} of {_records(found, lead)} can be re-identified"
    if lead["key"] in _OF_SEARCH:
        return f"{text}{_lots(found)}{with_confidence(lead['confidence'])}"
    return f"{text} ({', '.join(lead['about'])})" if lead["about"] else text


def _at_most(found: Json) -> str:
    """Report the bound on all that was examined, and its basis."""
    worst, alike = _finding(found, WORST_CASE), _finding(found, UNWEIGHTED)
    if worst is None:
        return f"nothing that was looked at re-identifies more than {percent(found['high'])} of the records"
    text = f"{kinds(worst['about'])} re-identifies more than {percent(worst['high'])} of {_records(found)}"
    if alike is not None and alike["high"] is not None:
        text += f" or {percent(alike['high'])} of the records, unweighted"
    text += f"{_lots(found)}{with_confidence(worst['confidence'])}"
    known = [one for one in found["findings"] if one["low"] is not None and one["key"] != UNWEIGHTED]
    others = [one for one in known if one["low"] > _bound(worst, alike, one)]
    if not others:
        return text
    most = max(others, key=lambda one: float(one["low"]))
    share = f"{percent(most['low'])}{_OF_RECORDS if is_unweighted(most) else ''}"
    return f"{text}, and no other attack that was counted more than {share} ({most['about'][0]})"


def is_unweighted(one: Json) -> bool:
    """Whether a finding is on shares of records where others are on shares of weights."""
    return str(one["key"]).endswith(ALIKE)


def _bound(worst: Json, alike: Json | None, one: Json) -> float:
    """Report the bound on the searched families, in the unit of a finding."""
    whose = alike if is_unweighted(one) and alike is not None and alike["high"] is not None else worst
    return float(whose["high"])


def kinds(names: Sequence[str]) -> str:
    """Name the families of a bound."""
    listed = ", ".join(names)
    if len(names) == 1:
        return f"no distance of the kind searched ({listed})"
    return f"none of the {_MANY.get(len(names), str(len(names)))} kinds of distance searched ({listed})"


def _finding(found: Json, key: str) -> Json | None:
    return next((one for one in found["findings"] if one["key"] == key), None)


def _ends(low: float, high: float | None) -> str:
    return percents(low, 1.0 if high is None else high)


def _records(found: Json, lead: Json | None = None) -> str:
    """Name the total of shares; for a worst case, with its value in the other unit."""
    weighted = "the weighted records"
    if lead is not None and lead["key"] not in _OF_SEARCH and is_unweighted(lead):
        return _OF_RECORDS.removeprefix(" of ") + ","
    alike = _finding(found, UNWEIGHTED)
    if lead is None or lead["key"] not in _OF_SEARCH or alike is None:
        return weighted if found.get("weighted") else "the records"
    if lead is not alike:
        return f"{weighted} ({_ends(alike['low'], alike['high'])} of the records, unweighted)"
    other = _finding(found, WORST_CASE) or _finding(found, NO_BOUND)
    if other is None:
        return "the records, unweighted,"
    return f"the records, unweighted ({_ends(other['low'], other['high'])} of {weighted})"


def _lots(found: Json) -> str:
    """Report the value without guessing among equal candidates, if there are any."""
    alone = next((one for one in found["findings"] if one["key"] == WITHOUT_LOTS), None)
    if alone is None:
        return ""
    return by_lot(alone["low"], alone["high"])
