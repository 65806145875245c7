"""The problem that a fit says it has solved: which records are linked to which, by which distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .claims import Claim, MalformedError, demand, exact, items, text, wholes

MOST_CATEGORIES = 2_000

_CHOICES = {
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
    """What was solved.

    Attributes
    ----------
    aggregator, direction, ties, standardisation, differences, missing : str
    attributes : list of str
        In the order of the parameters.
    options : dict
        Of the aggregator: the k of a k-additive integral.
    scales : dict of str to str
        ``ordinal``, ``nominal`` or ``date`` of the attributes that are no plain numbers.
    categories : dict of str to list of str
        Of the ordinal and the nominal ones, in their order.
    possible : dict of str to list of str
        For each category the categories that it can have become: a text of digits, 1 for each that it can.
    steps : dict of str to list
        `Steps` of attributes whose recoding is known.
    weight : str or None
        Column of sampling weights.
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
    chosen = {key: claim.text(key) for key in ("aggregator", *_CHOICES)}
    for key, allowed in _CHOICES.items():
        if chosen[key] not in allowed:
            raise MalformedError(f"{claim.where}, {key} must be one of {', '.join(allowed)}")
    attributes = [text(name, f"{claim.where}, attributes") for name in claim.items("attributes")]
    if not attributes or len(set(attributes)) < len(attributes):
        raise MalformedError(f"{claim.where}, attributes must name at least one, each once")
    options = {key: one for key, one in claim.inner("aggregator_options").content.items() if one is not None}
    weight = None if claim.get("weight") is None else claim.text("weight")
    given: dict[str, Any] = {**chosen, "attributes": attributes, "options": options, "weight": weight}
    problem = Problem(**given)
    if claim.get("schema") is not None:
        for item in claim.inner("schema").items("attributes"):
            _read_scale(Claim(item, f"{claim.where}, schema"), problem)
    for item in items(claim.get("recodings") or [], f"{claim.where}, recodings"):
        _read_recoding(Claim(item, f"{claim.where}, recodings"), problem)
    return problem


def _read_scale(row: Claim, problem: Problem) -> None:
    name, scale = row.text("name"), row.text("scale")
    known = name in problem.attributes and name not in problem.scales
    if not known or scale not in ("ordinal", "nominal", "date"):
        raise MalformedError(f"{row.where}: {name} must be an attribute, once, of a known scale")
    problem.scales[name] = scale
    if scale != "date":
        categories = [text(one, row.where) for one in row.items("categories")]
        if not 0 < len(set(categories)) == len(categories) <= MOST_CATEGORIES:
            raise MalformedError(f"{row.where}: {name} must list its categories, each once")
        demand(problem.differences != "signed", f"{row.where}: differences of categories have no sign")
        problem.categories[name] = categories


def _read_recoding(row: Claim, problem: Problem) -> None:
    """What is assumed of the masking of an attribute: no file can show it."""
    name = row.text("attribute")
    size = len(problem.categories.get(name, ()))
    if name not in problem.attributes or name in problem.possible or name in problem.steps:
        raise MalformedError(f"{row.where}: {name} must be an attribute of the fit, once")
    if not size or row.get("steps") is not None:
        problem.steps[name] = _read_steps(row, size)
        return
    if row.get("becomes") is not None:
        becomes = wholes(row.get("becomes"), row.where, size)
        demand(all(-1 <= to < size for to in becomes), f"{row.where}: {name} has no such categories")
        lines = ["1" * size if to < 0 else "0" * to + "1" + "0" * (size - to - 1) for to in becomes]
    else:
        lines = [text(line, row.where) for line in row.items("possible")]
    if len(lines) != size or any(len(line) != size or set(line) - {"0", "1"} for line in lines):
        raise MalformedError(
            f"{row.where}: {name} needs a place, or a text of digits 0 and 1, for each category"
        )
    problem.possible[name] = lines


def _read_steps(row: Claim, size: int) -> Steps:
    steps: Steps = []
    for step in row.items("steps"):
        begin, becomes = items(step, row.where, 2)
        value = None if becomes is None else float(exact(becomes, row.where))
        steps.append((float(exact(begin, row.where)), value))
    ascending = all(one[0] < after[0] for one, after in pairwise(steps))
    places = not size or all(to is None or to in range(size) for _, to in steps)
    if not steps or not ascending or not places:
        raise MalformedError(f"{row.where}: steps must be ascending, and lead to values of the attribute")
    return steps
