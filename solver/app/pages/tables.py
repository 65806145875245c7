"""Tables: which one, who attacks it, how it is searched; the command that protects it is shown."""

from __future__ import annotations

from nicegui import ui

from linkrisk.solver.app.pages import layout, table_attackers
from linkrisk.solver.app.pages.table_fields import CELLS, MICRODATA, Asking
from linkrisk.solver.app.pages.table_microdata import Microdata
from linkrisk.solver.app.pages.table_ready import Ready
from linkrisk.solver.app.run_folder import find_run, spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_question import TableQuestion
from linkrisk.solver.app.table_steps import add_table, table_steps
from linkrisk.solver.run.errors import INPUT_ERRORS

KINDS = {
    CELLS: "A ready table: a file with a line for each cell, or one of ARGUS",
    MICRODATA: "A table of microdata: records of respondents, counted or summed by some variables",
}
COSTS = {
    "value": "its value",
    "unit": "one for each cell",
    "log": "logarithm of its value",
    "given": "as a column says",
}
METHODS = {
    "auto": "what fits its size",
    "optimal": "optimal",
    "modular": "modular",
    "heuristic": "heuristic",
}


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/tables")
    def tables(cells: str = "", relations: str = "", microdata: str = "", again: str = "") -> None:
        asked = {"cells": cells, "relations": relations, "microdata": microdata}
        run = find_run(state.project, again) if again else None
        if run is not None:
            asked = {**asked, **run.command.get("asked", run.command.get("inputs", {}))}
        with layout.page(state, "Protect a table", "Tables"):
            _Form(state, TableQuestion.again(asked, state.project)).show()


class _Form:
    """What is asked, and the command that it makes."""

    def __init__(self, state: State, question: TableQuestion) -> None:
        self._state = state
        self._asking = Asking(state, question, self._changed)
        self._sources = (Ready(self._asking), Microdata(self._asking))

    def show(self) -> None:
        """The form."""
        layout.text(
            "p",
            "Cells are suppressed with the sensitive ones so that nobody can compute a sensitive one too "
            "closely, at the least cost, with a bound that proves it. A run that is stopped leaves a pattern "
            "that protects, too.",
            "quiet",
        )
        asking = self._asking
        if not self._state.project.readable:
            with layout.text("p", ""):
                layout.text("span", "The project has no files yet: ")
                ui.link("bring them on the page Data", "/")
        with ui.element("div").classes("panel"):
            ui.radio(KINDS, value=asking.kind, on_change=lambda event: asking.choose_kind(event.value)).mark(
                "kind"
            )
        for source in self._sources:
            source.show()
        table_attackers.show(asking)
        with ui.element("div").classes("panel"):
            layout.text("h2", "Search")
            with ui.element("div").classes("fields"):
                asking.select("Method", METHODS, "method")
                asking.select("Cost of a cell", COSTS, "cost")
                asking.number("Time limit in seconds", "seconds", 1)
                asking.number("Seed", "seed", 0)
            asking.checkbox("Decide every level in rational numbers, without tolerance: slower", "exact")
            layout.text(
                "p",
                "Optimal is what costs least, proven, or the best that is found, with a bound; up to 3,000 "
                "cells it fits. Modular looks at subtables one by one and repairs what they leave open; "
                "heuristic is the quickest. All end in an audit over all relations.",
                "quiet small",
            )
        with ui.element("div").classes("lines"):
            layout.button("Start", self._start).mark("start")
            self._missing = layout.text("span", "", "quiet").props("role=status aria-live=polite")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.text("p", words, "quiet small")
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self._show_command()

    def _changed(self, key: str) -> None:
        for source in self._sources:
            source.changed(key)
        self._show_command()

    def _show_command(self) -> None:
        asked = self._asking.asked
        try:
            asked.check()
        except INPUT_ERRORS as error:
            said = str(error)
            self._missing.set_text(said[:1].upper() + said[1:] + ".")
            self._shown.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        self._shown.set_text("\n".join(spelled(step) for step in table_steps(asked, "runs/NNNN-tables")))

    def _start(self) -> None:
        try:
            run = add_table(self._state.queue, self._asking.asked)
        except INPUT_ERRORS as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{run.name}")
