"""Results and progress of runs, in the words of the application."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.strict_json import kind_of
from linkrisk.solver.app.runs import PROGRESS, Run, RunState
from linkrisk.solver.documents.document import Headline, shown
from linkrisk.solver.documents.short import short_of
from linkrisk.solver.documents.wording import NOTHING, count, percent
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.incumbent import PROVEN
from linkrisk.solver.run.number_format import MINUS
from linkrisk.solver.schemas import reading
from linkrisk.solver.schemas.intervals import is_bound
from linkrisk.solver.schemas.reading import Interval


@dataclass
class Course:
    """Attack and bound of one family over time, or cost and bound of what shall be least."""

    family: str  # its name; empty where the command does not say
    began: float = 0.0  # seconds of the command when it began
    # every change; seconds since the family began
    points: list[tuple[float, float, float]] = field(default_factory=list)
    # `phase`, `work`: what is being done, and how much of it
    phase: str = ""
    work: str = ""
    total: float | None = None  # records, or the sum of their weights
    # whether the best answer is a cost, which the bound is below; the points are (seconds, bound, cost)
    costs: bool = False

    @property
    def interval(self) -> str:
        """Attack and bound now."""
        _, attack, bound = self.points[-1]
        if self.costs:
            proven = bound - attack <= PROVEN * max(1.0, bound)
            return f"cost {count(bound)}, " + ("proven least" if proven else f"at least {count(attack)}")
        of = "" if self.total is None else f" of {count(self.total)}"
        if bound - attack <= PROVEN:
            return f"{count(attack)}{of}, proven"
        if self.total is not None and not is_bound(attack, bound, self.total):
            return f"{count(attack)}{of}, no bound yet"
        return f"{count(attack)} to {count(bound)}{of}"

    @property
    def sentence(self) -> str:
        """Attack, bound and phase in a sentence."""
        if self.costs:  # its work says the same in words, or a step and how much of it is left
            work = self.work.removeprefix(f"{self.family}: ")
            step = work if ": " in work else ""
            return ", ".join(part for part in (self.interval, step or self.phase) if part)
        return ", ".join(part for part in (self.interval, self.phase, self.work) if part)


class ProgressReader:
    """Reads the progress of a run, only what is new each time.

    `courses`: by family, in the order in which they began. `said`: the stage that was last named, also where
    there is no bound yet. `done`: share of the command that is done, where it says so.
    """

    def __init__(self, run: Run) -> None:
        self._path: Path = run.folder / PROGRESS
        self._offset = 0
        self._last: str | None = None
        self.courses: dict[str, Course] = {}
        self.said = ""
        self.done: float | None = None

    @property
    def sentence(self) -> str:
        """Phase of the run, with attack and bound of the family in hand."""
        if self._last is None:
            return self.said
        course = self.courses[self._last]
        family = f"{course.family}: " if course.family else ""
        if course.costs:
            sentence = f"against {family}{course.sentence}" if family else course.sentence
            return sentence[:1].upper() + sentence[1:]
        return f"{family}{course.sentence}"

    def read(self) -> bool:
        """Take in what has been written since; whether there was something."""
        content = b""
        with contextlib.suppress(OSError), self._path.open("rb") as file:
            file.seek(self._offset)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]  # of a line that is being written, the rest comes later
        self._offset += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                if isinstance(said, dict):
                    self._take(said)
        return bool(whole)

    def end(self, result: object) -> bool:
        """Add the final cost of a search: better than the last that it reported, or the first at all."""
        if not isinstance(result, Mapping) or result.get("cost") is None or result.get("bound") is None:
            return False
        cost, bound = float(result["cost"]), float(result["bound"])
        if not self.courses and result.get("format") == "linkrisk-suppressed-table":
            self.courses[""] = Course("", costs=True)
        course = self.courses.get("")
        if course is None or not course.costs:
            return False
        last, *said = course.points[-1] if course.points else (0.0,)
        if said == [bound, cost]:
            return False
        seconds = max(last, float(result.get("seconds") or 0.0) - course.began)
        course.points.append((seconds, bound, cost))
        return True

    def _take(self, said: dict[str, Any]) -> None:
        self.said = str(said.get("phase") or self.said)
        self.done = said.get("done", self.done)
        costs = said.get("cost") is not None
        attack, bound = said.get("linked"), said.get("bound")
        if costs and bound is not None:
            attack, bound = bound, said["cost"]
        family = str(said.get("about") or "")
        if attack is None or bound is None:
            self._last = None
            self.said = ", ".join(part for part in (self.said, family, str(said.get("work") or "")) if part)
            return
        seconds = float(said.get("seconds") or 0.0)
        course = self.courses.setdefault(family, Course(family, seconds))
        self._last, course.costs = family, costs
        course.phase, course.work = str(said.get("phase") or ""), str(said.get("work") or "")
        course.total = said.get("total", course.total)
        attack, bound = float(attack), float(bound)
        if course.points and not costs:  # a family that is searched again says first what it has counted anew
            attack, bound = max(attack, course.points[-1][1]), min(bound, course.points[-1][2])
        point = (seconds - course.began, attack, bound)
        if len(course.points) > 1 and course.points[-2][1:] == course.points[-1][1:] == point[1:]:
            course.points[-1] = point  # it only went on
        else:
            course.points.append(point)


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
    """Find the run with the least worst case, where the intervals decide it."""
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
    """Summarise a run in a sentence."""
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
    """Return the verdict on the release of a table or of the file of a `risk`; None of other runs."""
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
    """List the further grounds of the verdict of a `risk` or a table, a sentence each."""
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
    from linkrisk.solver.documents.wording import points_text, significant

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
