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


def given_settings(
    arguments: object, options: Mapping[str, Option], own: Mapping[str, Option]
) -> dict[str, Any]:
    """Those that the user has given, each read as the method that is asked for reads it.

    Parameters
    ----------
    arguments : Namespace or request
    options : mapping of str to Option
        Of all methods.
    own : mapping of str to Option
        Of the method. What it does not have stays text: the method is the one to refuse it.

    Raises
    ------
    UsageError
        On bad text, or where one is given twice that the method takes once.
    """
    values = {name: getattr(arguments, name, None) for name in options}
    return {
        name: _read(own[name].flag or name, value, own[name]) if name in own else value
        for name, value in values.items()
        if value is not None
    }


def _read(name: str, value: Any, option: Option) -> Any:
    """The value of an option, of which there are several where any method takes several."""
    if option.parse is None:
        return True
    texts = value if isinstance(value, list) else [value]
    read = tuple(parsed(name, text, option.parse) for text in texts)
    if option.repeated:
        return read
    if len(read) > 1:
        raise UsageError(f"--{name.replace('_', '-')} is given twice; give it once")
    return read[0]


def parsed(name: str, text: str, parse: Callable[[str], Any]) -> Any:
    """Read the value of an option; UsageError that names the option."""
    try:
        return parse(text)
    except (DataError, UsageError) as error:
        raise UsageError(f"--{name.replace('_', '-')}: {error}") from error


def _flag(name: str, setting: Setting) -> str:
    return "--" + (setting.flag or name.replace("_", "-"))
