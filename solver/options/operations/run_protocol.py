"""What `run_protocol` can be asked, as a function and as a command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, WHOLE, WRITTEN
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options.run import Live

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Reporter


@dataclass(frozen=True)
class Steps:
    """Which steps, to which file."""

    protocol: str | Path = field(
        metadata=declared(
            "TOML file; files that it names are in its folder",
            FILE,
            doc="TOML file",
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


@dataclass(frozen=True, kw_only=True)
class RunProtocolOptions(Steps):
    """What `run_protocol` can be asked."""

    undo: int = option(
        0,
        "leave out the last N steps; all of them give the input back",
        WHOLE,
        doc="how many of the last steps to leave out; all of them give the input, byte for byte",
        label="Steps to undo",
    )
    record: str | Path | None = option(
        None,
        "write the protocol with the seeds that were drawn, digests of all files, and what was suppressed: "
        "it makes the same file again; keep it secret",
        WRITTEN,
        doc="file for the protocol with the seeds that were drawn, digests of all files, and what `suppress` "
        "took: it makes the same file again. For its owner's eyes only",
    )
    on_progress: Reporter | None = again(
        Live, "on_progress", None, doc="called with the progress of the steps"
    )


@dataclass(frozen=True, kw_only=True)
class RunProtocolCommand(RunProtocolOptions):
    """What the command `run-protocol` can be asked."""

    json: str | None = written("write what was done as JSON, without seeds")
