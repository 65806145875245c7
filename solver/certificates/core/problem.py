"""The problem that a fit says it has solved: which records are linked to which, by which distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .claims import Claim, exact, items, require, text, wholes

MOST_CATEGORIES = 2_000

CHOICES = {
    "direction": ("original-to-masked", "masked-to-original"),
    "ties": ("strict", "share"),
    "standardisation": ("own", "original", "pooled", "none"),
    "differences": ("squared", "absolute", "signed"),
    "missing": ("nearest", "expected", "farthest"),
}

Steps = list[tuple[float, float | None]]
"""From which value on original values are compared as which (None: as they are); ascending."""


@dataclass(frozen=True)
class Problem:
    """What was solved, with `attributes` in the order of the parameters.

    `options` are those of the aggregator, `scales` ``ordinal``, ``nominal`` or ``date``, of attributes that
    are no plain numbers; `possible` has a text of digits for each category, 1 for each category that it can
    have become; `methods` are what the fit calls the masking of attributes whose recoding is known, `forms`
    how dates are written, `weight` is the column of sampling weights.
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
        """Whether candidates identical to the partner are no rivals, and share its weight."""
        return self.ties == "share"

    def table(self, name: str) -> list[list[float]]:
        """Distances of original categories (rows) to masked ones, inf where the recoding is impossible.

        Nominal: 0 or 1; ordinal: the difference of positions divided by the number of categories.
        """
        many = len(self.categories[name])
        ordinal = self.scales[name] == "ordinal"
        table = [[abs(a - b) / many if ordinal else float(a != b) for b in range(many)] for a in range(many)]
        for row, digits in zip(table, self.possible.get(name, []), strict=False):
            row[:] = [one if digit == "1" else float("inf") for one, digit in zip(row, digits, strict=True)]
        return table


def read_problem(claim: Claim) -> Problem:
    """Read the problem from a fit, or from the key ``problem`` of a certificate."""
    chosen = {key: claim.text(key) for key in ("aggregator", *CHOICES)}
    for key, allowed in CHOICES.items():
        require(chosen[key] in allowed, f"{claim.where}, {key} must be one of {', '.join(allowed)}")
    attributes = [text(name, f"{claim.where}, attributes") for name in claim.items("attributes")]
    distinct = 0 < len(set(attributes)) == len(attributes)
    require(distinct, f"{claim.where}, attributes must name at least one attribute, each once")
    options = {key: one for key, one in claim.inner("aggregator_options").content.items() if one is not None}
    weight = None if claim.get("weight") is None else claim.text("weight")
    given: dict[str, Any] = {**chosen, "attributes": attributes, "options": options, "weight": weight}
    problem = Problem(**given)
    if claim.get("schema") is not None:
        for item in claim.inner("schema").items("attributes"):
            _read_scale(Claim(item, f"{claim.where}, schema"), problem)
    for item in items(claim.get("recodings") or [], f"{claim.where}, recodings"):
        _read_recoding(Claim(item, f"{claim.where}, recodings"), problem)
    methods = {text(item, f"{claim.where}, masking") for item in claim.get("masking") or []}
    known = methods - {"none"} == set(problem.methods.values())
    require(known, f"{claim.where}, masking must name the methods of recodings")
    return problem


def _read_scale(row: Claim, problem: Problem) -> None:
    name, scale = row.text("name"), row.text("scale")
    known = name in problem.attributes and scale in ("ordinal", "nominal", "date")
    require(known, f"{row.where}: {name} must be an attribute of the fit, ordinal, nominal or date")
    require(name not in problem.scales, f"{row.where} names an attribute twice")
    problem.scales[name] = scale
    if scale == "date":
        problem.forms[name] = None if row.get("form") is None else row.text("form")
        return
    categories = [text(one, row.where) for one in row.items("categories")]
    known = 0 < len(set(categories)) == len(categories) <= MOST_CATEGORIES
    require(known, f"{row.where}: {name} must list up to {MOST_CATEGORIES} categories, each once")
    require(problem.differences != "signed", f"{row.where}: differences of categories have no sign")
    problem.categories[name] = categories


def _read_recoding(row: Claim, problem: Problem) -> None:
    """Read what is assumed of the masking of an attribute: no file can show it."""
    name = row.text("attribute")
    size = len(problem.categories.get(name, ()))
    known = name in problem.attributes and name not in problem.methods
    require(known, f"{row.where}: {name} must be an attribute of the fit, once")
    problem.methods[name] = row.text("masking")
    if not size or row.get("steps") is not None:
        problem.steps[name] = _read_steps(row, name, size)
        return
    if row.get("becomes") is not None:
        becomes = wholes(row.get("becomes"), row.where, size)
        known = all(-1 <= to < size for to in becomes)
        require(known, f"{row.where}: {name} needs {size} places of categories, or -1")
        lines = ["1" * size if to < 0 else "0" * to + "1" + "0" * (size - to - 1) for to in becomes]
    else:
        lines = [text(line, row.where) for line in row.items("possible")]
    known = len(lines) == size and all(len(line) == size and set(line) <= {"0", "1"} for line in lines)
    require(known, f"{row.where}: {name} needs {size} texts of {size} digits 0 or 1")
    problem.possible[name] = lines


def _read_steps(row: Claim, name: str, size: int) -> Steps:
    steps: Steps = []
    where = f"{row.where}: steps of {name}"
    for step in row.items("steps"):
        begin, becomes = items(step, where, 2)
        value = None if becomes is None else float(exact(becomes, where))
        steps.append((float(exact(begin, where)), value))
    ascending = all(one[0] < after[0] for one, after in pairwise(steps))
    require(bool(steps) and ascending, f"{row.where}: the steps of {name} must be numbers, ascending")
    places = not size or all(to is None or to in range(size) for _, to in steps)
    require(places, f"{row.where}: the steps of {name} must lead to places of categories")
    return steps
