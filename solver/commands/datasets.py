"""`python -m solver datasets`: list, show and fetch named public data."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from linkrisk.datasets.microdata.strict_json import headed


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

    return _said(arguments, "datasets", {"datasets": [asdict(describe(name)) for name in names()]})


def _show(arguments: argparse.Namespace) -> str:
    from linkrisk.datasets.public.registry import describe

    return _said(arguments, "dataset", asdict(describe(arguments.name)))


def _said(arguments: argparse.Namespace, kind: str, content: dict[str, Any]) -> str:
    """The JSON where it is asked for, else the same for people."""
    from linkrisk.solver.documents.short import short_of
    from linkrisk.solver.documents.terminal import terminal

    said = headed(kind, content)
    return json.dumps(said, indent=2) if arguments.json else terminal(short_of(said)).rstrip("\n")


def _fetch(arguments: argparse.Namespace) -> str:
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.datasets.public.registry import fetch, load

    if arguments.output is None:
        return str(fetch(arguments.name))
    frame = load(arguments.name)
    write_table(frame, arguments.output)
    return f"{arguments.output}: {len(frame)} records, {len(frame.columns)} columns"
