"""What readers outside may know of a suppression: what its schema marks; whatever is new is left out.

Left out are: the riskiest combinations, which lead to records; risk, unsafe combinations and frequencies of
the input, as what the output has less says which categories lost values; categories with fewer than 10
records; costs, priorities, seed, backend and time, with which suppression can be run again to see what it
takes; name and digest of the input, which confirm a guess at it; and the columns of households, weights and
ghosts. What is counted is rounded to tens, so that no sum says what is left out.
"""

from __future__ import annotations

from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Choice, Headline, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.wording import sentence, table
from linkrisk.solver.run.counts import several
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.suppression import Suppression, Variable
from linkrisk.solver.suppression.pages.words import MEANS, PROBLEMS, recoded

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


def outside_headline(kept: Json) -> Headline:
    """What stands at the head of the page."""
    proven = kept["status"] == "optimal"
    levels = recoded(kept)
    proof = "proven, nothing that does the same costs less" if proven else "the best that was found"
    recodings = f", {levels}" if levels else ""
    said = f"{sentence(kept['cells'])} values of key variables suppressed{recodings}: {proof}."
    if kept["identifiers"]:
        said = f"The file names the records: it has {several(kept['identifiers'], 'direct identifier')}."
        return Headline("above", said, "")
    return Headline("below" if proven else "open", said, _recounted(kept))


def _recounted(kept: Json) -> str:
    if kept["recounted"] is None:
        return ""
    if kept["problem"] == "cover":
        return "An independent count found no unsafe combination of the input that is still whole."
    return f"An independent count found no record of the output with fewer than {kept['k']} like it."


def outside_sections(kept: Json) -> tuple[Section, ...]:
    """What was done, and the output."""
    return _done(kept), _suppressed(kept), _frequencies(kept)


def _done(kept: Json) -> Section:
    unsafe = (
        "all key variables"
        if kept["k"] is not None
        else f"combinations in {several(kept['tables'], 'table')}"
    )
    lines = [
        Number("Records", f"{kept['records']:,}"),
        Number("Method", sentence(PROBLEMS[kept["problem"]])),
        Number("Counted", unsafe),
    ]
    if kept["k"] is not None:
        lines.append(Number("k that was asked for", str(kept["k"])))
    lines += [
        Number("k of all key variables in the output", str(kept["reached"][name]), meaning=sentence(words))
        for name, words in MEANS.items()
    ]
    left_out = (
        "This page leaves out what would help an intruder: single combinations, the input and its risk, "
        f"which categories lost values, categories with fewer than {BASE} records, costs, and how the search "
        "was run. Counts are rounded to tens."
    )
    blocks = (Numbers("", tuple(lines)), Paragraph(left_out, quiet=True))
    return Section("done", "What was done", "Method, and what the output has.", blocks)


def _suppressed(kept: Json) -> Section:
    columns = [
        ("variable", "Key variable", Of.TEXT),
        *((("level", "Level of recoding", Of.COUNT),) if kept["levels"] else ()),
        ("suppressed", "Values suppressed", Of.NUMBER),
    ]
    rows = [
        [one["name"], *((one["level"],) if kept["levels"] else ()), one["suppressed"]]
        for one in kept["variables"]
    ]
    lead = "Values that are missing in the output and were not in the input."
    return Section("key-variables", "Key variables", lead, (table("", columns, rows),))


def _frequencies(kept: Json) -> Section:
    columns = [("category", "Category", Of.TEXT), ("after", "Records", Of.NUMBER)]
    options = tuple(
        (one["name"], (table("Records by category", columns, one["categories"]),))
        for one in kept["variables"]
    )
    lead = f"Records of the output by category; those with fewer than {BASE} are among all others."
    return Section("frequencies", "Frequencies", lead, (Choice("Key variable", options),))
