"""Page of tables: source, attackers, search, and the command that protects it."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from linkrisk.datasets.options.option import options_of
from linkrisk.datasets.tables.argus.jj_files import SUFFIX as JJ
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form, listed, several
from linkrisk.solver.app.pages.question import Asking, pairs
from linkrisk.solver.app.pages.table_source import Microdata, Ready
from linkrisk.solver.app.runs import State, find_run
from linkrisk.solver.app.steps import fields_of
from linkrisk.solver.app.table_steps import (
    AUDIT,
    MAKE,
    SUPPRESS,
    VERIFY,
    TableAsked,
    asked_before,
    command_of,
)
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.options.verifying import FilesOptions

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
PROOF = (
    "A file .json or .json.gz that this page, or tables suppress or tables audit with --certificate, has "
    "written."
)
PUBLISHED = {
    ".csv": "CSV: a line for each cell",
    ".xlsx": "workbook (.xlsx): as one prints it",
    ".parquet": "Parquet (.parquet)",
    ".px": "PC-Axis (.px)",
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


class _Tables(Asking):
    """A question about a table, and the command that it makes."""

    tasks = TASKS

    def __init__(self, state: State, asked: TableAsked) -> None:
        super().__init__(state, asked.task, asked.values)
        self._tables, self._kind = list(asked.tables), READY if asked.made is None else MICRODATA
        self._certified, self._published, self._house = asked.certified, asked.published, asked.house
        self._making = Form(state, {"rules": ["p=10"], **(asked.made or {})}, self.changed)
        self._source: Ready | Microdata | None = None
        self.form.offered["insiders"] = {name: f"those of {name}" for name in state.project.data_files}

    @property
    def _made(self) -> bool:
        """Whether the table is one of microdata; what is audited or verified is there already."""
        return self._kind == MICRODATA and self.task == SUPPRESS

    @property
    def asked(self) -> TableAsked:
        """The question that the fields are."""
        return TableAsked(
            self.task,
            () if self._made else self._tables,
            self.form.values,
            self._making.values if self._made else None,
            certified=self._certified and self.task != VERIFY,
            published=self._published,
            house=self._house,
        )

    def show(self) -> None:
        """The page."""
        if not self.state.project.readable:
            with layout.text("p", ""):
                layout.text("span", "The project has no files yet: ")
                ui.link("bring them on the page Data", "/")
        super().show()

    def _say(self, name: str, value: Any) -> None:
        """Change what is no option."""
        setattr(self, name, value)
        if name == "_kind":
            self.fill_anew()
        self.update()

    def fill(self) -> None:
        """Make the fields of what is done with this kind of table."""
        form, command = self.form, command_of(self.task)
        form.begin(command)
        self._making.begin(MAKE)
        self.about.set_text(ABOUT[self.task])
        if self.task == SUPPRESS:
            with layout.panel():
                take = lambda event: self._say("_kind", event.value)  # noqa: E731
                ui.radio(KINDS, value=self._kind, on_change=take).mark("kind")
        if self.task == VERIFY:
            with layout.panel("The certificate"):
                form.place("result")
                layout.hint(PROOF)
        if self._made:
            self._source = Microdata(self._making, lambda: self.asked)
        else:
            self._source = Ready(form, self._tables, lambda: self.asked)
        self._source.show()
        if self.task != VERIFY:
            self._attackers()
            self._search() if self.task == SUPPRESS else self._audit()
            self._left()
        besides = {*options_of(TableOptions)} if self._made else {"hierarchies", "totals"}
        besides |= {"tables", "cells", "relations", "also", "contributors"}
        besides |= {*options_of(FilesOptions), "drop_constant"} if self.task == VERIFY else set()
        if fields_of(command).keys() - besides - form.placed:
            with layout.panel():
                form.more(*besides)

    def _attackers(self) -> None:
        """Who attacks a table besides outsiders, and what is known of them."""
        form = self.form

        def contributing() -> bool:
            return not self._made and self.asked.contributing

        def by_files() -> bool:
            listed = form.values.get("insiders") in form.offered["insiders"]
            return listed or "coalitions" in form.values or contributing()

        with layout.panel("Who attacks"):
            layout.hint(ATTACKERS)
            form.place("insiders", "coalitions", "contributors", contributors=contributing)
            form.field("as_far_as_possible", lambda: self.asked.attacked)
            form.shown(layout.hint(BY_FILES), by_files)

    def _search(self) -> None:
        """Fields of the search for suppressed cells."""
        form = self.form
        with layout.panel("Search"):
            form.place("method", "cost", "time_limit")
            layout.hint(SEARCH)
            with layout.folded("What solves it"):
                form.place("backend", "seed", backend=lambda: self.asked.solved)
                layout.hint(BACKEND)

    def _audit(self) -> None:
        """Fields of an audit: other releases, attackers, limits."""
        form, project = self.form, self.state.project

        def take(chosen: list[tuple[str, ...]]) -> None:
            form.set("also", [pair if pair[1] else pair[:1] for pair in chosen])

        with layout.panel("What else is published"):
            layout.hint(ALSO)
            cells = [name for name in project.offered("cells") if not name.lower().endswith(JJ)]
            files = {"cells": cells, "relations": project.data_files}
            pairs("release", 1, files, form.values.get("also", ()), take)
            with layout.folded("How long, and with how many processes"):
                form.place("time_limit", "workers")
                layout.hint(WORKERS)

    def _left(self) -> None:
        """Certificate and formats."""
        say = self._say
        with layout.panel("Proof and files"):
            ui.checkbox(
                "With a certificate for others to check, and its check here",
                value=self._certified,
                on_change=lambda event: say("_certified", bool(event.value)),
            ).mark("certified")
            self.form.field("exact")
            layout.hint("A certificate implies rational numbers.")
            with layout.folded("Formats of the files"), ui.element("div").classes("fields"):
                listed("Published table", PUBLISHED, self._published, lambda end: say("_published", end))
                several("More for the house", HOUSE, self._house, lambda ends: say("_house", tuple(ends)))

    def check(self) -> None:
        """Raise what is wrong or missing."""
        if self._made:
            self._making.check()
        super().check()

    def changed(self, name: str) -> None:
        """Follow a change of an option."""
        if self._source is not None:
            self._source.changed(name)
        self.form.refresh()
        self._making.refresh()
        self.update()
