"""linkrisk: how badly a protected microdata file can be re-identified in the worst case, with a proof.

What it offers as functions is here (``from linkrisk import fit``); its rooms are `linkrisk.formulations`,
`linkrisk.datasets` and `linkrisk.solver`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing` takes milliseconds, in which Ctrl-C would print a traceback
if TYPE_CHECKING:
    from typing import Any

    from linkrisk.solver import Cancel as Cancel
    from linkrisk.solver import WorstCaseLinkage as WorstCaseLinkage
    from linkrisk.solver import adjust_table as adjust_table
    from linkrisk.solver import audit_table as audit_table
    from linkrisk.solver import compare as compare
    from linkrisk.solver import compare_table as compare_table
    from linkrisk.solver import evaluate as evaluate
    from linkrisk.solver import find_links as find_links
    from linkrisk.solver import fit as fit
    from linkrisk.solver import link as link
    from linkrisk.solver import link_tables as link_tables
    from linkrisk.solver import make_table as make_table
    from linkrisk.solver import make_tables as make_tables
    from linkrisk.solver import mask as mask
    from linkrisk.solver import open_table as open_table
    from linkrisk.solver import perturb_counts as perturb_counts
    from linkrisk.solver import perturb_sums as perturb_sums
    from linkrisk.solver import recode_table as recode_table
    from linkrisk.solver import risk as risk
    from linkrisk.solver import round_table as round_table
    from linkrisk.solver import run_batch as run_batch
    from linkrisk.solver import run_protocol as run_protocol
    from linkrisk.solver import suppress as suppress
    from linkrisk.solver import suppress_table as suppress_table
    from linkrisk.solver import sweep as sweep
    from linkrisk.solver import unsafe as unsafe
    from linkrisk.solver import verify as verify
    from linkrisk.solver import verify_bundle as verify_bundle
    from linkrisk.solver import verify_table as verify_table
    from linkrisk.solver.api.report import report as report
    from linkrisk.solver.api.report import report_of as report_of

__all__ = [
    "Cancel",
    "WorstCaseLinkage",
    "adjust_table",
    "audit_table",
    "compare",
    "compare_table",
    "evaluate",
    "find_links",
    "fit",
    "link",
    "link_tables",
    "make_table",
    "make_tables",
    "mask",
    "open_table",
    "perturb_counts",
    "perturb_sums",
    "recode_table",
    "report",
    "report_of",
    "risk",
    "round_table",
    "run_batch",
    "run_protocol",
    "suppress",
    "suppress_table",
    "sweep",
    "unsafe",
    "verify",
    "verify_bundle",
    "verify_table",
]


def __getattr__(name: str) -> Any:
    """Import the functions when they are first asked for (`linkrisk.solver`)."""
    if name in __all__:
        from linkrisk import solver

        return solver.offered(name)  # and not its attribute: `report` is also the name of a room
    raise AttributeError(f"module 'linkrisk' has no attribute '{name}'")
