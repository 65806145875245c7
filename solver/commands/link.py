"""`python -m solver link`: every other linker on a file pair."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from linkrisk.solver.commands.arguments import (
    add_alignment,
    add_workers,
    given_workers,
    names,
    number,
    whole_number,
)
from linkrisk.solver.commands.offered import offered
from linkrisk.solver.commands.settings import add_settings, given_settings
from linkrisk.solver.options import names as known
from linkrisk.solver.run.errors import UsageError

_OF_TRUTH = (
    "id",
    "row_by_row",
    "original_attributes",
    "masked_attributes",
    "training",
    "ties",
    "threshold",
    "no_curve",
    "table",
)
"""Options that `find_links` does not take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: those of every linker, and the settings that the linkers declare."""
    parser.description = (
        "Link the records of two files by a linker that learns without the truth, and judge it "
        "as `fit` judges distances: a record is re-identified when its partner scores strictly highest."
    )
    parser.epilog = "example: link --original o.csv --masked m.csv --method prl --one-to-one hungarian"
    parser.add_argument("--method", required=True, metavar="NAME", help=", ".join(known.LINKERS))
    _add_files(parser)
    group = parser.add_argument_group("linkage")
    group.add_argument("--direction", metavar="WAY", help=_choices(known.DIRECTIONS))
    group.add_argument(
        "--ties",
        metavar="RULE",
        help=f"{_choices(known.TIES)}; share: identical candidates are not rivals",
    )
    group.add_argument(
        "--one-to-one", metavar="HOW", help=f"also match records one to one: {', '.join(known.MATCHINGS)}"
    )
    group.add_argument("--threshold", metavar="S", help="one-to-one links need at least this score")
    group.add_argument(
        "--decisions",
        metavar="FILE",
        help="with passes: pairs that were decided on, as --clerical writes them with decisions filled in",
    )
    group.add_argument(
        "--no-curve",
        action="store_true",
        help="no precision and recall at all thresholds, no most probable claim: these look at all pairs",
    )
    group.add_argument("--seed", metavar="N", help="seed of every random choice; default: 0")
    add_workers(parser, "compare records for prl")
    group = parser.add_argument_group("settings of the methods")
    add_settings(group, offered().linker_settings)
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--table", metavar="FILE", help="write the table of records, as its suffix says")
    group.add_argument("--links", metavar="FILE", help="with passes: write the linked pairs, as a table")
    group.add_argument(
        "--clerical", metavar="FILE", help="with passes: write the pairs for clerical review, as a table"
    )
    parser.set_defaults(run=run)


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument("--original", required=True, metavar="FILE", help="original file, of any format")
    group.add_argument("--masked", required=True, metavar="FILE", help="masked file, of any format")
    group.add_argument(
        "--attributes", metavar="A,B", help="attributes of both files; default: all common columns"
    )
    group.add_argument(
        "--no-truth",
        action="store_true",
        help="with passes: nobody knows which record is which; link all the same, and estimate errors",
    )
    for which in ("original", "masked"):
        group.add_argument(
            f"--{which}-id",
            metavar="COLUMN",
            help=f"with --no-truth: column that names the records of the {which} file; default: row numbers",
        )
    for which in ("original", "masked"):
        group.add_argument(
            f"--{which}-attributes",
            metavar="A,B",
            help=f"attributes of the {which} file alone, for methods that compare none; default: all",
        )
    add_alignment(group)
    group.add_argument("--nominal", metavar="A,B", help="attributes whose categories have no order")
    group.add_argument("--ordinal", metavar="A,B", help="attributes whose categories have an order")
    group.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file that says what the columns are: roles, scales, categories, missing codes",
    )
    group.add_argument(
        "--training", metavar="FILE", help="other records with the attributes of both files, for bayes"
    )


def _choices(names: Sequence[str]) -> str:
    return f"{', '.join(names)}; default: {names[0]}"


def run(arguments: argparse.Namespace) -> int:
    """Link, print, write the files that were asked for."""
    from linkrisk.solver.api.find_links import find_links
    from linkrisk.solver.api.link import link
    from linkrisk.solver.commands.count_summaries import finish_link
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import check_targets
    from linkrisk.solver.linkage.registry import all_settings, own_settings

    check_targets(arguments, "json", "table", "links", "clerical")
    _check_truth(arguments)
    settings, options = (
        given_settings(arguments, all_settings(), own_settings(arguments.method)),
        given_options(arguments),
    )
    for option in ("links", "clerical"):
        if getattr(arguments, option) is not None and "passes" not in settings:
            raise UsageError(f"--{option} lists pairs of passes: give --pass too, or leave it out")
    with progress_line("comparing records") as line:
        result = (find_links if arguments.no_truth else link)(
            arguments.original,
            arguments.masked,
            method=arguments.method,
            settings=settings,
            on_progress=reporter(line),
            **given_workers(arguments),
            **options,
        )
    return finish_link(arguments, result)


def _check_truth(arguments: argparse.Namespace) -> None:
    """Refuse options that need the true links where these are not known, and the other way round."""
    if arguments.no_truth:
        for name in _OF_TRUTH:
            if getattr(arguments, name) not in (None, False):
                raise UsageError(
                    f"--{name.replace('_', '-')} does not go with --no-truth: leave one of the two out"
                )
        return
    for name in ("original_id", "masked_id"):
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"--{name.replace('_', '-')} names records whose true links are not known: give --no-truth "
                "too, or --id for a column that tells which record is which"
            )


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those fields of `LinkOptions` that the user has given."""
    given = {
        "direction": arguments.direction,
        "attributes": names(arguments.attributes, "--attributes"),
        "original_attributes": names(arguments.original_attributes, "--original-attributes"),
        "masked_attributes": names(arguments.masked_attributes, "--masked-attributes"),
        "id": arguments.id,
        "original_id": arguments.original_id,
        "masked_id": arguments.masked_id,
        "row_by_row": arguments.row_by_row or None,
        "nominal": names(arguments.nominal, "--nominal"),
        "ordinal": names(arguments.ordinal, "--ordinal"),
        "schema": arguments.schema,
        "training": arguments.training,
        "ties": arguments.ties,
        "one_to_one": arguments.one_to_one,
        "decisions": arguments.decisions,
        "threshold": None if arguments.threshold is None else number(arguments.threshold, "--threshold"),
        "curve": False if arguments.no_curve else None,
        "seed": whole_number(arguments.seed, "--seed"),
    }
    return {name: value for name, value in given.items() if value is not None}
