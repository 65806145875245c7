"""`python -m solver run-protocol`: make the safe file that a protocol describes, or undo its last steps."""

from __future__ import annotations

import argparse
from typing import Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.masking import RunProtocolCommand, RunProtocolOptions

ASKED = RunProtocolCommand
DESCRIPTION = (
    "Make a file by the steps of a protocol: which commands masked and suppressed what, in which order, "
    "with which parameters and seeds. The same protocol makes the same file."
)
EXAMPLE = "example: run-protocol steps.toml --output safe.csv; one step back: --undo 1"


def complete(arguments: argparse.Namespace) -> dict[str, Any]:
    """See that no file is overwritten that the protocol names."""
    from linkrisk.solver.commands import targets
    from linkrisk.solver.protocol.document import Protocol

    named = Protocol.read(arguments.protocol).files
    targets.check_targets(arguments, "output", "record", "json", also=named)
    return {}


def run(asked: RunProtocolCommand) -> int:
    """Run the steps, write, and print what was done."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over, say_written
    from linkrisk.solver.protocol.run import run_protocol

    with progress_line("running the protocol") as line:
        result = run_protocol(**keywords(RunProtocolOptions, asked, on_progress=reporter(line)))
    hand_over(asked, result)
    say_written(result.output)
    if asked.record is not None:
        print(f"wrote {asked.record}: keep it secret, it undoes the masking")
    return 0
