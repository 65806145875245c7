"""`python -m solver tables recode`: a table of coarser codes, and what each recoding does."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.commands.table_actions.common import show, write_about
from linkrisk.solver.options.table_making import RecodeCommand, RecodeOptions

ASKED = RecodeCommand
EXAMPLE = (
    "example: tables recode --input firms.csv --by region,size --hierarchy region=tree.csv --rule "
    "frequency=3 --cut region=1"
)


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
    show(asked, result, "cells", "relations")
    return 0
