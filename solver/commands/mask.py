"""`python -m solver mask`: make a masked file from an original one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.errors import DataError
from datasets.files import CSV_SUFFIXES, read_table, write_table
from datasets.masking.base import MaskingMethod, Option, parse_whole
from datasets.masking.registry import METHODS, all_options, make_method
from datasets.numeric import check_known
from datasets.registry import load
from solver.errors import UsageError


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments: those of every mask, and the parameters that the methods declare."""
    parser = subparsers.add_parser(
        "mask",
        help="make a masked file from an original one",
        description="Make a masked file. Columns that are not masked stay as they are, and so do the rows.",
    )
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="CSV or Parquet file, or the name of a data set"
    )
    parser.add_argument("--method", required=True, metavar="METHOD", help=", ".join(METHODS))
    parser.add_argument("--output", required=True, metavar="FILE", help="CSV or Parquet file to write")
    parser.add_argument("--id", metavar="COLUMN", help="column of record ids, never masked")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of chance (default: 0)")
    for name, option in all_options().items():
        _add_option(parser, name, option)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Mask a table, write it and print what was done."""
    seed = _parsed("seed", arguments.seed, parse_whole)
    if _same_file(arguments.input, arguments.output):
        raise UsageError(f"--output {arguments.output} is the input file; give the masked file another name")
    method_parameters = _given_parameters(arguments)
    frame = _read(arguments.input, arguments.id)
    if arguments.id is not None:
        check_known([arguments.id], list(frame.columns), arguments.input, what="--id")
        if not {"attributes", "groups", "hierarchy", "matrix"} & set(method_parameters):
            usual = make_method(arguments.method, method_parameters)
            without_id = frame.drop(columns=arguments.id)
            method_parameters["attributes"] = usual.masked_attributes(without_id)
    method = make_method(arguments.method, method_parameters)
    masked_names = method.masked_attributes(frame)
    if arguments.id in masked_names:
        raise UsageError(f"{arguments.id!r} is the id column and cannot be masked; take it out")
    masked = method.apply(frame, seed)
    write_table(_as_written(masked, masked_names, arguments.input, arguments.output), arguments.output)
    print(_summary(arguments, frame, method, masked_names))
    return 0


def _add_option(parser: argparse.ArgumentParser, name: str, option: Option) -> None:
    description = option.help.replace("%", "%%")
    if option.parse is None:
        parser.add_argument(f"--{name}", action="store_true", default=None, help=description)
    else:
        action = "append" if option.repeated else "store"
        parser.add_argument(f"--{name}", action=action, metavar=option.metavar, help=description)


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
    return _is_file(first) and Path(first).resolve() == Path(second).resolve()


def _read(text: str, id_column: str | None) -> pd.DataFrame:
    if not _is_file(text):
        return load(text)
    return read_table(text, text_columns=() if id_column is None else (id_column,))


def _as_written(
    masked: pd.DataFrame, masked_names: tuple[str, ...], source: str, target: str
) -> pd.DataFrame:
    """Take the columns that are not masked letter by letter from a CSV file: codes such as 007 stay 007."""
    both_csv = all(Path(name).suffix.lower() in CSV_SUFFIXES for name in (source, target))
    others = [column for column in masked.columns if column not in masked_names]
    if not both_csv or not others:
        return masked
    written = masked.copy()
    written[others] = read_table(source, text_columns=others)[others]
    return written


def _summary(
    arguments: argparse.Namespace, frame: pd.DataFrame, method: MaskingMethod, masked_names: tuple[str, ...]
) -> str:
    others = [column for column in frame.columns if column not in masked_names]
    return "\n".join(
        (
            f"input    {arguments.input}: {len(frame)} records, {len(frame.columns)} columns",
            f"method   {method.describe(frame)}",
            f"seed     {int(arguments.seed)}",
            f"masked   {', '.join(masked_names)}",
            f"as is    {', '.join(others) or 'nothing'}",
            f"output   {arguments.output}",
        )
    )
