"""What `suppress` and `unsafe` say in short."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.datasets.microdata.names import (
    Labels,
    code_in_words,
    level_in_words,
    name_in_words,
    shown_name,
    shown_names,
)
from linkrisk.solver.charts.table import Of, Table
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import left_in, size_line, table
from linkrisk.solver.run.counts import count, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.suppression.pages.words import headline, recoded, records_with_unsafe

MOST = 10
"""Categories that are listed."""


def suppression(result: Json) -> Document:
    """Of the JSON of `suppress`: the headline of its page, and what became of key variables."""
    taken = [f"{count(many)} of {shown_name(name)}" for name, many in result["suppressed"].items() if many]
    ghosts = [
        f"{shown_name(ghost)} with {shown_name(name)}"
        for name, them in result["ghosts"].items()
        for ghost in them
    ]
    rows = {
        "checked": _checked(result),
        "unsafe": _totals(
            result["unsafe_combinations"], result["minimal_unsafe_combinations"], result["unsafe_records"]
        ),
        "suppressed": ", ".join(taken),
        "recoded": "nothing" if result["levels"] and not recoded(result) else "",
        "ghosts": ", ".join(ghosts),
        "dropped": shown_names(result["dropped"]),
        "names": left_in(result["identifiers"]),
    }
    return short([pairs(*rows.items())], said=headline(result), asked=_asked(result), notes=_constant(result))


def unsafe(result: Json) -> Document:
    """Of the JSON of `unsafe`: what there is, and what recodings would make of it."""
    before, after = result["before"], result["after"]
    rows = [("checked", _checked(result)), ("unsafe", _counted(before))]
    rows += [("trial", what) for what in result["recoded"]]
    rows += [] if after is None else [("then", _counted(after))]
    by = f", counted in the population by {shown_name(result['weight'])}" if result["weight"] else ""
    return short(
        [pairs(*rows)],
        [_by_variable(before, after)],
        [_by_category(before, result["labels"])],
        [_by_level(result)] if result["levels"] else [],
        said=f"{records_with_unsafe(before['records'], result['records'])}{by}.",
        asked=_asked(result),
        notes=_constant(result),
    )


def _asked(result: Json) -> tuple[str]:
    return (size_line(result["name"], result["records"], len(result["keys"]), "key variable"),)


def _checked(result: Json) -> str:
    """What was checked, and what a missing value meant there."""
    tables = len(result["tables"])
    which = "1 table and its" if tables == 1 else f"{several(tables, 'table')} and their"
    risk = "" if result["risk"] is None else f"unsafe is what is riskier than {result['risk']:g}; "
    return f"{which} parts; {risk}{result['missing_means']}"


def _constant(result: Json) -> Iterator[str]:
    """Say which columns are no key variables because their values do not differ."""
    if names := result["constant"]:
        what = "a key variable" if len(names) == 1 else "key variables"
        yield f"{shown_names(names)}: the same for all records, and not {what} unless named as such"


def _totals(combinations: int, minimal: int, records: int) -> str:
    said = f"{several(minimal, 'minimal one')} of {several(records, 'record')}"
    return f"{several(combinations, 'combination')}; {said}"


def _counted(found: Json) -> str:
    return _totals(found["combinations"], found["minimal"], found["records"])


def _by_variable(before: Json, after: Json | None) -> Table:
    counts = {"before": before} if after is None else {"before": before, "after": after}
    order = sorted(before["by_variable"], key=lambda name: -before["by_variable"][name])
    rows = [[shown_name(name), *(one["by_variable"][name] for one in counts.values())] for name in order]
    columns = [("variable", "by variable", Of.TEXT), *((when, when, Of.COUNT) for when in counts)]
    return table("minimal unsafe combinations of records", columns, rows)


def _by_category(before: Json, labels: Labels) -> Table:
    found = [
        [_in_words(name, category, labels), many]
        for name, by in before["by_category"].items()
        for category, many in by.items()
    ]
    found.sort(key=lambda one: -one[1])
    head = "by category" if len(found) <= MOST else f"the {MOST} categories with most"
    return table("", [("category", head, Of.TEXT), ("before", "before", Of.COUNT)], found[:MOST])


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
    columns = [
        ("variable", "one variable recoded", Of.TEXT),
        *(("categories", "categories", Of.COUNT), ("lost", "lost", Of.SHARE)),
        *(("minimal", "minimal", Of.COUNT), ("records", "records", Of.COUNT)),
    ]
    return table("", columns, rows)
