"""What made the figures of a page: the line that says so, and how it is told that they are old.

    python scripts/figures.py "python scripts/benchmark_cores.py --pairs PAIRS" "exact engine"

prints the line for figures that this command has just printed, with the version and commit of today. It
names what the figures report on, each with a generation. Whoever changes one of these so that figures become
others (faster, more links, other files) raises its generation below. `tests/test_figures.py` then fails on
every page that has not been measured again and does not say that it is older.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from solver.answers import library_versions

ROOT = Path(__file__).resolve().parent.parent

GENERATIONS = {
    "attacks": 1,
    "big-C engine": 1,
    "evaluator": 1,
    "exact engine": 2,  # questions about cores in compiled code
    "linkers": 1,
    "masking": 1,
}
"""What figures report on, and which generation of it they have to be of."""

STAMP = re.compile(
    r"\*Figures: `(?P<command>[^`]+)`, linkrisk (?P<version>[\d.]+), code (?P<code>[0-9a-f]{7}) of "
    r"(?P<date>\d{4}-\d\d-\d\d); (?P<subjects>[^.*]+)\.(?: Older: (?P<older>[^*]+)\.)?\*"
)


class Stamp(NamedTuple):
    """What made some figures.

    Attributes
    ----------
    command : str
    version : str
        Of linkrisk.
    code, date : str
        The commit, and its day.
    subjects : dict of str to int
        What they report on, and its generation then.
    older : str or None
        What a reader is told of figures that are older than today's generation.
    """

    command: str
    version: str
    code: str
    date: str
    subjects: dict[str, int]
    older: str | None = None

    def __str__(self) -> str:
        subjects = ", ".join(f"{name} {generation}" for name, generation in self.subjects.items())
        older = "" if self.older is None else f" Older: {self.older}."
        return (
            f"*Figures: `{self.command}`, linkrisk {self.version}, code {self.code} of {self.date}; "
            f"{subjects}.{older}*"
        )

    @property
    def outdated(self) -> list[str]:
        """What has changed since these figures were made."""
        return [name for name, generation in self.subjects.items() if generation < GENERATIONS[name]]


def stamp_of_today(command: str, subjects: Sequence[str]) -> Stamp:
    """The stamp of figures that this command has printed just now."""
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%h %ad", "--abbrev=7", "--date=short"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, date = shown.stdout.split()
    now = {name: GENERATIONS[name] for name in subjects}
    return Stamp(command, library_versions()["linkrisk"], code, date, now)


def stamps(text: str) -> list[Stamp]:
    """The stamps of a page, or of a part of one; a stamp may go over several lines."""
    found = []
    for stamp in STAMP.finditer(" ".join(text.split())):
        named = [part.rpartition(" ") for part in stamp["subjects"].split(", ")]
        subjects = {name: int(generation) for name, _, generation in named}
        made = (stamp["command"], stamp["version"], stamp["code"], stamp["date"])
        found.append(Stamp(*made, subjects, stamp["older"]))
    return found


if __name__ == "__main__":
    print(stamp_of_today(sys.argv[1], sys.argv[2:]))
