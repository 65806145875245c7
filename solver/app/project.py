"""A project: one folder with the data, the schemas and the runs; nothing is ever written outside of it."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from linkrisk.datasets.microdata.formats.argus_files import DATA as DATA_OF_ARGUS
from linkrisk.datasets.microdata.formats.argus_files import METADATA
from linkrisk.datasets.microdata.formats.reading import SIGNS, reading
from linkrisk.datasets.microdata.formats.registry import known_suffixes
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.datasets.tables.opening import WHOLE
from linkrisk.solver.app.kinds import COMPRESSED, KINDS, SCHEMAS, suffixes, table_part
from linkrisk.solver.run.errors import UsageError

DATA, RUNS, OWN = "data", "runs", ".linkrisk"
"""Folders of a project: files that were given, runs, and what the application keeps for itself."""

NUMBERS = "numbers.json"
"""In the folder of the application: what stands in the numbers of text files."""

SCHEMA_END = ".schema.toml"

PRIVATE = 0o700
"""Who may read folders with originals, and seeds: their owner."""

MASKED = "-masked"
"""What the names of files end in that runs have masked."""

LONGEST_NAME = 120
"""Bytes; file systems take 255, and what is made of a file has a longer name."""

LEFT = ("table-internal", "table-rules", "certificate")
"""How the names of files begin that runs leave, and that later runs about tables may be given."""

_NOT_IN_NAMES = re.compile(r"[^\w.,+=@ ()-]")


@contextmanager
def private() -> Iterator[None]:
    """Let nobody but the owner read what is made meanwhile, by this process and by those that it starts."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


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
            with private():
                for name in (DATA, RUNS, OWN, f"{OWN}/tmp", f"{OWN}/looks"):
                    (project.folder / name).mkdir(parents=True, exist_ok=True)
            for name in (DATA, RUNS, OWN):  # also those that were made before
                (project.folder / name).chmod(PRIVATE)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"cannot use the project folder {folder}: {reason}; choose another one"
            ) from None
        project._claim(str(folder))
        for left in (project.folder / OWN / "tmp").iterdir():  # uploads and previews that a kill has left
            left.unlink(missing_ok=True)
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
        said = json.dumps({"pid": me.pid, "created": me.create_time()})
        write_whole(claim, f"{said}\n", mode=SECRET)

    @property
    def signs(self) -> dict[str, str]:
        """What stands in the numbers of text files, by the option that says it; as far as that is said."""
        said = read_json(self.folder / OWN / NUMBERS) or {}
        return {name: str(said[name]) for name in SIGNS if said.get(name)}

    @property
    def reading(self) -> list[str]:
        """The arguments that say so, which every command of the project has."""
        return [word for name, sign in self.signs.items() for word in (f"--{name}", sign)]

    def say_signs(self, **signs: str) -> None:
        """Keep what stands in numbers, empty for what is found out; DataError if both are the same."""
        made = {name: sign for name, sign in {**self.signs, **signs}.items() if sign}
        with reading(**made):
            write_whole(self.folder / OWN / NUMBERS, json.dumps(made) + "\n", mode=SECRET)

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
        if not safe.lower().endswith((*suffixes(), *SCHEMAS)):
            raise UsageError(f"{safe} is of no kind that is read; use one of {KINDS}")
        return free_name(self.folder / DATA / safe)

    @property
    def data_files(self) -> list[str]:
        """Files with records, those that runs have masked included, by name."""
        names = self._files(known_suffixes())
        return sorted(name for name in names if not table_part(self.folder / name))

    def for_tables(self, what: str) -> list[str]:
        """Files that are no records but a part of tables, by name (see `table_part`)."""
        return sorted(name for name in self._files(suffixes()) if table_part(self.folder / name) == what)

    @property
    def certificates(self) -> list[str]:
        """Files that may be certificates, those that runs have made included."""
        others = (".schema.json", "rules.json")
        given = [name for name in self.schemas if name.endswith(".json") and not name.endswith(others)]
        return [*given, *self.for_tables("certificates"), *self.left("certificate", (".json", COMPRESSED))]

    @property
    def rules(self) -> list[str]:
        """Files that say by which rules tables were made."""
        given = [name for name in self.schemas if name.endswith("rules.json")]
        return [*given, *self.left("table-rules", (".json",))]

    @property
    def cells(self) -> list[str]:
        """Files that may hold the cells of a table, those that runs have left included."""
        left = self.left(LEFT[0], (".csv", *WHOLE))
        listed = [*self.for_tables("tables"), *left, *self.data_files]
        return [name for name in listed if not name.lower().endswith((*DATA_OF_ARGUS, METADATA))]

    @property
    def descriptions(self) -> list[str]:
        """Files of ARGUS that say what the columns of others are."""
        listed = [*self.for_tables("metadata"), *self.data_files]
        return [name for name in listed if name.lower().endswith(METADATA)]

    def left(self, begin: str, ends: tuple[str, ...]) -> list[str]:
        """Files that runs have left, the newest first, by how their names begin and end."""
        found = sorted((self.folder / RUNS).glob(f"*/{begin}*"), reverse=True)
        return [self.name_of(path) for path in found if path.name.endswith(ends) and self.holds(path)]

    @property
    def readable(self) -> list[str]:
        """Every file that a command may be given as data, by name."""
        left = [name for begin in LEFT for name in self.left(begin, ("",))]
        return sorted((*self._files((*suffixes(), ".json")), *left))

    @property
    def schemas(self) -> list[str]:
        """Files that may be schemas."""
        return sorted(name for name in self._files((".toml", ".json")) if not name.startswith(f"{RUNS}/"))

    def schema_of(self, file: str) -> str:
        """The name of the schema that belongs to a file, whether there is one or not."""
        return f"{DATA}/{Path(file).stem}{SCHEMA_END}"

    def _files(self, ends: tuple[str, ...]) -> Iterator[str]:
        for folder in (self.folder, self.folder / DATA, *(self.folder / RUNS).glob("*/")):
            for path in folder.iterdir():
                of_run = folder.parent.name == RUNS and folder.parent.parent == self.folder
                if not path.name.lower().endswith(ends) or path.name.startswith("."):
                    continue
                if path.is_file() and (not of_run or path.stem.endswith(MASKED)) and self.holds(path):
                    yield path.relative_to(self.folder).as_posix()


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
    end = path.name[-len(COMPRESSED) :] if path.name.lower().endswith(COMPRESSED) else path.suffix
    while candidate.exists():
        candidate = path.with_name(f"{path.name.removesuffix(end)}-{at}{end}")
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
