"""Seeded mutations of a fit and its certificate.

Every number, list and text is a target: changed, removed, repeated, made huge, negative, of another type. A
mutation may be made in one of the two, or the same one in both: a forger knows that they are compared.
`forgery_run.py` has the honest pairs, and what an accepted forgery may not say.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

UNCHECKED = frozenset(
    ("name", "engine", "backend", "margin", "notes", "seconds", "phases", "model", "trace", "seed", "threads",
     "time_limit", "limit", "command", "linkrisk", "versions", "tie_breaking", "best_known", "certificate",
     "parts")
)  # fmt: skip
"""Keys of a fit that `verify` says it has not checked. They are changed alone (`_change_unchecked`), so that
whatever then is said differently is known to come from them."""

UNKNOWN = ("", "x", "linked ", "not checked", "\n", "; checked bound")
"""Keys that no fit has."""

_OFTEN = 12
"""How often the proof of a certificate is chosen for once that another key of it is."""


def alike(one: Any, other: Any) -> bool:
    """Whether a reader is told the same: numbers up to rounding; what is left out is not told."""
    if one is None:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return set(one) <= set(other) and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        return type(one) is type(other) and one == other
    return isinstance(other, int | float) and abs(one - other) <= 1e-8 * max(1.0, abs(other))


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


ODD: tuple[Any, ...] = (
    None, True, False, "", "x", "\n", "\ud800", [], {}, [[]], {"": 0}, 0, -1, 1, 2, 0.5, -0.0, 1e-300, 1e300,
    2**63, 2**64, -(2**63), 10**30, 10**1900, "optimal", "/dev/zero", "clique", "half",
    ["core", 0], ["split", 0],
)  # fmt: skip


def other_value(value: Any, random: Random) -> Any:
    """Something else in the place of a value: most often of its own kind."""
    if random.random() < 0.12:
        return random.choice(ODD)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        change: tuple[Callable[[int], Any], ...] = (
            lambda v: v + 1, lambda v: v - 1, lambda v: -v, lambda v: 2 * v, lambda v: v // 2,
            lambda v: v % 1, lambda v: v * 10**9, lambda v: v + 2**40, lambda v: float(v % 2**60),
            lambda v: v ^ 3,
        )  # fmt: skip
        return random.choice(change)(value)
    if isinstance(value, float):
        factor = random.choice((-1.0, 0.0, 2.0, 1 + 1e-6, 1 - 1e-9, 1e9, 1e-9))
        return value * factor + random.choice((0.0, 0.0, -9e-10, 1e-9, 1.0))
    if isinstance(value, str):
        return _other_text(value, random)
    if isinstance(value, list):
        return _other_list(value, random)
    if isinstance(value, dict) and value:
        gone = random.choice(list(value))
        return {key: item for key, item in value.items() if key != gone}
    return random.choice(ODD)


def _other_text(value: str, random: Random) -> str:
    words = ("owa", "choquet", "strict", "share", "none", "own", "squared", "signed", "lost", "hitting-set",
             "simplex-tree", "original-to-masked", "nominal", "ordinal", "V1", "feasible")  # fmt: skip
    where = random.randrange(len(value) + 1)
    try:
        codes = zlib.decompress(base64.b64decode(value, validate=True))
    except (ValueError, zlib.error):
        return random.choice(
            (random.choice(words), value[:where], value + value, value[::-1], value[:where] + "01")
        )
    if random.random() < 0.1:
        codes = bytes([1]) * 100_000
    spoilt = codes[:where] + bytes([random.randrange(12)]) + codes[where + random.randrange(2) :]
    return base64.b64encode(zlib.compress(spoilt)).decode()


def _other_list(value: list[Any], random: Random) -> list[Any]:
    if not value:
        return [random.choice(ODD)]
    where = random.randrange(len(value))
    rest = value[:where] + value[where + 1 :]
    return random.choice(
        (
            rest,
            [*value, value[where]],
            value[::-1],
            value * random.choice((2, 50)),
            [*rest, random.choice(ODD)],
            [value[where]] * len(value),
            [[0, 1, 2]],
            value[where:] + value[:where],
        )
    )


def mutated(texts: tuple[str, str], random: Random) -> tuple[str, str]:
    """One or a few values of the fit, the certificate, or of both alike, are others."""
    fitted, certificate = (json.loads(text) for text in texts)
    if random.random() < 0.1:
        _change_unchecked(fitted, random)
    else:
        _change_checked(fitted, certificate, random)
    out = [json.dumps(content) for content in (fitted, certificate)]
    if random.random() < 0.03:
        which = random.randrange(2)
        out[which] = _broken(out[which], random)
    return out[0], out[1]


def _change_checked(fitted: Any, certificate: Any, random: Random) -> None:
    if random.random() < 0.3:
        _claim_less(fitted, certificate, random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        target = random.choice((fitted, certificate, certificate))
        keys = [key for key in target if key not in UNCHECKED]
        path = _below(target, random.choice(keys + ["proof"] * (_OFTEN if "proof" in keys else 0)), random)
        value, gone = other_value(at(target, path), random), random.random() < 0.06
        _put(target, path, value, gone)
        if random.random() < 0.5:  # both say so
            twin = certificate if target is fitted else fitted
            for own in (path, path[1:] if path[0] == "problem" else ("problem", *path)):
                if own and _has(twin, own):
                    _put(twin, own, value, gone)


def _change_unchecked(fitted: Any, random: Random) -> None:
    """Anything may stand in the keys that are not checked, or in keys that are unknown."""
    keys = [key for key in fitted if key in UNCHECKED]
    for _ in range(random.choice((1, 1, 2, 5))):
        if not keys or random.random() < 0.1:
            fitted[random.choice(UNKNOWN)] = random.choice(ODD)
            continue
        path = _below(fitted, random.choice(keys), random)
        gone = random.random() < 0.1
        _put(fitted, path, other_value(at(fitted, path), random), gone)
        keys = [key for key in keys if key in fitted]


def _claim_less(fitted: Any, certificate: Any, random: Random) -> None:
    """One record less in every bound, or one unit of weight, and something else in the proof."""
    if "bound" not in certificate:
        return
    unit, of = certificate["bound"]["unit"], certificate["bound"].get("of", 1)
    less = random.choice((unit, 1))
    certificate["bound"]["linked_weight"] -= less
    fitted["linked_upper_bound"] -= less // unit
    if fitted.get("expected_links_upper_bound") is not None:
        fitted["expected_links_upper_bound"] -= less / unit
    if fitted.get("weighted_links_upper_bound") is not None:
        fitted["weighted_links_upper_bound"] -= less * of / unit
    for _ in range(random.randrange(3)):
        proof = certificate["proof"]
        path = _below(proof, random.choice(list(proof)), random)
        if _has(proof, path):
            _put(proof, path, other_value(at(proof, path), random), gone=False)


def _below(content: Any, key: str, random: Random) -> tuple[Any, ...]:
    """The path to a value at or below a key: a short list is met as often as a long one beside it."""
    path: tuple[Any, ...] = (key,)
    while random.random() < 0.9:
        inner = at(content, path)
        if not isinstance(inner, dict | list) or not inner:
            break
        path = (*path, random.choice(list(inner) if isinstance(inner, dict) else range(len(inner))))
    return path


def _has(content: Any, path: tuple[Any, ...]) -> bool:
    try:
        at(content, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _put(content: Any, path: tuple[Any, ...], value: Any, gone: bool) -> None:
    holder = at(content, path[:-1])
    if gone:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value


def _broken(text: str, random: Random) -> str:
    """No JSON, or JSON that can be read in two ways."""
    where = random.randrange(len(text))
    return random.choice(
        (
            text[:where],
            text[:where]
            + random.choice(("NaN", "Infinity", "1e999", "]", "}", "9" * 5000, "\x00"))
            + text[where:],
            '{"linked": 0, ' + text[1:],
            "[" * 5000 + text,
            text.replace("[", "[" * 50, 1),
        )
    )
