"""`python -m solver`: the parser of all commands, and errors as one line with an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from solver.errors import INPUT_ERRORS, UsageError

COMMANDS = ("fit", "compare", "evaluate", "mask", "datasets")


class _Parser(argparse.ArgumentParser):
    """A parser that reports wrong usage like every other bad input: one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def build_parser() -> argparse.ArgumentParser:
    """Make the parser with one sub-command per file of `solver/commands`."""
    parser = _Parser(
        prog="python -m solver",
        description="Worst-case disclosure risk of a masked microdata file, with an upper bound.",
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(f"solver.commands.{name}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    int
        0 when done (also when a limit was hit and a valid interval is reported), 2 for wrong usage or
        bad input (one line on standard error), 1 for anything else.
    """
    try:
        arguments = build_parser().parse_args(argv)
        return int(arguments.run(arguments))
    except INPUT_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output went away (`| head`): point stdout at nothing so that the exit is silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 1
