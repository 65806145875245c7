"""`python -m solver tables recode`: a table of coarser codes, and what each recoding does."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import names, whole_number
from linkrisk.solver.commands.table_actions.common import (
    PAGES,
    add_missing,
    add_reports,
    incomplete_lines,
    renamed_lines,
    time_limit_of,
    write_about,
    written_lines,
)
from linkrisk.solver.commands.table_actions.given import hierarchies_of, pairs

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.recode import RecodedTable

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables recode --input firms.csv --by region,size --hierarchy region=tree.csv --rule "
        "frequency=3 --cut region=1"
    )
    parser.add_argument("--input", required=True, metavar="FILE", help="microdata; see `tables make`")
    parser.add_argument("--by", required=True, metavar="A,B", help="explanatory variables, one to six")
    for name, metavar, what in (
        ("recode", "A=FILE", "codes that become others: .grc, or columns code and becomes"),
        ("cut", "A=LEVEL", "the level of a tree that becomes the lowest; the total is at 0"),
        ("hierarchy", "A=FILE", "see `tables make`"),
        ("rule", "RULE", "what is sensitive; see `tables make`"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, action="append", help=f"{what}; once for each")
    for name, what in (
        ("response", "what is summed; default: records are counted"),
        ("holding", "holdings, whose respondents count as one"),
        ("weight", "sampling weights"),
    ):
        parser.add_argument(f"--{name}", metavar="COLUMN", help=what)
    parser.add_argument("--suppress", action="store_true", help="suppress cells of least value in each, too")
    parser.add_argument("--time-limit", metavar="S", help="seconds for each, or 'none'; default: 60")
    parser.add_argument("--cells", metavar="FILE", help="write the cells of the table with all recodings")
    parser.add_argument("--relations", metavar="FILE", help="write its relations")
    parser.add_argument("--json", metavar="FILE", help="write the effects as JSON")
    add_reports(parser)
    add_missing(parser)


def run(arguments: argparse.Namespace) -> int:
    """Recode, write, and print the effects."""
    from linkrisk.datasets.microdata.writing import together
    from linkrisk.solver.api.tables.recode import recode_table
    from linkrisk.solver.commands import targets
    from linkrisk.solver.run.errors import UsageError

    if (arguments.cells is None) != (arguments.relations is None):
        raise UsageError("a table is two files: give both --cells and --relations, or none")
    written = ("cells", "relations", "json", *PAGES)
    targets.check_targets(arguments, *written)
    cuts = pairs(arguments.cut, "--cut", "A=LEVEL")
    result = recode_table(
        arguments.input,
        names(arguments.by, "--by") or (),
        recode=pairs(arguments.recode, "--recode", "A=FILE"),
        cut={name: whole_number(level, "--cut") or 0 for name, level in cuts.items()},
        response=arguments.response,
        rules=arguments.rule or (),
        hierarchies=hierarchies_of(arguments),
        holding=arguments.holding,
        weight=arguments.weight,
        missing=arguments.missing,
        schema=arguments.schema,
        suppress=arguments.suppress,
        time_limit=time_limit_of(arguments),
    )
    with together():
        if arguments.cells is not None:
            result.write(arguments.cells, arguments.relations)
        write_about(arguments, result)
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: RecodedTable) -> str:
    from linkrisk.solver.commands.wording import table

    shown = [name for name in _COLUMNS if arguments.suppress or name not in ("secondary", "cost", "bound")]
    lines = [[getattr(one, name) for name in shown] for one in result.effects]
    written = written_lines(arguments, "cells", "relations")
    made = result.made
    said = [*incomplete_lines(arguments, made.coded, made.left_out), *renamed_lines(made.renamed)]
    written = [*said, *written] if written or made.coded or made.left_out else []
    if left := result.details["not_begun"]:
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        written.append(f"stopped     by the user; not suppressed: {left[0]}{more}")
    return "\n".join(
        [*table([_COLUMNS[name] for name in shown], lines), *([""] if written else []), *written]
    )
