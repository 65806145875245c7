"""Arguments that commands share, and the problem they describe."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names
from linkrisk.solver.options import names as known
from linkrisk.solver.options.run import MARGIN
from linkrisk.solver.run.errors import UsageError


def add_files(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """The file pair: without files, the embedded default pair. There may be `several` of each."""
    group = parser.add_argument_group("file pair (the embedded default pair when left out)")
    action = "append" if several else "store"
    again = {
        "--original": "; give it once for each source of an intruder, which are joined by --id",
        "--masked": "; give it once for each release, the first one first",
    }
    for option, more in again.items():
        what = f"{option[2:]} file, of any format{more if several else ''}"
        group.add_argument(option, metavar="FILE", action=action, help=what)
    group.add_argument(
        "--attributes",
        metavar="A,B,C",
        help="attributes to compare, a name with a comma in double quotes; default: all columns",
    )
    add_alignment(group)
    group.add_argument("--drop-constant", action="store_true", help="leave constant attributes out")


def add_alignment(group: argparse._ArgumentGroup) -> None:
    """Which record of one file is which of the other."""
    group.add_argument(
        "--id",
        metavar="COLUMN",
        help="column that identifies the records, or the record of a masking that shuffled them (.json); "
        "default: row by row, unless the files show that this is wrong",
    )
    group.add_argument(
        "--row-by-row", action="store_true", help="take the rows as they are, whatever the files show"
    )


def add_categories(parser: argparse.ArgumentParser, *, numbers: bool = False) -> None:
    """Which attributes are categorical, and what is known of their masking, or of that of `numbers` too."""
    what, which = (
        ("the file was", "a masking of categories") if numbers else ("categories were", "this masking")
    )
    group = parser.add_argument_group("categorical attributes (all others are numeric)")
    group.add_argument("--nominal", metavar="A,B", help="attributes whose categories have no order")
    group.add_argument("--ordinal", metavar="A,B", help="attributes whose categories have an order")
    group.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file that says what the columns are: roles, scales, categories, missing codes",
    )
    group.add_argument(
        "--masking",
        metavar="METHOD",
        action="append",
        help=f"how {what} masked, as 'top-coding categories=3 attributes=A'; give it once for each "
        "method; or the FILE.json that mask --record has written. Pairs of records that "
        f"{which} makes impossible are never linked. Recodings that the files show are known "
        "without it; 'none' leaves them out",
    )


def add_problem(
    parser: argparse.ArgumentParser,
    default: str | None = None,
    *,
    several: bool = False,
    family: str | None = None,
    ties: str | None = None,
) -> None:
    """What is linked to what, and how distances are formed.

    `default` says what holds when left out, `family` which aggregator and `ties` which rule for identical
    candidates then, and `several` that more than one aggregator may be named.
    """

    def choices(names: Iterable[str], usual: str | None = None) -> str:
        listed = list(names)
        return f"{', '.join(listed)}; default: {default or usual or listed[0]}"

    group = parser.add_argument_group("linkage")
    more = "; several joined by commas, or all" if several else ""
    group.add_argument("--aggregator", metavar="NAME", help=choices(known.AGGREGATORS, family) + more)
    group.add_argument("--direction", metavar="WAY", help=choices(known.DIRECTIONS))
    usual = f"{', '.join(known.TIES)}; default: {ties}" if ties else choices(known.TIES)
    group.add_argument("--ties", metavar="RULE", help=f"{usual}; share: identical candidates share a link")
    group.add_argument("--standardisation", metavar="HOW", help=choices(known.STANDARDISATIONS))
    group.add_argument(
        "--differences", metavar="KIND", help=choices(known.DIFFERENCES, "squared, for mahalanobis signed")
    )
    group.add_argument(
        "--missing",
        metavar="RULE",
        help=f"what a missing value is compared as: {choices(known.MISSING, 'expected')}",
    )
    group.add_argument("--k-additive", metavar="K", help="for choquet: interactions of at most K attributes")


def add_run(
    parser: argparse.ArgumentParser, time_limit: float, each: str = "", *, work: bool = False
) -> None:
    """Limits and settings of a run; `each` says what time is for, `work` that there is a work limit."""
    group = parser.add_argument_group("run")
    alone = ", or none with --work-limit" if work else ""
    group.add_argument(
        "--time-limit",
        metavar="S",
        help=f"seconds{each}, or 'none'; default: {time_limit:g}{alone}",
        default=None if work else f"{time_limit:g}",
    )
    if work:
        group.add_argument(
            "--work-limit",
            metavar="UNITS",
            help="units of work, counted and not timed (a unit is about a second of one processor): the same "
            "seed then gives the same answer on every machine",
        )
    group.add_argument("--seed", metavar="N", default="0", help="seed of every random choice; default: 0")
    group.add_argument("--threads", metavar="N", help="threads of the optimiser; default: 1")
    group.add_argument(
        "--margin",
        metavar="M",
        help="margin that replaces the strict inequality in a model, on rows of unit length; default: "
        f"{MARGIN:g}",
    )
    group.add_argument(
        "--big-c",
        metavar="C",
        help="one constant C for all rows, as in the paper; default: tight for each row",
    )


def add_workers(parser: argparse.ArgumentParser, what: str, more: str = "", *, usual: str = "none") -> None:
    """Who does the work besides this process; `what` is done, and `usual` who does it if nothing is said."""
    group = parser.add_argument_group("workers")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help=f"address of a Dask scheduler whose workers {what} (pip install 'linkrisk[dask]')",
    )
    group.add_argument(
        "--workers", metavar="N", help=f"so many processes of this machine {what}{more}; default: {usual}"
    )


def given_workers(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the user has said of workers, as keywords of `fit` and `evaluate`."""
    return {"scheduler": arguments.scheduler, "workers": whole_number(arguments.workers, "--workers")}


