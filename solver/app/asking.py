"""What forms ask: values of the options of a command, the words that say them, what fields are called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from linkrisk.datasets.options.option import APP, COMMAND, Option, options_of
from linkrisk.errors import called, plain
from linkrisk.solver.options.line import values_of, words
from linkrisk.solver.options.operations import OPERATIONS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.flags import flag

OF_NUMBERS = {"decimal": "Before decimals", "thousands": "Between thousands"}
"""Fields that are no options of an operation: how numbers are written in all files of the project."""

_ASKED: ContextVar[str] = ContextVar("asked", default="")


def operation(command: str) -> type[Any]:
    """What a command, such as ``tables suppress``, can be asked."""
    module, _, name = OPERATIONS[command].partition(":")
    kind: type[Any] = getattr(import_module(module), name)
    return kind


def fields_of(command: str) -> dict[str, Option]:
    """The options of a command that a form asks for, by their keywords: those that have a label."""
    known = options_of(operation(command), COMMAND)
    return {name: one for name, one in known.items() if one.label and APP in one.faces}


@contextlib.contextmanager
def about(command: str) -> Iterator[None]:
    """Options in messages are those of a command meanwhile."""
    token = _ASKED.set(command)
    try:
        yield
    finally:
        _ASKED.reset(token)


def label(name: str, value: Any = None) -> str:
    """Spell an option as the form shows it; one without a field as a command does, as commands are shown."""
    known = options_of(operation(_ASKED.get())) if _ASKED.get() else {}
    shown = OF_NUMBERS.get(name) or (
        known[name].label if name in known else name if name in _of_methods() else ""
    )
    if not shown:
        return flag(name, value)
    return f"'{shown}'" if value is None or value is True else f"'{shown}' set to {plain(value)!r}"


def _of_methods() -> set[str]:
    """Parameters of masking methods, whose fields have their names; a schema is not asked for there."""
    from linkrisk.datasets.masking.registry import METHODS

    return {key for method in METHODS.values() for key in method.parameters} - {"schema"}


@dataclass(frozen=True)
class Step:
    """A command, and the values of its options.

    Attributes
    ----------
    command : str
        Such as ``tables suppress``.
    values : mapping
        By the keywords of its options. What another command would be told, or what says something of an
        option that has no value, is passed over.
    """

    command: str
    values: Mapping[str, Any]

    @property
    def given(self) -> dict[str, Any]:
        """The values that the command is told."""
        known = options_of(operation(self.command), COMMAND)
        found = {name: value for name, value in self.values.items() if name in known}
        for name in list(found):
            needs = [other for other in known[name].needs if other in known]
            if needs and not any(other in self.values for other in needs):
                del found[name]
            elif known[name].kind.repeated and isinstance(found[name], str):
                found[name] = [found[name]]
        return found

    @property
    def argv(self) -> list[str]:
        """Its words."""
        return [*self.command.split(), *words(operation(self.command), self.given)]

    def check(self) -> None:
        """Refuse what the command would refuse of its words, with options called as their fields are.

        Raises
        ------
        LinkriskError
        """
        with about(self.command):
            for name, one in fields_of(self.command).items():
                if one.required and name not in self.values:
                    raise UsageError(f"choose {called(name)}", option=name)
            values_of(operation(self.command), self.argv[len(self.command.split()) :])

    @classmethod
    def read(cls, argv: Sequence[str]) -> Step:
        """The step that a command line is; UsageError if it is none of this version."""
        command = next((name for name in (" ".join(argv[:2]), argv[0]) if name in OPERATIONS), "")
        if not command:
            raise UsageError(f"there is no command {argv[0]}")
        return cls(command, values_of(operation(command), argv[len(command.split()) :]))
