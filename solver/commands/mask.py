"""`python -m solver mask`: make a masked file from an original one."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import add_drop, dropped, names
from linkrisk.solver.commands.offered import offered
from linkrisk.solver.commands.protocol_steps import check_protocol
from linkrisk.solver.commands.settings import add_settings, given_settings, parsed
from linkrisk.solver.options.names import MASKING_METHODS

if TYPE_CHECKING:
    from linkrisk.solver.api.mask import MaskingResult

MOST_LABELS = 8
"""So many labels of new codes are printed."""

SECRET = "keep it secret, it undoes the masking"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: those of every mask, and the parameters that the methods declare."""
    parser.description = (
        "Make a masked file. Columns that are not masked stay as they are, and so do the rows."
    )
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="file of any format, or the name of a data set"
    )
    parser.add_argument(
        "--method",
        required=True,
        action="append",
        metavar="METHOD",
        help=f"{', '.join(MASKING_METHODS)}. Its parameters are options, or part of it, as in "
        "'noise percent=5 attributes=A,B'; in this form it can be given several times, and methods are "
        "applied in order",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="file to write, in the format that its suffix says; without a suffix in that of the input",
    )
    parser.add_argument("--id", metavar="COLUMN", help="column of record ids, never masked")
    parser.add_argument("--weight", metavar="COLUMN", help="column of sampling weights, never masked")
    parser.add_argument(
        "--strata", metavar="A,B", help="columns: records with other values of them are masked apart"
    )
    add_drop(parser)
    parser.add_argument(
        "--shuffle", action="store_true", help="write records in random order, whole households together"
    )
    parser.add_argument(
        "--renumber", metavar="A,B", help="columns of ids that get new numbers, in that order"
    )
    parser.add_argument(
        "--write-recodings",
        metavar="FOLDER",
        help="write what became of the codes of each recoded column as a recoding file of mu-ARGUS (.grc)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        help="seed of every random choice, or the record of a masking that has it (.json); default: a new "
        "one that nobody can guess",
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="JSON file to keep: how the masked file was made, with the seed, which is then not printed",
    )
    parser.add_argument(
        "--protocol",
        metavar="FILE",
        help="TOML file to which this step is added, with its seed, which is then not printed; "
        "`run-protocol` does all steps again or undoes the last ones",
    )
    add_settings(parser, offered().masking_settings)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Mask a table, write it and print what was done."""
    from linkrisk.datasets.masking.registry import all_options, own_options
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.datasets.microdata.writing import write_all
    from linkrisk.solver.api.mask import mask_source, methods_of
    from linkrisk.solver.api.masking_source import check_targets, read_source
    from linkrisk.solver.commands import targets
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.protocol.keeping import add_step

    seed = _seed(arguments.seed)
    arguments.output = with_suffix_of(arguments.output, arguments.input)
    check_targets(arguments.input, arguments.output, arguments.record)
    targets.check_targets(arguments, "output", "record")
    if arguments.protocol is not None:
        targets.check_targets(arguments, "protocol")
    check_protocol(arguments.protocol, arguments.input, arguments.output)
    parameters = given_settings(arguments, all_options(), own_options(arguments.method))
    methods = methods_of(arguments.method, parameters)
    source = read_source(arguments.input, methods, arguments.id)
    # What cannot be kept is said before any work is done.
    for note in (*source.stored.remarks, *source.losses(arguments.output)):
        print(f"note     {note}", flush=True)
    with progress_line("masking") as line:
        result = mask_source(
            source,
            methods,
            id_column=arguments.id,
            weight=arguments.weight,
            strata=names(arguments.strata, "--strata") or (),
            drop=dropped(arguments.drop),
            shuffle=arguments.shuffle,
            renumber=names(arguments.renumber, "--renumber") or (),
            seed=seed,
            report=reporter(line),
        )
    recodings = recoding_files(arguments.write_recodings, result.recodings)
    result.write(arguments.output, arguments.record)
    if recodings:
        write_all(recodings)
    if arguments.protocol is not None:
        add_step(arguments.protocol, arguments.input, arguments.output, _step(arguments, result))
    print(_summary(arguments, result))
    return 0


def _seed(given: str | None) -> int | None:
    """The seed that was given, itself or by a file."""
    from linkrisk.datasets.masking.base import parse_whole
    from linkrisk.datasets.masking.record import read_seed

    if given is not None and given.lower().endswith(".json"):
        return read_seed(given)
    return None if given is None else parsed("seed", given, parse_whole)


def _step(arguments: argparse.Namespace, result: MaskingResult) -> dict[str, Any]:
    """The step as a protocol says it."""
    methods = list(arguments.method)
    settings = offered().masking_settings
    given = [(name, getattr(arguments, name)) for name in settings if getattr(arguments, name) is not None]
    for name, value in given:  # there is one method, given by its name alone, or it is a schema for all
        values = value if isinstance(value, list) else [value]
        words = [name if one is True else f"{name}={one}" for one in values]
        methods = [text if _says(text, name) else f"{text} {shlex.join(words)}" for text in methods]
    seed = {} if result.seed is None else {"seed": str(result.seed)}
    columns = {
        "id": arguments.id,
        "weight": arguments.weight,
        "strata": list(result.strata) or None,
        "drop": dropped(arguments.drop),
        "shuffle": arguments.shuffle or None,
        "renumber": list(result.release.renumbered) or None,
    }
    named = {key: name for key, name in columns.items() if name is not None}
    return {"command": "mask", "method": methods, **named, **seed}


def _says(method: str, name: str) -> bool:
    """Whether a method as text has a parameter."""
    return any(word.partition("=")[0] == name for word in shlex.split(method)[1:])


def _summary(arguments: argparse.Namespace, result: MaskingResult) -> str:
    from linkrisk.datasets.masking.sequence import masked_twice
    from linkrisk.datasets.microdata.names import shown_name, shown_names

    frame = result.original
    lines = [f"input    {arguments.input}: {len(frame)} records, {len(frame.columns)} columns"]
    lines += [f"method   {step.method.describe(frame)}" for step in result.steps]
    lines += [
        f"twice    {shown_name(name)}: {', then '.join(methods)}"
        for name, methods in masked_twice(result.steps).items()
    ]
    if result.strata:
        lines.append(f"strata   {shown_names(result.strata)}: each by itself")
    lines.append(f"seed     {_seed_line(result.seed, arguments)}")
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
    lines += _release_lines(result, arguments.record)
    lines.append(f"output   {arguments.output}")
    if arguments.record is not None:
        lines.append(f"record   {arguments.record}")
    if arguments.write_recodings is not None:
        lines.append(
            f"recoding {', '.join(f'{name}.grc' for name in result.recodings)} in {arguments.write_recodings}"
        )
    if arguments.protocol is not None:
        lines.append(f"protocol {arguments.protocol}: this step was added")
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


def _seed_line(seed: int | None, arguments: argparse.Namespace) -> str:
    if seed is None:
        return "none: no random choices"
    given = arguments.seed if (arguments.seed or "").lower().endswith(".json") else None
    place = arguments.record or arguments.protocol or given
    return f"{seed}: {SECRET}" if place is None else f"in {place}: {SECRET}"