def given_problem(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the user has said of the problem, as keywords of `fit`."""
    fields = {
        "aggregator": arguments.aggregator,
        "direction": arguments.direction,
        "ties": arguments.ties,
        "standardisation": arguments.standardisation,
        "differences": arguments.differences,
        "missing": arguments.missing,
        "k_additive": whole_number(arguments.k_additive, "--k-additive"),
        "attributes": names(arguments.attributes, "--attributes"),
        "id": arguments.id,
        "row_by_row": arguments.row_by_row or None,
        "drop_constant": arguments.drop_constant or None,
        "nominal": names(arguments.nominal, "--nominal"),
        "ordinal": names(arguments.ordinal, "--ordinal"),
        "schema": arguments.schema,
        "masking": arguments.masking,
    }
    return {name: value for name, value in fields.items() if value is not None}


def given_run(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the user has said of the run, as keywords of `fit` and `compare`."""
    return {
        "threads": whole_number(arguments.threads, "--threads"),
        "seed": whole_number(arguments.seed, "--seed"),
        "margin": None if arguments.margin is None else number(arguments.margin, "--margin"),
        "big_c": None if arguments.big_c is None else number(arguments.big_c, "--big-c"),
    }


def add_drop(parser: argparse.ArgumentParser) -> None:
    """Declare which columns are not released."""
    parser.add_argument(
        "--drop",
        metavar="A,B",
        help="columns that are left out; default: the direct identifiers of the schema; 'none' keeps all",
    )


def dropped(given: str | None) -> list[str] | None:
    """The columns to leave out; None where that is not said."""
    from linkrisk.datasets.masking.releasing import KEEP_ALL

    return [] if given == KEEP_ALL else names(given, "--drop")


def names(text: str | None, option: str) -> list[str] | None:
    """Column names separated by commas, where one that has a comma stands in double quotes."""
    try:
        return None if text is None else list(parse_names(text))
    except DataError as error:
        raise UsageError(f"{option}: {error}") from None


def words(text: str | None) -> list[str] | None:
    """A list separated by commas."""
    return None if text is None else [word.strip() for word in text.split(",")]


def limit(text: str, option: str) -> float | None:
    """A finite number, or 'none'."""
    return None if text == "none" else number(text, option)


def number(text: str, option: str) -> float:
    """A finite number; UsageError otherwise."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{option} must be a finite number, not '{text}'")
    return value


def whole_number(text: str | None, option: str) -> int | None:
    """A whole number; UsageError otherwise."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option} must be a whole number, not '{text}'") from None
