"""Tables: which one, who attacks it, how it is searched; the command that protects it is shown."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout, table_attackers, table_search
from linkrisk.solver.app.pages.table_fields import CELLS, MICRODATA, Asking
from linkrisk.solver.app.pages.table_microdata import Microdata
from linkrisk.solver.app.pages.table_ready import Ready
from linkrisk.solver.app.run_folder import find_run, spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_checks import check
from linkrisk.solver.app.table_question import AUDIT, SUPPRESS, VERIFY, TableQuestion
from linkrisk.solver.app.table_steps import add_table, table_steps

TASKS = {
    SUPPRESS: "Protect a table: suppress cells with the sensitive ones",
    AUDIT: "Audit a table: what attackers compute of the cells that are suppressed in it",
    VERIFY: "Check a certificate: what it proves of a table",
}
ABOUT = {
    SUPPRESS: "Cells are suppressed with the sensitive ones so that nobody can compute a sensitive one too "
    "closely, at the least cost, with a bound that proves it. A run that is stopped leaves a pattern "
    "that protects, too.",
    AUDIT: "Whoever chose the pattern: of every suppressed cell the interval is found that attackers "
    "compute, and whether it is as wide as its level asks. Suppressed are cells with the status u or m.",
    VERIFY: "The certificate is added up again in fractions, from the table with its suppressed cells "
    "(status u or m), as the house has it: without an optimiser, and by code that shares nothing with what "
    "found it.",
}
KINDS = {
    CELLS: "A ready table: a file with a line for each cell, or one of ARGUS",
    MICRODATA: "A table of microdata: records of respondents, counted or summed by some variables",
}


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/tables")
    def tables(
        cells: str = "",
        relations: str = "",
        microdata: str = "",
        again: str = "",
        task: str = SUPPRESS,
        proof: str = "",
    ) -> None:
        asked = {"cells": cells, "relations": relations, "microdata": microdata, "proof": proof}
        asked["task"] = task if task in TASKS else SUPPRESS
        run = find_run(state.project, again) if again else None
        if run is not None:
            asked = {**asked, **run.command.get("asked", run.command.get("inputs", {}))}
        with layout.page(state, "Tables", "Tables"):
            _Form(state, TableQuestion.again(asked, state.project)).show()


def _asks(task: str, now: Asking) -> bool:
    """Whether this is what is asked."""
    return now.question.task == task


class _Form:
    """What is asked, and the command that it makes."""

    def __init__(self, state: State, question: TableQuestion) -> None:
        self._state = state
        self._asking = Asking(state, question, self._changed)
        self._sources = (Ready(self._asking), Microdata(self._asking))

    def show(self) -> None:
        """The form."""
        asking = self._asking
        if not self._state.project.readable:
            with layout.text("p", ""):
                layout.text("span", "The project has no files yet: ")
                ui.link("bring them on the page Data", "/")
        with ui.element("div").classes("panel"):
            ui.radio(
                TASKS, value=asking.question.task, on_change=lambda event: asking.set("task", event.value)
            ).mark("task")
            for task, words in ABOUT.items():
                asking.shown(layout.text("p", words, "quiet small about"), partial(_asks, task))
        kinds = asking.shown(ui.element("div").classes("panel"), partial(_asks, SUPPRESS))
        with kinds:
            ui.radio(KINDS, value=asking.kind, on_change=lambda event: asking.choose_kind(event.value)).mark(
                "kind"
            )
        self._proof()
        for source in self._sources:
            source.show()
        attackers = asking.shown(ui.element("div"), lambda now: not _asks(VERIFY, now))
        with attackers:
            table_attackers.show(asking)
        table_search.show(asking)
        with ui.element("div").classes("lines"):
            layout.button("Start", self._start).mark("start")
            self._missing = layout.text("span", "", "quiet").props("role=status aria-live=polite")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.text("p", words, "quiet small")
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self._show_command()

    def _proof(self) -> None:
        """Which certificate is checked."""
        asking = self._asking
        panel = asking.shown(ui.element("div").classes("panel"), partial(_asks, VERIFY))
        with panel:
            layout.text("h2", "The certificate")
            with ui.element("div").classes("fields"):
                files = {name: name for name in self._state.project.certificates}
                asking.select("Certificate", {"": "none chosen", **files}, "proof")
            layout.text(
                "p",
                "A file .json or .json.gz that this page, or tables suppress or tables audit with "
                "--certificate, has written.",
                "quiet small",
            )

    def _changed(self, key: str) -> None:
        for source in self._sources:
            source.changed(key)
        self._show_command()

    def _show_command(self) -> None:
        asked = self._asking.asked
        try:
            check(asked)
        except LinkriskError as error:
            said = str(error)
            self._missing.set_text(said[:1].upper() + said[1:] + ".")
            self._shown.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        self._shown.set_text(
            "\n".join(
                spelled([*step, *self._state.project.reading])
                for step in table_steps(asked, "runs/NNNN-tables")
            )
        )

    def _start(self) -> None:
        try:
            run = add_table(self._state.queue, self._asking.asked)
        except LinkriskError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{run.name}")
