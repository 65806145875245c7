"""`python -m solver datasets`: list, show and fetch named public data."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from linkrisk.solver.commands.declared import Action
from linkrisk.solver.options.data import FetchCommand, ListCommand, ShowCommand

DESCRIPTION = (
    "Named public data: carried by scikit-learn, read from the folder in LINKRISK_DATA, or "
    "downloaded with a hash check into the cache (LINKRISK_CACHE names another folder for it)."
)
ACTIONS = {
    "list": "name all data sets and where they come from",
    "show": "describe one data set",
    "fetch": "bring one data set to this machine",
}


def action(name: str) -> Action:
    """What an action is asked, and how it is done."""
    known = {
        "list": Action(ListCommand, _list),
        "show": Action(ShowCommand, _show),
        "fetch": Action(FetchCommand, _fetch),
    }
    return known[name]


def _list(asked: ListCommand) -> int:
    from linkrisk.datasets.public.registry import describe, names

    return _say(asked, "datasets", {"datasets": [asdict(describe(name)) for name in names()]})


def _show(asked: ShowCommand) -> int:
    from linkrisk.datasets.public.registry import describe

    return _say(asked, "dataset", asdict(describe(asked.name)))


def _say(asked: ListCommand, kind: str, content: dict[str, Any]) -> int:
    """Print JSON where it is asked for, else the same for people."""
    from linkrisk.datasets.microdata.strict_json import headed
    from linkrisk.solver.documents.short import short_of
    from linkrisk.solver.documents.terminal import terminal

    said = headed(kind, content)
    print(json.dumps(said, indent=2) if asked.json else terminal(short_of(said)).rstrip("\n"))
    return 0


def _fetch(asked: FetchCommand) -> int:
    from linkrisk.datasets.microdata.writing import write_table
    from linkrisk.datasets.public.registry import fetch, load

    if asked.output is None:
        print(fetch(asked.name))
        return 0
    frame = load(asked.name)
    write_table(frame, asked.output)
    print(f"{asked.output}: {len(frame)} records, {len(frame.columns)} columns")
    return 0
