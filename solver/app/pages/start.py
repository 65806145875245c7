"""The end of a form: the button that starts what is asked, what is missing, and the command."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from linkrisk.errors import LinkriskError
from linkrisk.solver.app.asking import Step
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.run_folder import Run, spelled
from linkrisk.solver.app.state import State


class Start:
    """The button that starts what is asked, what is missing, and the command.

    Parameters
    ----------
    state : State
    steps : callable
        The commands, of a run whose folder is not known yet; LinkriskError where something is missing.
    start : callable
        Puts them into the queue.
    """

    def __init__(self, state: State, steps: Callable[[], list[Step]], start: Callable[[], list[Run]]) -> None:
        self._state, self._steps, self._start = state, steps, start
        with ui.element("div").classes("lines"):
            layout.button("Start", self._go).mark("start")
            self._missing = layout.text("span", "", "quiet").props("role=status aria-live=polite")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.text("p", words, "quiet small")
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self.update()

    def update(self) -> None:
        """Show the command, or what it lacks."""
        try:
            steps = self._steps()
        except LinkriskError as error:
            said = str(error)
            self._missing.set_text(f"{said[:1].upper()}{said[1:]}.")
            self._shown.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        argv = ([*step.argv, *self._state.project.reading] for step in steps)
        self._shown.set_text("\n".join(map(spelled, argv)))

    def _go(self) -> None:
        try:
            self._steps()
            runs = self._start()
        except LinkriskError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{runs[0].name}" if len(runs) == 1 else "/runs")
