"""`python -m solver tables`: suppress cells of a table, or audit a pattern of suppressed cells."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import number
from linkrisk.solver.commands.unsafe_options import several, whole

if TYPE_CHECKING:
    from linkrisk.solver.api.tables import TableResult

_SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Suppress the cells of least cost so that nobody can compute a sensitive one too closely from the "
        "others, with a bound that proves it; or audit any pattern. Exit code 1 when an audit fails."
    )
    parser.epilog = "example: tables suppress --cells cells.csv --relations relations.csv --output safe.csv"
    parser.add_argument(
        "what", metavar="WHAT", help="suppress, or audit a pattern by the status of the cells"
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
    parser.add_argument("--backend", metavar="NAME", help="what solves the program; default: highs")
    parser.add_argument("--seed", metavar="N", help="of the backend; default: 0")
    parser.add_argument("--time-limit", metavar="S", help="seconds, or 'none'; default: 60")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Suppress or audit, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.commands import targets

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
    from linkrisk.solver.api.tables import DEFAULT_TIME_LIMIT, audit_table, protect_table
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.run.errors import UsageError

    if arguments.what == "audit":
        for name in ("cost", "backend", "seed", "time_limit"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for suppress: an audit chooses nothing")
        return audit_table(arguments.cells, arguments.relations)
    if arguments.what != "suppress":
        raise UsageError(f"tables: there is no {arguments.what!r}; write suppress or audit")
    limit = arguments.time_limit
    with progress_line("suppressing cells") as line:
        return protect_table(
            arguments.cells,
            arguments.relations,
            cost=arguments.cost or "value",
            backend=arguments.backend or "highs",
            seed=whole(arguments.seed, "--seed") or 0,
            time_limit=None if limit == "none" else number(limit or str(DEFAULT_TIME_LIMIT), "--time-limit"),
            on_progress=reporter(line),
        )


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
