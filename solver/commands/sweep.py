"""`python -m solver sweep`: the risk-utility map of many maskings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.measuring import SweepCommand, SweepOptions
from linkrisk.solver.run.errors import UsageError

ASKED = SweepCommand
DESCRIPTION = (
    "Mask a file in many ways, and measure each release: certified worst case, held-out risk, "
    "information loss. One table, with the maskings that no other one dominates. A sweep that was "
    "stopped goes on where it was."
)

_NOT_IN_PLANS = ("plan", "method", "run", "command", "command_line")


def complete(arguments: argparse.Namespace) -> dict[str, Any]:
    """The maskings of a plan; its options become arguments where the command line does not say otherwise."""
    from linkrisk.solver.risk_utility.maskings import read_plan

    maskings: tuple[Any, ...] = ()
    if arguments.plan is not None:
        names = {name.replace("_", "-"): name for name in vars(arguments) if name not in _NOT_IN_PLANS}
        plan = read_plan(arguments.plan, tuple(names), arguments.schema)
        for option, value in plan.options.items():
            name = names[option]
            if isinstance(value, bool) != (option == "drop-constant"):
                needs = "true or false" if option == "drop-constant" else "a text or a number"
                raise UsageError(f"{arguments.plan}: {option} must be {needs}")
            if getattr(arguments, name) in (None, False):
                setattr(arguments, name, value)
        maskings = plan.maskings
    if arguments.original is None:
        raise UsageError("which file? give --original FILE", option="original")
    return {"planned": maskings}


def run(asked: SweepCommand) -> int:
    """Sweep, print the map, write the files that were asked for; 1 where a run failed by a fault."""
    from linkrisk.datasets.microdata.schema_files import schema_of
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.risk_utility.maskings import maskings_of
    from linkrisk.solver.risk_utility.runs import Status
    from linkrisk.solver.risk_utility.sweep import sweep

    written = maskings_of(asked.methods, schema=schema_of(asked.schema)) if asked.methods else []
    with progress_line("reading") as line:
        more = {"methods": [*asked.planned, *written], "folder": _folder(asked)}
        result = sweep(**keywords(SweepOptions, asked, on_progress=reporter(line), **more))
    hand_over(asked, result, table=result.to_frame)
    return 1 if any(run.status is Status.FAILED for run in result.runs) else 0


def _folder(asked: SweepCommand) -> Path | None:
    """Where finished runs are kept; nowhere where neither a folder nor an output is named."""
    if asked.folder is not None:
        return Path(asked.folder)
    beside = asked.table or asked.json
    if beside is None or (Path(beside).exists() and not Path(beside).is_file()):  # such as /dev/null
        return None
    return Path(beside).with_suffix(".runs")
