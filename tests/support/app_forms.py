"""Forms of the application without a browser: their elements, and the command that they show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app_projects import opened, small_pair

from linkrisk.solver.app.runs import Queue, State
from linkrisk.solver.app.security import Access
from linkrisk.solver.app.table_steps import AUDIT, SUPPRESS, VERIFY, TableAsked

FILE, FOUND = "data/original.csv", {"columns": [{"name": "age"}, {"name": "income"}]}
PAIR = {"original": FILE, "masked": "data/masked.csv"}
TABLES = {
    "tables make": TableAsked(made={"data": FILE, "by": [["age"]], "rules": ["frequency=3"]}),
    "tables suppress": TableAsked(SUPPRESS, tables=((FILE, ""),)),
    "tables audit": TableAsked(AUDIT, tables=((FILE, ""),)),
    "verify": TableAsked(VERIFY, tables=((FILE, ""),), values={"result": "data/proof.json"}),
}
COMMANDS = ("fit", "risk", "sweep", "link", "unsafe", "suppress", "mask", *TABLES)
"""Those that the application offers."""


def _form(command: str) -> Callable[[State], Any]:
    """What makes the form of a command."""
    from linkrisk.solver.app.pages import masking, new_run, tables

    if command in TABLES:
        return lambda state: tables._Tables(state, TABLES[command])
    if command == "mask":
        return lambda state: masking._Mask(state, FILE, FOUND)
    if command in new_run.TASKS:
        return lambda state: new_run._Unsafe(state, FILE, command, FOUND)
    return lambda state: new_run._New(state, PAIR, command)


class Shown:
    """The form of a command, for a project with a file pair.

    Parameters
    ----------
    command : str
        One of `COMMANDS`.
    folder : Path
        For the project.
    """

    def __init__(self, command: str, folder: Path) -> None:
        from nicegui import Client
        from nicegui.page import page

        small_pair(folder)
        (folder / "data" / "proof.json").write_text("{}")
        project = opened(folder)
        self.client = Client(page("/form"), request=None)
        with self.client:
            _form(command)(State(project, Queue(project), Access(frozenset(), 1, 1))).show()

    @property
    def _elements(self) -> list[Any]:
        return list(self.client.elements.values())

    @property
    def marks(self) -> list[str]:
        """What its fields are marked by: the keywords of options."""
        return [mark for one in self._elements for mark in one._markers]

    @property
    def texts(self) -> list[str]:
        """All that it says."""
        return [one.text for one in self._elements if isinstance(getattr(one, "text", None), str)]

    @property
    def command(self) -> str:
        """The command that it shows, or what stands there instead."""
        (found,) = (one.text for one in self._elements if one.tag == "pre")
        return str(found)

    def field(self, name: str) -> Any:
        """The field of an option."""
        (found,) = (one for one in self._elements if name in one._markers)
        return found
