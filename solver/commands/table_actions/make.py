"""`python -m solver tables make`: a table of microdata, as two files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import names, number
from linkrisk.solver.commands.table_actions.common import (
    Once,
    add_missing,
    incomplete_lines,
    refuse_alone,
    renamed_lines,
    written_lines,
)
from linkrisk.solver.commands.table_actions.given import hierarchies_of
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.make import MadeTable
    from linkrisk.solver.api.tables.make_tables import MadeTables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = (
        "example: tables make --input firms.csv --by region,size --response turnover --rule p=10 "
        "--cells cells.csv --relations relations.csv"
    )
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="microdata, a record for each respondent"
    )
    parser.add_argument(
        "--by",
        required=True,
        metavar="A,B",
        action="append",
        help="explanatory variables, one to six; once for each of several tables, which are linked",
    )
    parser.add_argument("--response", metavar="COLUMN", help="what is summed; default: records are counted")
    parser.add_argument(
        "--rule",
        metavar="RULE",
        action="append",
        help="what is sensitive: p=P[,q=Q][,m=M], nk=N,K, frequency=N[,RANGE], zero=RANGE or "
        "request=P[,P2[,N[,RANGE]]]; once for each",
    )
    parser.add_argument(
        "--hierarchy",
        metavar="A=FILE",
        action="append",
        help="columns code and parent, .hrc, or a column for each level; once for each variable, or for each "
        "way in which its codes are grouped; of dates A=month, A=quarter or A=year",
    )
    parser.add_argument("--holding", metavar="COLUMN", help="holdings, whose respondents count as one")
    _add_columns(parser)
    add_missing(parser)
    parser.add_argument("--cells", metavar="FILE", help="write the cells")
    parser.add_argument("--relations", metavar="FILE", help="write the relations")
    parser.add_argument(
        "--table", metavar="FILE", help="write both in one: .jj, or .tab of ARGUS with .rda beside it"
    )
    parser.add_argument(
        "--contributors", metavar="FILE", help="write who contributes how much to each cell: for the house"
    )
    parser.add_argument(
        "--record", metavar="FILE", help="write rules and labels, for `tables suppress --made`: for the house"
    )


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Declare what else columns can mean, and what is done with it."""
    for name, what in (
        ("weight", "sampling weights: values are weighted sums"),
        ("shadow", "what rules look at instead of the response"),
        ("cost-column", "its sums are the costs of cells, for --cost given"),
        ("request", "who asked for protection: 1 or 2, else 0 or nothing"),
        ("respondent", "names of respondents, for --contributors"),
    ):
        parser.add_argument(f"--{name}", metavar="COLUMN", help=what)
    parser.add_argument(
        "--weights-in-rules",
        metavar="HOW",
        help="expanded (default: a record of weight w is w respondents), sample (respondents do not know "
        "weights) or known",
    )
    parser.add_argument(
        "--negative", action="store_true", help="contributions may be negative; rules take absolute values"
    )
    parser.add_argument(
        "--publish-respondents",
        action="store_true",
        help="numbers of respondents are published beside the sums: they are protected together",
    )
    parser.add_argument(
        "--protection",
        metavar="HOW",
        help="of rules: both (default), upper, or sliding, an interval as wide as both wherever it lies",
    )
    parser.add_argument(
        "--empty", metavar="HOW", help="cells without respondents: published (default) or suppressible"
    )
    parser.add_argument(
        "--manual",
        metavar="FILE",
        action=Once,
        help="codes with status u, s or z, and if need be levels and cost, which come before the rules",
    )
    parser.add_argument(
        "--manual-range",
        metavar="P",
        help="level of manually sensitive cells, in %% of the value; default: 20",
    )


def run(arguments: argparse.Namespace) -> int:
    """Make, write, and print what was made."""
    from linkrisk.datasets.masking.record import version
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_all, write_whole
    from linkrisk.datasets.tables.made_record import made_record
    from linkrisk.datasets.tables.writing import internal_files
    from linkrisk.solver.api.tables.figures import labelled
    from linkrisk.solver.api.tables.make import make_table
    from linkrisk.solver.api.tables.make_tables import make_tables

    _check_files(arguments)
    _check_partners(arguments)
    by = [list(names(one, "--by") or ()) for one in arguments.by]
    how: dict[str, Any] = {
        "response": arguments.response,
        "rules": arguments.rule or (),
        "hierarchies": hierarchies_of(arguments),
        "holding": arguments.holding,
        **_more(arguments),
    }
    made: MadeTable | MadeTables
    if len(by) == 1:
        made = make_table(arguments.input, by[0], **how)
    else:
        made = make_tables(arguments.input, by, **how)
    with together():
        if arguments.table is not None:
            with for_the_house():
                write_all(internal_files(made.stored(), arguments.table))
        if arguments.cells is not None:
            made.write(arguments.cells, arguments.relations, arguments.contributors)
        if arguments.record is not None:
            more = {"linkrisk": version(), "input": arguments.input, "by": by, "response": arguments.response}
            more |= labelled(made.stored()) | ({"counts": True} if made.stored().counts else {})
            write_whole(arguments.record, made_record(how["rules"], len(made.cells), more))
    relations = int(made.relations["relation"].max()) + 1
    print(f"table       {several(len(made.cells), 'cell')}, {several(relations, 'relation')}")
    print(f"sensitive   {several(made.sensitive, 'cell')}")
    for line in (*incomplete_lines(arguments, made.coded, made.left_out), *renamed_lines(made.renamed)):
        print(line)
    print("\n".join(written_lines(arguments, "cells", "relations", "contributors", "table", "record")))
    return 0


def _check_files(arguments: argparse.Namespace) -> None:
    """Refuse files that are not there to be written, or would overwrite each other."""
    from linkrisk.datasets.tables.writing import check_internal
    from linkrisk.solver.commands import targets
    from linkrisk.solver.run.errors import UsageError

    if (arguments.cells is None) != (arguments.relations is None) or not (arguments.cells or arguments.table):
        raise UsageError("give what is written: --cells FILE and --relations FILE, or --table FILE")
    if arguments.contributors and not arguments.cells:
        raise UsageError("--contributors names cells by their numbers; give --cells and --relations, too")
    written = ("cells", "relations", "contributors", "record", "table")
    targets.check_targets(arguments, *written, other_formats=["table"])
    if arguments.table is not None:
        check_internal(arguments.table)


def _check_partners(arguments: argparse.Namespace) -> None:
    """Refuse what says something of another option that is not there."""
    for option, partner, what in (
        ("--weights-in-rules", "--weight", "says how rules see weights"),
        ("--manual-range", "--manual", "is the level of cells that are sensitive by hand"),
        ("--respondent", "--contributors", "names those who contribute"),
    ):
        refuse_alone(arguments, option, partner, what=what)


def _more(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keywords of `make_table` that were given."""
    found = {
        name: getattr(arguments, option)
        for name, option in (
            ("weight", "weight"),
            ("shadow", "shadow"),
            ("cost", "cost_column"),
            ("request", "request"),
            ("respondent", "respondent"),
            ("weights_in_rules", "weights_in_rules"),
            ("protection", "protection"),
            ("empty", "empty"),
            ("manual", "manual"),
        )
        if getattr(arguments, option) is not None
    }
    if arguments.manual_range is not None:
        found["manual_range"] = number(arguments.manual_range, "--manual-range")
    flags = {
        name: getattr(arguments, name) for name in ("negative", "missing", "publish_respondents", "schema")
    }
    return {**found, **flags}
