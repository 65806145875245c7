"""A project: one folder with the data, the schemas and the runs; nothing is ever written outside of it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from linkrisk.datasets.microdata.formats.registry import known_suffixes
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.datasets.tables.argus import apriori, jj_files
from linkrisk.solver.run.errors import UsageError

DATA, RUNS, OWN = "data", "runs", ".linkrisk"
"""Folders of a project: files that were given, runs, and what the application keeps for itself."""

SCHEMA_END = ".schema.toml"

MASKED = "-masked"
"""What the names of files end in that runs have masked."""

LONGEST_NAME = 120
"""Bytes; file systems take 255, and what is made of a file has a longer name."""
FOR_TABLES = {
    "trees": (TREE,),
    "tables": (jj_files.SUFFIX,),
    "apriori": (apriori.SUFFIX,),
}
"""Suffixes of files that are no records, but that tables are made of, by what they are."""

KINDS = (
    f"{', '.join(known_suffixes())}; for tables a tree of codes ({TREE}), a JJ file "
    f"({jj_files.SUFFIX}) or an a-priori file ({apriori.SUFFIX}); or a schema (.toml, .json)"
)
"""What is read, in words."""

_NOT_IN_NAMES = re.compile(r"[^\w.,+=@ ()-]")


@dataclass(frozen=True)
class Project:
    """A project folder.

    Attributes
    ----------
    folder : Path
        Resolved, so that paths can be compared with it.
    """

    folder: Path

    @classmethod
    def opened(cls, folder: str | Path) -> Project:
        """The project of a folder, which is made where it is missing.

        Raises
        ------
        UsageError
            If the folder cannot be made, or another application has it open.
        """
        project = cls(Path(folder).resolve())
        try:
            for name in (DATA, RUNS, f"{OWN}/tmp", f"{OWN}/looks"):
                (project.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"cannot use the project folder {folder}: {reason}; choose another one"
            ) from None
        project._claim(str(folder))
        return project

    def _claim(self, shown: str) -> None:
        claim = self.folder / OWN / "server.json"
        other = read_json(claim)
        if other and alive(other):
            raise UsageError(
                f"the project folder {shown} is open in another linkrisk app (process {other['pid']}): "
                "use that one, or end it first"
            )
        me = psutil.Process()
        write_whole(claim, json.dumps({"pid": me.pid, "created": me.create_time()}) + "\n")

    def release(self) -> None:
        """Let another application open the folder."""
        (self.folder / OWN / "server.json").unlink(missing_ok=True)

    def inside(self, relative: str) -> Path:
        """The path of a file or folder of the project.

        Raises
        ------
        UsageError
            If it would lie outside, also by a link, or is one of those the application keeps for itself.
        """
        try:
            path = (self.folder / relative).resolve()
            path.exists()
        except (OSError, ValueError, RuntimeError):  # a null byte, links in a circle, a name that is too long
            raise UsageError("this is no file of the project") from None
        if not self.holds(path) or path.is_relative_to(self.folder / OWN):
            raise UsageError("this is no file of the project")
        return path

    def holds(self, path: Path) -> bool:
        """Whether a path lies in the folder, links followed."""
        return path.resolve().is_relative_to(self.folder)

    def name_of(self, path: Path) -> str:
        """A path of the project as commands name it: relative to the folder, which is where they run."""
        return path.resolve().relative_to(self.folder).as_posix()

    def new_data(self, name: str) -> Path:
        """A path in the data folder for a file that was given, which no other file has yet.

        Raises
        ------
        UsageError
            If no command reads files of its kind.
        """
        safe = safe_name(name)
        suffix = Path(safe).suffix.lower()
        if suffix not in (*known_suffixes(), *more_suffixes(), ".toml", ".json"):
            raise UsageError(f"{safe} is of no kind that is read; use one of {KINDS}")
        return free_name(self.folder / DATA / safe)

    @property
    def data_files(self) -> list[str]:
        """Files with records, those that runs have masked included, by name."""
        return sorted(self._files(known_suffixes()))

    def for_tables(self, what: str) -> list[str]:
        """Files of one of the kinds of `FOR_TABLES`, by name."""
        return sorted(self._files(FOR_TABLES[what]))

    @property
    def readable(self) -> list[str]:
        """Every file that a command may be given as data, by name."""
        return sorted(self._files((*known_suffixes(), *more_suffixes())))

    @property
    def schemas(self) -> list[str]:
        """Files that may be schemas."""
        return sorted(name for name in self._files((".toml", ".json")) if not name.startswith(f"{RUNS}/"))

    def schema_of(self, file: str) -> str:
        """The name of the schema that belongs to a file, whether there is one or not."""
        return f"{DATA}/{Path(file).stem}{SCHEMA_END}"

    def _files(self, suffixes: tuple[str, ...]) -> Iterator[str]:
        for folder in (self.folder, self.folder / DATA, *(self.folder / RUNS).glob("*/")):
            for path in folder.iterdir():
                of_run = folder.parent.name == RUNS and folder.parent.parent == self.folder
                if path.suffix.lower() not in suffixes or path.name.startswith("."):
                    continue
                if path.is_file() and (not of_run or path.stem.endswith(MASKED)) and self.holds(path):
                    yield path.relative_to(self.folder).as_posix()


def more_suffixes() -> list[str]:
    """The suffixes of `FOR_TABLES`."""
    return [suffix for suffixes in FOR_TABLES.values() for suffix in suffixes]


def safe_name(name: str) -> str:
    """A file name without folders, control characters, and what shells take for something else."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    plain = _NOT_IN_NAMES.sub("_", last).strip().lstrip(".-")
    stem, dot, suffix = plain.rpartition(".")
    if not dot:
        stem, suffix = plain, ""
    left = max(0, LONGEST_NAME - len(suffix.encode()))
    short = stem.encode()[:left].decode(errors="ignore").strip()  # no half a character
    return f"{short or 'file'}{dot}{suffix}"


def free_name(path: Path) -> Path:
    """The path, or with a number after its name where there is such a file already."""
    at, candidate = 2, path
    while candidate.exists():
        candidate = path.with_name(f"{path.stem}-{at}{path.suffix}")
        at += 1
    return candidate


def read_json(path: Path) -> Any:
    """What a JSON file holds; None where there is none, or it is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def alive(process: Mapping[str, Any]) -> bool:
    """Whether a process still runs that is known by its id and the moment of its start."""
    try:
        found = psutil.Process(process["pid"])
        return bool(
            abs(found.create_time() - process["created"]) < 1.0 and found.status() != psutil.STATUS_ZOMBIE
        )
    except psutil.Error:
        return False
