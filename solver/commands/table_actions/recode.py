"""`python -m solver tables recode`: a table of coarser codes, and what each recoding does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.commands.table_actions.common import (
    incomplete_lines,
    renamed_lines,
    write_about,
    written_lines,
)
from linkrisk.solver.options.operations.tables.recode import RecodeCommand, RecodeOptions

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.recode import RecodedTable

ASKED = RecodeCommand
EXAMPLE = (
    "example: tables recode --input firms.csv --by region,size --hierarchy region=tree.csv --rule "
    "frequency=3 --cut region=1"
)

_COLUMNS = {
    "recoding": "recoding",
    "cells": "cells",
    "relations": "relations",
    "empty": "empty",
    "sensitive": "sensitive",
    "secondary": "secondary",
    "cost": "cost",
    "bound": "at least",
}


def run(asked: RecodeCommand) -> int:
    """Recode, write, and print the effects."""
    from linkrisk.datasets.microdata.writing import together
    from linkrisk.solver.run.errors import UsageError
    from linkrisk.solver.tables.operations.recode import recode_table

    if (asked.cells is None) != (asked.relations is None):
        both = f"{called('cells')} and {called('relations')}"
        raise UsageError(f"a table is two files: give both {both}, or none")
    result = recode_table(**keywords(RecodeOptions, asked))
    with together():
        if asked.cells is not None and asked.relations is not None:
            result.write(asked.cells, asked.relations)
        write_about(asked, result)
    print(_summary(asked, result))
    return 0


def _summary(asked: RecodeCommand, result: RecodedTable) -> str:
    from linkrisk.solver.report.short.wording import table

    shown = [name for name in _COLUMNS if asked.suppress or name not in ("secondary", "cost", "bound")]
    lines = [[getattr(one, name) for name in shown] for one in result.effects]
    written = written_lines(asked, "cells", "relations")
    made = result.made
    said = [*incomplete_lines(asked, made.coded, made.left_out), *renamed_lines(made.renamed)]
    written = [*said, *written] if written or made.coded or made.left_out else []
    if left := result.details["not_begun"]:
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        written.append(f"stopped     by the user; not suppressed: {left[0]}{more}")
    return "\n".join(
        [*table([_COLUMNS[name] for name in shown], lines), *([""] if written else []), *written]
    )
