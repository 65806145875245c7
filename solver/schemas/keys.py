"""JSON schemas of typed dictionaries: validation, what is public, and the kind of every JSON."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from linkrisk.datasets.microdata.strict_json import VERSION, headed, kind_of
from linkrisk.solver.run.errors import UsageError

Json = Mapping[str, Any]

_NAMES = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_FITTING: dict[str, Any] = {
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": lambda value: _is_number(value),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
}


@dataclass(frozen=True)
class Key:
    """Meaning of a key, and whether it is public."""

    meaning: str  # for a reader; the pages show it
    # whether readers outside may know what it holds; whatever is not marked is left out for them. Of an
    # object only the keys that are marked themselves.
    public: bool


OPEN = Key("", public=False)
"""Of an object that may have other keys, too, which are for nobody outside."""


def key(meaning: str = "", *, public: bool = False) -> Key:
    """Say of a type what it holds: ``Annotated[int, key("records", public=True)]``."""
    return Key(meaning, public)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@cache
def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON schema of a type; objects are closed, and ``$defs`` has those that are named.

    Raises TypeError if a key is marked for readers outside that may hold any text.
    """
    named: dict[str, Any] = {}
    found = _schema(hint, named)
    return {**found, "$defs": dict(sorted(named.items()))} if named else found


def _schema(hint: Any, named: dict[str, Any]) -> dict[str, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        base, *said = inner
        found = (
            {**_object(base, named), "additionalProperties": True} if OPEN in said else _schema(base, named)
        )
        return reduce(_marked, (one for one in said if one is not OPEN), found)
    if origin is NotRequired:
        return _schema(inner[0], named)
    if is_typeddict(hint):
        if hint.__name__ not in named:
            named[hint.__name__] = {}  # a type may be part of itself
            named[hint.__name__] = _object(hint, named)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _either([_schema(each, named) for each in inner])
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], named)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], named)}
    return {} if hint is Any else {"type": _NAMES[hint]}


def _object(hint: Any, named: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(hint, include_extras=True)
    return {
        "type": "object",
        "properties": {name: _schema(each, named) for name, each in hints.items()},
        "required": [
            name for name, one in hints.items() if hint.__total__ and get_origin(one) is not NotRequired
        ],
        "additionalProperties": False,
    }


def _either(options: list[dict[str, Any]]) -> dict[str, Any]:
    if all(set(one) == {"type"} for one in options):
        return {"type": [one["type"] for one in options]}
    if all(set(one) == {"enum"} or one == {"type": "null"} for one in options):
        return {"enum": [value for one in options for value in one.get("enum", [None])]}
    return {"anyOf": options}


def _marked(schema: dict[str, Any], said: Key) -> dict[str, Any]:
    if said.public and _any_text(schema):
        raise TypeError(f"public, but may hold any text: {said.meaning}")
    meaning = {"description": said.meaning} if said.meaning else {}
    return {**schema, **meaning, **({"public": True} if said.public else {})}


def _any_text(schema: Json) -> bool:
    """Whether a value of it may be a text that is none of a list of names, or anything at all."""
    if "$ref" in schema or "enum" in schema or "properties" in schema:
        return False  # the keys of an object are marked one by one
    if "anyOf" in schema:  # which of several objects it is would have to be guessed
        return True
    kinds = _kinds(schema)
    if "array" in kinds:
        return _any_text(schema["items"])
    return not kinds or bool({"string", "object"} & set(kinds))


def _kinds(schema: Json) -> list[str]:
    said = schema.get("type", [])
    return [said] if isinstance(said, str) else list(said)


def wrong(schema: Json, value: Any) -> str | None:
    """Say what of a JSON does not fit a schema, and where: ``linked: not a number``; None where all fits."""
    return next(_wrong(schema, value, "", schema.get("$defs", {})), None)


def _wrong(schema: Json, value: Any, at: str, named: Json) -> Iterator[str]:
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        yield from _of_none(schema["anyOf"], value, at, named)
    elif "enum" in schema:
        if not any(value == one and type(value) is type(one) for one in schema["enum"]):
            yield f"{at or 'it'} is {str(value)[:40]!r}, and none of {', '.join(map(str, schema['enum']))}"
    else:
        kinds = _kinds(schema)
        if kinds and not any(_FITTING[kind](value) for kind in kinds):
            yield f"{at or 'it'} is {str(value)[:40]!r}, and no {' or '.join(kinds)}"
        elif isinstance(value, Mapping) and "object" in kinds:
            yield from _of_object(schema, value, at, named)
        elif isinstance(value, list | tuple) and schema.get("items"):
            for place, each in enumerate(value, start=1):
                yield from _wrong(schema["items"], each, f"{at}, {place}" if at else f"entry {place}", named)


def _of_none(options: list[Json], value: Any, at: str, named: Json) -> Iterator[str]:
    """What is wrong with the option that fits best: the one that complains last."""
    said = [next(_wrong(one, value, at, named), None) for one in options]
    if None not in said:
        yield max((one for one in said if one is not None), key=lambda one: one.count(":"))


def _of_object(schema: Json, value: Json, at: str, named: Json) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema["additionalProperties"]
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at or 'it'} lacks {name!r}"
    for name, each in value.items():
        where = f"{at}: {name}" if at else str(name)
        if name in known:
            yield from _wrong(known[name], each, where, named)
        elif others is False:
            yield f"{where} is no key of it"
        elif others is not True:
            yield from _wrong(others, each, where, named)


