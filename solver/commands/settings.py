"""Parameters of masking methods and linkers as options of a command: declared, and read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.errors import DataError
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.datasets.masking.base import Option
    from linkrisk.solver.commands.offered import Setting


def add_settings(group: argparse._ActionsContainer, settings: Mapping[str, Setting]) -> None:
    """Add a flag for each, with what it means to each method."""
    for name, setting in settings.items():
        text = setting.help.replace("%", "%%")
        if setting.metavar is None:
            group.add_argument(_flag(name, setting), dest=name, action="store_true", default=None, help=text)
        else:
            action = "append" if setting.repeated else "store"
            group.add_argument(
                _flag(name, setting), dest=name, action=action, metavar=setting.metavar, help=text
            )


def given_settings(arguments: argparse.Namespace, options: Mapping[str, Option]) -> dict[str, Any]:
    """Those that the user has given, read in the same way for all methods; UsageError on bad text."""
    given: dict[str, Any] = {}
    for name, option in options.items():
        value = getattr(arguments, name)
        if value is None:
            continue
        if option.parse is None:
            given[name] = True
        elif option.repeated:
            given[name] = tuple(parsed(option.flag or name, text, option.parse) for text in value)
        else:
            given[name] = parsed(option.flag or name, value, option.parse)
    return given


def parsed(name: str, text: str, parse: Callable[[str], Any]) -> Any:
    """Read the value of an option; UsageError that names the option."""
    try:
        return parse(text)
    except (DataError, UsageError) as error:
        raise UsageError(f"--{name.replace('_', '-')}: {error}") from error


def _flag(name: str, setting: Setting) -> str:
    return "--" + (setting.flag or name.replace("_", "-"))
