"""One module for each operation: the groups that it is made of, and what it has of its own."""

from __future__ import annotations

OPERATIONS = {
    "fit": "linkrisk.solver.options.operations.fit:FitCommand",
    "compare": "linkrisk.solver.options.operations.compare:CompareCommand",
    "risk": "linkrisk.solver.options.operations.risk:RiskCommand",
    "report": "linkrisk.solver.options.operations.risk:ReportCommand",
    "sweep": "linkrisk.solver.options.operations.sweep:SweepCommand",
    "link": "linkrisk.solver.options.operations.link:LINK",
    "find-links": "linkrisk.solver.options.operations.link:FIND",
    "evaluate": "linkrisk.solver.options.operations.evaluate:EvaluateCommand",
    "verify": "linkrisk.solver.options.operations.verify:VerifyCommand",
    "run-protocol": "linkrisk.solver.options.operations.run_protocol:RunProtocolCommand",
    "describe": "linkrisk.solver.options.operations.describe:DescribeCommand",
    "mask": "linkrisk.solver.options.operations.mask:MASK",
    "unsafe": "linkrisk.solver.options.operations.unsafe:UnsafeCommand",
    "suppress": "linkrisk.solver.options.operations.suppress:SuppressCommand",
    "app": "linkrisk.solver.options.operations.app:AppCommand",
    "datasets list": "linkrisk.solver.options.operations.datasets:ListCommand",
    "datasets show": "linkrisk.solver.options.operations.datasets:ShowCommand",
    "datasets fetch": "linkrisk.solver.options.operations.datasets:FetchCommand",
    "tables make": "linkrisk.solver.options.operations.tables.make:MakeCommand",
    "tables recode": "linkrisk.solver.options.operations.tables.recode:RecodeCommand",
    "tables suppress": "linkrisk.solver.options.operations.tables.suppress:SuppressCommand",
    "tables audit": "linkrisk.solver.options.operations.tables.audit:AuditCommand",
    "tables run-batch": "linkrisk.solver.options.operations.tables.run_batch:RunBatchCommand",
    "tables round": "linkrisk.solver.options.operations.tables.round:RoundCommand",
    "tables adjust": "linkrisk.solver.options.operations.tables.adjust:AdjustCommand",
    "tables perturb-counts": "linkrisk.solver.options.operations.tables.perturb_counts:PerturbCountsCommand",
    "tables perturb-sums": "linkrisk.solver.options.operations.tables.perturb_sums:PerturbSumsCommand",
    "tables compare": "linkrisk.solver.options.operations.tables.compare:CompareTableCommand",
}
"""What each command can be asked, as module and class, which are imported for that command alone."""
