"""`python -m solver mask`: make a masked file from an original one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod, Option, new_seed, parse_whole
from linkrisk.datasets.masking.choosing import known_columns
from linkrisk.datasets.masking.record import check_new, sha256, steps_as_json, version, write_record
from linkrisk.datasets.masking.registry import METHODS, all_options, make_method
from linkrisk.datasets.masking.sequence import Step, masked_in_order, masked_twice, planned
from linkrisk.datasets.masking.spelled import masking_method
from linkrisk.datasets.microdata.carried import carried
from linkrisk.datasets.microdata.cells import cell_codes
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect, written_columns
from linkrisk.datasets.microdata.formats.registry import (
    DELIMITED,
    format_of,
    read_file,
    with_suffix_of,
    writable_format,
)
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Role
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.pairs.categorical import listed_categories
from linkrisk.datasets.public.registry import load
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.compiling.ahead import MASKING, compile_once
from linkrisk.solver.run.errors import UsageError

SECRET = "keep it secret, it undoes the masking"


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments: those of every mask, and the parameters that the methods declare."""
    parser = subparsers.add_parser(
        "mask",
        help="make a masked file from an original one",
        description="Make a masked file. Columns that are not masked stay as they are, and so do the rows.",
    )
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="file of any format, or the name of a data set"
    )
    parser.add_argument(
        "--method",
        required=True,
        action="append",
        metavar="METHOD",
        help=f"{', '.join(METHODS)}. Its parameters are options, or part of it, as in 'noise percent=5 "
        "attributes=A,B'; in this form it can be given several times, and methods are applied in order",
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
        "--seed", metavar="N", help="seed of chance; default: a new one that nobody can guess"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="JSON file to keep: how the masked file was made, with the seed, which is then not printed",
    )
    for name, option in all_options().items():
        _add_option(parser, name, option)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Mask a table, write it and print what was done."""
    seed = new_seed() if arguments.seed is None else _parsed("seed", arguments.seed, parse_whole)
    arguments.output = with_suffix_of(arguments.output, arguments.input)
    _check_names(arguments)
    methods = _methods(arguments)
    stored = _read(arguments.input, _text_columns(arguments, methods))
    frame = stored.frame
    _say(stored, arguments.output)
    kept = {getattr(arguments, what): what for what in ("weight", "id")}
    kept.pop(None, None)
    steps = planned(methods, frame, kept, source=arguments.input)
    with progress_line("masking") as line:
        compile_once(MASKING, reporter(line))
        masked = masked_in_order(steps, frame, seed, source=arguments.input)
    used = seed if any(step.method.chance for step in steps) else None
    columns = _columns(frame, masked, steps, kept)
    _write(arguments, carried(stored, masked, columns["masked"]), steps, columns, used)
    print(_summary(arguments, frame, steps, columns, used))
    return 0


def _text_columns(arguments: argparse.Namespace, methods: Sequence[MaskingMethod]) -> list[str]:
    """Columns of a CSV file that are kept as written: ids, and those that a schema calls categories."""
    schemas = [method.schema for method in methods if method.schema is not None]
    declared = [name for schema in schemas for name in listed_categories((), (), schema)]
    return declared if arguments.id is None else [arguments.id, *declared]


def _add_option(parser: argparse.ArgumentParser, name: str, option: Option) -> None:
    description = option.help.replace("%", "%%")
    if option.parse is None:
        parser.add_argument(f"--{name}", action="store_true", default=None, help=description)
    else:
        action = "append" if option.repeated else "store"
        parser.add_argument(f"--{name}", action=action, metavar=option.metavar, help=description)


def _check_names(arguments: argparse.Namespace) -> None:
    """Refuse an output that cannot be written, or would take the place of another file of this call."""
    source, output, record = arguments.input, arguments.output, arguments.record
    writable_format(output)
    if _is_file(source) and _same_file(source, output):
        raise UsageError(f"--output {output} is the input file; give the masked file another name")
    if _is_file(source) and _parts(source) & _parts(output):
        shared = sorted(path.name for path in _parts(source) & _parts(output))
        raise UsageError(f"--output {output} would overwrite {shared[0]} of the input; give it another name")
    if record is not None:
        if _same_file(record, output):
            raise UsageError(f"--record {record} is the masked file; give the record another name")
        check_new(record)


def _methods(arguments: argparse.Namespace) -> list[MaskingMethod]:
    """The methods with their parameters, which are options for one method that has none within it."""
    texts: list[str] = arguments.method
    given = _given_parameters(arguments)
    if len(texts) == 1 and len(texts[0].split()) == 1:
        return [make_method(texts[0], given)]
    if given:
        name = next(iter(given))
        raise UsageError(
            f"--{name} does not say which method it is for; write it into the method, as --method "
            f"'{' '.join(texts[0].split()[:1])} {name}=...'"
        )
    return [masking_method(text) for text in texts]


def _given_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, option in all_options().items():
        value = getattr(arguments, name)
        if value is None:
            continue
        if option.parse is None:
            given[name] = True
        elif option.repeated:
            given[name] = tuple(_parsed(name, text, option.parse) for text in value)
        else:
            given[name] = _parsed(name, value, option.parse)
    return given


def _parsed(name: str, text: str, parse: Any) -> Any:
    try:
        return parse(text)
    except DataError as error:
        raise UsageError(f"--{name}: {error}") from error


def _is_file(text: str) -> bool:
    """Whether the input is a file rather than the name of a data set, which has neither suffix nor folder."""
    return Path(text).suffix != "" or Path(text).name != text


def _same_file(first: str, second: str) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def _parts(path: str) -> set[Path]:
    """All files that a table is made of."""
    return {part.resolve() for part in format_of(path).files(Path(path))}


def _read(text: str, text_columns: Sequence[str]) -> StoredFile:
    return read_file(text, text_columns=text_columns) if _is_file(text) else StoredFile(load(text))


def _say(stored: StoredFile, output: str) -> None:
    """Say how the input was read and what the output cannot hold, before any work is done.

    What the output cannot take at all, such as the names of columns, is refused here.
    """
    writable_format(output).write(replace(stored, frame=stored.frame.head(1)), Path(output))
    # Text files keep what is not masked letter by letter.
    alike = format_of(output) is DELIMITED and isinstance(stored.dialect, DelimitedDialect)
    losses = () if alike else writable_format(output).loses(stored)
    for remark in (*stored.remarks, *losses):
        print(f"note     {remark}", flush=True)


def _columns(
    frame: pd.DataFrame, written: pd.DataFrame, steps: Sequence[Step], kept: dict[str, str]
) -> dict[str, Any]:
    """What became of every column: masked or as it is.

    And which of the masked ones are none the less the same, and which others a method has left alone.
    """
    masked = {name for step in steps for name in step.attributes}
    left = {}
    if any(step.chosen for step in steps):
        schemas = [step.method.schema for step in steps if step.method.schema is not None]
        columns = known_columns(frame, schemas[0] if schemas else None)
        words = {**dict.fromkeys(NAMES_RECORDS, "id"), Role.WEIGHT: "weight", Role.STRATUM: "stratum"}
        left = {name: words[role] for name, (role, _) in columns.items() if role in words} | kept
        left = {name: left[name] for name in frame.columns if name in left and name not in masked}
    return {
        "masked": [name for name in frame.columns if name in masked],
        "unchanged": [
            name
            for name in frame.columns
            if name in masked and cell_codes(frame[name], written[name]).in_place
        ],
        "as_is": [name for name in frame.columns if name not in masked],
        "left_alone": left,
    }


def _write(
    arguments: argparse.Namespace,
    masked: StoredFile,
    steps: Sequence[Step],
    columns: dict[str, Any],
    seed: int | None,
) -> None:
    """Write the masked file and the record of it, both or none."""
    written = _as_written(masked, columns["as_is"], arguments.input, arguments.output)
    files = writable_format(arguments.output).write(written, Path(arguments.output))
    if arguments.record is None:
        write_all(files)
        return
    source = Path(arguments.input).read_bytes() if _is_file(arguments.input) else None
    record = {
        "linkrisk": version(),
        "input": {"name": arguments.input, "sha256": None if source is None else sha256(source)},
        "output": {"name": arguments.output, "sha256": sha256(files[Path(arguments.output)])},
        "records": len(masked.frame),
        "methods": steps_as_json(steps),
        # As text: few programs read whole numbers of so many digits.
        "seed": None if seed is None else str(seed),
        **columns,
    }
    # A masked file whose seed is lost cannot be made again, so the record comes first.
    write_record(arguments.record, record)
    try:
        write_all(files)
    except BaseException:
        Path(arguments.record).unlink(missing_ok=True)
        raise


def _as_written(masked: StoredFile, others: Sequence[str], source: str, target: str) -> StoredFile:
    """Take the columns that are not masked letter by letter from a text file: codes such as 007 stay 007."""
    both_text = all(Path(name).suffix.lower() in DELIMITED.suffixes for name in (source, target))
    if not both_text or not others:
        return masked
    frame = masked.frame.copy()
    frame[list(others)] = written_columns(Path(source), others)
    return replace(masked, frame=frame)


def _summary(
    arguments: argparse.Namespace,
    frame: pd.DataFrame,
    steps: Sequence[Step],
    columns: dict[str, Any],
    seed: int | None,
) -> str:
    lines = [f"input    {arguments.input}: {len(frame)} records, {len(frame.columns)} columns"]
    lines += [f"method   {step.method.describe(frame)}" for step in steps]
    lines += [
        f"twice    {shown_name(name)}: {', then '.join(methods)}"
        for name, methods in masked_twice(steps).items()
    ]
    lines.append(f"seed     {_seed_line(seed, arguments.record)}")
    lines.append(f"masked   {shown_names(columns['masked'])}")
    if columns["unchanged"]:
        lines.append(f"the same {shown_names(columns['unchanged'])}: masking has not changed a single value")
    lines.append(f"as is    {shown_names(columns['as_is']) or 'nothing'}")
    if columns["left_alone"]:
        left = ", ".join(f"{shown_name(name)} (as {what})" for name, what in columns["left_alone"].items())
        lines.append(f"left     {left}; to mask them all the same, name them with --attributes")
    lines.append(f"output   {arguments.output}")
    if arguments.record is not None:
        lines.append(f"record   {arguments.record}")
    return "\n".join(lines)


def _seed_line(seed: int | None, record: str | None) -> str:
    if seed is None:
        return "none: nothing is left to chance"
    return f"{seed}: {SECRET}" if record is None else f"in {record}: {SECRET}"
