"""One module for each operation: the groups that it is made of, and what it has of its own."""

from __future__ import annotations

OPERATIONS = {
    "fit": "linkrisk.solver.options.operations.fit:FitCommand",
    "compare": "linkrisk.solver.options.operations.compare:CompareCommand",
    "risk": "linkrisk.solver.options.operations.risk:RiskCommand",
    "report": "linkrisk.solver.options.operations.risk:ReportCommand",
    "sweep": "linkrisk.solver.options.operations.sweep:SweepCommand",
    "link": "linkrisk.solver.commands.link:ASKED",
    "find-links": "linkrisk.solver.commands.find_links:ASKED",
    "evaluate": "linkrisk.solver.options.operations.evaluate:EvaluateCommand",
    "unsafe": "linkrisk.solver.options.operations.unsafe:UnsafeCommand",
    "suppress": "linkrisk.solver.options.operations.suppress:SuppressCommand",
}
"""What each command can be asked, as module and class, which are imported for that command alone."""
