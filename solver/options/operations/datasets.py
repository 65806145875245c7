"""What the actions of `datasets` can be asked, which are commands only."""

from __future__ import annotations

from dataclasses import dataclass, field

from linkrisk.datasets.options.kinds import SWITCH, TEXT
from linkrisk.datasets.options.option import COMMAND, declared, option, written

_TYPED = frozenset({COMMAND})


@dataclass(frozen=True, kw_only=True)
class Named:
    """Which data set."""

    name: str = field(
        metadata=declared(
            "data set that `datasets list` names", TEXT, bare=True, metavar="NAME", faces=_TYPED
        )
    )


@dataclass(frozen=True, kw_only=True)
class ListCommand:
    """What `datasets list` can be asked."""

    json: bool = option(False, "print JSON", SWITCH, faces=_TYPED)


@dataclass(frozen=True, kw_only=True)
class ShowCommand(Named, ListCommand):
    """What `datasets show` can be asked."""


@dataclass(frozen=True, kw_only=True)
class FetchCommand(Named):
    """What `datasets fetch` can be asked."""

    output: str | None = written("also write it, in the format of the suffix")
