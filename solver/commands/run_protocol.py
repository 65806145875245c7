"""`python -m solver run-protocol`: make the safe file that a protocol describes, or undo its last steps."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from linkrisk.solver.commands.arguments import whole_number
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.protocol import ProtocolResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Make a file by the steps of a protocol: which commands masked and suppressed what, in which order, "
        "with which parameters and seeds. The same protocol makes the same file."
    )
    parser.epilog = "example: protocol steps.toml --output safe.csv; one step back: --undo 1"
    parser.add_argument("protocol", metavar="FILE", help="TOML file; files that it names are in its folder")
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="file to write, in the format that its suffix says; without a suffix in that of the input",
    )
    parser.add_argument(
        "--undo", metavar="N", default="0", help="leave out the last N steps; all of them give the input back"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="write the protocol with the seeds that were drawn, digests of all files, and what was "
        "suppressed: it makes the same file again; keep it secret",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was done as JSON, without seeds")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the steps, write, and print what was done."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.api.protocol import run_protocol
    from linkrisk.solver.commands import targets
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.protocol.document import Protocol

    named = Protocol.read(arguments.protocol).files
    targets.check_targets(arguments, "output", "record", "json", also=named)
    undo = whole_number(arguments.undo, "--undo") or 0
    with progress_line("running the protocol") as line:
        result = run_protocol(
            arguments.protocol,
            arguments.output,
            undo=undo,
            record=arguments.record,
            on_progress=reporter(line),
        )
    if arguments.json is not None:
        write_whole(arguments.json, result.to_json())
    print(_summary(arguments, result))
    return 0


def _summary(arguments: argparse.Namespace, result: ProtocolResult) -> str:
    lines = [f"protocol  {arguments.protocol}: {several(len(result.steps) + result.undone, 'step')}"]
    lines.append(f"input     {result.protocol.file}")
    for at, step in enumerate(result.steps, start=1):
        lines.append(f"step {at:<4} {step.lines[0]}")
        lines += [f"          {line}" for line in step.lines[1:]]
    if result.undone:
        last = "the last step" if result.undone == 1 else f"the last {result.undone} steps"
        back = "the input, byte for byte" if not result.steps else f"the file after step {len(result.steps)}"
        lines.append(f"undone    {last}: this is {back}")
    lines.append(f"output    {result.output}")
    if arguments.record is not None:
        lines.append(f"record    {arguments.record}: keep it secret, it undoes the masking")
    elif not result.repeatable:
        lines.append("seeds     were drawn and are lost: nothing makes this file again; --record keeps them")
    return "\n".join(lines)
