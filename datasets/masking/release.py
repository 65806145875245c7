"""Release of a masked table, and the secret record of how it was made."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError, read_bytes
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.masking.sequence import Step
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.names import shown_name
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.released_files import renumbered, shuffled
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.errors import called

_LARGEST = 1e16
"""Ids of more digits are met by no numbers of records."""


@dataclass(frozen=True, eq=False)
class Release:
    """Changes of a masked table when it is released."""

    dropped: tuple[str, ...] = ()  # columns that go
    # columns whose values become new numbers in the order of the release, equal ones staying equal,
    # and after which number these begin: no new id is an old one, or records would be aligned by it
    renumbered: Mapping[str, int] = field(default_factory=dict)
    # (n,): the row of the original of each released record; None where they stand in place
    order: npt.NDArray[np.intp] | None = None

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The released table; records in a new order have a new index."""
        found = frame.drop(columns=list(self.dropped)) if self.dropped else frame
        if self.order is not None:
            found = found.iloc[self.order].reset_index(drop=True)
        return renumbered(found, list(self.renumbered), self.renumbered) if self.renumbered else found

    def stored(self, stored: StoredFile) -> StoredFile:
        """The released file, with its notes on columns."""
        gone = {*self.dropped, *self.renumbered}
        columns = {name: notes for name, notes in stored.columns.items() if name not in gone}
        named = {name: ColumnNotes(stored.notes(name).label) for name in self.renumbered}
        return replace(stored, frame=self.of(stored.frame), columns={**columns, **named})

    def to_dict(self) -> dict[str, Any]:
        """JSON of the record; ``order``, rows from 1, re-identifies the records."""
        found: dict[str, Any] = {"dropped": list(self.dropped), "renumbered": list(self.renumbered)}
        found = {name: names for name, names in found.items() if names}
        return found if self.order is None else {**found, "order": (self.order + 1).tolist()}


def release_of(
    frame: pd.DataFrame,
    masked: Mapping[str, str],
    *,
    identifiers: Sequence[str],
    household: str | None,
    drop: Sequence[str] | None,
    renumber: Sequence[str],
    shuffle: np.random.Generator | None,
    source: str,
) -> Release:
    """Decide on columns to drop (`identifiers` by default), ids to renumber, and the order of records.

    Columns in `masked` are masked by the method that it names; members of a `household` stay together.
    """
    names = list(frame.columns)
    if drop is None:
        drop = [name for name in identifiers if name in names and name not in (*masked, *renumber)]
    for what, columns in (("drop", drop), ("renumber", renumber)):
        check_known(columns, names, source, option=what)
        for name in columns:
            if name in masked:
                raise DataError(
                    f"{shown_name(name)} is masked by {masked[name]}: leave it out of {called(what)}",
                    option=what,
                )
    for name in renumber:
        if name in drop:
            raise DataError(
                f"{shown_name(name)} is dropped: leave it out of {called('renumber')}", option="renumber"
            )
    if len(set(drop)) == len(names):
        raise DataError(f"every column of {source} is dropped: nothing would be left")
    order = None
    if shuffle is not None:
        rows = pd.DataFrame({"row": np.arange(len(frame))})
        if household is not None:
            rows["household"] = frame[household].to_numpy()
        mixed = shuffled(rows, shuffle, None if household is None else "household")
        order = mixed["row"].to_numpy(dtype=np.intp)
    return Release(tuple(dict.fromkeys(drop)), {name: _beyond(frame[name]) for name in renumber}, order)


def _beyond(ids: pd.Series) -> int:
    """A power of ten above all ids: it says less about the largest one than that itself."""
    numbers = pd.to_numeric(ids.astype("object"), errors="coerce").to_numpy(dtype=np.float64)
    largest = np.nanmax(np.abs(numbers), initial=0.0, where=np.isfinite(numbers))
    return 0 if largest < 1 or largest >= _LARGEST else 10 ** len(str(int(largest)))


def version() -> str:
    """The installed version of linkrisk."""
    try:
        return importlib.metadata.version("linkrisk")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def sha256(content: bytes) -> str:
    """SHA-256 digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def steps_as_json(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Methods with their parameters and attributes, in order, ready for JSON."""
    return [{**method_as_json(step.method), "attributes": list(step.attributes)} for step in steps]


def method_as_json(method: MaskingMethod) -> dict[str, Any]:
    """A method with all its parameters, those read from files included, ready for JSON."""
    named = method.named
    return {
        "method": method.name,
        "parameters": {
            name: _plain(getattr(method, name))
            for name in METHODS[method.name].parameters
            if name != "attributes" and getattr(method, name) not in (None, (), False)
        },
        "attributes": None if named is None else list(named),
    }


def check_new(path: str | Path) -> None:
    """Raise a DataError if a record exists: it may be the only copy of a seed."""
    if Path(path).exists():
        raise DataError(f"{path} exists and may be the only copy of a seed; give this record another name")


def write_record(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON, readable by its owner only (mode 0600)."""
    write_whole(path, json.dumps(record, indent=2, ensure_ascii=False) + "\n", mode=SECRET)


def read_seed(path: str | Path) -> int:
    """Read the seed of a record."""
    try:
        record = json.loads(read_bytes(path, called("seed", path), "seed"))
    except ValueError:
        record = None
    seed = record.get("seed") if isinstance(record, dict) else None
    if not (isinstance(seed, str) and seed.isascii() and seed.isdigit()):
        raise DataError(
            f"{called('seed', path)} is no record of `mask` with a seed: give such a file, or a whole number",
            option="seed",
        )
    return int(seed)


def _plain(value: Any) -> Any:
    if isinstance(value, Schema):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value) if field.compare}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
