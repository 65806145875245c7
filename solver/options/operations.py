"""The options of each command, as classes that are imported when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

OPERATIONS = {
    "fit": "linkrisk.solver.options.worst_case:FitCommand",
    "compare": "linkrisk.solver.options.worst_case:CompareCommand",
    "risk": "linkrisk.solver.options.measuring:RiskCommand",
    "report": "linkrisk.solver.options.measuring:ReportCommand",
    "sweep": "linkrisk.solver.options.measuring:SweepCommand",
    "link": "linkrisk.solver.options.linking:LINK",
    "find-links": "linkrisk.solver.options.linking:FIND",
    "evaluate": "linkrisk.solver.options.worst_case:EvaluateCommand",
    "verify": "linkrisk.solver.options.verifying:VerifyCommand",
    "run-protocol": "linkrisk.solver.options.masking:RunProtocolCommand",
    "describe": "linkrisk.solver.options.data:DescribeCommand",
    "mask": "linkrisk.solver.options.masking:MASK",
    "unsafe": "linkrisk.solver.options.suppression:UnsafeCommand",
    "suppress": "linkrisk.solver.options.suppression:SuppressCommand",
    "completion": "linkrisk.solver.options.data:CompletionCommand",
    "app": "linkrisk.solver.options.data:AppCommand",
    "datasets list": "linkrisk.solver.options.data:ListCommand",
    "datasets show": "linkrisk.solver.options.data:ShowCommand",
    "datasets fetch": "linkrisk.solver.options.data:FetchCommand",
    "tables make": "linkrisk.solver.options.table_making:MakeCommand",
    "tables recode": "linkrisk.solver.options.table_making:RecodeCommand",
    "tables suppress": "linkrisk.solver.options.table_protection:SuppressCommand",
    "tables audit": "linkrisk.solver.options.table_protection:AuditCommand",
    "tables run-batch": "linkrisk.solver.options.table_making:RunBatchCommand",
    "tables round": "linkrisk.solver.options.table_protection:RoundCommand",
    "tables adjust": "linkrisk.solver.options.table_protection:AdjustCommand",
    "tables perturb-counts": "linkrisk.solver.options.table_noise:PerturbCountsCommand",
    "tables perturb-sums": "linkrisk.solver.options.table_noise:PerturbSumsCommand",
    "tables compare": "linkrisk.solver.options.table_protection:CompareTableCommand",
}
"""Module and class of the options of each command that has some."""


@dataclass(frozen=True)
class Nothing:
    """The request of a command without options."""


def operation(command: str) -> type[Any]:
    """Return the class of requests of a command, such as ``tables suppress``."""
    module, _, name = OPERATIONS.get(command, f"{__name__}:{Nothing.__name__}").partition(":")
    kind: type[Any] = getattr(import_module(module), name)
    return kind
