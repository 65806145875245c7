"""`python -m solver compile`: compile ahead, so that the first run on a machine need not."""

from __future__ import annotations

import argparse
import time
from typing import Any

from linkrisk.solver.commands.progress import progress_line
from linkrisk.solver.compiling.ahead import compile_everything


def add_parser(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Declare the arguments: there are none."""
    parser = subparsers.add_parser(
        "compile",
        help="compile ahead what the first run on a machine would compile",
        description="Compile all that any command needs, for every aggregator, and keep it: once for every "
        "machine and version. A fit compiles by itself where it was not done, before its time limit begins.",
        epilog="example: compile",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile and say how long it took."""
    del arguments
    began = time.perf_counter()
    with progress_line("compiling") as line:
        compile_everything(lambda name: None if line is None else line.show(f"compiling: {name}"))
    print(f"compiled: {time.perf_counter() - began:.0f} s")
    return 0
