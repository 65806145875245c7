"""`python -m solver run-protocol`: make the safe file that a protocol describes, or undo its last steps."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.run_protocol import RunProtocolCommand, RunProtocolOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.protocol.run import ProtocolResult


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
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.protocol.run import run_protocol

    with progress_line("running the protocol") as line:
        result = run_protocol(**keywords(RunProtocolOptions, asked, on_progress=reporter(line)))
    if asked.json is not None:
        write_whole(asked.json, result.to_json())
    print(_summary(asked, result))
    return 0


def _summary(asked: RunProtocolCommand, result: ProtocolResult) -> str:
    lines = [f"protocol  {asked.protocol}: {several(len(result.steps) + result.undone, 'step')}"]
    lines.append(f"input     {result.protocol.file}")
    for at, step in enumerate(result.steps, start=1):
        lines.append(f"step {at:<4} {step.lines[0]}")
        lines += [f"          {line}" for line in step.lines[1:]]
    if result.undone:
        last = "the last step" if result.undone == 1 else f"the last {result.undone} steps"
        back = "the input, byte for byte" if not result.steps else f"the file after step {len(result.steps)}"
        lines.append(f"undone    {last}: this is {back}")
    lines.append(f"output    {result.output}")
    if asked.record is not None:
        lines.append(f"record    {asked.record}: keep it secret, it undoes the masking")
    elif not result.repeatable:
        lines.append("seeds     were drawn and are lost: nothing makes this file again; --record keeps them")
    return "\n".join(lines)
