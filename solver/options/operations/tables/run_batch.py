"""What `run_batch` can be asked, and `tables run-batch`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from linkrisk.datasets.options.kinds import FILE, NUMBER, SWITCH, TEXT
from linkrisk.datasets.options.option import PYTHON, again, declared, option, written
from linkrisk.solver.options.run import Live

if TYPE_CHECKING:
    from pathlib import Path

    from linkrisk.solver.options.types import Cancel, Reporter


@dataclass(frozen=True)
class RunBatchOptions:
    """What `run_batch` can be asked."""

    batch: str | Path = field(
        metadata=declared(
            "commands of ARGUS; its files lie beside it",
            FILE,
            doc="an ``.arb`` file; the files that it names lie beside it",
            metavar="BATCH.arb",
            bare=True,
        )
    )
    _: KW_ONLY
    publish_respondents: bool = option(
        False,
        "numbers of respondents are published beside the sums, in the same cells: they are protected "
        "together",
        SWITCH,
        doc="whether numbers of respondents are published beside the sums, in the same cells: they are "
        "protected together. Rounded and adjusted tables are refused then, and those with noise",
    )
    time_limit: float | None = option(
        None, "seconds for each method; default: what the batch says", NUMBER, metavar="S"
    )
    cancel: Cancel | None = again(
        Live,
        "cancel",
        None,
        doc="a token that ends it as Ctrl-C does: the table in hand gets the best pattern that there is, "
        "what is protected is written, and nothing else is begun",
    )
    on_progress: Reporter | None = again(Live, "on_progress", None)
    beside: Sequence[str | Path] = option(
        (),
        "files that are written besides those of the batch, such as its JSON; what the batch reads or writes "
        "is refused there",
        TEXT,
        faces=frozenset({PYTHON}),
    )


@dataclass(frozen=True, kw_only=True)
class RunBatchCommand(RunBatchOptions):
    """What `tables run-batch` can be asked."""

    json: str | None = written("write what was done as JSON")
