"""JSON that says what it is, and is read from untrusted sources: what is invalid or ambiguous is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

LONGEST_NUMBER = 2_000
"""Digits of a whole number. The largest that the project writes have a few hundred."""


_FORMAT = "linkrisk-"
VERSION = 1
"""Of every format; one that is changed so that programs read it wrongly gets the next number."""


class AmbiguousError(Exception):
    """Says what is wrong with a text that otherwise is JSON."""


def headed(kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a JSON below what it is."""
    return {"format": _FORMAT + kind, "version": VERSION, **content}


def kind_of(found: object) -> str | None:
    """What kind of JSON of this version it is; None where it does not say that it is one."""
    if not isinstance(found, Mapping) or found.get("version") != VERSION:
        return None
    said = str(found.get("format"))
    return said.removeprefix(_FORMAT) if said.startswith(_FORMAT) else None


def parse(content: bytes) -> Any:
    """Read JSON in UTF-8."""
    return json.loads(
        content.decode("utf-8"),
        parse_constant=_no_constant,
        parse_int=_whole_number,
        parse_float=_finite_number,
        object_pairs_hook=_without_twins,
    )


def _no_constant(name: str) -> Any:
    raise AmbiguousError(f"{name} is not a JSON number")


def _whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise AmbiguousError(f"a number has {len(digits)} digits")
    return int(digits)


def _finite_number(spelled: str) -> float:
    value = float(spelled)
    if math.isinf(value):
        raise AmbiguousError(f"the number {spelled[:20]} is too large")
    return value


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise AmbiguousError(f"the key {json.dumps(twin)[:60]} is twice in an object")
    return found
