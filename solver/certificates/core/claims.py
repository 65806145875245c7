"""Reads the JSON of a claim strictly, key by key, with messages that name the place."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

LARGEST_FILE = 1 << 28  # bytes of a JSON file that is read
LONGEST_NUMBER = 2_000  # digits of a number in it


class MalformedError(Exception):
    """Raised for an unreadable file; the message names the place."""


class RejectedError(Exception):
    """Raised for a claim that is false or not proven; the message names it."""


def demand(holds: bool, message: str) -> None:
    """Reject the claim unless a condition holds."""
    if not holds:
        raise RejectedError(message)


def require(holds: bool, message: str) -> None:
    """Refuse the file unless a condition holds."""
    if not holds:
        raise MalformedError(message)


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; duplicate keys, NaN and very long numbers are refused."""
    try:
        content = Path(path).read_bytes()
        require(len(content) <= LARGEST_FILE, f"{path} is too large to be checked")
        text = content.decode("utf-8")
        found = json.loads(text, object_pairs_hook=_once, parse_int=_whole, parse_constant=_constant)
    except OSError as error:
        raise MalformedError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{path} is no JSON that can be checked: {error}") from None
    return Claim(found, f"{path}").entries()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError("a number is too long")
    return int(text)


def _constant(text: str) -> float:
    raise ValueError(f"{text} is no number")


class Claim:
    """Value of the JSON; `where` names the file and the path of keys in messages.

    Methods that read take further keys, each of which must exist.
    """

    def __init__(self, content: Any, where: str) -> None:
        self.content, self.where = content, where

    def demand(self, holds: bool, message: str) -> None:
        """Reject the claim unless a condition holds; the message continues after the place."""
        demand(holds, f"{self.where}{message}")

    def require(self, holds: bool, message: str) -> None:
        """Refuse the file unless a condition holds; the message continues after the place."""
        require(holds, f"{self.where}{message}")

    def entries(self) -> dict[str, Any]:
        """Return an object."""
        self.require(isinstance(self.content, dict), " must be a JSON object")
        return self.content  # type: ignore[no-any-return]

    def get(self, key: str) -> Any:
        """Return the value of a key, or None if it is missing."""
        return self.entries().get(key)

    def has(self, key: str) -> bool:
        """Tell whether a key exists and is not null."""
        return self.get(key) is not None

    def inner(self, *keys: str) -> Claim:
        """Return the value at a path of keys."""
        found = self
        for key in keys:
            found.require(key in found.entries(), f" has no '{key}': it was not written by this version")
            found = Claim(found.content[key], f"{found.where}, {key}")
        return found

    def text(self, *keys: str) -> str:
        """Return a printable text."""
        one = self.inner(*keys)
        one.require(isinstance(one.content, str), " must be text")
        surrogate = any("\ud800" <= sign <= "\udfff" for sign in one.content)
        one.require(not surrogate, " holds an unpaired surrogate")
        return one.content  # type: ignore[no-any-return]

    def whole(self, *keys: str) -> int:
        """Return an integer."""
        one = self.inner(*keys)
        one.require(type(one.content) is int, " must be a whole number")
        return one.content  # type: ignore[no-any-return]

    def exact(self, *keys: str) -> Fraction:
        """Return a number of double precision as an exact fraction."""
        one = self.inner(*keys)
        one.require(type(one.content) in (int, float), " must be a number")
        try:
            return Fraction(float(one.content))
        except (OverflowError, ValueError):
            raise MalformedError(f"{one.where} must be a finite number") from None

    def items(self, *keys: str, length: int | None = None) -> list[Any]:
        """Return a list, of a given length if there is one."""
        one = self.inner(*keys)
        one.require(isinstance(one.content, list), " must be a list")
        many = len(one.content)
        one.require(length in (None, many), f" must hold {length} items, not {many}")
        return one.content  # type: ignore[no-any-return]

    def each(self, *keys: str, length: int | None = None) -> list[Claim]:
        """Return the items of a list."""
        where = self.inner(*keys).where
        return [Claim(one, f"{where}[{at}]") for at, one in enumerate(self.items(*keys, length=length))]

    def each_if_any(self, key: str) -> list[Claim]:
        """Return the items of a list that may be missing."""
        return self.each(key) if self.has(key) else []

    def wholes(self, *keys: str, length: int | None = None) -> list[int]:
        """Return a list of integers."""
        one = self.inner(*keys)
        found = one.items(length=length)
        one.require(all(type(number) is int for number in found), " must hold whole numbers")
        return found


MOST_CATEGORIES = 2_000

CHOICES = {
    "direction": ("original-to-masked", "masked-to-original"),
    "ties": ("strict", "share"),
    "standardisation": ("own", "original", "pooled", "none"),
    "differences": ("squared", "absolute", "signed"),
    "missing": ("nearest", "expected", "farthest"),
}

Steps = list[tuple[float, float | None]]  # ascending interval starts, and what replaces originals in each


