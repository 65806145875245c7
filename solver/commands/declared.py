"""Commands whose options are declared: their parser, and their request, which is checked before they run.

Such a command is a module with `ASKED`, the dataclass of its options, perhaps `DESCRIPTION` and `EXAMPLE`,
and `run`, which does what is asked and shows the result. One with `complete` says more than the command
line, before the files are checked and all is read; `OTHER_FORMATS` are names of files whose suffixes a
command checks itself. One with `ACTIONS`, a line for each, has a module or `Action` for
each by its function `action`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple, Protocol

from linkrisk.datasets.options.option import COMMAND, options_of
from linkrisk.solver.commands.calling import as_called
from linkrisk.solver.options.command_line import add_options, asked_of, dest


class Declared(Protocol):
    """A module of a command, or what has the same."""

    @property
    def ASKED(self) -> type[Any]:  # noqa: N802 - as modules call it
        """Its options."""

    @property
    def run(self) -> Callable[[Any], int]:
        """What does it."""


class Action(NamedTuple):
    """An action without a module of its own."""

    ASKED: type[Any]
    run: Callable[[Any], int]


@dataclass(frozen=True)
class Nothing:
    """What a command without options can be asked."""


def declare(parser: argparse.ArgumentParser, module: Any, action: str | None = None) -> None:
    """Give the parser of a command what its module declares; of its actions only that one, if it is known."""
    parser.description = getattr(module, "DESCRIPTION", None)
    parser.epilog = getattr(module, "EXAMPLE", None)
    if not hasattr(module, "ACTIONS"):
        add_options(parser, module.ASKED)
        parser.set_defaults(run=partial(_run, module))
        return
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, line in module.ACTIONS.items():
        made = actions.add_parser(name, help=line)
        if action in (None, name):  # the others are only listed, and not imported
            declare(made, module.action(name))


def _run(module: Declared, arguments: argparse.Namespace) -> int:
    """Check the files to be written, read what is asked, and do it."""
    from linkrisk.solver.commands.targets import check_targets

    more: dict[str, Any] = getattr(module, "complete", lambda _: {})(arguments)
    written = [dest(one) for one in options_of(module.ASKED, COMMAND).values() if one.kind.written]
    check_targets(arguments, *written, other_formats=getattr(module, "OTHER_FORMATS", ()))
    if "command" in {one.name for one in fields(module.ASKED)}:
        more["command"] = as_called(arguments.command_line)
    return module.run(asked_of(module.ASKED, arguments, **more))
