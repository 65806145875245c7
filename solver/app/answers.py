"""A run in one sentence, and what several runs can be compared by; made from their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from linkrisk.solver.app.run_folder import Run, State
from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.formats import count, percent
from linkrisk.solver.run.counts import MINUS, persons
from linkrisk.solver.run.results import is_bound, meets
from linkrisk.solver.run.worst_sentence import by_lot, shares_of
from linkrisk.solver.schemas import reading

_STATES = {
    State.WAITING: "waits for the runs before it",
    State.RUNNING: "runs",
    State.STOPPING: "was asked to stop",
    State.CANCELLED: "was stopped before it had an answer",
    State.LOST: "ended without a word, such as when the machine was switched off",
}


@dataclass(frozen=True)
class Interval(reading.Interval):
    """The worst case of a run; see `reading.Interval`.

    Attributes
    ----------
    family : str
    without_lots : (float, float) or None
        Both ends, as shares, if equal candidates are not guessed among; None where none are.
    """

    family: str = ""
    without_lots: tuple[float, float] | None = None

    @property
    def proven(self) -> bool:
        """Whether the two meet, for attributes that can all be compared."""
        return self.comparable and meets(self.low, self.high)

    @property
    def sentence(self) -> str:
        """In words, with the state of the proof."""
        number = persons if self.weighted else count
        low, high = number(self.low), number(self.high)
        of = f"of {number(self.total)} persons whom records stand for" if self.weighted else ""
        of = of or f"of {count(self.total)} records"
        lots = "" if self.without_lots is None else by_lot(*self.without_lots).replace(" %", "\u202f%")
        if self.proven and self.confidence is None:
            share = percent(self.low, self.total)
            return f"At worst {low} {of} ({share}) can be re-identified{lots}: proven"
        if not is_bound(self.low, self.high, self.total):
            return (
                f"At least {low} {of} ({self.share}) can be re-identified{lots}; no bound was found in time"
            )
        sure = "" if self.confidence is None else f", with {percent(self.confidence, 1.0)} confidence"
        between = low if low == high else f"between {low} and {high}"
        return f"At worst {between} {of} ({self.share}) can be re-identified{lots}{sure}"

    @property
    def share(self) -> str:
        """Both ends in per cent, as far as there are some."""
        ends = dict.fromkeys((percent(self.low, self.total), percent(self.high, self.total)))
        return " to ".join(ends) if is_bound(self.low, self.high, self.total) else next(iter(ends))


def least_risk(intervals: Mapping[str, Interval]) -> str:
    """Which of several runs has the least worst case, as far as their intervals tell."""
    shares = {name: (one.low / one.total, one.high / one.total) for name, one in intervals.items()}
    best = min(shares, key=lambda name: shares[name][::-1])
    others = min(low for name, (low, _) in shares.items() if name != best)
    one = intervals[best]
    if shares[best][1] >= others or not is_bound(one.low, one.high, one.total):
        return "Which of them has the least worst case is open: what is known of them overlaps."
    sampled = any(one.confidence is not None for one in intervals.values())
    sure = " with the confidence that they state" if sampled else ""
    most, least = percent(shares[best][1], 1.0), percent(others, 1.0)
    return (
        f"{best} has the least worst case{sure}: at most {most} can be re-identified, and at least {least} "
        "in every other run. That says nothing of what else was measured."
    )


def interval_of(result: Any) -> Interval | None:
    """The worst case in the JSON of a `fit` or of a `risk`; None where there is none."""
    if not isinstance(result, Mapping):
        return None
    listed = [one for one in reading.families_of(result) if "linked" in one]
    if not listed:
        return None
    whole = reading.together(map(reading.interval, listed))
    alone = "families" not in result.get("worst_case", result)
    family = str(listed[0].get("aggregator", "")) if alone else "all families"
    found = Interval(**vars(whole), family=family)
    ends = reading.guessed(listed, whole)
    if ends is None:
        return found
    return replace(
        found, low=ends[0], high=ends[1], without_lots=shares_of(whole.low, whole.high, whole.total)
    )


def answer(run: Run) -> str:
    """What is to be said of a run, in a sentence."""
    state = run.state
    if state in _STATES:
        return _STATES[state].capitalize()
    result = run.result
    if state is State.FAILED and result is None:
        lines = [line for line in run.text("log.txt").splitlines() if line.startswith("error: ")]
        # As it was said: names of files and columns are in it.
        return lines[-1].removeprefix("error: ") if lines else "It failed; its output says why"
    return _found(run, result)


def _found(run: Run, result: Any) -> str:
    kind = run.command["kind"]
    if kind == "tables" and isinstance(result, Mapping):
        return _proven(result) if "verified" in result else _protected(result)
    if kind == "mask":
        return "The masked file is there"
    if kind in _SAID and isinstance(result, Mapping):
        return _SAID[kind](result)
    if kind == "sweep" and isinstance(result, Mapping):
        front = sum(one.get("pareto") == "on the front" for one in result.get("runs", []))
        return f"{count(result['maskings'])} maskings, {count(front)} of them on the front"
    if kind == "risk" and isinstance(result, Mapping) and result.get("verdict"):
        sentence = str(result["verdict"]["sentence"])
        return sentence[:1].upper() + sentence[1:]
    interval = interval_of(result)
    return interval.sentence if interval else "Done"


def _protected(result: Mapping[str, Any]) -> str:
    """Whether a table is protected, and at what cost."""
    head = _headline(result)
    return f"{head.verdict} {head.worst}".strip()


def _headline(result: Mapping[str, Any]) -> Headline:
    """What the report of a table has at its head; a contradiction where it has none."""
    from linkrisk.solver.report.content.tables.build import table_document
    from linkrisk.solver.run.errors import UsageError

    try:
        return table_document(result).headline
    except UsageError as error:
        return Headline("unknown", str(error), "")


def _proven(result: Mapping[str, Any]) -> str:
    """What the certificate of a table proves."""
    if not result["verified"]:
        return f"REJECTED: {result['rejected']}. Nothing is proven"
    levels = f"{count(result['met'])} of {count(result['demands'])} levels are met"
    if result["protected"]:
        return f"PROVEN: the table is protected from outsiders, {levels}"
    more = f"{count(result['missed'])} missed, {count(result['undecided'])} undecided"
    return f"NOT PROTECTED: {levels}, {more}"


def grounds(run: Run) -> list[str]:
    """What else stands behind the verdict of a `risk` or a table, a sentence each."""
    from linkrisk.solver.measures.verdict import grounds_of

    if not isinstance(run.result, Mapping):
        return []
    if run.command["kind"] == "tables" and "verified" not in run.result:
        return list(_headline(run.result).reasons)
    found = run.result.get("verdict")
    return list(grounds_of(found)) if run.command["kind"] == "risk" and found else []


def verdict(run: Run) -> str:
    """Whether a table is protected, or a file within what is tolerated: ``good`` or ``bad``, else empty."""
    if not isinstance(run.result, Mapping):
        return ""
    if run.command["kind"] == "risk":
        found = run.result.get("verdict") or {}
        return {"above": "bad", "below": "good"}.get(str(found.get("answer")), "")
    if run.command["kind"] != "tables":
        return ""
    beyond = run.result.get("insiders") or {"protected": True}
    return "good" if run.result.get("protected") and beyond["protected"] else "bad"


def findings_of(result: Any) -> dict[tuple[str, str], Mapping[str, Any]]:
    """All findings of a `risk`, by measure and words."""
    if not isinstance(result, Mapping):
        return {}
    return {
        (measure, one["words"]): one
        for measure, content in result.get("measures", {}).items()
        for one in content.get("findings", [])
    }


def finding_text(finding: Mapping[str, Any] | None) -> str:
    """A finding with its interval."""
    from linkrisk.solver.documents.formats import significant

    if finding is None or finding.get("value") is None:
        return "–"
    share = finding.get("unit") == "share"
    shown = [
        percent(value, 1.0) if share else significant(value)
        for value in (finding["value"], finding.get("low"), finding.get("high"))
        if value is not None
    ]
    between = f" ({shown[1]} to {shown[2]})" if len(shown) == 3 and shown[1] != shown[2] else ""
    return shown[0] + between


@dataclass(frozen=True)
class Difference:
    """How far the number of a run is from that of the first one.

    Attributes
    ----------
    words : str
    judgement : str
        ``good`` or ``bad`` for whoever releases the file; empty where it is neither.
    """

    words: str
    judgement: str


def difference(first: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> Difference | None:
    """What a number differs by, and whether that is better; None where there are not two numbers."""
    from linkrisk.solver.documents.formats import decimals, significant

    if not (first and other) or first.get("value") is None or other.get("value") is None:
        return None
    by = other["value"] - first["value"]
    if by == 0.0:
        return Difference("the same", "")
    share = other.get("unit") == "share"
    size = f"{decimals(abs(100.0 * by), 1)} points" if share else significant(abs(by))
    sign, worse = ("+", "higher") if by > 0 else (MINUS, "lower")
    if other["worse"] == "neither":
        return Difference(f"{sign}{size}", "")
    judgement = ("worse", "bad") if other["worse"] == worse else ("better", "good")
    return Difference(f"{sign}{size}: {judgement[0]}", judgement[1])


def _linked(result: Mapping[str, Any]) -> str:
    """What a linker links, and what guesses among equal scores add."""
    share, matched = percent(result["linked"], result["records"]), result.get("one_to_one")
    most = f"{count(result['linked'])} of {count(result['records'])} records ({share})"
    said, expected = f"{result['method']} re-identifies {most}", result["expected_links"]
    if expected > result["linked"]:
        said += f"; with guesses among equals {count(round(expected, 1))}"
    return said if not matched else f"{said}; one to one, {count(matched['correct'])} are right"


def _in_short(result: Mapping[str, Any]) -> str:
    """The sentences on top of its answer in short."""
    from linkrisk.solver.documents.short import short_of

    return " ".join(short_of(result).headline.sentences)


_SAID = {"link": _linked, "unsafe": _in_short, "suppress": _in_short}
