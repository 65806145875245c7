"""Tables: which cells and relations, or which microdata; the command that protects them is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nicegui import ui

from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.run_folder import spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import TableQuestion, add_table, table_steps
from linkrisk.solver.run.errors import UsageError

KINDS = {
    "cells": "A table that is there: a file with a line for each cell, and its relations",
    "microdata": "A table of microdata: records of respondents, counted or summed by some variables",
}
COSTS = {
    "value": "its value",
    "unit": "one for each cell",
    "log": "logarithm of its value",
    "given": "as the column cost says",
}
BY_CODES = "none: they follow from the codes"


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/tables")
    def tables(cells: str = "", relations: str = "", microdata: str = "") -> None:
        names = state.project.data_files
        given = {"cells": cells, "relations": relations, "microdata": microdata}
        known = {what: name for what, name in given.items() if name in names}
        with layout.page(state, "Protect a table", "Tables"):
            _Form(state, TableQuestion(**known)).show()  # type: ignore[arg-type]


class _Form:
    """What is asked, as it is now."""

    def __init__(self, state: State, question: TableQuestion) -> None:
        self._state, self._question = state, question
        self._kind = "microdata" if question.microdata else "cells"

    def show(self) -> None:
        """The form."""
        layout.text(
            "p",
            "Cells are suppressed with the sensitive ones so that nobody can compute a sensitive one too "
            "closely, at the least cost, with a bound that proves it. A run that is stopped leaves a pattern "
            "that protects, too.",
            "quiet",
        )
        with ui.element("div").classes("panel"):
            ui.radio(KINDS, value=self._kind, on_change=self._choose).mark("kind")
        files = {"": "none", **{name: name for name in self._state.project.data_files}}
        self._cells(files)
        self._microdata(files)
        with ui.element("div").classes("panel"):
            layout.text("h2", "Search")
            with ui.element("div").classes("fields"):
                self._select("Cost of a cell", COSTS, self._question.cost, "cost")
                self._number("Time limit in seconds", self._question.seconds, "seconds", 1)
                self._number("Seed", self._question.seed, "seed", 0)
        layout.button("Start", self._start).mark("start")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.text("p", words, "quiet small")
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self._show_command()
        if self._question.microdata:
            ui.timer(0.01, self._look, once=True)

    def _panel(self, kind: str) -> ui.element:
        panel = ui.element("div").classes("panel")
        return panel.bind_visibility_from(self, "_kind", lambda chosen: chosen == kind)

    def _cells(self, files: dict[str, str]) -> None:
        with self._panel("cells"):
            layout.text("h2", "The table")
            with ui.element("div").classes("fields"):
                self._select("File of cells", files, self._question.cells, "cells")
                self._select(
                    "File of relations", {**files, "": BY_CODES}, self._question.relations, "relations"
                )
            layout.text(
                "p",
                "A line for each cell: its codes, then value, status (u sensitive, z always published) and "
                "levels. A line for each term of a relation: relation, cell, coefficient.",
                "quiet small",
            )

    def _microdata(self, files: dict[str, str]) -> None:
        with self._panel("microdata"):
            layout.text("h2", "Microdata")
            with ui.element("div").classes("fields"):
                self._select("File of microdata", files, self._question.microdata, "microdata")
                self._by = (
                    ui.select(
                        [], label="By", multiple=True, on_change=lambda event: self._set_by(event.value)
                    )
                    .props("use-chips")
                    .mark("by")
                )
                self._response = self._select("What is summed", {"": "records are counted"}, "", "response")
            ui.textarea(
                "Rules, one a line", value="\n".join(self._question.rules), on_change=self._set_rules
            ).props("rows=3").style("width: 100%").mark("rules")
            layout.text(
                "p",
                "p=10: the p % rule; nk=2,75: dominance; frequency=3: fewer than three respondents.",
                "quiet small",
            )

    def _select(self, label: str, options: dict[str, str], value: str, key: str) -> ui.select:
        return ui.select(
            options, value=value, label=label, on_change=lambda event: self._set(key, event.value)
        ).mark(key)

    def _number(self, label: str, value: float, key: str, least: float) -> ui.number:
        def change(event: Any) -> None:
            if event.value is not None and event.value >= least:
                self._set(key, int(event.value) if key == "seed" else float(event.value))

        return ui.number(label, value=value, min=least, on_change=change).mark(key)

    def _set(self, key: str, value: Any) -> None:
        self._question = replace(self._question, **{key: value})
        self._show_command()
        if key == "microdata" and value:
            ui.timer(0.01, self._look, once=True)

    def _set_by(self, names: list[str]) -> None:
        self._set("by", tuple(names))

    def _set_rules(self, event: Any) -> None:
        self._set("rules", tuple(line.strip() for line in event.value.splitlines() if line.strip()))

    async def _look(self) -> None:
        """Offer the columns of the microdata."""
        file = self._question.microdata
        found = await look(self._state.project, file)
        if file != self._question.microdata:
            return
        if "error" in found:
            layout.say_error(str(found["error"]))
            return
        names = [str(column["name"]) for column in found["columns"]]
        self._by.set_options(names, value=[])
        self._response.set_options({"": "records are counted", **{name: name for name in names}}, value="")

    def _choose(self, event: Any) -> None:
        self._kind = event.value
        self._show_command()

    @property
    def _asked(self) -> TableQuestion:
        if self._kind == "cells":
            return replace(self._question, microdata="")
        return replace(self._question, cells="", relations="")

    def _show_command(self) -> None:
        try:
            self._asked.check()
        except UsageError as error:
            said = str(error)
            self._shown.set_text(said[:1].upper() + said[1:] + ".")
            return
        self._shown.set_text(
            "\n".join(spelled(step) for step in table_steps(self._asked, "runs/NNNN-tables"))
        )

    def _start(self) -> None:
        try:
            run = add_table(self._state.queue, self._asked)
        except UsageError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{run.name}")
