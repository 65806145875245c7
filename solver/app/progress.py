"""What a running command says of itself: lines of JSON, read as they come."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkrisk.solver.app.runs import PROGRESS, Run
from linkrisk.solver.documents.formats import count
from linkrisk.solver.run.incumbent import PROVEN
from linkrisk.solver.schemas.intervals import is_bound


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
        """Where the two stand."""
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
        """Where the two stand, and what is being done."""
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
        """What is being done, and where attack and bound of the family stand that is searched."""
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
        """Take in what a search of costs has found in the end, which may be more than it told on its way."""
        course = self.courses.get("")
        if course is None or not course.costs or not isinstance(result, Mapping):
            return False
        cost, bound = result.get("cost"), result.get("bound")
        if cost is None or bound is None or course.points[-1][1:] == (bound, cost):
            return False
        seconds = max(course.points[-1][0], float(result.get("seconds") or 0.0) - course.began)
        course.points.append((seconds, float(bound), float(cost)))
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
