"""What readers outside may know of a table whose values or codes were changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Choice, Items, Paragraph, Section
from linkrisk.solver.documents.formats import significant
from linkrisk.solver.documents.wording import joined, of_all, table
from linkrisk.solver.schemas.changed_tables import (
    AdjustedTable,
    PerturbedCounts,
    PerturbedSums,
    RecodedTable,
    RoundedTable,
)
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.tables.pages.words import several


@dataclass(frozen=True)
class Outside:
    """A page for readers outside.

    Attributes
    ----------
    title : str
    keep : callable
        What of the JSON they may know.
    said : callable
        Its headline.
    sections : callable
    """

    title: str
    keep: Callable[[Any], Any]
    said: Callable[[Json], str]
    sections: Callable[[Json], tuple[Section, ...]]


def of_table(kept: Json) -> str:
    """Which table it is."""
    by = f" by {joined(kept['variables'])}" if kept["variables"] else ""
    sums = several(kept["relations"], "sum")
    return f"{several(kept['cells'], 'cell')}{by}, totals included; {sums} hold between them."


def _section(kept: Json, what: str, items: tuple[str, ...], left_out: str, *more: Block) -> Section:
    blocks = (
        Paragraph(what),
        Items("What a reader may infer", items),
        *more,
        Paragraph(f"This page leaves out {left_out}.", quiet=True),
    )
    lead = of_table(kept)
    if "not_adding_up" in kept:
        off = of_all(kept["not_adding_up"], kept["relations"])
        cells, by = several(kept["cells"], "cell"), joined(kept["variables"])
        lead = f"{cells} by {by}, totals included; {off} of the sums between them do not hold."
    return Section("done", "What was done", lead, blocks)


_INSIDERS = "It was not computed what those could find out who know more, such as respondents of a cell."


def _rounded(kept: Json) -> tuple[Section, ...]:
    base = kept["base"]
    near = (
        f"A value before rounding may be more than {base - 1} away from what is published."
        if kept["relaxed"]
        else f"A value before rounding is at most {base - 1} away from what is published, either way."
    )
    items = (
        near,
        "Sums were rounded together with their parts, so that they add up; a total is not nearer to its "
        "value than its parts are to theirs.",
        "Small differences between cells say nothing.",
        _INSIDERS,
    )
    what = f"Controlled rounding to base {base}: every cell is a multiple of it, and every sum holds."
    return (_section(kept, what, items, "values before it and changes, which would undo the rounding"),)


def _adjusted(kept: Json) -> tuple[Section, ...]:
    items = (
        "Every cell is shown, and no digit says whether its value was changed: all are written as they were. "
        "Most changes are small, or none; values of cells that would say too much of one contributor were "
        "moved further.",
        f"That keeps readers from taking a value for the true one. {_INSIDERS}",
        "Sums were adjusted together with their parts, so that they add up.",
    )
    what = "Controlled tabular adjustment: values were changed as little as protection allows."
    return (_section(kept, what, items, "which cells were changed, and by how much"),)


_SAME = (
    "The same records have the same noise in every table of this kind: asking again says nothing new.",
    "A total has noise of its own. Use the total that is published, and not the sum of its parts.",
)


def _counts(kept: Json) -> tuple[Section, ...]:
    small, far = kept["small"], significant(math.sqrt(kept["variance"]), 3)
    gone = "1" if small == 1 else f"1 to {small}"
    items = (
        f"Noise is 0 in the mean, and its standard deviation {far} at most: differences of that size say "
        "nothing.",
        *_SAME,
        "A count of 0 has stayed 0; other counts may have become 0.",
        _INSIDERS,
        *((f"Counts of {gone} do not appear, whether there were any or not.",) if small else ()),
        *(
            ("A weighted count moves by the noise of its records times their mean weight.",)
            if kept["weighted"]
            else ()
        ),
    )
    what = "Cell-key method: every count has a little noise, which follows from the records that it counts."
    return (
        _section(kept, what, items, "the largest noise, its probabilities, counts before it, and all keys"),
    )


def _sums(kept: Json) -> tuple[Section, ...]:
    items = (
        "Noise is 0 in the mean, and in proportion to the contributions to a cell: the more a cell is that "
        "of a few, the more it moves.",
        *_SAME,
        "A sum of 0 has stayed 0.",
        _INSIDERS,
    )
    what = "Cell-key method: every sum has noise, which follows from the records that it sums."
    return (_section(kept, what, items, "how large noise is, rules, values before it, and all keys"),)


def _recoded(kept: Json) -> tuple[Section, ...]:
    columns = [("code", "Code", Of.TEXT), ("becomes", "Is now in", Of.TEXT)]
    options = tuple(
        (one["variable"], (table(f"Codes of {one['variable']}", columns, one["codes"]),))
        for one in kept["recodings"]
    )
    more = (Choice("Variable", options),) if options else ()
    items = (
        "A cell of merged codes has the values of all of them; it says nothing of each.",
        "From this table merged codes cannot be taken apart again.",
    )
    what = "Global recoding: codes were merged, so that cells are fewer and fuller."
    return (_section(kept, what, items, "values, rules, and which cells they are about", *more),)


def _pairs(value: Any) -> list[list[str]]:
    return [[str(code), str(other)] for code, other in value]


CHANGED: dict[str, Outside] = {
    "rounding": Outside(
        "A rounded table",
        partial(outside, schema_of(RoundedTable)),
        lambda kept: (
            f"Every value of this table is a multiple of {kept['base']}, and the table still adds up."
        ),
        _rounded,
    ),
    "adjustment": Outside(
        "An adjusted table",
        partial(outside, schema_of(AdjustedTable)),
        lambda _: "Values of this table were adjusted, and the table still adds up.",
        _adjusted,
    ),
    "counts": Outside(
        "Counts with noise",
        lambda given: {
            **outside(schema_of(PerturbedCounts), given),
            "variance": max(outside(schema_of(list[float]), given["variances"])),
            "weighted": given["weight"] is not None,
        },
        lambda _: "Counts of this table have a little noise, the same wherever the same records are counted.",
        _counts,
    ),
    "sums": Outside(
        "Sums with noise",
        partial(outside, schema_of(PerturbedSums)),
        lambda _: "Sums of this table have noise, the same wherever the same records are summed.",
        _sums,
    ),
    "recoding": Outside(
        "A table of coarser codes",
        lambda given: {
            **outside(schema_of(RecodedTable), given),
            "recodings": [
                {"variable": str(one["variable"]), "codes": _pairs(one["codes"])}
                for one in given["recodings"]
            ],
        },
        lambda _: "Codes of this table were merged.",
        _recoded,
    ),
}
"""By what was done."""
