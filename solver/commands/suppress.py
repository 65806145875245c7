"""`python -m solver suppress`: take values out of a file so that no unsafe combination is left whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.protocol_steps import check_protocol, step_of
from linkrisk.solver.options.suppression import SuppressCommand, SuppressOptions

if TYPE_CHECKING:
    from linkrisk.solver.suppression.operations.result import SuppressionResult


ASKED = SuppressCommand
DESCRIPTION = (
    "Take the values of least cost out of key variables that leave no unsafe combination of them whole, "
    "with a bound that proves it. What is taken out becomes missing."
)
EXAMPLE = "example: suppress --input people.csv --keys town,sex,trade --k 3 --output safe.csv"

_KEPT = ("answer", "backend", "seed", "time_limit")
"""What a protocol does not say, as it keeps what was taken."""


def run(asked: SuppressCommand) -> int:
    """Suppress, write, and print what was done."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.datasets.microdata.writing import SECRET, write_all, write_whole
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.commands.targets import files_about, say_written
    from linkrisk.solver.inputs.source import check_targets
    from linkrisk.solver.run.errors import UsageError
    from linkrisk.solver.suppression.operations.suppress import suppress

    if asked.output is None and (asked.shuffle or asked.renumber):
        raise UsageError("--shuffle and --renumber are for --output: say what to write, or leave them out")
    if asked.output is not None:
        asked = replace(asked, output=with_suffix_of(asked.output, str(asked.data)))
        check_targets(str(asked.data), str(asked.output), None)
    check_protocol(asked.protocol, str(asked.data), asked.output)
    with progress_line("counting combinations", limit_of(asked)) as line:
        result = suppress(**keywords(SuppressOptions, asked, on_progress=reporter(line)))
    recodings = recoding_files(asked.write_recodings, result.details["recodings"])
    about = files_about(asked, result) | recodings  # all is made before anything is written
    if asked.output is not None:
        _write(asked, asked.output, result)
    if about:
        write_all(about)
    if asked.write_answer is not None:
        write_whole(asked.write_answer, result.answer.to_json(), mode=SECRET)  # undoes the suppression
    print(result, end="")
    say_written(asked.output, *map(str, about), asked.write_answer)
    if asked.protocol is not None:
        print(f"added this step to {asked.protocol}")
    return 0


def _write(asked: SuppressCommand, output: str, result: SuppressionResult) -> None:
    """Write the table and, where asked for, add the step to a protocol."""
    from linkrisk.datasets.masking.base import new_seed
    from linkrisk.solver.protocol.steps import add_step

    order = new_seed() if asked.shuffle else None
    result.write(output, shuffle=asked.shuffle, renumber=asked.renumber, seed=order)
    if asked.protocol is not None:
        step = step_of("suppress", asked, leave_out=_KEPT)
        step |= {} if order is None else {"order_seed": str(order)}
        add_step(asked.protocol, str(asked.data), output, step, result.answer.to_json())
