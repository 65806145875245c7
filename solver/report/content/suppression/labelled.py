"""The JSON of a suppression in the words of its file: categories with the labels of their codes."""

from __future__ import annotations

from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words
from linkrisk.solver.report.content.suppression.words import Json


def in_words(given: Json) -> dict[str, Any]:
    """Say what categories mean, with their codes beside, as far as file or schema have labels.

    Groups of a recoded variable have no labels: they are not what the codes of the input are.
    """
    labels: Labels = given.get("labels", {})
    compared = given["before_and_after"]
    riskiest = [
        {**one, "values": {name: _word(name, value, labels) for name, value in one["values"].items()}}
        for one in compared["riskiest"]["combinations"]
    ]
    variables = [
        {**one, "frequencies": [_line(one, line, labels) for line in one["frequencies"]]}
        for one in compared["variables"]
    ]
    found = {**compared["riskiest"], "combinations": riskiest}
    return {**given, "before_and_after": {**compared, "variables": variables, "riskiest": found}}


def _line(variable: Json, line: Json, labels: Labels) -> dict[str, Any]:
    if variable["level"] and line["before"] is None:
        return dict(line)
    return {**line, "category": _word(variable["name"], line["category"], labels)}


def _word(name: str, code: str | None, labels: Labels) -> str | None:
    return None if code is None else code_in_words(name, str(code), labels)
