"""`python -m solver tables`: make a table, suppress cells of it, audit a pattern, or round it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import names, number
from linkrisk.solver.commands.unsafe_options import several, whole

if TYPE_CHECKING:
    from linkrisk.solver.api.tables import TableResult

_SHOWN = 5
_MAKING = ("input", "by", "response", "rule", "hierarchy", "holding")
_ROUNDING = ("base", "relaxed")
_OTHERS = ("output", "internal", "json", "cost", "backend", "seed", "time_limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Suppress the cells of least cost so that nobody can compute a sensitive one too closely from the "
        "others, with a bound that proves it; audit any pattern; or round all cells such that they still add "
        "up. Exit code 1 when an audit fails."
    )
    parser.epilog = "example: tables suppress --cells cells.csv --relations relations.csv --output safe.csv"
    parser.add_argument(
        "what",
        metavar="WHAT",
        help="make a table of microdata; suppress; audit a pattern by the status of the cells; or round",
    )
    parser.add_argument(
        "--cells",
        required=True,
        metavar="FILE",
        help="a line for each cell: value; status u (sensitive), m (suppressed with it), s or z (always "
        "published); lower_protection, upper_protection, sliding_protection; lower_bound, upper_bound; cost",
    )
    parser.add_argument(
        "--relations",
        required=True,
        metavar="FILE",
        help="a line for each term: relation, cell (from 0), coefficient; the terms of a relation sum to 0",
    )
    _add_making(parser.add_argument_group("of make, which writes --cells and --relations"))
    parser.add_argument("--output", metavar="FILE", help="write the table as it may be published")
    parser.add_argument(
        "--internal", metavar="FILE", help="write the cells with status and the intervals that attackers find"
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found as JSON")
    parser.add_argument(
        "--cost",
        metavar="HOW",
        help="of a cell: its value (default), unit, log of 1 + value, or given in the column cost",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME",
        help="what solves the program: exact (default, our own) or a backend",
    )
    parser.add_argument("--seed", metavar="N", help="of the backend; default: 0")
    parser.add_argument("--time-limit", metavar="S", help="seconds, or 'none'; default: 60")
    group = parser.add_argument_group("of round")
    group.add_argument("--base", metavar="N", help="every cell becomes a multiple of it")
    group.add_argument(
        "--relaxed", action="store_true", default=None, help="cells may go further than to the next multiple"
    )
    parser.set_defaults(run=run)


def _add_making(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--input", metavar="FILE", help="microdata, a record for each respondent")
    group.add_argument("--by", metavar="A,B", help="explanatory variables, one to six")
    group.add_argument("--response", metavar="COLUMN", help="what is summed; default: records are counted")
    group.add_argument(
        "--rule",
        metavar="RULE",
        action="append",
        help="what is sensitive: p=P[,q=Q][,m=M], nk=N,K, or frequency=N[,RANGE]; once for each",
    )
    group.add_argument(
        "--hierarchy",
        metavar="A=FILE",
        action="append",
        help="columns code and parent; once for each variable",
    )
    group.add_argument("--holding", metavar="COLUMN", help="holdings, whose respondents count as one")


def run(arguments: argparse.Namespace) -> int:
    """Make, suppress or audit, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.commands import targets
    from linkrisk.solver.commands.tables_round import round_cells

    if arguments.what == "make":
        return _make(arguments)
    _refuse(arguments, _MAKING, "make: leave it out")
    if arguments.what == "round":
        return round_cells(arguments)
    _refuse(arguments, _ROUNDING, "round: leave it out")
    targets.check_targets(arguments, "output", "internal", "json")
    result = _result(arguments)
    if arguments.output is not None and result.protected:
        result.write(arguments.output)
    if arguments.internal is not None:
        write_table(result.to_frame(), arguments.internal)
    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    print(_summary(arguments, result))
    return 0 if result.protected else 1


