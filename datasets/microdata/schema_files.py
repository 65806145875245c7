"""Schema files: JSON, TOML or a codebook of DDI by their suffix, read strictly and written atomically."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linkrisk.datasets.errors import DataError, read_bytes
from linkrisk.datasets.microdata import ddi
from linkrisk.datasets.microdata.schema import Attribute, Schema, read_rows
from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.microdata.writing import write_whole

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """Text, a number, a truth value, or lists and tables of these."""
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    return repr(value)


def toml_key(key: str) -> str:
    """A key, in quotes where it needs them."""
    return key if _BARE.fullmatch(key) else toml_text(key)


def toml_text(text: str) -> str:
    """A basic string of TOML, which is a string of JSON except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


SUFFIXES = (".json", ".toml", ddi.SUFFIX)

_NESTED = ("labels", "hierarchy")
"""Keys with a line for each code, in a table of their own."""


def read_schema(path: str | Path) -> Schema:
    """Read a schema from a JSON or TOML file, or a codebook of DDI; files of hierarchies are in its folder.

    Raises
    ------
    DataError
        If the file cannot be read, is not a schema, or is ambiguous (`datasets.microdata.strict_json`).

    Examples
    --------
    >>> from linkrisk.data import Attribute, Schema, read_schema, write_schema
    >>> write_schema(Schema((Attribute("town"),)), "schema.toml")
    >>> read_schema("schema.toml").attributes[0].name
    'town'
    """
    path = Path(path)
    suffix = check_suffix(path)
    content = read_bytes(path).removeprefix(codecs.BOM_UTF8)  # editors of Windows write it
    if suffix == ddi.SUFFIX:
        return ddi.read_ddi(content, path)
    data = _toml(content, path) if suffix == ".toml" else _json(content, path)
    if not isinstance(data, dict):
        raise DataError(f'{path} is not a schema: a schema is a JSON object with a list under "attributes"')
    try:
        return Schema(tuple(Attribute(**row) for row in read_rows(data, path.parent)))
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def write_schema(schema: Schema, path: str | Path, comments: Mapping[str, str] | None = None) -> None:
    """Write a schema as JSON, TOML or a codebook of DDI, by the suffix, whole or not at all.

    What a codebook does not hold is said by `ddi.ddi_losses`.

    Parameters
    ----------
    schema : Schema
    path : str or Path
    comments : mapping of str to str, optional
        A line of text for an attribute, by its name; TOML only, as JSON has no comments.

    Raises
    ------
    DataError
        If the suffix is unknown or the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from linkrisk.data import Attribute, Schema, write_schema
    >>> write_schema(Schema((Attribute("town"),)), "schema.toml")
    >>> print(Path("schema.toml").read_text(encoding="utf-8").splitlines()[-1])
    name = "town"
    """
    suffix = check_suffix(Path(path))
    if suffix == ".toml":
        write_whole(path, to_toml(schema, comments or {}))
    elif suffix == ddi.SUFFIX:
        write_whole(path, ddi.ddi_text(schema, ddi.Codebook(Path(path).stem)))
    else:
        write_whole(path, json.dumps(schema.to_dict(), indent=2, ensure_ascii=False) + "\n")


def check_suffix(path: Path) -> str:
    """The suffix of a schema file; a DataError when it is none of the three."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise DataError(
            f"{path}: a schema is a .json or a .toml file, or a codebook of DDI (.xml); give it one of these "
            "names"
        )
    return suffix


def _json(content: bytes, path: Path) -> Any:
    try:
        return parse(content)
    except AmbiguousError as error:
        raise DataError(f"{path} cannot be used: {error}; fix the schema") from None
    except (ValueError, RecursionError) as error:
        place = ""
        if isinstance(error, json.JSONDecodeError):
            place = f" (at line {error.lineno}, column {error.colno})"
        raise DataError(
            f"{path} is not valid JSON{place}; a schema is a JSON object with a list of attributes"
        ) from error


def _toml(content: bytes, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError says where
        place = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not text in UTF-8"
        raise DataError(f"{path} is not valid TOML: {place}; fix the schema") from error


def to_toml(schema: Schema, comments: Mapping[str, str]) -> str:
    """A schema as TOML, one table for each attribute, with a comment above those that have one."""
    parts = []
    for row in schema.to_dict()["attributes"]:
        lines = ["[[attributes]]"]
        comment = " ".join(comments.get(row["name"], "").split())
        if comment:
            lines.insert(0, f"# {_printable(comment)}")
        lines += [f"{key} = {toml_value(value)}" for key, value in row.items() if key not in _NESTED]
        for key in _NESTED:
            if key in row:
                lines.append(f"[attributes.{key}]")
                lines += [f"{toml_text(code)} = {toml_value(value)}" for code, value in row[key].items()]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts) if parts else "attributes = []\n"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def schema_of(given: str | Path | Mapping[str, Any] | Schema | None) -> Schema | None:
    """A schema as it may be given: a file, a mapping as `Schema.from_dict` reads it, or a schema."""
    if given is None or isinstance(given, Schema):
        return given
    return read_schema(given) if isinstance(given, str | Path) else Schema.from_dict(given)
