"""`python -m solver mask`: make a masked file from an original one."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.parameters import all_options, own_options
from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.protocol_steps import check_protocol, step_of
from linkrisk.solver.options.linking import with_parameters
from linkrisk.solver.options.operations.mask import MaskCommand, MaskOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.masking.mask import MaskingResult

MOST_LABELS = 8
"""So many labels of new codes are printed."""

SECRET = "keep it secret, it undoes the masking"


ASKED = with_parameters(MaskCommand, all_options(), "", "protocol")
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
    from linkrisk.datasets.microdata.writing import write_all
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.commands.settings import given_settings
    from linkrisk.solver.inputs.source import Source
    from linkrisk.solver.masking.mask import mask
    from linkrisk.solver.protocol.keeping import add_step

    source, seed = str(asked.data), _seed(asked.seed)
    check_protocol(asked.protocol, source, asked.output)

    def on_read(read: Source) -> None:
        """What cannot be kept is said before any work is done."""
        for note in (*read.stored.remarks, *read.losses(asked.output)):
            print(f"note     {note}", flush=True)

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
    print(_summary(asked, result))
    return 0


def _methods(asked: MaskCommand) -> list[str]:
    """The methods, as text."""
    return [str(one) for one in asked.method] if isinstance(asked.method, list) else [str(asked.method)]


def _seed(given: str | None) -> int | None:
    """The seed that was given, itself or by a file."""
    from linkrisk.datasets.masking.record import read_seed
    from linkrisk.datasets.options.parameter import parse_whole

    if given is not None and given.lower().endswith(".json"):
        return read_seed(given)
    try:
        return None if given is None else parse_whole(given)
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


def _summary(asked: MaskCommand, result: MaskingResult) -> str:
    from linkrisk.datasets.masking.sequence import masked_twice
    from linkrisk.datasets.microdata.names import shown_name, shown_names

    frame = result.original
    lines = [f"input    {asked.data}: {len(frame)} records, {len(frame.columns)} columns"]
    lines += [f"method   {step.method.describe(frame)}" for step in result.steps]
    lines += [
        f"twice    {shown_name(name)}: {', then '.join(methods)}"
        for name, methods in masked_twice(result.steps).items()
    ]
    if result.strata:
        lines.append(f"strata   {shown_names(result.strata)}: each by itself")
    lines.append(f"seed     {_seed_line(result.seed, asked)}")
    lines.append(f"masked   {shown_names(result.masked)}")
    if result.unchanged:
        lines.append(f"the same {shown_names(result.unchanged)}: masking has not changed a single value")
    for name, labels in result.labels.items():
        lines.append(f"labels   {shown_name(name)}: {_listed(labels)}")
    if result.withheld:
        lost = ", ".join(f"{count} of {shown_name(name)}" for name, count in result.withheld.items())
        lines.append(f"withheld {lost}: these values become missing")
    lines += _found_lines(result)
    lines.append(f"as is    {shown_names(result.as_is) or 'nothing'}")
    if result.left_alone:
        left = ", ".join(f"{shown_name(name)} (as {what})" for name, what in result.left_alone.items())
        lines.append(f"left     {left}; to mask them anyway, name them with --attributes")
    lines += _release_lines(result, asked.record)
    lines.append(f"output   {asked.output}")
    if asked.record is not None:
        lines.append(f"record   {asked.record}")
    if asked.write_recodings is not None:
        lines.append(
            f"recoding {', '.join(f'{name}.grc' for name in result.recodings)} in {asked.write_recodings}"
        )
    if asked.protocol is not None:
        lines.append(f"protocol {asked.protocol}: this step was added")
    return "\n".join(lines)


def _found_lines(result: MaskingResult) -> Iterator[str]:
    """What is said of columns of households, and of numbers that may be codes."""
    from linkrisk.datasets.microdata.names import shown_name, shown_names

    if result.once:
        number = shown_name(next(iter(result.once.values())))
        yield f"once     {shown_names(result.once)}: masked once for each household ({number})"
    if result.perhaps_codes:
        yield (
            f"note     {shown_names(result.perhaps_codes)}: few different whole numbers, masked as numbers; "
            "if these are codes, say so in a --schema, or name the others with --attributes"
        )
    for name, household in result.split.items():
        yield (
            f"note     {shown_name(name)} had one value in each household ({shown_name(household)}) and has "
            "several now; mask such columns by a method of their own, once for each household"
        )


def _release_lines(result: MaskingResult, record: str | None) -> Iterator[str]:
    """What is said of columns that went, of ids, and of the order of the records."""
    from linkrisk.datasets.microdata.names import shell_name, shown_names
    from linkrisk.datasets.microdata.roles import Role

    release, schema = result.release, result.schema
    if release.dropped:
        yield f"dropped  {shown_names(release.dropped)}"
    named = [name for name in schema.select(role=Role.IDENTIFIER) if name in result.as_is]
    if named:
        yield f"names    {shown_names(named)}: left in, and name the records; --drop leaves them out"
    if release.renumbered:
        yield f"numbered {shown_names(release.renumbered)}: anew, no number as before"
    if release.order is None:
        return
    yield f"order    random{'' if record is None else f': --id {shell_name(record)} knows who is who'}"
    told = [*schema.select(role=Role.RECORD_ID), *schema.select(role=Role.HOUSEHOLD)]
    told = [name for name in told if name in result.as_is and name not in release.renumbered]
    if told:
        yield f"undone   by {shown_names(told)}, as they were; --renumber makes new ones"


def _listed(labels: Mapping[str, str]) -> str:
    """What codes mean, the first of many."""
    shown = [f"{code} = {label}" for code, label in labels.items()]
    return ", ".join([*shown[:MOST_LABELS], *(["..."] if len(shown) > MOST_LABELS else [])])


def _seed_line(seed: int | None, asked: MaskCommand) -> str:
    if seed is None:
        return "none: no random choices"
    given = asked.seed if (asked.seed or "").lower().endswith(".json") else None
    place = asked.record or asked.protocol or given
    return f"{seed}: {SECRET}" if place is None else f"in {place}: {SECRET}"
