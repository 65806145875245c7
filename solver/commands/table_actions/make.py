"""`python -m solver tables make`: a table of microdata, as two files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.errors import called
from linkrisk.solver.commands.table_actions.common import show
from linkrisk.solver.options.table_making import MakeCommand, MakeSeveralOptions

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.make import MadeTable, MadeTables

ASKED = MakeCommand
OTHER_FORMATS = ("table",)
EXAMPLE = (
    "example: tables make --input firms.csv --by region,size --response turnover --rule p=10 "
    "--cells cells.csv --relations relations.csv"
)


def run(asked: MakeCommand) -> int:
    """Make, write, and print what was made."""
    from linkrisk.solver.tables.operations.make import make_table, make_tables

    _check_files(asked)
    made: MadeTable | MadeTables
    if len(asked.by) == 1:
        made = make_table(**keywords(MakeSeveralOptions, asked, by=asked.by[0]))
    else:
        made = make_tables(**keywords(MakeSeveralOptions, asked))
    _write(asked, made)
    show(asked, made, "cells", "relations", "contributors", "table", "record")
    return 0


def _check_files(asked: MakeCommand) -> None:
    """Refuse files that do not make a table together, or are of no format that holds one."""
    from linkrisk.datasets.tables.writing import check_internal
    from linkrisk.solver.run.errors import UsageError

    cells, relations = f"{called('cells')} FILE", f"{called('relations')} FILE"
    if (asked.cells is None) != (asked.relations is None) or not (asked.cells or asked.table):
        both = f"{called('table')} FILE"
        raise UsageError(f"give what is written: {cells} and {relations}, or {both}")
    if asked.contributors and not asked.cells:
        numbered = f"{called('contributors')} names cells by their numbers"
        raise UsageError(f"{numbered}; give {called('cells')} and {called('relations')}, too")
    if asked.table is not None:
        check_internal(asked.table)


def _write(asked: MakeCommand, made: MadeTable | MadeTables) -> None:
    """Write what is asked for, all or nothing."""
    from linkrisk.datasets.masking.release import version
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_all, write_whole
    from linkrisk.datasets.tables.reading import made_record
    from linkrisk.datasets.tables.writing import internal_files
    from linkrisk.solver.tables.operations.figures import labelled

    with together():
        if asked.table is not None:
            with for_the_house():
                write_all(internal_files(made.stored(), asked.table))
        if asked.cells is not None and asked.relations is not None:
            made.write(asked.cells, asked.relations, asked.contributors)
        if asked.record is not None:
            of = {"input": asked.data, "by": asked.by, "response": asked.response}
            more: dict[str, Any] = {"linkrisk": version(), **of}
            more |= labelled(made.stored()) | ({"counts": True} if made.stored().counts else {})
            write_whole(asked.record, made_record([str(rule) for rule in asked.rules], len(made.cells), more))