def outside(schema: Json, value: Any) -> Any:
    """What readers outside may know of a JSON: keys that are marked, as far as they hold what they should."""
    return _kept(schema, value, schema.get("$defs", {}))


def _kept(schema: Json, value: Any, named: Json) -> Any:
    if "$ref" in schema:
        schema = named[schema["$ref"].rpartition("/")[2]]
    if "properties" in schema:
        own = value if isinstance(value, Mapping) else {}
        marked = {
            name: one for name, one in schema["properties"].items() if one.get("public") and name in own
        }
        return {name: _kept(one, own[name], named) for name, one in marked.items()}
    if "items" in schema:
        return (
            [_kept(schema["items"], each, named) for each in value] if isinstance(value, list | tuple) else []
        )
    return value if not _any_text(schema) and next(_wrong(schema, value, "", named), None) is None else None


_WHERE = {
    "fit": "fit:Fit",
    "evaluation": "linkage:Evaluation",
    "link": "linkage:Link",
    "links": "linkage:FoundLinks",
    "comparison": "linkage:Comparison",
    "risk": "risk:Risk",
    "measure": "risk:AnyMeasure",
    "sweep": "risk:Sweep",
    "verification": "risk:Verification",
    "suppression": "microdata:Suppression",
    "suppression-answer": "microdata:Answer",
    "unsafe": "microdata:Unsafe",
    "masking": "microdata:Masking",
    "protocol": "microdata:ProtocolRun",
    "description": "microdata:Description",
    "dataset": "microdata:Dataset",
    "datasets": "microdata:Datasets",
    "report": "microdata:Report",
    "suppressed-table": "tables:SuppressedTable",
    "rounded-table": "tables:RoundedTable",
    "adjusted-table": "tables:AdjustedTable",
    "perturbed-counts": "tables:PerturbedCounts",
    "perturbed-sums": "tables:PerturbedSums",
    "recoded-table": "tables:RecodedTable",
    "table-comparison": "tables:TableComparison",
    "made-table": "tables:MadeTable",
    "tabulation": "tables:Tabulation",
    "batch": "tables:Batch",
}
KINDS = tuple(_WHERE)


def typed(kind: str) -> Any:
    """The type of the content of a kind."""
    module, _, name = _WHERE[kind].partition(":")
    return getattr(import_module(f"linkrisk.solver.schemas.{module}"), name)


@cache
def content_schema(kind: str) -> dict[str, Any]:
    """The schema of what a kind has besides its format."""
    return schema_of(typed(kind))


def file_schema(kind: str) -> dict[str, Any]:
    """Make the schema of a file of a kind, as it is published."""
    schema = dict(content_schema(kind))
    named: dict[str, Any] = schema.pop("$defs", {})
    whole = []
    for one in schema.get("anyOf", [schema]):
        part = named[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        said = {name: {"const": value} for name, value in headed(kind, {}).items()}
        whole.append(
            {**part, "properties": {**said, **part["properties"]}, "required": [*said, *part["required"]]}
        )
    used = json.dumps([whole, *named.values()])
    kept = {name: one for name, one in named.items() if f'"#/$defs/{name}"' in used}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"linkrisk-{kind}",
        **(whole[0] if len(whole) == 1 else {"anyOf": whole}),
        **({"$defs": kept} if kept else {}),
    }


@cache
def _open_schema(kind: str) -> dict[str, Any]:
    """The same for a reader, who leaves alone what it does not know."""
    closed, opened = (f'"additionalProperties": {word}' for word in ("false", "true"))
    found: dict[str, Any] = json.loads(json.dumps(content_schema(kind)).replace(closed, opened))
    return found


def read(found: Mapping[str, Any], kinds: Sequence[str], give: str) -> str:
    """Which of these kinds a JSON is, with all that such a JSON has to have.

    Parameters
    ----------
    found : mapping
        The JSON.
    kinds : sequence of str
    give : str
        What to give instead of it, for messages.

    Raises
    ------
    UsageError
        If it is none of them, or not as it was written.
    """
    kind = kind_of(found)
    if kind is None or kind not in kinds:
        said = f"has the format {found['format']!r}" if "format" in found else "does not say its format"
        raise UsageError(f"it {said}; {give} (version {VERSION})")
    complaint = wrong(_open_schema(kind), found)
    if complaint is not None:
        raise UsageError(f"{complaint}; {give}, as it was written")
    return kind
