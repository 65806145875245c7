"""A project: one folder with the data, the schemas and the runs; nothing is ever written outside of it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

import linkrisk
from linkrisk.datasets.microdata.formats.argus_metadata import DATA as DATA_OF_ARGUS
from linkrisk.datasets.microdata.formats.argus_metadata import METADATA, find_file
from linkrisk.datasets.microdata.formats.number_text import SIGNS, reading
from linkrisk.datasets.microdata.formats.registry import known_suffixes
from linkrisk.datasets.microdata.hierarchies import TREE
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.datasets.tables.argus import apriori, jj_files, ready_tables
from linkrisk.datasets.tables.reading import WHOLE
from linkrisk.solver.run.errors import UsageError

DATA, RUNS, OWN = "data", "runs", ".linkrisk"
"""Folders of a project: files that were given, runs, and what the application keeps for itself."""

NUMBERS = "numbers.json"
"""In the folder of the application: what stands in the numbers of text files."""

PRIVATE = 0o700
"""Who may read folders with originals, and seeds: their owner."""

MASKED, SCHEMA_END, COMPRESSED = "-masked", ".schema.toml", ".json.gz"
"""What names end in: of files that runs have masked, of schemas, of compressed certificates."""

SCHEMAS = (".toml", ".json")

LONGEST_NAME = 120
"""Bytes; file systems take 255, and what is made of a file has a longer name."""

LEFT = ("table-internal", "table-rules", "certificate")
"""How the names of files begin that runs leave, and that later runs about tables may be given."""

OF_TABLES = {TREE: "trees", jj_files.SUFFIX: "tables", apriori.SUFFIX: "apriori", COMPRESSED: "certificates"}
"""What files are by their suffix alone that are no records."""

READABLE = (*known_suffixes(), *OF_TABLES)
"""How the names of all files end that a command may be given as data."""

KINDS = (
    f"{', '.join(known_suffixes())}; for tables a tree of codes ({TREE}), a JJ file ({jj_files.SUFFIX}), an "
    f"a-priori file ({apriori.SUFFIX}) or a certificate (.json, {COMPRESSED}); or a schema (.toml, .json)"
)
"""What is read, in words."""

_NOT_IN_NAMES = re.compile(r"[^\w.,+=@ ()-]")


def table_part(path: Path) -> str:
    """What a file is that only tables are made of; empty for one of records.

    ``tables``, ``trees``, ``apriori``, ``certificates``, or ``metadata``: what the columns of cells of ARGUS
    are. Those cells and their metadata have suffixes of files of records; what lies beside them tells which.
    """
    known = next((kind for end, kind in OF_TABLES.items() if path.name.lower().endswith(end)), "")
    of_argus = path.suffix.lower() in (METADATA, ready_tables.SUFFIX)
    if known or not of_argus or _beside(path, *DATA_OF_ARGUS):
        return known
    if path.suffix.lower() == METADATA:
        return "metadata"
    return "tables" if _beside(path, METADATA) else ""


def _beside(path: Path, *ends: str) -> bool:
    """Whether a file of the same name with another end lies there."""
    return any(find_file(path.parent, f"{path.stem}{end}") is not None for end in ends)


@contextlib.contextmanager
def private() -> Iterator[None]:
    """Restrict files made meanwhile, by this process and its children, to their owner."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@dataclass(frozen=True)
