"""The application: fit, verify, link, mask, risk, report, sweep and more, as commands and functions.

May import `linkrisk.formulations` and `linkrisk.datasets`; neither may import this.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # that of `typing` takes milliseconds, in which Ctrl-C would print a traceback
if TYPE_CHECKING:
    from typing import Any

    from linkrisk.solver.api.compare import compare as compare
    from linkrisk.solver.api.estimator import WorstCaseLinkage as WorstCaseLinkage
    from linkrisk.solver.api.evaluate import evaluate as evaluate
    from linkrisk.solver.api.find_links import find_links as find_links
    from linkrisk.solver.api.fit import fit as fit
    from linkrisk.solver.api.link import link as link
    from linkrisk.solver.api.mask import mask as mask
    from linkrisk.solver.api.protocol import run_protocol as run_protocol
    from linkrisk.solver.api.report import report as report
    from linkrisk.solver.api.report import report_of as report_of
    from linkrisk.solver.api.risk import risk as risk
    from linkrisk.solver.api.suppress import suppress as suppress
    from linkrisk.solver.api.sweep import sweep as sweep
    from linkrisk.solver.api.tables.adjust import adjust_table as adjust_table
    from linkrisk.solver.api.tables.audit import audit_table as audit_table
    from linkrisk.solver.api.tables.batch.run import run_batch as run_batch
    from linkrisk.solver.api.tables.compare import compare_table as compare_table
    from linkrisk.solver.api.tables.make import make_table as make_table
    from linkrisk.solver.api.tables.make_tables import make_tables as make_tables
    from linkrisk.solver.api.tables.perturb_counts import perturb_counts as perturb_counts
    from linkrisk.solver.api.tables.perturb_sums import perturb_sums as perturb_sums
    from linkrisk.solver.api.tables.recode import recode_table as recode_table
    from linkrisk.solver.api.tables.round import round_table as round_table
    from linkrisk.solver.api.tables.source import link_tables as link_tables
    from linkrisk.solver.api.tables.source import open_table as open_table
    from linkrisk.solver.api.tables.suppress import suppress_table as suppress_table
    from linkrisk.solver.api.tables.verify import verify_table as verify_table
    from linkrisk.solver.api.unsafe import unsafe as unsafe
    from linkrisk.solver.api.verify import verify as verify
    from linkrisk.solver.api.verify_bundle import verify_bundle as verify_bundle
    from linkrisk.solver.run.interruption import Cancel as Cancel

_WHERE = {
    "Cancel": "run.interruption",
    "WorstCaseLinkage": "api.estimator",
    "adjust_table": "api.tables.adjust",
    "audit_table": "api.tables.audit",
    "link_tables": "api.tables.source",
    "open_table": "api.tables.source",
    "run_batch": "api.tables.batch.run",
    "round_table": "api.tables.round",
    "perturb_counts": "api.tables.perturb_counts",
    "perturb_sums": "api.tables.perturb_sums",
    "suppress_table": "api.tables.suppress",
    "compare_table": "api.tables.compare",
    "compare": "api.compare",
    "evaluate": "api.evaluate",
    "find_links": "api.find_links",
    "fit": "api.fit",
    "link": "api.link",
    "make_table": "api.tables.make",
    "make_tables": "api.tables.make_tables",
    "mask": "api.mask",
    "recode_table": "api.tables.recode",
    "report": "api.report",
    "report_of": "api.report",
    "risk": "api.risk",
    "run_protocol": "api.protocol",
    "suppress": "api.suppress",
    "unsafe": "api.unsafe",
    "sweep": "api.sweep",
    "verify": "api.verify",
    "verify_bundle": "api.verify_bundle",
    "verify_table": "api.tables.verify",
}
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
    "run_batch",
    "run_protocol",
    "suppress",
    "suppress_table",
    "sweep",
    "unsafe",
    "verify",
    "verify_bundle",
]


def __getattr__(name: str) -> Any:
    """Import what is offered when it is first asked for: a listing should not load an optimiser."""
    if name in _WHERE:
        return offered(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def offered(name: str) -> Any:
    """The function or class of this name."""
    return getattr(importlib.import_module(f"linkrisk.solver.{_WHERE[name]}"), name)
