"""Many maskings from few texts: ranges and lists of parameters written out, and plans in TOML files."""

from __future__ import annotations

import difflib
import hashlib
import re
import shlex
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import METHODS, masking_method
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.options.option import Option
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError

THEN = "+"
"""Stands between methods that are applied one after the other."""

MOST = 10_000
"""Maskings of one sweep."""

_NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?::({_NUMBER}))?")
_SEED_BYTES = 4


@dataclass(frozen=True)
class Masking:
    """One masking of the original file."""

    methods: tuple[str, ...]  # as `mask --method` takes them, in the order in which they are applied
    name: str  # of the family that it belongs to: as the user says, else the names of the methods

    @property
    def text(self) -> str:
        """The masking on one line."""
        return f" {THEN} ".join(self.methods)

    def seed(self, seed: int) -> int:
        """Seed of its random choices, which does not depend on other maskings of the sweep."""
        digest = hashlib.sha256(f"{seed}\n{self.text}".encode()).digest()
        return int.from_bytes(digest[:_SEED_BYTES], "big")


def maskings_of(
    given: Sequence[str | Sequence[str]], names: Sequence[str | None] = (), schema: Schema | None = None
) -> list[Masking]:
    """Write out all maskings, each once, in the given order.

    `given` has texts "METHOD parameter=value ...", several methods with " + " between them or as a
    sequence. A value may be a range ``2..20``, with a step ``5..50:5``, or a list ``2,5,10..20``; several
    of them stand for all combinations. `names` are those of families, by default of their methods.
    """
    found: dict[tuple[str, ...], Masking] = {}
    for at, each in enumerate(given):
        name = names[at] if at < len(names) else None
        for methods in _written_out(each, schema):
            if methods in found:
                continue
            if len(found) == MOST:
                raise UsageError(
                    f"there are more than {MOST:,} maskings; take wider steps, as in k=2..200:10"
                )
            words = [shlex.split(method)[0] for method in methods]
            found[methods] = Masking(methods, name or f" {THEN} ".join(words))
    if not found:
        raise UsageError(
            f"there is no masking to sweep; give {called('methods')}, such as 'microaggregation k=2..20'",
            option="methods",
        )
    return list(found.values())


def _written_out(given: str | Sequence[str], schema: Schema | None) -> Iterator[tuple[str, ...]]:
    """All maskings of one text, or of a sequence of methods."""
    texts = [given] if isinstance(given, str) else list(given)
    methods = [words for text in texts for words in _methods(text)]
    if not methods:
        raise UsageError("a masking without a method; write for example: microaggregation k=2..20")
    return product(*(_alternatives(words, schema) for words in methods))


def _methods(text: str) -> list[list[str]]:
    """Words of every method of a text."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise DataError(f"{text!r} cannot be read: {str(error).lower()}") from None
    parts: list[list[str]] = [[]]
    for word in words:
        if word == THEN:
            parts.append([])
        else:
            parts[-1].append(word)
    if not all(parts):
        raise UsageError(f"{text!r} lacks a method; write METHOD parameter=value, or several with + between")
    return parts


def _alternatives(words: Sequence[str], schema: Schema | None) -> list[str]:
    """One method with all combinations of its values, each parsed once as a check."""
    name, *settings = words
    parameters = METHODS[name].parameters if name in METHODS else {}
    values: list[list[str]] = []
    for setting in settings:
        key, mark, value = setting.partition("=")
        values.append(
            [f"{key}={each}" for each in _values(parameters.get(key), value)] if mark else [setting]
        )
    many = 1
    for each in values:
        many *= len(each)
    if many > MOST:
        raise UsageError(f"{shlex.join(words)}: {many:,} maskings, and {MOST:,} at most; take wider steps")
    texts = [shlex.join([name, *combination]) for combination in product(*values)]
    for text in texts:
        masking_method(text, schema)
    return texts


def _values(option: Option | None, value: str) -> list[str]:
    """Values of a text: itself if the method takes it as it is."""
    if option is None or option.kind.parse is None:
        return [value]
    try:
        option.kind.read(value)
    except DataError:
        pieces = value.split(",")
        if len(pieces) == 1 and _RANGE.fullmatch(value) is None:
            return [value]  # which the method refuses, and says why
        return list(dict.fromkeys(each for piece in pieces for each in _piece(piece.strip())))
    return [value]


def _piece(text: str) -> list[str]:
    """Values of a range; any other text is one value."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return [text]
    first, last = Decimal(found[1]), Decimal(found[2])
    step = Decimal(1 if found[3] is None else found[3])
    if step <= 0:
        raise UsageError(f"the step of {text} must be above 0")
    if last < first:
        raise UsageError(f"the range {text} is empty; write it from the smaller to the larger number")
    many = int((last - first) / step) + 1
    if many > MOST:
        raise UsageError(f"the range {text} has {many:,} values, and {MOST:,} at most; take wider steps")
    return [format((first + step * at).normalize(), "f") for at in range(many)]


_TABLES = ("sweep", "masking")
_KEYS = ("name", "method", "methods")


@dataclass(frozen=True)
class Plan:
    """A plan of a sweep."""

    # options as the command line takes them, by their names without dashes in front; a list is joined
    # by commas, True stands for an option without a value
    options: Mapping[str, str | bool]
    maskings: tuple[Masking, ...]


def read_plan(path: str | Path, options: Collection[str], schema: str | None = None) -> Plan:
    """Read a plan in TOML: options of the command line, and maskings with names.

    `options` are the known names; `schema` is used instead of that of the plan.
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
    """A value as on the command line."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return ",".join(_quoted(str(each)) for each in value)
    if isinstance(value, str | int | float):
        return str(value)
    raise UsageError(f"{path}: {name} must be a text, a number, true, or a list of these")


def _quoted(text: str) -> str:
    """A name in a list separated by commas, for `parse_names`."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if any(mark in text for mark in ',"') else text