@dataclass(frozen=True)
class Problem:
    """Options of the linkage problem, with `attributes` in the order of the parameters.

    `options` are those of the aggregator; `scales` are ``ordinal``, ``nominal`` or ``date``, for attributes
    that are not numeric; `possible` has a text of digits for each category, 1 for each category that it may
    be masked to; `steps` recode numbers, None where they stay; `methods` name the masking of attributes whose
    recoding is known, `forms` the formats of dates, `weight` the column of sampling weights.
    """

    aggregator: str
    direction: str
    ties: str
    standardisation: str
    differences: str
    missing: str
    attributes: list[str]
    options: dict[str, Any]
    scales: dict[str, str] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    possible: dict[str, list[str]] = field(default_factory=dict)
    steps: dict[str, Steps] = field(default_factory=dict)
    methods: dict[str, str] = field(default_factory=dict)
    forms: dict[str, str | None] = field(default_factory=dict)
    weight: str | None = None

    @property
    def share(self) -> bool:
        """Whether candidates identical to the partner are no rivals, but share its weight."""
        return self.ties == "share"

    def table(self, name: str) -> list[list[float]]:
        """Return distances of original categories (rows) to masked ones, inf for impossible recodings.

        Nominal: 0 or 1; ordinal: the difference of positions divided by the number of categories.
        """
        many = len(self.categories[name])
        ordinal, possible = self.scales[name] == "ordinal", self.possible.get(name, ["1" * many] * many)
        return [
            [
                float("inf") if digit == "0" else abs(a - b) / many if ordinal else float(a != b)
                for b, digit in enumerate(possible[a])
            ]
            for a in range(many)
        ]


def read_problem(claim: Claim) -> Problem:
    """Read the problem from a fit, or from the key ``problem`` of a certificate."""
    chosen: dict[str, Any] = {key: claim.text(key) for key in ("aggregator", *CHOICES)}
    for key, allowed in CHOICES.items():
        claim.require(chosen[key] in allowed, f", {key} must be one of {', '.join(allowed)}")
    attributes = [one.text() for one in claim.each("attributes")]
    distinct = 0 < len(set(attributes)) == len(attributes)
    claim.require(distinct, ", attributes must name at least one attribute, each once")
    given = claim.inner("aggregator_options").entries().items()
    options = {key: one for key, one in given if one is not None}
    weight = claim.text("weight") if claim.has("weight") else None
    problem = Problem(**chosen, attributes=attributes, options=options, weight=weight)
    for row in claim.each("schema", "attributes") if claim.has("schema") else []:
        _read_scale(row, problem)
    for row in claim.each_if_any("recodings"):
        _read_recoding(row, problem)
    methods = {one.text() for one in claim.each_if_any("masking")} - {"none"}
    claim.require(methods == set(problem.methods.values()), ", masking must name the methods of recodings")
    return problem


def _read_scale(row: Claim, problem: Problem) -> None:
    name, scale = row.text("name"), row.text("scale")
    known = name in problem.attributes and scale in ("ordinal", "nominal", "date")
    row.require(known, f": {name} must be an attribute of the fit, ordinal, nominal or date")
    row.require(name not in problem.scales, " names an attribute twice")
    problem.scales[name] = scale
    if scale == "date":
        problem.forms[name] = row.text("form") if row.has("form") else None
        return
    categories = [one.text() for one in row.each("categories")]
    known = 0 < len(set(categories)) == len(categories) <= MOST_CATEGORIES
    row.require(known, f": {name} must list up to {MOST_CATEGORIES} categories, each once")
    row.require(problem.differences != "signed", ": differences of categories have no sign")
    problem.categories[name] = categories


def _read_recoding(row: Claim, problem: Problem) -> None:
    """Read the assumed recoding of an attribute, which the files cannot confirm."""
    name = row.text("attribute")
    size = len(problem.categories.get(name, ()))
    known = name in problem.attributes and name not in problem.methods
    row.require(known, f": {name} must be an attribute of the fit, once")
    problem.methods[name] = row.text("masking")
    if not size or row.has("steps"):
        problem.steps[name] = _read_steps(row, name, size)
        return
    if row.has("becomes"):
        becomes = row.wholes("becomes", length=size)
        known = all(-1 <= to < size for to in becomes)
        row.require(known, f": {name} needs {size} places of categories, or -1")
        lines = ["".join("01"[to in (-1, at)] for at in range(size)) for to in becomes]
    else:
        lines = [one.text() for one in row.each("possible")]
    known = len(lines) == size and all(len(line) == size and set(line) <= {"0", "1"} for line in lines)
    row.require(known, f": {name} needs {size} texts of {size} digits 0 or 1")
    problem.possible[name] = lines


def _read_steps(row: Claim, name: str, size: int) -> Steps:
    steps: Steps = []
    for step in Claim(row.items("steps"), f"{row.where}: steps of {name}").each():
        begin, becomes = step.each(length=2)
        value = None if becomes.content is None else float(becomes.exact())
        steps.append((float(begin.exact()), value))
    ascending = all(one[0] < after[0] for one, after in pairwise(steps))
    row.require(bool(steps) and ascending, f": the steps of {name} must be numbers, ascending")
    places = not size or all(to is None or to in range(size) for _, to in steps)
    row.require(places, f": the steps of {name} must lead to places of categories")
    return steps
