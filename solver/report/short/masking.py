"""What `mask` and `run_protocol` say in short. The seed is a secret, and not said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.errors import called
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.run.counts import count, several
from linkrisk.solver.schemas.keys import Json

MOST = 8
"""So many labels of new codes are said."""


def masking(result: Json) -> Document:
    """Of the JSON of `mask`: what each method did, and what became of every column."""
    changed, columns = len(result["masked"]) - len(result["unchanged"]), result["columns"]
    size = f"{several(result['records'], 'record')}, {several(columns, 'column')}"
    rows = [("method", one["said"]) for one in result["methods"]]
    rows += chain(_columns(result), _released(result))
    return short(
        [pairs(*((name, said) for name, said in rows if said))],
        said=f"{changed} of {several(columns, 'column')} masked.",
        asked=(f"{result['name']}: {size}",),
        notes=_notes(result),
    )


def _columns(result: Json) -> Iterator[tuple[str, str]]:
    """What became of the columns."""
    steps = [(name, one["method"]) for one in result["methods"] for name in one["attributes"]]
    for name in result["masked"]:
        methods = [method for column, method in steps if column == name]
        yield "twice", f"{shown_name(name)}: {', then '.join(methods)}" if len(methods) > 1 else ""
    strata = shown_names(result.get("strata", ()))
    yield "strata", f"{strata}: each by itself" if strata else ""
    yield "masked", shown_names(result["masked"])
    same = shown_names(result["unchanged"])
    yield "the same", f"{same}: masking has not changed a single value" if same else ""
    for name, labels in result.get("labels", {}).items():
        said = [f"{code} = {label}" for code, label in labels.items()]
        more = ["..."] if len(said) > MOST else []
        yield "labels", f"{shown_name(name)}: {', '.join([*said[:MOST], *more])}"
    lost = ", ".join(f"{count(many)} of {shown_name(name)}" for name, many in result["withheld"].items())
    yield "withheld", f"{lost}: these values become missing" if lost else ""
    once = result.get("once_per_household", {})
    number = shown_names(dict.fromkeys(once.values()))
    yield "once", f"{shown_names(once)}: masked once for each household ({number})" if once else ""
    yield "as is", shown_names(result["as_is"]) or "nothing"
    left = ", ".join(f"{shown_name(name)} (as {what})" for name, what in result["left_alone"].items())
    yield "left", f"{left}; to mask them anyway, name them with {called('attributes')}" if left else ""


def _released(result: Json) -> Iterator[tuple[str, str]]:
    """What columns went, which ids are in it or new, and the order of the records."""
    yield "dropped", shown_names(result.get("dropped", ()))
    if named := shown_names(result["identifiers"]):
        yield "names", f"{named}: left in, and name the records; {called('drop')} leaves them out"
    numbered = shown_names(result.get("renumbered", ()))
    yield "numbered", f"{numbered}: anew, no number as before" if numbered else ""
    if "order" in result:
        yield "order", "random"
        told = shown_names(result["order_told_by"])
        yield "undone", f"by {told}, as they were; {called('renumber')} makes new ones" if told else ""


def _notes(result: Json) -> Iterator[str]:
    """What is said of numbers that may be codes, and of columns of households."""
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


_DRAWN = "seeds were drawn: nothing makes this file again but these"


def protocol(result: Json) -> Document:
    """Of the JSON of `run_protocol`: what each step did, and how many were undone."""
    steps, undone = result["steps"], result["undone"]
    rows = [
        (f"step {at}" if first else "", line)
        for at, step in enumerate(steps, start=1)
        for line in step["done"]
        for first in [line is step["done"][0]]
    ]
    if undone:
        last = "the last step" if undone == 1 else f"the last {undone} steps"
        back = f"the file after step {len(steps)}" if steps else "the input, byte for byte"
        rows.append(("undone", f"{last}: this is {back}"))
    return short(
        [pairs(*rows)],
        said=f"{len(steps)} of {several(len(steps) + undone, 'step')} done.",
        asked=(f"{result['protocol']}: {result['input']['file']} to {result['output']}",),
        notes=[] if result["repeatable"] else [f"{_DRAWN}, which {called('record')} keeps"],
    )
