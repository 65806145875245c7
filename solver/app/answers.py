"""A run in one sentence, and what several runs can be compared by; made from their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.solver.app.runs import Run, RunState
from linkrisk.solver.documents.document import Headline, shown
from linkrisk.solver.documents.formats import NOTHING, percent
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import MINUS
from linkrisk.solver.schemas import reading
from linkrisk.solver.schemas.intervals import is_bound
from linkrisk.solver.schemas.reading import Interval

_STATES = {
    RunState.WAITING: "waits for the runs before it",
    RunState.RUNNING: "runs",
    RunState.STOPPING: "was asked to stop",
    RunState.CANCELLED: "was stopped before it had an answer",
    RunState.LOST: "ended without a word, such as when the machine was switched off",
}

_GOOD = {"risk": ("below",), "tables": ("below", "open", "unknown")}
"""What headlines answer of runs that are good: a table is protected whether or not its cost is proven."""


def least_risk(intervals: Mapping[str, Interval]) -> str:
    """Which of several runs has the least worst case, as far as their intervals tell."""
    shares = {name: one.shares for name, one in intervals.items()}
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
    """The worst case of a `fit` or `risk` from its JSON, with guesses among equals; None of others."""
    if not isinstance(result, Mapping) or kind_of(result) not in ("fit", "risk"):
        return None
    fits = reading.fits(result)
    whole = reading.together(map(reading.interval, fits))
    ends = reading.guessed(fits, whole)
    return whole if ends is None else replace(whole, low=ends[0], high=ends[1])


def answer(run: Run) -> str:
    """What is to be said of a run, in a sentence."""
    state = run.state
    if state in _STATES:
        return _STATES[state].capitalize()
    result = run.result
    if state is RunState.FAILED and result is None:
        lines = [line for line in run.text("log.txt").splitlines() if line.startswith("error: ")]
        # As it was said: names of files and columns are in it.
        return lines[-1].removeprefix("error: ") if lines else "It failed; its output says why"
    return _found(run, result)


def _found(run: Run, result: Any) -> str:
    kind = run.command["kind"]
    if kind == "mask":
        return "The masked file is there"
    if not isinstance(result, Mapping) or "format" not in result:
        return "Done"
    head, interval = _headline(result), interval_of(result)
    said = head.verdict if "worst_case" in result else " ".join(head.sentences)  # of a verdict that alone
    return f"{said} Proven." if kind == "fit" and interval is not None and interval.proven else said


def _judged(run: Run) -> Headline | None:
    """What is said of whether a table or the file of a `risk` may be released; None of other runs."""
    judges = run.command["kind"] in ("tables", "risk") and isinstance(run.result, Mapping)
    return _headline(run.result) if judges else None


def _headline(result: Mapping[str, Any]) -> Headline:
    """What its answer in short has on top; of what another version wrote, that it cannot be shown."""
    try:
        with shown("what this version has written"):
            return short_of(result).headline
    except UsageError as error:
        return Headline("", str(error))


def grounds(run: Run) -> tuple[str, ...]:
    """What else stands behind the verdict of a `risk` or a table, a sentence each."""
    head = _judged(run)
    return () if head is None else head.reasons


def verdict(run: Run) -> str:
    """Whether a table is protected, or a file within what is tolerated: ``good`` or ``bad``, else empty."""
    head = _judged(run)
    if head is None:
        return ""
    good = head.answer in _GOOD[run.command["kind"]]
    return "bad" if head.answer == "above" else "good" if good else ""


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
    from linkrisk.solver.report.findings import number_of

    if finding is None or finding.get("value") is None:
        return NOTHING
    number = number_of(finding)
    return f"{number.value} ({number.interval})" if number.interval else number.value


@dataclass(frozen=True)
class Difference:
    """How far the number of a run is from that of the first one."""

    words: str
    judgement: str  # ``good`` or ``bad`` for whoever releases the file; empty where it is neither


def difference(first: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> Difference | None:
    """What a number differs by, and whether that is better; None where there are not two numbers."""
    from linkrisk.solver.documents.formats import points_text, significant

    if not (first and other) or first.get("value") is None or other.get("value") is None:
        return None
    by = other["value"] - first["value"]
    if by == 0.0:
        return Difference("the same", "")
    share = other.get("unit") == "share"
    size = points_text(abs(by)) if share else significant(abs(by))
    sign, worse = ("+", "higher") if by > 0 else (MINUS, "lower")
    if other["worse"] == "neither":
        return Difference(f"{sign}{size}", "")
    judgement = ("worse", "bad") if other["worse"] == worse else ("better", "good")
    return Difference(f"{sign}{size}: {judgement[0]}", judgement[1])
