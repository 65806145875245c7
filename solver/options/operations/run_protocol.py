"""What `run_protocol` can be asked, as a function and as a command."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, WHOLE, WRITTEN
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options.run import Live

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Reporter


@dataclass(frozen=True)
class RunProtocolOptions:
    """What `run_protocol` can be asked."""

    protocol: str | Path = field(
        metadata=declared(
            "TOML file; files that it names are in its folder",
            FILE,
            bare=True,
            metavar="FILE",
            label="Protocol",
        )
    )
    output: str | Path = field(
        metadata=declared(
            "file to write, in the format that its suffix says; without a suffix in that of the input",
            WRITTEN,
        )
    )
    _: KW_ONLY
    undo: int = option(
        0, "leave out the last N steps; all of them give the input back", WHOLE, label="Steps to undo"
    )
    record: str | Path | None = option(
        None,
        "write the protocol with the seeds that were drawn, digests of all files, and what was suppressed: "
        "it makes the same file again; keep it secret",
        WRITTEN,
    )
    on_progress: Reporter | None = again(
        Live, "on_progress", None, doc="called with the progress of the steps"
    )


@dataclass(frozen=True, kw_only=True)
class RunProtocolCommand(RunProtocolOptions):
    """What the command `run-protocol` can be asked."""

    json: str | None = written("write what was done as JSON, without seeds")
