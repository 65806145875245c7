"""What readers outside may know of a suppression: what its schema marks; whatever is new is left out.

Left out are: the riskiest combinations, which lead to records; risk, unsafe combinations and frequencies of
the input, as what the output has less says which categories lost values; categories with fewer than 10
records; costs, priorities, seed, backend and time, with which suppression can be run again to see what it
takes; name and digest of the input, which confirm a guess at it; and the columns of households, weights and
ghosts. What is counted is rounded to tens, so that no sum says what is left out.
"""

from __future__ import annotations

from typing import Any

from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.suppression import Suppression, Variable
from linkrisk.solver.suppression.pages.short import MEANS

BASE = 10
"""Counts are rounded to multiples of it, and what is less is only said to be less."""


def for_external(given: Json) -> dict[str, Any]:
    """The JSON of `suppress` with nothing but what readers outside may know.

    Counts are texts by now: ``about 120``, ``fewer than 10``.
    """
    compared = given["before_and_after"]
    return {
        **outside(schema_of(Suppression), given),
        "cells": rounded(given["cells"]),
        "tables": len(given["tables"]),
        "identifiers": len(given["identifiers"]),
        "levels": {one["name"]: one["level"] for one in compared["variables"] if one["level"]},
        "variables": [_variable(one) for one in compared["variables"]],
        "reached": {name: compared["risk"][name]["after"]["smallest"] for name in MEANS},
    }


def rounded(many: int) -> str:
    """A count that says nothing of single records."""
    return f"fewer than {BASE}" if many < BASE else f"about {BASE * round(many / BASE):,}"


def _variable(one: Json) -> dict[str, Any]:
    lines = [line for line in one["frequencies"] if line["after"] is not None]
    shown = [line for line in lines if line["category"] is not None and line["after"] >= BASE]
    # The order of the input would say more of it than rounded counts do.
    shown.sort(key=lambda line: (-round(line["after"] / BASE), line["category"]))
    others = sum(line["after"] for line in lines) - sum(line["after"] for line in shown)
    found = [[str(line["category"]), rounded(line["after"])] for line in shown]
    if len(shown) < len(lines):
        found.append(["all others", rounded(others)])
    found.append(["missing", rounded(one["missing"]["after"])])
    return {
        **outside(schema_of(Variable), one),
        "name": one["name"],
        "suppressed": rounded(one["suppressed"]),
        "categories": found,
    }
