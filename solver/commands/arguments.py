"""Arguments that commands share, and the problem they describe."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from formulations.aggregators import AGGREGATORS
from formulations.block_indicator import DEFAULT_MARGIN
from formulations.distances import Differences, Standardisation
from formulations.pair import Direction, Ties
from solver.engines.base import EngineOptions
from solver.errors import UsageError
from solver.problem import ProblemOptions


def add_files(parser: argparse.ArgumentParser) -> None:
    """The file pair: without files, the embedded default pair."""
    group = parser.add_argument_group("file pair (the embedded default pair when left out)")
    group.add_argument("--original", metavar="FILE", help="original file, CSV or Parquet")
    group.add_argument("--masked", metavar="FILE", help="masked file, CSV or Parquet")
    group.add_argument("--attributes", metavar="A,B,C", help="attributes to compare; default: all columns")
    group.add_argument("--id", metavar="COLUMN", help="column that says who is who; default: row by row")
    group.add_argument("--drop-constant", action="store_true", help="leave constant attributes out")


def add_problem(parser: argparse.ArgumentParser) -> None:
    """What is linked to what, and how distances are formed."""
    group = parser.add_argument_group("linkage")
    group.add_argument(
        "--aggregator", metavar="NAME", help=f"{', '.join(AGGREGATORS)}; default: weighted-mean"
    )
    group.add_argument("--direction", metavar="WAY", help=_values(Direction))
    group.add_argument("--ties", metavar="RULE", help=_values(Ties))
    group.add_argument("--standardisation", metavar="HOW", help=_values(Standardisation))
    group.add_argument(
        "--differences",
        metavar="KIND",
        help=f"{', '.join(Differences)}; default: squared, for mahalanobis signed",
    )
    group.add_argument("--k-additive", metavar="K", help="for choquet: interactions of at most K attributes")


def add_run(parser: argparse.ArgumentParser, time_limit: float) -> None:
    """Limits and settings of a run."""
    group = parser.add_argument_group("run")
    group.add_argument(
        "--time-limit",
        metavar="S",
        help=f"seconds, or 'none'; default: {time_limit:g}",
        default=str(time_limit),
    )
    group.add_argument("--seed", metavar="N", default="0", help="seed of every random choice; default: 0")
    group.add_argument("--threads", metavar="N", default="1", help="threads of the optimiser; default: 1")
    group.add_argument(
        "--margin",
        metavar="M",
        default=str(DEFAULT_MARGIN),
        help=f"the strict inequality in the model, on rows of unit length; default: {DEFAULT_MARGIN:g}",
    )
    group.add_argument(
        "--big-c",
        metavar="C",
        help="one constant C for all rows, as in the paper; default: tight for each row",
    )


def problem_options(arguments: argparse.Namespace, **known: Any) -> ProblemOptions:
    """The problem that the arguments describe; `known` fills what the user has left out."""
    given = {
        "aggregator": arguments.aggregator,
        "direction": arguments.direction,
        "ties": arguments.ties,
        "standardisation": arguments.standardisation,
        "differences": arguments.differences,
        "k_additive": whole_number(arguments.k_additive, "--k-additive"),
        "attributes": names(arguments.attributes),
        "id_column": arguments.id,
        "drop_constant": arguments.drop_constant,
    }
    chosen = {key: value for key, value in given.items() if value is not None}
    return ProblemOptions(**{**known, **chosen})


def engine_options(arguments: argparse.Namespace) -> EngineOptions:
    """The settings of a run."""
    return EngineOptions(
        backend=getattr(arguments, "backend", None) or "highs",
        threads=whole_number(arguments.threads, "--threads") or 0,
        seed=seed(arguments.seed),
        margin=number(arguments.margin, "--margin"),
        big_c=None if arguments.big_c is None else number(arguments.big_c, "--big-c"),
    )


def names(text: str | None) -> list[str] | None:
    """A comma-separated list."""
    return None if text is None else [name.strip() for name in text.split(",")]


def time_limit(text: str) -> float | None:
    """Seconds, or 'none'."""
    return None if text == "none" else number(text, "--time-limit")


def number(text: str, option: str) -> float:
    """A finite or infinite number; UsageError otherwise."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value != value:
        raise UsageError(f"{option} must be a number, not '{text}'")
    return value


def whole_number(text: str | None, option: str) -> int | None:
    """A whole number; UsageError otherwise."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option} must be a whole number, not '{text}'") from None


def seed(text: str) -> int:
    """A seed: a whole number that optimisers can take too."""
    value = whole_number(text, "--seed") or 0
    if not 0 <= value < 2**31:
        raise UsageError(f"--seed must be between 0 and {2**31 - 1}, not {value}")
    return value


def check_targets(*paths: str | None) -> None:
    """Refuse output files whose folder does not exist before the work is done, not after."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise UsageError(
                f"cannot write {path}: the folder {Path(path).parent} does not exist; create it first"
            )


def _values(kind: Any) -> str:
    return f"{', '.join(kind)}; default: {next(iter(kind))}"
