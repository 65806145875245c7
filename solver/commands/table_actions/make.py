"""`python -m solver tables make`: a table of microdata, as two files."""

from __future__ import annotations

import argparse
from pathlib import Path

from linkrisk.solver.commands.arguments import names
from linkrisk.solver.commands.table_actions.common import written_lines
from linkrisk.solver.commands.table_actions.given import hierarchies_of
from linkrisk.solver.commands.unsafe_options import several


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables make --input firms.csv --by region,size --response turnover --rule p=10 "
        "--cells cells.csv --relations relations.csv"
    )
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="microdata, a record for each respondent"
    )
    parser.add_argument("--by", required=True, metavar="A,B", help="explanatory variables, one to six")
    parser.add_argument("--response", metavar="COLUMN", help="what is summed; default: records are counted")
    parser.add_argument(
        "--rule",
        metavar="RULE",
        action="append",
        help="what is sensitive: p=P[,q=Q][,m=M], nk=N,K, or frequency=N[,RANGE]; once for each",
    )
    parser.add_argument(
        "--hierarchy",
        metavar="A=FILE",
        action="append",
        help="columns code and parent, .hrc, or a column for each level; once for each variable, or for each "
        "way in which its codes are grouped",
    )
    parser.add_argument("--holding", metavar="COLUMN", help="holdings, whose respondents count as one")
    parser.add_argument("--cells", required=True, metavar="FILE", help="write the cells")
    parser.add_argument("--relations", required=True, metavar="FILE", help="write the relations")


def run(arguments: argparse.Namespace) -> int:
    """Make, write, and print what was made."""
    from linkrisk.solver.api.tables.make import make_table
    from linkrisk.solver.commands import targets
    from linkrisk.solver.run.errors import UsageError

    files = [arguments.input, arguments.cells, arguments.relations]
    if len({Path(file).resolve() for file in files}) < len(files):
        raise UsageError("--input, --cells and --relations are not three files; give each its own name")
    targets.check_targets(arguments, "cells", "relations")
    made = make_table(
        arguments.input,
        names(arguments.by, "--by") or (),
        response=arguments.response,
        rules=arguments.rule or (),
        hierarchies=hierarchies_of(arguments),
        holding=arguments.holding,
    )
    made.write(arguments.cells, arguments.relations)
    relations = int(made.relations["relation"].max()) + 1
    print(f"table       {several(len(made.cells), 'cell')}, {several(relations, 'relation')}")
    print(f"sensitive   {several(made.sensitive, 'cell')}")
    print("\n".join(written_lines(arguments, "cells", "relations")))
    return 0
