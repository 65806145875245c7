"""`python -m solver link`: every other linker on a file pair."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import Option
from linkrisk.datasets.microdata.writing import write_table, write_whole
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.api.link import link
from linkrisk.solver.commands.arguments import add_alignment, names, number, whole_number
from linkrisk.solver.commands.progress import progress_line, reporter
from linkrisk.solver.commands.targets import check_targets
from linkrisk.solver.commands.wording import directions, listed, share, spaced, strata_lines, weighted_pairs
from linkrisk.solver.linkage.matching import MATCHINGS
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.linkage.result import LinkResult
from linkrisk.solver.report.formats import count
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.results import RecordsTable


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments: those of every linker, and the settings that the linkers declare."""
    parser = subparsers.add_parser(
        "link",
        help="link two files by another linker, and count the right links",
        description="Link the records of two files by a linker that learns without the truth, and judge it "
        "as `fit` judges distances: a record is re-identified when its partner scores strictly highest.",
        epilog="example: link --original o.csv --masked m.csv --method prl --one-to-one hungarian",
    )
    parser.add_argument("--method", required=True, metavar="NAME", help=", ".join(LINKERS))
    _add_files(parser)
    group = parser.add_argument_group("linkage")
    group.add_argument("--direction", metavar="WAY", help=_choices(Direction))
    group.add_argument(
        "--ties", metavar="RULE", help=f"{_choices(Ties)}; share: identical candidates are no rivals"
    )
    group.add_argument(
        "--one-to-one", metavar="HOW", help=f"also match records one to one: {', '.join(MATCHINGS)}"
    )
    group.add_argument("--threshold", metavar="S", help="one-to-one links need at least this score")
    group.add_argument("--seed", metavar="N", help="seed of every random choice; default: 0")
    group = parser.add_argument_group("settings of the methods")
    for name, options in _settings().items():
        _add_setting(group, name, options)
    group = parser.add_argument_group("output")
    group.add_argument("--json", metavar="FILE", help="write the whole result as JSON")
    group.add_argument("--table", metavar="FILE", help="write the table of records, as its suffix says")
    parser.set_defaults(run=run)


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument("--original", required=True, metavar="FILE", help="original file, of any format")
    group.add_argument("--masked", required=True, metavar="FILE", help="masked file, of any format")
    group.add_argument(
        "--attributes", metavar="A,B", help="attributes of both files; default: all common columns"
    )
    for which in ("original", "masked"):
        group.add_argument(
            f"--{which}-attributes",
            metavar="A,B",
            help=f"attributes of the {which} file alone, for methods that compare none; default: all",
        )
    add_alignment(group)
    group.add_argument("--nominal", metavar="A,B", help="attributes whose categories have no order")
    group.add_argument("--ordinal", metavar="A,B", help="attributes whose categories have one")
    group.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON or TOML file that says what the columns are: roles, scales, categories, missing codes",
    )
    group.add_argument(
        "--training", metavar="FILE", help="other records with the attributes of both files, for bayes"
    )


def _choices(kind: Any) -> str:
    listed_names = [member.value for member in kind]
    return f"{', '.join(listed_names)}; default: {listed_names[0]}"


def _settings() -> dict[str, dict[str, Option]]:
    """Every setting that users can give: the linkers that take it, and as what."""
    found: dict[str, dict[str, Option]] = {}
    for method, linker in LINKERS.items():
        for item in fields(linker):  # type: ignore[arg-type]
            if "option" in item.metadata:
                found.setdefault(item.name, {})[method] = item.metadata["option"]
    return found


def _add_setting(group: argparse._ArgumentGroup, name: str, options: Mapping[str, Option]) -> None:
    """Add a flag, with what it means to each linker; it is read in the same way for all of them."""
    flag = "--" + name.replace("_", "-")
    meanings: dict[str, list[str]] = {}
    for method, option in options.items():
        meanings.setdefault(option.help, []).append(method)
    text = "; ".join(f"{', '.join(methods)}: {meaning}" for meaning, methods in meanings.items())
    text, option = text.replace("%", "%%"), next(iter(options.values()))
    if option.parse is None:
        group.add_argument(flag, action="store_true", default=None, help=text)
    else:
        action = "append" if option.repeated else "store"
        group.add_argument(flag, action=action, metavar=option.metavar, help=text)