class Project:
    """A project `folder`, resolved, so that paths can be compared with it."""

    folder: Path

    @classmethod
    def opened(cls, folder: str | Path) -> Project:
        """The project of a folder, which is made where it is missing, unless another one has it open."""
        project = cls(Path(folder).resolve())
        try:
            with private():
                for name in (DATA, RUNS, OWN, f"{OWN}/tmp", f"{OWN}/looks"):
                    (project.folder / name).mkdir(parents=True, exist_ok=True)
            for name in (DATA, RUNS, OWN):  # also those that were made before
                (project.folder / name).chmod(PRIVATE)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            said = f"cannot use the project folder {folder}: {reason}; choose another one"
            raise UsageError(said) from None
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
        """Decimal and thousands signs of text files, by their options, as far as they are set."""
        said = read_json(self.folder / OWN / NUMBERS) or {}
        return {name: str(said[name]) for name in SIGNS if said.get(name)}

    @property
    def reading(self) -> list[str]:
        """Arguments of these signs, which every command of the project gets."""
        return [word for name, sign in self.signs.items() for word in (f"--{name}", sign)]

    def say_signs(self, **signs: str) -> None:
        """Set the signs in numbers, empty where they are detected; DataError if both are the same."""
        made = {name: sign for name, sign in {**self.signs, **signs}.items() if sign}
        with reading(**made):
            write_whole(self.folder / OWN / NUMBERS, json.dumps(made) + "\n", mode=SECRET)

    def release(self) -> None:
        """Let another application open the folder."""
        (self.folder / OWN / "server.json").unlink(missing_ok=True)

    def inside(self, relative: str) -> Path:
        """The path of a file or folder of the project; UsageError for any other, also one by a link.

        Those that the application keeps for itself are refused as well.
        """
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # a null byte, links in a circle
            path = (self.folder / relative).resolve()
            path.exists()
            if self.holds(path) and not path.is_relative_to(self.folder / OWN):
                return path
        raise UsageError("this is no file of the project")

    def holds(self, path: Path) -> bool:
        """Whether a path lies in the folder, links followed."""
        return path.resolve().is_relative_to(self.folder)

    def name_of(self, path: Path) -> str:
        """A path of the project as commands name it: relative to the folder, which is where they run."""
        return path.resolve().relative_to(self.folder).as_posix()

    def new_data(self, name: str) -> Path:
        """A path in the data folder that no file has yet, for one of a kind that some command reads."""
        safe = safe_name(name)
        if not safe.lower().endswith((*READABLE, *SCHEMAS)):
            raise UsageError(f"{safe} is of no kind that is read; use one of {KINDS}")
        return free_name(self.folder / DATA / safe)

    @property
    def data_files(self) -> list[str]:
        """Files with records, those that runs have masked included, by name."""
        names = self._files(known_suffixes())
        return sorted(name for name in names if not table_part(self.folder / name))

    def for_tables(self, what: str) -> list[str]:
        """Files that are no records but a part of tables, by name (see `table_part`)."""
        return sorted(name for name in self._files(READABLE) if table_part(self.folder / name) == what)

    def offered(self, what: str) -> list[str]:
        """Files that may be this, as options call it, what runs have left included; of others all records."""
        if what in ("schema", "answer"):
            return self.schemas
        if what == "made":
            given = [name for name in self.schemas if name.endswith("rules.json")]
            return [*given, *self.left("table-rules", (".json",))]
        if what == "result":
            others = (".schema.json", "rules.json")
            given = [name for name in self.schemas if name.endswith(".json") and not name.endswith(others)]
            left = self.left("certificate", (".json", COMPRESSED))
            return [*given, *self.for_tables("certificates"), *left]
        kind = {"cells": "tables", "hierarchies": "trees"}.get(what, what)
        left = self.left(LEFT[0], (".csv", *WHOLE)) if what == "cells" else []
        listed = [*self.for_tables(kind), *left, *self.data_files]
        if what == "metadata":
            return [name for name in listed if name.lower().endswith(METADATA)]
        of_argus = (*DATA_OF_ARGUS, METADATA) if what == "cells" else ()
        return [name for name in listed if not name.lower().endswith(of_argus)]

    def left(self, begin: str, ends: tuple[str, ...]) -> list[str]:
        """Files that runs have left, the newest first, by how their names begin and end."""
        found = sorted((self.folder / RUNS).glob(f"*/{begin}*"), reverse=True)
        return [self.name_of(path) for path in found if path.name.endswith(ends) and self.holds(path)]

    @property
    def readable(self) -> list[str]:
        """Every file that a command may be given as data, by name."""
        left = [name for begin in LEFT for name in self.left(begin, ("",))]
        return sorted((*self._files((*READABLE, ".json")), *left))

    @property
    def schemas(self) -> list[str]:
        """Files that may be schemas."""
        return sorted(name for name in self._files((".toml", ".json")) if not name.startswith(f"{RUNS}/"))

    def schema_of(self, file: str) -> str:
        """The name of the schema that belongs to a file, whether there is one or not."""
        return f"{DATA}/{Path(file).stem}{SCHEMA_END}"

    def known_schema(self, file: str) -> str:
        """The same where there is one; empty where there is none."""
        schema = self.schema_of(file)
        return schema if schema in self.schemas else ""

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
        same = abs(found.create_time() - process["created"]) < 1.0
        return bool(same and found.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def environment() -> dict[str, str]:
    """The environment of this process, in which the same linkrisk is found from whatever folder."""
    home = str(Path(linkrisk.__file__).resolve().parent.parent)
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([home, *([before] if before else [])])}
