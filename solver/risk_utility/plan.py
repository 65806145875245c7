"""A sweep as a TOML file: the options of the command line, and maskings with names."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.solver.risk_utility.maskings import Masking, maskings_of
from linkrisk.solver.run.errors import UsageError

_TABLES = ("sweep", "masking")
_KEYS = ("name", "method", "methods")


@dataclass(frozen=True)
class Plan:
    """What a file says.

    Attributes
    ----------
    options : mapping of str to str or bool
        Options as the command line takes them, by their names without dashes in front; a list is joined by
        commas, True stands for an option without a value.
    maskings : tuple of Masking
    """

    options: Mapping[str, str | bool]
    maskings: tuple[Masking, ...]


def read_plan(path: str | Path, options: Collection[str], schema: str | None = None) -> Plan:
    """Read a plan.

    Parameters
    ----------
    path : str or Path
    options : collection of str
        Names of the options that it may have.
    schema : str, optional
        File with the schema of the columns, where it is not that of the plan.

    Raises
    ------
    UsageError, DataError
        If it cannot be read, or has something that is not known.
    """
    try:
        content = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
    except ValueError:
        raise UsageError(f"{path} is not valid TOML: it is not text in UTF-8") from None
    _check_names(path, content, _TABLES, "table")
    given = content.get("sweep", {})
    entries = content.get("masking", [])
    if not isinstance(given, dict):
        raise UsageError(f"{path}: sweep must be a table, [sweep], with options below it")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path}: write [[masking]], in double brackets, once for each masking")
    _check_names(path, given, options, "option")
    read = {name: _as_text(path, name, value) for name, value in given.items()}
    own = read.get("schema")
    known = schema_of(schema or (own if isinstance(own, str) else None))
    return Plan(read, tuple(_maskings(path, entries, known)))


def _maskings(path: str | Path, entries: list[dict[str, Any]], schema: Schema | None) -> list[Masking]:
    texts: list[str | list[str]] = []
    names: list[str | None] = []
    for at, entry in enumerate(entries, start=1):
        _check_names(path, entry, _KEYS, "key of a masking,")
        methods: Any = entry.get("methods", entry.get("method"))
        name: Any = entry.get("name")
        one_of_them = ("methods" in entry) != ("method" in entry)
        right = isinstance(methods, str) or (
            isinstance(methods, list) and all(isinstance(method, str) for method in methods)
        )
        if not one_of_them or not right:
            raise UsageError(f'{path}: masking {at} needs either method = "..." or methods = ["...", "..."]')
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise UsageError(f"{path}: the name of masking {at} must be a text")
        texts.append(methods)
        names.append(name)
    return maskings_of(texts, names, schema) if texts else []


def _check_names(path: str | Path, found: Mapping[str, Any], known: Collection[str], what: str) -> None:
    for name in found:
        if name not in known:
            close = difflib.get_close_matches(name, list(known), n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"
            raise UsageError(f"{path}: unknown {what} '{name}': {hint}")


def _as_text(path: str | Path, name: str, value: Any) -> str | bool:
    """A value as the command line would have it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(_quoted(str(each)) for each in value)
    if isinstance(value, str | int | float):
        return str(value)
    raise UsageError(f"{path}: {name} must be a text, a number, true, or a list of these")


def _quoted(text: str) -> str:
    """A name in a list separated by commas, as `parse_names` reads it."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if any(mark in text for mark in ',"') else text
