"""`python -m solver tables`: tables made, suppressed, audited, rounded: an action for each."""

from __future__ import annotations

import importlib
from typing import Any, cast

from linkrisk.solver.commands.declared import Declared

DESCRIPTION = (
    "Tables as cells and the linear relations between them: made of microdata, protected such that "
    "nobody can compute a sensitive cell too closely, with a bound that proves it, and audited."
)
EXAMPLE = "`%(prog)s ACTION --help` explains an action."
ACTIONS = {
    "make": "make a table of microdata, with its sensitive cells",
    "recode": "make a table of coarser codes, and say what each recoding does to sensitive cells and costs",
    "suppress": "suppress the cells of least cost that protect the sensitive ones, proven",
    "audit": "find what an attacker can compute of every suppressed cell; exit code 1 where it is too much",
    "run-batch": "run a batch of ARGUS",
    "round": "make every cell a multiple of a base such that all relations hold, at the least change",
    "adjust": "change values as little as possible such that every sensitive cell is far enough off, proven",
    "perturb-counts": "count records with noise that is the same wherever the same records are counted",
    "perturb-sums": "sum a variable with noise that is the same wherever the same records are summed",
    "compare": "solve the same model of a table on every backend, side by side, and count again",
}
"""Every action, a file of `solver/commands/table_actions`, in a line."""


def action(name: str) -> Declared:
    """The module of an action."""
    module: Any = importlib.import_module(f"{__package__}.table_actions.{name.replace('-', '_')}")
    return cast("Declared", module)
