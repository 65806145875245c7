"""A page that asks: what can be done, the fields of what is chosen, what is missing, and the command."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from nicegui import ui

from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form
from linkrisk.solver.app.run_folder import spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import Asked, add
from linkrisk.solver.app.table_steps import TableAsked


class Asking(ABC):
    """What is asked, as it is now.

    Parameters
    ----------
    state : State
    task : str
        What is done, of `tasks`.
    values : mapping
        Of the options of its command, to begin with.
    """

    tasks: ClassVar[Mapping[str, str]]

    def __init__(self, state: State, task: str, values: Mapping[str, Any]) -> None:
        self.state, self.task = state, task
        self.form = Form(state, values, self.changed)
        self._shown: layout.TextElement | None = None

    @property
    @abstractmethod
    def asked(self) -> Asked | TableAsked:
        """The question that the fields are."""

    @abstractmethod
    def fill(self) -> None:
        """Make the fields of the task."""

    def show(self) -> None:
        """The page."""
        with ui.element("div").classes("panel"):
            choose = ui.radio(dict(self.tasks), value=self.task, on_change=self._choose)
            choose.mark("task")
            self.about = layout.text("p", "", "quiet small about")
        self._place = ui.element("div")
        self.fill_anew()
        with ui.element("div").classes("lines"):
            layout.button("Start", self._start).mark("start")
            self._missing = layout.text("span", "", "quiet").props("role=status aria-live=polite")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.text("p", words, "quiet small")
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self.update()

    def fill_anew(self) -> None:
        """Make the fields again, as another command has others."""
        self._place.clear()
        with self._place:
            self.fill()

    def _choose(self, event: Any) -> None:
        self.task = event.value
        self.fill_anew()
        self.update()

    def changed(self, name: str) -> None:  # noqa: ARG002 - for pages that follow some
        """Follow a change of an option."""
        self.update()

    def check(self) -> None:
        """Raise what is wrong or missing."""
        self.form.check()
        self.asked.check()

    def update(self) -> None:
        """Show the command, or what it lacks."""
        if self._shown is None:
            return
        try:
            self.check()
        except LinkriskError as error:
            said = str(error)
            self._missing.set_text(f"{said[:1].upper()}{said[1:]}.")
            self._shown.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        steps = self.asked.steps(f"runs/NNNN-{self.asked.kind}")
        lines = (spelled([*step.argv, *self.state.project.reading]) for step in steps)
        self._shown.set_text("\n".join(lines))

    def _start(self) -> None:
        try:
            self.check()
            runs = add(self.state.queue, self.asked)
        except LinkriskError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{runs[0].name}" if len(runs) == 1 else "/runs")
