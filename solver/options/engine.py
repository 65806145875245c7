"""Options about the engine of a search."""

from __future__ import annotations

from dataclasses import dataclass

from linkrisk.datasets.options.kinds import NAME
from linkrisk.datasets.options.option import option
from linkrisk.solver.options import names
from linkrisk.solver.options.names import EngineName


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Engine:
    """Which engine searches, and what solves its model."""

    title = "engine"

    engine: EngineName | None = option(
        None,
        "{choices}; default: exact, or milp where {backend}, {margin} or {big_c} is given",
        NAME,
        choices=names.ENGINES,
        label="Engine",
    )
    backend: str | None = option(
        None,
        "for milp: {choices}; default: {default}",
        NAME,
        doc="for ``milp``: the optimiser; ``highs`` when absent",
        choices=names.BACKENDS,
        usual="highs",
        label="Backend",
    )
