"""What the command `app` can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.datasets.options.kinds import NUMBER, TEXT, WHOLE
from linkrisk.datasets.options.option import COMMAND, option

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TYPED = frozenset({COMMAND})


@dataclass(frozen=True, kw_only=True)
class AppCommand:
    """What the command `app` can be asked."""

    project: str = option(
        "linkrisk-project",
        "project folder, made where it is missing; default: {default}",
        TEXT,
        bare=True,
        metavar="FOLDER",
        faces=_TYPED,
    )
    port: int | None = option(
        None, "port; default: 8377, or a free one where that is taken", WHOLE, faces=_TYPED
    )
    runs: int | None = option(
        None, "runs at a time, others wait; default: one for two processors", WHOLE, faces=_TYPED
    )
    max_upload: float = option(
        500.0, "megabytes of the largest file taken; default: {default}", NUMBER, metavar="MB", faces=_TYPED
    )
    host: str = option(
        LOOPBACK[0],
        "listen at another address than the loopback one: others on the network can then reach it, and "
        "nothing is encrypted",
        TEXT,
        metavar="ADDRESS",
        faces=_TYPED,
    )
