"""`python -m solver tables round`: all cells become multiples of a base, and still add up."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import number
from linkrisk.solver.commands.unsafe_options import several, whole

if TYPE_CHECKING:
    from linkrisk.solver.api.round_table import RoundedTable


def round_cells(arguments: argparse.Namespace) -> int:
    """Round, write, and print what was found."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.api.round_table import round_table
    from linkrisk.solver.api.tables import DEFAULT_TIME_LIMIT
    from linkrisk.solver.commands import targets
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.run.errors import UsageError

    base = whole(arguments.base, "--base")
    if base is None:
        raise UsageError("tables round needs --base, such as 5")
    if arguments.cost is not None:
        raise UsageError("--cost is for suppress: a rounding changes all cells as little as it can")
    targets.check_targets(arguments, "output", "internal", "json")
    limit = arguments.time_limit
    with progress_line("rounding cells") as line:
        result = round_table(
            arguments.cells,
            arguments.relations,
            base=base,
            relaxed=bool(arguments.relaxed),
            backend=arguments.backend or "highs",
            seed=whole(arguments.seed, "--seed") or 0,
            time_limit=None if limit == "none" else number(limit or str(DEFAULT_TIME_LIMIT), "--time-limit"),
            on_progress=reporter(line),
        )
    if arguments.output is not None:
        result.write(arguments.output)
    if arguments.internal is not None:
        write_table(result.to_frame(), arguments.internal)
    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: RoundedTable) -> str:
    from linkrisk.solver.run.counts import count

    found = result.to_dict()
    kind = "relaxed" if found["relaxed"] else "zero-restricted"
    said = f"{count(round(result.cost, 6))} in all, {result.largest_change:g} at most"
    proof = (
        "proven least"
        if result.bound >= result.cost
        else f"no rounding of this kind changes less than {count(round(result.bound, 6))}"
    )
    lines = [
        f"table       {arguments.cells}: {several(found['cells'], 'cell')}, "
        f"{several(found['relations'], 'relation')}",
        f"rounded     to base {found['base']}, {kind}: {several(found['changed'], 'cell')} changed",
        f"change      {said}: {proof}",
        "audit       every cell is a multiple, and every relation adds up exactly",
    ]
    for what, path in (("output", arguments.output), ("internal", arguments.internal)):
        if path is not None:
            lines.append(f"{what:<12}{path}")
    return "\n".join(lines)
