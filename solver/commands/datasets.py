"""`python -m solver datasets`: list, show and fetch named public data."""

from __future__ import annotations

import argparse
import dataclasses
import json
import textwrap
from typing import TYPE_CHECKING

from linkrisk.datasets.microdata.strict_json import headed

if TYPE_CHECKING:
    from linkrisk.datasets.public.registry import Description


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three actions and their arguments."""
    parser.description = (
        "Named public data: carried by scikit-learn, read from the folder in LINKRISK_DATA, or "
        "downloaded with a hash check into the cache (LINKRISK_CACHE names another folder for it)."
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    listing = actions.add_parser("list", help="name all data sets and where they come from")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=run, act=_list)

    showing = actions.add_parser("show", help="describe one data set")
    showing.add_argument("name", metavar="NAME")
    showing.add_argument("--json", action="store_true", help="print JSON")
    showing.set_defaults(run=run, act=_show)

    fetching = actions.add_parser("fetch", help="bring one data set to this machine")
    fetching.add_argument("name", metavar="NAME")
    fetching.add_argument("--output", metavar="FILE", help="also write it, in the format of the suffix")
    fetching.set_defaults(run=run, act=_fetch)


def run(arguments: argparse.Namespace) -> int:
    """Carry out the action and print its result."""
    print(arguments.act(arguments))
    return 0


def _list(arguments: argparse.Namespace) -> str:
    from linkrisk.datasets.public.registry import describe, names

    descriptions = [describe(name) for name in names()]
    if arguments.json:
        listed = {"datasets": [dataclasses.asdict(description) for description in descriptions]}
        return json.dumps(headed("datasets", listed), indent=2)
    lines = [f"{'name':<15} {'records':>7} {'columns':>7}  comes from"]
    lines += [
        f"{data.name:<15} {data.rows:>7} {len(data.columns):>7}  {data.comes_from}" for data in descriptions
    ]
    return "\n".join(lines)


def _show(arguments: argparse.Namespace) -> str:
    from linkrisk.datasets.public.registry import describe

    data = describe(arguments.name)
    if arguments.json:
        return json.dumps(headed("dataset", dataclasses.asdict(data)), indent=2)
    return _as_text(data)


def _as_text(data: Description) -> str:
    rows = {
        "name": data.name,
        "title": data.title,
        "records": str(data.rows),
        "columns": f"{len(data.columns)}: {', '.join(data.columns)}",
        "origin": data.origin,
        "licence": data.licence,
        "address": data.address or "none: it comes with scikit-learn",
        "local file": f"{data.local_file} in the folder LINKRISK_DATA" if data.local_file else "none needed",
        "comes from": data.comes_from,
    }
    return "\n".join(_wrapped(f"{label:<11} {text}") for label, text in rows.items())


def _wrapped(line: str) -> str:
    if "://" in line:
        return line  # an address is to be copied, so it stays in one piece
    return textwrap.fill(
        line, width=110, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False
    )


def _fetch(arguments: argparse.Namespace) -> str:
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.datasets.public.registry import fetch, load

    if arguments.output is None:
        return str(fetch(arguments.name))
    frame = load(arguments.name)
    write_table(frame, arguments.output)
    return f"{arguments.output}: {len(frame)} records, {len(frame.columns)} columns"
