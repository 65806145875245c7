"""`python -m solver mask`: make a masked file from an original one."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.parameters import all_options, own_options
from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.protocol_steps import check_protocol, step_of
from linkrisk.solver.options.masking import MASK, MaskCommand, MaskOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.masking.mask import MaskingResult

SECRET = "keep it secret, it undoes the masking"


ASKED = MASK
DESCRIPTION = "Make a masked file. Columns that are not masked stay as they are, and so do the rows."


def complete(arguments: argparse.Namespace) -> dict[str, Any]:
    """Call the output what it will be called, and see that it can be written."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.solver.inputs.source import check_targets

    arguments.output = with_suffix_of(arguments.output, arguments.input)
    check_targets(arguments.input, arguments.output, arguments.record)
    return {}


def run(asked: MaskCommand) -> int:
    """Mask a table, write it and print what was done."""
    from linkrisk.datasets.microdata.names import shell_name
    from linkrisk.datasets.microdata.writing import write_all
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.commands.settings import given_settings
    from linkrisk.solver.commands.targets import say_written
    from linkrisk.solver.inputs.source import Source
    from linkrisk.solver.masking.mask import mask
    from linkrisk.solver.protocol.steps import add_step

    source, seed = str(asked.data), _seed(asked.seed)
    check_protocol(asked.protocol, source, asked.output)

    def on_read(read: Source) -> None:
        """What cannot be kept is said before any work is done."""
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
    recodings = recoding_files(asked.write_recodings, result.recodings)
    result.write(asked.output, asked.record)
    if recodings:
        write_all(recodings)
    if asked.protocol is not None:
        add_step(asked.protocol, source, asked.output, _step(asked, result))
    print(result, end="")
    print(_seed_line(result.seed, asked))
    say_written(asked.output, asked.record, *map(str, recodings))
    if asked.record is not None and result.release.order is not None:
        print(f"the order is random: --id {shell_name(asked.record)} knows who is who")
    if asked.protocol is not None:
        print(f"added this step to {asked.protocol}")
    return 0


def _methods(asked: MaskCommand) -> list[str]:
    """The methods, as text."""
    return [str(one) for one in asked.method] if isinstance(asked.method, list) else [str(asked.method)]


def _seed(given: str | None) -> int | None:
    """The seed that was given, itself or by a file."""
    from linkrisk.datasets.masking.release import read_seed
    from linkrisk.datasets.options.kinds import WHOLE

    if given is not None and given.lower().endswith(".json"):
        return read_seed(given)
    try:
        return None if given is None else WHOLE.read(given)
    except DataError as error:
        raise UsageError(f"--seed: {error}", option="seed") from None


def _step(asked: MaskCommand, result: MaskingResult) -> dict[str, Any]:
    """The step as a protocol says it."""
    methods = _methods(asked)
    given = [(name, getattr(asked, name)) for name in all_options() if getattr(asked, name) is not None]
    for name, value in given:  # there is one method, given by its name alone, or it is a schema for all
        values = value if isinstance(value, list) else [value]
        words = [name if one is True else f"{name}={one}" for one in values]
        methods = [text if _says(text, name) else f"{text} {shlex.join(words)}" for text in methods]
    seed = {} if result.seed is None else {"seed": str(result.seed)}
    return {**step_of("mask", asked, leave_out=("method", "seed")), "method": methods, **seed}


def _says(method: str, name: str) -> bool:
    """Whether a method as text has a parameter."""
    return any(word.partition("=")[0] == name for word in shlex.split(method)[1:])


def _seed_line(seed: int | None, asked: MaskCommand) -> str:
    if seed is None:
        return "no seed: no random choices"
    given = asked.seed if (asked.seed or "").lower().endswith(".json") else None
    place = asked.record or asked.protocol or given
    return f"seed {seed}: {SECRET}" if place is None else f"seed in {place}: {SECRET}"
