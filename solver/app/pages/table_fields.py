"""A question about a table while it is asked: fields that change it, and what follows from each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nicegui import ui

from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import TableQuestion


class Asking:
    """The question as it is now; `changed` is called with the name of what was changed.

    Parameters
    ----------
    state : State
    question : TableQuestion
        To begin with.
    changed : callable
    """

    def __init__(self, state: State, question: TableQuestion, changed: Callable[[str], None]) -> None:
        self.state, self.question, self._follow = state, question, changed
        self._shown: list[tuple[ui.element, Callable[[Asking], bool]]] = []
        self.kind = "microdata" if question.microdata else "cells"

    @property
    def asked(self) -> TableQuestion:
        """What is asked: of a table that is there, or of microdata."""
        if self.kind == "cells":
            return replace(self.question, microdata="")
        return replace(self.question, cells="", relations="", contributors="")

    def set(self, key: str, value: Any) -> None:
        """Change a part of the question."""
        self.question = replace(self.question, **{key: value})
        self._changed(key)

    def _changed(self, key: str) -> None:
        for element, when in self._shown:
            element.set_visibility(when(self))
        self._follow(key)

    def choose_kind(self, kind: str) -> None:
        """Ask of the other kind of table."""
        self.kind = kind
        self._changed("kind")

    def files(self, none: str = "none") -> dict[str, str]:
        """The files of the project to choose from."""
        return {"": none, **{name: name for name in self.state.project.data_files}}

    def trees(self) -> dict[str, str]:
        """Files that may hold a hierarchy."""
        project = self.state.project
        names = [*project.trees, *project.data_files]
        return {"": "all codes right below the total", **{name: name for name in names}}

    def select(self, label: str, options: dict[str, str], key: str) -> ui.select:
        """A field with a list of answers."""
        value = getattr(self.question, key)
        known = value if value in options else next(iter(options))
        return ui.select(
            options, value=known, label=label, on_change=lambda event: self.set(key, event.value)
        ).mark(key)

    def number(self, label: str, key: str, least: float) -> ui.number:
        """A field of a number."""
        kind = type(getattr(self.question, key))

        def change(event: Any) -> None:
            if event.value is not None and event.value >= least:
                self.set(key, kind(event.value))

        return ui.number(label, value=getattr(self.question, key), min=least, on_change=change).mark(key)

    def shown(self, element: ui.element, when: Callable[[Asking], bool]) -> ui.element:
        """Show an element only while something holds."""
        self._shown.append((element, when))
        element.set_visibility(when(self))
        return element
