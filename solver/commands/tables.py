"""`python -m solver tables`: tables made, suppressed, audited, rounded: an action for each."""

from __future__ import annotations

import argparse
import importlib

from linkrisk.solver.commands.calling import program
from linkrisk.solver.commands.declared import declare

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


def add_arguments(parser: argparse.ArgumentParser, asked: str | None = None) -> None:
    """Declare the actions, and their arguments: those of the one that is asked for where it is known."""
    parser.description = (
        "Tables as cells and the linear relations between them: made of microdata, protected such that "
        "nobody can compute a sensitive cell too closely, with a bound that proves it, and audited."
    )
    parser.epilog = f"`{program()} tables ACTION --help` explains an action."
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, line in ACTIONS.items():
        action = actions.add_parser(name, help=line)
        if asked is not None and name != asked:
            continue  # only listed, and not imported
        module = importlib.import_module(f"linkrisk.solver.commands.table_actions.{name.replace('-', '_')}")
        declare(action, module)
