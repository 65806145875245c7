"""The JSON of a table in the words of its microdata: variables and codes with their labels."""

from __future__ import annotations

from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words, names_in_words
from linkrisk.solver.report.content.tables.words import Json

_CELLS = ("all", "intervals", "sensitive")
"""Parts with a list of codes for each variable."""


def in_words(given: Json) -> Json:
    """Say what variables and codes mean, with the codes beside, as far as the table has labels."""
    found = given.get("table") or {}
    labels: Labels = found.get("labels", {})
    if not labels:
        return given
    variables = list(found["variables"])
    words = names_in_words(variables, labels)
    made = {**found, "variables": words}
    for part in _CELLS:
        if found.get(part):
            columns = zip(variables, found[part]["codes"], strict=True)
            codes = [[code_in_words(name, code, labels) for code in column] for name, column in columns]
            made[part] = {**found[part], "codes": codes}
    made["loss"] = {
        word: [_line(name, line, labels) for line in found["loss"][name]]
        for name, word in zip(variables, words, strict=True)
    }
    beside = given.get("respondents")
    return {**given, "table": made, **({"respondents": in_words(beside)} if beside else {})}


def _line(name: str, line: Json, labels: Labels) -> dict[str, Any]:
    return {**line, "code": code_in_words(name, line["code"], labels)}
