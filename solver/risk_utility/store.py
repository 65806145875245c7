"""Finished runs in a folder, one file for each, so that a sweep that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.errors import called
from linkrisk.solver.risk_utility.runs import SweepRun
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.result import dump_json

Depends = Mapping[str, Any]
"""What a run depends on, ready for JSON: the original file, the masking, options, the program."""

_WORDS = {
    "original": "of another original file",
    "options": "with other options",
    "program": "of another version of linkrisk or its libraries",
}
"""What runs are called that do not count, by what is different, the most important first."""

_UNREADABLE = "that cannot be read"

_MOST_BYTES = 10_000_000
"""A larger file is none of ours."""


def table_digest(stored: StoredFile) -> str:
    """Digest of a table: names, types and values of columns, and the missing codes that its file declares."""
    found = hashlib.sha256()
    for name, column in stored.frame.items():
        values = pd.util.hash_pandas_object(column, index=False).to_numpy()
        found.update(f"{name}\n{column.dtype}\n{stored.notes(str(name)).missing}\n".encode())
        found.update(values.tobytes())
    return found.hexdigest()


class Store:
    """A folder of finished runs, or none.

    Parameters
    ----------
    folder : str or Path, optional
        Made where it does not exist. Nothing is kept without one.

    Raises
    ------
    UsageError
        If it cannot be made, or is not a folder that can be written to.
    """

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is None:
            return
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise UsageError(
                f"{called('folder', folder)} is a file; give the name of a folder", option="folder"
            ) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UsageError(
                f"{called('folder', folder)} cannot be made: {reason}; give another one", option="folder"
            ) from None
        if not os.access(self.folder, os.R_OK | os.W_OK | os.X_OK):
            raise UsageError(f"{called('folder', folder)} is not writable; give another one", option="folder")

    def find(self, depends: Depends) -> SweepRun | None:
        """The run that depends on just this; None where there is none."""
        content = None if self.folder is None else _content(self._path(depends))
        if content is None or content["depends"] != depends:
            return None
        return _run(content)

    def keep(self, depends: Depends, run: SweepRun) -> None:
        """Keep a run, whole or not at all; DataError where it cannot be written."""
        if self.folder is not None:
            write_whole(self._path(depends), dump_json({"depends": depends, "run": run.to_dict()}))

    def notes(self, depends: Depends) -> tuple[str, ...]:
        """Which runs in the folder do not count, because something else than the masking is another one."""
        others = Counter(dict.fromkeys((*_WORDS.values(), _UNREADABLE), 0))  # in this order
        for path in self._files():
            content = _content(path)
            if content is None:
                others[_UNREADABLE] += 1
                continue
            words = (said for key, said in _WORDS.items() if content["depends"].get(key) != depends[key])
            others.update([next(words, "")])
        del others[""]
        return tuple(
            f"{self.folder} has {many:,} {'run' if many == 1 else 'runs'} {what}; they do not count here"
            for what, many in others.items()
            if many
        )

    def _files(self) -> Iterator[Path]:
        return iter(()) if self.folder is None else iter(sorted(self.folder.glob("*.json")))

    def _path(self, depends: Depends) -> Path:
        assert self.folder is not None
        spelled = json.dumps(depends, sort_keys=True, ensure_ascii=False)
        return self.folder / f"{hashlib.sha256(spelled.encode()).hexdigest()[:20]}.json"


def _content(path: Path) -> dict[str, Any] | None:
    """What is in a file; None where it is not there, or not one of ours."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    whole = isinstance(content, dict) and all(
        isinstance(content.get(key), dict) for key in ("depends", "run")
    )
    return content if whole and _run(content) is not None else None


def _run(content: Mapping[str, Any]) -> SweepRun | None:
    try:
        return SweepRun.from_dict(content["run"])
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
