"""Summarise the answer of `mask`, without the seed, which is secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.errors import called
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import left_in, size_line
from linkrisk.solver.run.number_format import count, several
from linkrisk.solver.schemas.keys import Json

MOST = 8
"""Labels of new codes that are shown."""


def masking(result: Json) -> Document:
    """The answer in short: methods and columns; the seed is secret and left out."""
    changed, columns = len(result["masked"]) - len(result["unchanged"]), result["columns"]
    methods = [("method", one["said"]) for one in result["methods"]]
    return short(
        [pairs(*methods, *_columns(result), *_released(result))],
        said=f"{changed} of {several(columns, 'column')} masked.",
        asked=[size_line(result["name"], result["records"], columns, "column")],
        notes=_notes(result),
    )


def _columns(result: Json) -> Iterator[tuple[str, str]]:
    """Rows: what became of the columns."""
    steps = [(name, one["method"]) for one in result["methods"] for name in one["attributes"]]
    for name in result["masked"]:
        methods = [method for column, method in steps if column == name]
        yield "twice", f"{shown_name(name)}: {', then '.join(methods)}" if len(methods) > 1 else ""
    yield "strata", _listed(result.get("strata", ()), ": each by itself")
    yield "masked", _listed(result["masked"])
    yield "the same", _listed(result["unchanged"], ": masking has not changed a single value")
    for name, labels in result.get("labels", {}).items():
        said = [f"{code} = {label}" for code, label in labels.items()]
        more = ["..."] if len(said) > MOST else []
        yield "labels", f"{shown_name(name)}: {', '.join([*said[:MOST], *more])}"
    lost = ", ".join(f"{count(many)} of {shown_name(name)}" for name, many in result["withheld"].items())
    yield "withheld", lost and f"{lost}: these values become missing"
    once = result.get("once_per_household", {})
    number = shown_names(dict.fromkeys(once.values()))
    yield "once", _listed(once, f": masked once for each household ({number})")
    yield "as is", _listed(result["as_is"]) or "nothing"
    left = ", ".join(f"{shown_name(name)} (as {what})" for name, what in result["left_alone"].items())
    yield "left", left and f"{left}; to mask them anyway, name them with {called('attributes')}"


def _released(result: Json) -> Iterator[tuple[str, str]]:
    """Rows: dropped columns, ids, and the order of the records."""
    yield "dropped", _listed(result.get("dropped", ()))
    yield "names", left_in(result["identifiers"])
    yield "numbered", _listed(result.get("renumbered", ()), ": anew, no number as before")
    if "order" in result:
        yield "order", "random"
        told = shown_names(result["order_told_by"])
        yield "undone", told and f"by {told}, as they were; {called('renumber')} makes new ones"


def _listed(names: Iterable[str], tail: str = "") -> str:
    """Names of columns with a tail; empty if there are none."""
    shown = shown_names(names)
    return shown and f"{shown}{tail}"


def _notes(result: Json) -> Iterator[str]:
    """Notes on numbers that may be codes, and on columns of households."""
    if codes := shown_names(result.get("perhaps_codes", ())):
        yield (
            f"{codes}: few different whole numbers, masked as numbers; if these are codes, say so in a "
            f"{called('schema')}, or name the others with {called('attributes')}"
        )
    for name, household in result.get("several_per_household", {}).items():
        yield (
            f"{shown_name(name)} had one value in each household ({shown_name(household)}) and has several "
            "now; mask such columns by a method of their own, once for each household"
        )