def run(arguments: argparse.Namespace) -> int:
    """Link, print, write the files that were asked for."""
    check_targets(arguments, "json", "table")
    settings, options = _given_settings(arguments), given_options(arguments)
    with progress_line("comparing records") as line:
        result = link(
            arguments.original,
            arguments.masked,
            method=arguments.method,
            settings=settings,
            report=reporter(line),
            **options,
        )
    return finish(arguments, result.to_json(), result.table, summary(result))


def finish(arguments: argparse.Namespace, content: str, table: RecordsTable, text: str) -> int:
    """Write the files that were asked for, and print; the text also when a file cannot be written."""
    try:
        if arguments.json is not None:
            write_whole(arguments.json, content)
        if arguments.table is not None:
            write_table(table.to_frame(), arguments.table)
    finally:
        print(text, end="")
    return 0


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those fields of `LinkOptions` that the user has given."""
    given = {
        "direction": arguments.direction,
        "attributes": names(arguments.attributes, "--attributes"),
        "original_attributes": names(arguments.original_attributes, "--original-attributes"),
        "masked_attributes": names(arguments.masked_attributes, "--masked-attributes"),
        "id_column": arguments.id,
        "row_by_row": arguments.row_by_row or None,
        "nominal": names(arguments.nominal, "--nominal"),
        "ordinal": names(arguments.ordinal, "--ordinal"),
        "schema": arguments.schema,
        "training": arguments.training,
        "ties": arguments.ties,
        "one_to_one": arguments.one_to_one,
        "threshold": None if arguments.threshold is None else number(arguments.threshold, "--threshold"),
        "seed": whole_number(arguments.seed, "--seed"),
    }
    return {name: value for name, value in given.items() if value is not None}


def _given_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, options in _settings().items():
        value, option = getattr(arguments, name), next(iter(options.values()))
        if value is None:
            continue
        if option.parse is None:
            given[name] = True
        elif option.repeated:
            given[name] = tuple(_parsed(name, text, option) for text in value)
        else:
            given[name] = _parsed(name, value, option)
    return given


def _parsed(name: str, text: str, option: Option) -> Any:
    assert option.parse is not None
    try:
        return option.parse(text)
    except (DataError, UsageError) as error:
        raise UsageError(f"--{name.replace('_', '-')}: {error}") from error


def summary(result: LinkResult) -> str:
    """The counts in a few lines."""
    details, records = result.details, result.records
    frame = result.table.to_frame()
    size = f"{count(records)} records"
    if details["candidates"] != records:
        size += f" with a partner among {count(details['candidates'])} candidates"
    counts = [
        ("re-identified", share(result.linked, records)),
        ("partner among the 3 best", share(int((frame["rank"] + frame["ties"] <= 3).sum()), records)),
        ("partner tied with another", share(int((frame["ties"] > 0).sum()), records)),
        ("by chance", f"{records / details['candidates']:.3g} of {count(records)}"),
    ]
    counts[1:1] = weighted_pairs(details)
    if details["ties"] == Ties.SHARE:
        counts[0] = ("best up to identical ones", share(result.linked, records))
        counts.insert(0, ("expected links", share(details["expected_links"], records)))
    lines = [
        f"{details['name']}: {size}",
        f"{result.method}, {directions(details['direction'])}",
        "",
        *listed(counts),
        *_matched(result),
        "",
        *listed(_curve(result)),
        *spaced(strata_lines(details)),
        *[f"note: {note}" for note in details["notes"]],
    ]
    return "\n".join(lines) + "\n"


def _matched(result: LinkResult) -> list[str]:
    found = result.one_to_one
    if found is None:
        return []
    precision = "-" if found.precision is None else f"{found.precision:.4f}"
    right = f"{count(found.correct)} of {count(found.claimed)} links right"
    rates = f"precision {precision}, recall {found.recall:.4f}"
    return listed([(f"one to one, {found.matching}", f"{right}, {rates}")])


def _curve(result: LinkResult) -> list[tuple[str, str]]:
    rows = [("average precision", f"{result.curve.average_precision:.4f}")]
    claim = result.details["most_probable_claim"]
    if claim is not None:
        sure = "" if claim["probability"] is None else f", probability {claim['probability']:.4f}"
        right = {1.0: "right", 0.0: "wrong"}.get(
            claim["correct"], f"right with probability {claim['correct']:.2g}"
        )
        rows.append(("most probable claim", f"{claim['query']} is {claim['candidate']}{sure}: {right}"))
    return rows
