"""Commands that protect microdata: `mask`, `unsafe`, `suppress` and `run-protocol`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.option import PROTOCOL, keywords, options_of
from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
from linkrisk.solver.commands.targets import (
    answered,
    check_targets,
    files_about,
    given_settings,
    hand_over,
    say_written,
)
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.inputs.source import Source
    from linkrisk.solver.masking.mask import MaskingResult
    from linkrisk.solver.options.masking import MaskCommand, RunProtocolCommand
    from linkrisk.solver.options.suppression import SuppressCommand, UnsafeCommand
    from linkrisk.solver.suppression.operations.result import SuppressionResult

_SECRET = "keep it secret, it undoes the masking"

_KEPT = ("answer", "backend", "seed", "time_limit")
"""Options of `suppress` that a protocol leaves out: it keeps the answer itself."""


def complete_mask(arguments: argparse.Namespace) -> dict[str, Any]:
    """Complete the name of the output, and refuse one that cannot be written."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.solver.inputs.source import check_targets as check_output

    arguments.output = with_suffix_of(arguments.output, arguments.input)
    check_output(arguments.input, arguments.output, arguments.record)
    return {}


def mask(asked: MaskCommand) -> int:
    """Mask a table, write it and print what was done."""
    from linkrisk.datasets.masking.parameters import all_options, own_options
    from linkrisk.datasets.microdata.names import shell_name
    from linkrisk.datasets.microdata.writing import write_all
    from linkrisk.solver.masking.mask import mask
    from linkrisk.solver.options.masking import MaskOptions
    from linkrisk.solver.protocol.steps import add_step

    source, seed = str(asked.data), _seed(asked.seed)
    _check_protocol(asked.protocol, source, asked.output)

    def on_read(read: Source) -> None:
        """Print what cannot be kept before any work is done."""
        for note in (*read.stored.remarks, *read.losses(asked.output)):
            print(f"note: {note}", flush=True)

    with progress_line("masking") as line:
        more = {
            "schema": None,
            "parameters": given_settings(asked, all_options(), own_options(_methods(asked))),
            "seed": seed,
            "on_progress": reporter(line),
            "on_read": on_read,
        }
        result = mask(**keywords(MaskOptions, asked, **more))
    recodings = _recoding_files(asked.write_recodings, result.recodings)
    methods = result.in_words if asked.say_methods else ()
    result.write(asked.output, asked.record, codebook=asked.codebook, methods=methods)
    if recodings:
        write_all(recodings)
    if asked.protocol is not None:
        add_step(asked.protocol, source, asked.output, _masking_step(asked, result))
    print(result, end="")
    print(_seed_line(result.seed, asked))
    say_written(asked.output, asked.record, asked.codebook, *map(str, recodings))
    if asked.record is not None and result.release.order is not None:
        print(f"the order is random: --id {shell_name(asked.record)} knows who is who")
    if asked.protocol is not None:
        print(f"added this step to {asked.protocol}")
    return 0


def _methods(asked: MaskCommand) -> list[str]:
    """Return the methods as text."""
    return [str(one) for one in asked.method] if isinstance(asked.method, list) else [str(asked.method)]


def _seed(given: str | None) -> int | None:
    """Read the seed that was given, itself or by a file."""
    from linkrisk.datasets.masking.release import read_seed
    from linkrisk.datasets.options.kinds import WHOLE

    if given is not None and given.lower().endswith(".json"):
        return read_seed(given)
    try:
        return None if given is None else WHOLE.read(given)
    except DataError as error:
        raise UsageError(f"--seed: {error}", option="seed") from None


def _masking_step(asked: MaskCommand, result: MaskingResult) -> dict[str, Any]:
    """Make the step of a protocol."""
    from linkrisk.datasets.masking.parameters import all_options

    methods = _methods(asked)
    given = [(name, getattr(asked, name)) for name in all_options() if getattr(asked, name) is not None]
    for name, value in given:  # there is one method, given by its name alone, or it is a schema for all
        values = value if isinstance(value, list) else [value]
        words = [name if one is True else f"{name}={one}" for one in values]
        methods = [text if _has(text, name) else f"{text} {shlex.join(words)}" for text in methods]
    seed = {} if result.seed is None else {"seed": str(result.seed)}
    return {**_step_of("mask", asked, leave_out=("method", "seed")), "method": methods, **seed}


def _has(method: str, name: str) -> bool:
    """Whether a method as text has a parameter."""
    return any(word.partition("=")[0] == name for word in shlex.split(method)[1:])


def _seed_line(seed: int | None, asked: MaskCommand) -> str:
    if seed is None:
        return "no seed: no random choices"
    given = asked.seed if (asked.seed or "").lower().endswith(".json") else None
    place = asked.record or asked.protocol or given
    return f"seed {seed}: {_SECRET}" if place is None else f"seed in {place}: {_SECRET}"


def unsafe(asked: UnsafeCommand) -> int:
    """Count, write, and print."""
    from linkrisk.solver.suppression.operations.unsafe import unsafe

    hand_over(asked, answered(asked, unsafe, "counting combinations"))
    return 0


