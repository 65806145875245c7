"""`python -m solver compile`: compile ahead, so that the first run on a machine need not."""

from __future__ import annotations

import time

from linkrisk.solver.commands.declared import Nothing

ASKED = Nothing
DESCRIPTION = (
    "Compile everything that the commands need, for every aggregator, and keep it; once for each machine "
    "and version. Without this, a fit compiles first, before its time limit begins."
)
EXAMPLE = "example: compile"


def run(_: Nothing) -> int:
    """Compile and say how long it took."""
    from linkrisk.solver.commands.progress import progress_line
    from linkrisk.solver.compiling.ahead import compile_everything

    began = time.perf_counter()
    with progress_line("compiling") as line:
        compile_everything(lambda name: None if line is None else line.show(f"compiling: {name}"))
    print(f"compiled: {time.perf_counter() - began:.0f} s")
    return 0
