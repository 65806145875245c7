"""What `suppress` and `unsafe` say in short."""

from __future__ import annotations

from linkrisk.datasets.microdata.names import (
    Labels,
    code_in_words,
    level_in_words,
    name_in_words,
    shown_name,
    shown_names,
)
from linkrisk.solver.charts.table import Table
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import counts, left_in, shares, size_line, table, texts
from linkrisk.solver.run.counts import count, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.suppression.pages.words import (
    UNSAFE,
    constant,
    ghosts,
    headline,
    recoded,
    records_with_unsafe,
    totals,
)

MOST = 10
"""Categories that are listed."""


def suppression(result: Json) -> Document:
    """Of the JSON of `suppress`: the headline of its page, and what became of key variables."""
    taken = [f"{count(many)} of {shown_name(name)}" for name, many in result["suppressed"].items() if many]
    rows = {
        "checked": _checked(result),
        "unsafe": totals(result, UNSAFE),
        "suppressed": ", ".join(taken),
        "recoded": "nothing" if result["levels"] and not recoded(result) else "",
        "ghosts": ghosts(result),
        "dropped": shown_names(result["dropped"]),
        "names": left_in(result["identifiers"]),
    }
    return short([pairs(*rows.items())], said=headline(result), asked=_asked(result), notes=constant(result))


def unsafe(result: Json) -> Document:
    """Of the JSON of `unsafe`: what there is, and what recodings would make of it."""
    before, after = result["before"], result["after"]
    rows = [("checked", _checked(result)), ("unsafe", totals(before))]
    rows += [("trial", what) for what in result["recoded"]]
    rows += [] if after is None else [("then", totals(after))]
    by = f", counted in the population by {shown_name(result['weight'])}" if result["weight"] else ""
    return short(
        [pairs(*rows)],
        [_by_variable(before, after)],
        [_by_category(before, result["labels"])],
        [_by_level(result)] if result["levels"] else [],
        said=f"{records_with_unsafe(before['records'], result['records'])}{by}.",
        asked=_asked(result),
        notes=constant(result),
    )


def _asked(result: Json) -> tuple[str]:
    return (size_line(result["name"], result["records"], len(result["keys"]), "key variable"),)


def _checked(result: Json) -> str:
    """What was checked, and what a missing value meant there."""
    tables = len(result["tables"])
    which = "1 table and its" if tables == 1 else f"{several(tables, 'table')} and their"
    risk = "" if result["risk"] is None else f"unsafe is what is riskier than {result['risk']:g}; "
    return f"{which} parts; {risk}{result['missing_means']}"


def _by_variable(before: Json, after: Json | None) -> Table:
    whens = {"before": before} if after is None else {"before": before, "after": after}
    order = sorted(before["by_variable"], key=lambda name: -before["by_variable"][name])
    rows = [[shown_name(name), *(one["by_variable"][name] for one in whens.values())] for name in order]
    columns = [*texts(variable="by variable"), *counts(**{when: when for when in whens})]
    return table("minimal unsafe combinations of records", columns, rows)


def _by_category(before: Json, labels: Labels) -> Table:
    found = [
        [_in_words(name, category, labels), many]
        for name, by in before["by_category"].items()
        for category, many in by.items()
    ]
    found.sort(key=lambda one: -one[1])
    head = "by category" if len(found) <= MOST else f"the {MOST} categories with most"
    return table("", [*texts(category=head), *counts(before="before")], found[:MOST])


def _in_words(name: str, category: str, labels: Labels) -> str:
    """A category in the words of its file, with the code beside them."""
    said = code_in_words(name, category, labels)
    return f"{shown_name(name)} = {said}" if said == category else f"{name_in_words(name, labels)}: {said}"


def _by_level(result: Json) -> Table:
    """What each level of each hierarchy would do by itself."""
    names = result.get("level_names", {})
    rows = []
    for one in result["levels"]:
        to = level_in_words(one["level"], names.get(one["variable"], ()))
        name = f"{shown_name(one['variable'])}{f' to {to}' if one['level'] else ''}"
        rows.append({**one, "variable": name})
    columns = [*texts(variable="one variable recoded"), *counts(categories="categories")]
    columns += [*shares(lost="lost"), *counts(minimal="minimal", records="records")]
    return table("", columns, rows)