def suppress(asked: SuppressCommand) -> int:
    """Suppress, write, and print what was done."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.datasets.microdata.writing import SECRET, write_all, write_whole
    from linkrisk.solver.inputs.source import check_targets as check_output
    from linkrisk.solver.suppression.operations.suppress import suppress

    if asked.output is None and (asked.shuffle or asked.renumber):
        raise UsageError("--shuffle and --renumber are for --output: say what to write, or leave them out")
    if asked.output is None and asked.codebook is not None:
        raise UsageError("--codebook is of --output: say what to write, or leave it out")
    if asked.output is not None:
        asked = replace(asked, output=with_suffix_of(asked.output, str(asked.data)))
        check_output(str(asked.data), str(asked.output), None)
    _check_protocol(asked.protocol, str(asked.data), asked.output)
    result = answered(asked, suppress, "counting combinations", limit_of(asked))
    recodings = _recoding_files(asked.write_recodings, result.details["recodings"])
    about = files_about(asked, result) | recodings  # all is made before anything is written
    if asked.output is not None:
        _write_suppressed(asked, asked.output, result)
    if about:
        write_all(about)
    if asked.write_answer is not None:
        write_whole(asked.write_answer, result.answer.to_json(), mode=SECRET)  # undoes the suppression
    print(result, end="")
    say_written(asked.output, asked.codebook, *map(str, about), asked.write_answer)
    if asked.protocol is not None:
        print(f"added this step to {asked.protocol}")
    return 0


def _write_suppressed(asked: SuppressCommand, output: str, result: SuppressionResult) -> None:
    """Write the table and, where asked for, add the step to a protocol."""
    from linkrisk.datasets.masking.base import new_seed
    from linkrisk.solver.protocol.steps import add_step

    order = new_seed() if asked.shuffle else None
    methods = result.in_words if asked.say_methods else ()
    how: dict[str, Any] = {"codebook": asked.codebook, "methods": methods}
    result.write(output, shuffle=asked.shuffle, renumber=asked.renumber, seed=order, **how)
    if asked.protocol is not None:
        step = _step_of("suppress", asked, leave_out=_KEPT)
        step |= {} if order is None else {"order_seed": str(order)}
        add_step(asked.protocol, str(asked.data), output, step, result.answer.to_json())


def run_protocol(asked: RunProtocolCommand) -> int:
    """Run the steps, write, and print what was done."""
    from linkrisk.solver.protocol.document import Protocol
    from linkrisk.solver.protocol.run import run_protocol

    check_targets(asked, "output", "record", "json", "codebook", also=Protocol.read(asked.protocol).files)
    result = answered(asked, run_protocol, "running the protocol")
    hand_over(asked, result)
    say_written(result.output, None if asked.codebook is None else str(asked.codebook))
    if asked.record is not None:
        print(f"wrote {asked.record}: {_SECRET}")
    return 0


def _check_protocol(protocol: str | None, source: str, output: str | None) -> None:
    """Refuse a protocol that cannot be gone on with, before any work is done.

    Raises UsageError, DataError if the input is no file, nothing is written, or it does not follow on from
    the last step.
    """
    from linkrisk.solver.inputs.source import is_file
    from linkrisk.solver.protocol.steps import check_goes_on

    if protocol is None:
        return
    if output is None:
        raise UsageError("--protocol is for --output: say what to write, or leave it out")
    if not is_file(source):
        raise UsageError(f"--protocol: {source} is a public data set; give a file as --input")
    if protocol in (source, output):
        raise UsageError(f"--protocol {protocol} would overwrite another file; give another name")
    check_goes_on(protocol, source)


def _step_of(command: str, asked: Any, leave_out: Sequence[str] = ()) -> dict[str, Any]:
    """Make the step of a protocol: the options that are not at their defaults."""
    step: dict[str, Any] = {"command": command}
    for name, one in options_of(type(asked), PROTOCOL).items():
        value = getattr(asked, name)
        if name not in leave_out and value != one.default:
            step[name] = one.kind.untyped(value)
    return step


def _recoding_files(folder: str | None, recodings: Mapping[str, Mapping[str, str]]) -> dict[Path, bytes]:
    """Make the recoding files of mu-ARGUS of a folder, one for each column; none without a folder.

    `recodings`: what became of the codes, by column. Raises UsageError if the folder does not exist, or
    nothing was recoded code by code. Raises DataError if a code or a name cannot be written so.
    """
    from linkrisk.datasets.microdata.recoding_files import RecodingFile

    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise UsageError(f"--write-recodings {folder}: there is no such folder; create it first")
    if not recodings:
        raise UsageError("--write-recodings: no column was recoded code by code; leave it out")
    found = {}
    for name, becomes in recodings.items():
        if "/" in name or "\0" in name:
            raise DataError(f"--write-recodings: a file cannot be named after {name!r}; rename the column")
        found[Path(folder) / f"{name}.grc"] = RecodingFile.of(name, becomes).text().encode("utf-8")
    return found