def _result(arguments: argparse.Namespace) -> TableResult:
    from linkrisk.solver.api.tables import DEFAULT_TIME_LIMIT, OWN, audit_table, protect_table
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.run.errors import UsageError

    if arguments.what == "audit":
        _refuse(arguments, ("cost", "backend", "seed", "time_limit"), "suppress: an audit chooses nothing")
        return audit_table(arguments.cells, arguments.relations)
    if arguments.what != "suppress":
        raise UsageError(f"tables: there is no {arguments.what!r}; write make, suppress, audit or round")
    limit = arguments.time_limit
    with progress_line("suppressing cells") as line:
        return protect_table(
            arguments.cells,
            arguments.relations,
            cost=arguments.cost or "value",
            backend=arguments.backend or OWN,
            seed=whole(arguments.seed, "--seed") or 0,
            time_limit=None if limit == "none" else number(limit or str(DEFAULT_TIME_LIMIT), "--time-limit"),
            on_progress=reporter(line),
        )


def _refuse(arguments: argparse.Namespace, options: Sequence[str], why: str) -> None:
    from linkrisk.solver.run.errors import UsageError

    for name in options:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for {why}")


def _make(arguments: argparse.Namespace) -> int:
    """Make a table of microdata."""
    from linkrisk.solver.api.make_table import make_table
    from linkrisk.solver.commands import targets
    from linkrisk.solver.run.errors import UsageError

    _refuse(arguments, (*_OTHERS, *_ROUNDING), "suppress, audit or round: leave it out")
    if arguments.input is None or arguments.by is None:
        raise UsageError("tables make needs --input and --by: of what, and by which variables")
    files = [arguments.input, arguments.cells, arguments.relations]
    if len({Path(file).resolve() for file in files}) < len(files):
        raise UsageError("--input, --cells and --relations are not three files; give each its own name")
    targets.check_targets(arguments, "cells", "relations")
    made = make_table(
        arguments.input,
        names(arguments.by, "--by") or (),
        response=arguments.response,
        rules=arguments.rule or (),
        hierarchies=dict(_pair(one) for one in arguments.hierarchy or ()),
        holding=arguments.holding,
    )
    made.write(arguments.cells, arguments.relations)
    relations = int(made.relations["relation"].max()) + 1
    print(f"table       {several(len(made.cells), 'cell')}, {several(relations, 'relation')}")
    print(f"sensitive   {several(made.sensitive, 'cell')}")
    print(f"cells       {arguments.cells}")
    print(f"relations   {arguments.relations}")
    return 0


def _pair(text: str) -> tuple[str, str]:
    from linkrisk.solver.run.errors import UsageError

    name, mark, path = text.partition("=")
    if not mark or not name or not path:
        raise UsageError(f"--hierarchy: {text!r} is none; write A=FILE")
    return name, path


def _summary(arguments: argparse.Namespace, result: TableResult) -> str:
    from linkrisk.solver.run.counts import count

    details = result.details
    secondary = int(result.suppressed.sum()) - details["sensitive"]
    lines = [
        f"table       {arguments.cells}: {several(len(result.cells), 'cell')}, "
        f"{several(details['relations'], 'relation')}",
        f"sensitive   {several(details['sensitive'], 'cell')}",
        f"suppressed  {several(secondary, 'cell')} more{_cost(result)}",
        f"audit       {_audited(result)}",
    ]
    for what, path in (("output", arguments.output), ("internal", arguments.internal)):
        if path is not None and (what != "output" or result.protected):
            lines.append(f"{what:<12}{path}")
    if arguments.output is not None and not result.protected:
        lines.append(f"output      none: {count(int((result.audit.short > 0).sum()))} not protected")
    return "\n".join(lines)


def _cost(result: TableResult) -> str:
    from linkrisk.solver.run.counts import count

    pattern = result.pattern
    if pattern is None:
        return ""
    said = f", cost {count(round(pattern.cost, 6))}"
    if pattern.proven:
        return f"{said}: proven least"
    gap = 100.0 * (pattern.cost - pattern.bound) / pattern.cost
    return f"{said}; none that protects costs less than {count(round(pattern.bound, 6))}, {gap:.2g} % less"


def _audited(result: TableResult) -> str:
    found, exact = result.audit, int(result.audit.exact.sum())
    known = f"; {several(exact, 'suppressed cell')} known exactly" if exact else ""
    if result.protected:
        return f"every sensitive cell is protected from outsiders{known}"
    short = [at for at in range(len(found.cells)) if found.short[at] > 0]
    shown = ", ".join(f"{found.cells[at]} (by {found.short[at]:g})" for at in short[:_SHOWN])
    more = f" and {len(short) - _SHOWN} more" if len(short) > _SHOWN else ""
    return f"NOT protected: {several(len(short), 'cell')} short of the level: {shown}{more}{known}"
