"""What the owner of a masked file keeps, and nobody else may see: how it was made, with the seed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.masking.sequence import Step
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.writing import SECRET, write_whole
from linkrisk.errors import called


def version() -> str:
    """The version of linkrisk, where it is installed."""
    try:
        return importlib.metadata.version("linkrisk")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def sha256(content: bytes) -> str:
    """The digest of a file's content."""
    return hashlib.sha256(content).hexdigest()


def steps_as_json(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Name methods with their parameters and attributes, in order, ready for JSON."""
    return [{**method_as_json(step.method), "attributes": list(step.attributes)} for step in steps]


def method_as_json(method: MaskingMethod) -> dict[str, Any]:
    """A method with all its parameters, what was read from files included, ready for JSON."""
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
    """Raise a DataError when a record is there already: it may be the only place that has a seed."""
    if Path(path).exists():
        raise DataError(f"{path} exists and may be the only copy of a seed; give this record another name")


def write_record(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON, whole or not at all, for its owner's eyes only (mode 0600).

    Raises
    ------
    DataError
        If it cannot be written.
    """
    write_whole(path, json.dumps(record, indent=2, ensure_ascii=False) + "\n", mode=SECRET)


def read_seed(path: str | Path) -> int:
    """The seed that a record has.

    Raises
    ------
    DataError
        If it cannot be read, or has none.
    """
    try:
        record = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise DataError(
            f"{called('seed', path)} cannot be read: {(error.strerror or str(error)).lower()}", option="seed"
        ) from None
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
