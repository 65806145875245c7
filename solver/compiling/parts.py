"""Parts of the program that are compiled beforehand, and the one question whether one has been."""

from __future__ import annotations

from linkrisk.datasets.options.late import imported
from linkrisk.formulations.compiled import get_ready, is_marked
from linkrisk.solver.run.progress import Progress, Reporter

PHASE = "compile"
"""What a reporter is told is being done."""

READY = "ready"
"""And how it is told that this has been done."""

CERTIFICATES, MASKING, LINKAGE, RISK = "certificates", "masking", "linkage", "risk"
TABLES = "tables"
"""Parts of the program, beside fits of one family, which go by the name of that."""


def compile_once(part: str, report: Reporter | None = None) -> None:
    """Compile a part, such as a family or `MASKING`, before the time of a run begins.

    What calls all of a part is imported only where it has to be compiled.
    """
    if is_marked(part):
        get_ready()
        return
    if report is not None:
        report(Progress.uncounted(PHASE))
    imported("linkrisk.solver.compiling.ahead:compile_part")(part)
    if report is not None:
        report(Progress.uncounted(PHASE, READY))
