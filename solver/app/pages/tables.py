"""Tables: which one, who attacks it, how it is searched; the command that protects it is shown."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from linkrisk.datasets.options.option import options_of
from linkrisk.datasets.tables.argus.jj_files import SUFFIX as JJ
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.asking import Step, fields_of
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form, several
from linkrisk.solver.app.pages.start import Start
from linkrisk.solver.app.pages.table_fields import pairs
from linkrisk.solver.app.pages.table_source import Microdata, Ready
from linkrisk.solver.app.run_folder import find_run
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import (
    AUDIT,
    MAKE,
    SUPPRESS,
    VERIFY,
    TableAsked,
    add_table,
    asked_before,
    command_of,
)
from linkrisk.solver.backends.registry import available_backends
from linkrisk.solver.options.operations.tables.suppress import AUTOMATIC, OPTIMAL
from linkrisk.solver.options.operations.verify import FilesOptions
from linkrisk.solver.options.tables import TableOptions

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
READY, MICRODATA = "cells", "microdata"
KINDS = {
    READY: "A ready table: a file with a line for each cell, or one of ARGUS",
    MICRODATA: "A table of microdata: records of respondents, counted or summed by some variables",
}
ATTACKERS = (
    "Respondents know what they contributed, and subtract it from what is published: a pattern that "
    "protects from outsiders need not protect from them."
)
BY_FILES = (
    "A file of insiders has the columns insider, cell, lower, upper; one of contributions cell, "
    "contributor, amount; one of coalitions coalition, contributor."
)
SEARCH = (
    "Optimal is what costs least, proven, or the best that is found, with a bound; up to 3,000 cells it "
    "fits. Modular looks at subtables one by one and repairs what they leave open; heuristic is the "
    "quickest. All end in an audit over all relations."
)
BACKEND = (
    "A backend solves the program of the optimal method; with one, that method is taken whatever the size "
    "of the table. Modular and heuristic have none."
)
ALSO = (
    "Other tables or releases of the same cells, known by their codes: what any of them publishes, "
    "everybody knows. Each is a file for the house, which has the values of what it hides."
)
WORKERS = (
    "A sensitive cell that was not looked at in time does not count as protected. More processes are worth"
    " it from some thousand suppressed cells on."
)
PUBLISHED = {
    ".csv": "CSV: a line for each cell",
    ".xlsx": "workbook (.xlsx): as one prints it",
    ".parquet": "Parquet (.parquet)",
    ".tab": "codes and values of ARGUS (.tab)",
}
HOUSE = {
    ".jj": "JJ file (.jj)",
    ".tab": "cells of ARGUS (.tab, .rda)",
    ".sbs": "Eurostat (.sbs)",
    ".xlsx": "workbook (.xlsx)",
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
        run, known = find_run(state.project, again) if again else None, state.project.readable
        with layout.page(state, "Tables", "Tables"):
            asked = TableAsked(
                task if task in TASKS else SUPPRESS,
                ((cells, relations if relations in known else ""),) if cells in known else (),
                {"result": proof} if proof in known else {},
                {"data": microdata} if microdata in known else None,
            )
            if run is not None:
                try:
                    asked = asked_before(run)
                except LinkriskError as error:
                    layout.text("p", f"This run cannot be asked again: {error}.", "bad")
            _Tables(state, asked).show()


class _Tables:
    """What is asked, and the command that it makes."""

    def __init__(self, state: State, asked: TableAsked) -> None:
        self._state, self._task, self._tables = state, asked.task, list(asked.tables)
        self._kind = READY if asked.made is None else MICRODATA
        self._certified, self._published, self._house = asked.certified, asked.published, list(asked.house)
        self._form = Form(state, asked.values, self._changed)
        self._form.offered["backend"] = {name: name for name in available_backends()}
        data_files = state.project.data_files
        self._form.offered["insiders"] = {name: f"those of {name}" for name in data_files}
        self._making = Form(state, {"rules": ["p=10"], **(asked.made or {})}, self._changed)
        self._source: Ready | Microdata | None = None

    @property
    def _made(self) -> bool:
        """Whether the table is one of microdata; what is audited or verified is there already."""
        return self._kind == MICRODATA and self._task == SUPPRESS

    @property
    def _asked(self) -> TableAsked:
        return TableAsked(
            self._task,
            () if self._made else self._tables,
            self._form.values,
            self._making.values if self._made else None,
            certified=self._certified and self._task != VERIFY,
            published=self._published,
            house=tuple(self._house),
        )

    def show(self) -> None:
        """The form."""
        if not self._state.project.readable:
            with layout.text("p", ""):
                layout.text("span", "The project has no files yet: ")
                ui.link("bring them on the page Data", "/")
        with ui.element("div").classes("panel"):
            ui.radio(TASKS, value=self._task, on_change=lambda event: self._choose(task=event.value)).mark(
                "task"
            )
            self._about = layout.text("p", "", "quiet small about")
        self._place = ui.element("div")
        self._fill()
        self._start = Start(self._state, self._steps, lambda: [add_table(self._state.queue, self._asked)])

    def _choose(self, task: str = "", kind: str = "") -> None:
        self._task, self._kind = task or self._task, kind or self._kind
        self._fill()
        self._start.update()

    def _fill(self) -> None:
        """The fields of what is done with this kind of table."""
        form, task = self._form, self._task
        form.begin(command_of(task))
        self._making.begin(MAKE)
        self._about.set_text(ABOUT[task])
        self._place.clear()
        with self._place:
            if task == SUPPRESS:
                with ui.element("div").classes("panel"):
                    chosen = lambda event: self._choose(kind=event.value)  # noqa: E731
                    ui.radio(KINDS, value=self._kind, on_change=chosen).mark("kind")
            if task == VERIFY:
                self._proof()
            if self._made:
                self._source = Microdata(self._making, lambda: self._asked)
            else:
                self._source = Ready(form, self._tables, lambda: self._asked)
            self._source.show()
            besides = {*options_of(TableOptions)} if self._made else {"hierarchies", "totals"}
            besides |= {"tables", "cells", "relations", "also", "contributors"}
            if task == VERIFY:
                besides |= {*options_of(FilesOptions), "drop_constant"}
            else:
                self._attackers()
                self._search() if task == SUPPRESS else self._audit()
                self._left()
            if fields_of(command_of(task)).keys() - besides - form.placed:
                with ui.element("div").classes("panel"):
                    form.more(*besides)

    def _proof(self) -> None:
        """Which certificate is checked."""
        with ui.element("div").classes("panel"):
            layout.text("h2", "The certificate")
            self._form.place("result")
            words = (
                "A file .json or .json.gz that this page, or tables suppress or tables audit with "
                "--certificate, has written."
            )
            layout.text("p", words, "quiet small")

    def _attackers(self) -> None:
        """Who attacks a table besides outsiders, and what is known of them."""
        form = self._form

        def by_files() -> bool:
            listed = form.values.get("insiders") in form.offered["insiders"]
            return listed or "coalitions" in form.values or (not self._made and self._asked.contributing)

        with ui.element("div").classes("panel"):
            layout.text("h2", "Who attacks")
            layout.text("p", ATTACKERS, "quiet small")
            contributing = {"contributors": lambda: not self._made and self._asked.contributing}
            form.place("insiders", "coalitions", "contributors", **contributing)
            form.field("as_far_as_possible", lambda: self._asked.attacked)
            form.shown(layout.text("p", BY_FILES, "quiet small"), by_files)

    def _search(self) -> None:
        """How cells to be suppressed are looked for."""
        form = self._form
        with ui.element("div").classes("panel"):
            layout.text("h2", "Search")
            form.place("method", "cost", "time_limit")
            layout.text("p", SEARCH, "quiet small")
            with ui.expansion("What solves it").classes("more").mark("more-search"):
                optimal = {"backend": lambda: form.values.get("method", AUTOMATIC) in (AUTOMATIC, OPTIMAL)}
                form.place("backend", "seed", **optimal)
                layout.text("p", BACKEND, "quiet small")

    def _audit(self) -> None:
        """What else is published, and who looks at all of it how long."""
        form = self._form
        with ui.element("div").classes("panel"):
            layout.text("h2", "What else is published")
            layout.text("p", ALSO, "quiet small")
            files = [name for name in self._state.project.cells if not name.lower().endswith(JJ)]

            def take(chosen: list[tuple[str, ...]]) -> None:
                form.set("also", [pair if pair[1] else pair[:1] for pair in chosen])

            pairs(form, "release", 1, files, form.values.get("also", ()), take)
            with ui.expansion("How long, and with how many processes").classes("more").mark("more-audit"):
                form.place("time_limit", "workers")
                layout.text("p", WORKERS, "quiet small")

    def _left(self) -> None:
        """Certificate and formats."""

        def say(name: str, value: Any) -> None:
            setattr(self, name, value)
            self._start.update()

        with ui.element("div").classes("panel"):
            layout.text("h2", "Proof and files")
            ui.checkbox(
                "With a certificate for others to check, and its check here",
                value=self._certified,
                on_change=lambda event: say("_certified", bool(event.value)),
            ).mark("certified")
            self._form.field("exact")
            layout.text("p", "A certificate implies rational numbers.", "quiet small")
            with (
                ui.expansion("Formats of the files").classes("more").mark("more-files"),
                ui.element("div").classes("fields"),
            ):
                ui.select(
                    PUBLISHED,
                    value=self._published if self._published in PUBLISHED else ".csv",
                    label="Published table",
                    on_change=lambda event: say("_published", event.value),
                )
                several("More for the house", HOUSE, self._house, lambda ends: say("_house", ends))

    def _changed(self, name: str) -> None:
        if self._source is not None:
            self._source.changed(name)
        self._form.refresh()
        self._making.refresh()
        self._start.update()

    def _steps(self) -> list[Step]:
        self._form.check()
        if self._made:
            self._making.check()
        self._asked.check()
        return self._asked.steps("runs/NNNN-tables")
