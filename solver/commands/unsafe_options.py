"""The options of `unsafe` and `suppress` that say what is unsafe."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from linkrisk.solver.commands.arguments import names, number
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.errors import UsageError


def add_unsafe(group: argparse._ArgumentGroup) -> None:
    """Declare them."""
    group.add_argument(
        "--keys",
        metavar="A,B",
        help="key variables; default: those of the schema, or all but ids and weights",
    )
    group.add_argument("--k", metavar="K", help="fewer than K records with the same values of all keys")
    group.add_argument(
        "--levels",
        metavar="A=1,B=2",
        help="levels of identification: tables of a variable of level 1, another of 1 or 2, and so on",
    )
    group.add_argument("--dimension", metavar="D", help="all tables of up to D key variables; with --k, too")
    group.add_argument(
        "--table",
        metavar="A,B",
        action="append",
        help="a table; give it once for each; A,B=N has a threshold of its own",
    )
    group.add_argument(
        "--threshold",
        metavar="N",
        default="1",
        help="of --levels, --dimension and --table: what occurs no more often; default: 1; or by the number "
        "of variables, 1=10,2=3",
    )
    group.add_argument(
        "--risk",
        metavar="R",
        help="combinations of all keys with more individual risk than R, by the weights",
    )
    group.add_argument(
        "--missing",
        metavar="MEANING",
        help="of missing values: own-category (default with --k), matches-anything, alpha=A in between, or "
        "safe (default otherwise): no combination with one is unsafe; or code=C, which is written for what "
        "is taken out",
    )
    group.add_argument("--weight", metavar="COLUMN", help="sampling weights: count in the population")
    group.add_argument(
        "--schema", metavar="FILE", help="JSON or TOML file: roles and missing codes of columns"
    )


def add_hierarchies(group: argparse._ArgumentGroup, use: str) -> None:
    """Declare the option of hierarchies; `use` says what they are for."""
    group.add_argument(
        "--hierarchy",
        metavar="A=FILE",
        action="append",
        help=f"{use}: CSV file with the categories of A and one column per coarser level; of dates month, "
        "quarter or year; once for each (default: those of --schema)",
    )


def unsafe_keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """The keywords of the functions that these options are."""
    levels = pairs(arguments.levels, "--levels")
    return {
        "keys": names(arguments.keys, "--keys"),
        "k": whole(arguments.k, "--k"),
        "levels": {name: whole(value, "--levels") for name, value in levels},
        "dimension": whole(arguments.dimension, "--dimension"),
        "tables": dict(_table(text) for text in arguments.table or ()),
        "threshold": _threshold(arguments.threshold),
        "risk": None if arguments.risk is None else number(arguments.risk, "--risk"),
        "missing": arguments.missing,
        "weight": arguments.weight,
        "hierarchies": arguments.hierarchy or (),
        "schema": arguments.schema,
    }


def _table(text: str) -> tuple[tuple[str, ...], float | None]:
    """``A,B`` or ``A,B=N``."""
    variables, mark, value = text.rpartition("=")
    if not mark:
        return tuple(names(text, "--table") or ()), None
    return tuple(names(variables, "--table") or ()), number(value, "--table")


def _threshold(text: str) -> float | dict[int, float]:
    """``N``, or ``1=N,2=M`` by the number of variables."""
    if "=" not in text:
        return number(text, "--threshold")
    found = pairs(text, "--threshold")
    return {whole(size, "--threshold") or 0: number(value, "--threshold") for size, value in found}


def pairs(text: str | None, option: str) -> list[tuple[str, str]]:
    """``A=1,B=2`` as pairs."""
    found = []
    for word in names(text, option) or ():
        name, mark, value = word.rpartition("=")
        if not mark or not name.strip() or not value.strip():
            raise UsageError(f"{option}: {word!r} is no pair; write NAME=NUMBER, separated by commas")
        found.append((name.strip(), value.strip()))
    return found


def whole(text: str | None, option: str) -> int | None:
    """A whole number, or nothing."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{option} must be a whole number, not {text!r}") from None


def checked_line(tables: int, details: Mapping[str, Any]) -> str:
    """What was checked, and what a missing value meant there."""
    which = "1 table and its" if tables == 1 else f"{several(tables, 'table')} and their"
    risk = "" if details["risk"] is None else f"unsafe is what is riskier than {details['risk']:g}; "
    return f"{which} parts; {risk}{details['missing_means']}"


def constant_lines(details: Mapping[str, Any]) -> list[str]:
    """A line on columns that are no key variables because their values do not differ."""
    from linkrisk.datasets.microdata.names import shown_names

    names = details["constant"]
    what = "a key variable" if len(names) == 1 else "key variables"
    said = f"constant    {shown_names(names)}: the same for all records, and not {what} unless named as such"
    return [said] if names else []
