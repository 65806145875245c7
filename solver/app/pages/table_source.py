"""Fields for the source of a table: files of cells, files of ARGUS, or microdata."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
from nicegui import ui

from linkrisk.datasets.tables.argus import jj_files, ready_tables
from linkrisk.datasets.tables.reading import WHOLE
from linkrisk.datasets.tables.stored_table import code_columns
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form, one_of, several
from linkrisk.solver.app.pages.question import NONE, Trees, growing, pairs
from linkrisk.solver.app.table_steps import TableAsked

ABOUT = (
    "A line for each cell: its codes, then value, status (u sensitive, m suppressed with it, s safe, z "
    "always published) and levels; of relations a line for each term: relation, cell, coefficient. Or a JJ"
    " file (.jj), or cells of ARGUS (.tab, with .rda and .hrc beside them in the project), which say "
    "themselves which relations there are."
)
LINKED = (
    "Tables with common cells are protected together, so that none gives away what another one hides. "
    "Cells are the same where their codes are; a column that a table does not have stands at its total "
    "there."
)
TREES = (
    "A hierarchy is a file with the columns code and parent, one with a column for each level, or a tree "
    "of ARGUS (.hrc). Choose several where the codes are grouped in several ways, such as regions by "
    "county and by zone; without any, all codes are right below the total."
)
HOLDINGS = (
    "Respondents of one holding count as one. With holdings and weights, rules can only look "
    "at what is in the sample: choose that respondents know weights, or do not."
)
RULES = {
    "p=10": "the p % rule; with prior knowledge of 50 % and two intruders p=10,q=50,m=2",
    "nk=2,75": "dominance: two respondents have more than 75 %",
    "frequency=3": "fewer than three respondents; with a level of 20 % of the value frequency=3,20",
    "zero=5": "all respondents have nothing; the level is 5, in units of the value",
    "request=70": "the largest respondent asked for protection and has more than 70 %",
}
STATUSES = (
    "A cell is sensitive by any of the rules. A file of statuses has a line for a cell: its codes "
    "and status (u sensitive, s safe, z always published); it comes before the rules."
)


class Ready:
    """The panel of a table that is there.

    `form`: of what is done with it. `tables`: files of cells and relations, which are chosen here: of the
    table, and of those linked to it. `asked`: what is asked, as it is now.
    """

    def __init__(self, form: Form, tables: list[tuple[str, ...]], asked: Callable[[], TableAsked]) -> None:
        self._form, self._tables, self._asked = form, tables, asked
        self._project = form.state.project
        self._columns_of: dict[str, list[str]] = {}
        self._error = ""

    def show(self) -> None:
        """The panel."""
        form, project = self._form, self._project
        with layout.panel("The table"):
            with ui.element("div").classes("fields"):
                self._file("cells", project.offered("cells"), 0)
                relations = self._file("relations", project.data_files, 1)
                form.shown(relations, lambda: not self._asked().whole)
                form.field("metadata", self._described)
            self._wrong = layout.text("p", "", "bad").props("role=alert")
            layout.hint(ABOUT)
            with form.shown(ui.element("div"), lambda: bool(self._cells) and not self._asked().whole):
                layout.text("h3", "Linked to other tables")
                layout.hint(LINKED)
                parts = [name for name in project.offered("cells") if not name.lower().endswith(WHOLE)]
                files = {"cells": parts, "relations": project.data_files}
                pairs("table", 2, files, self._tables[1:], lambda others: self._take(1, None, others))
            layout.text("h3", "Its columns and hierarchies")
            form.place(
                *("by", "value", "apriori", "made", "counts"),
                by=self._named,
                value=self._named,
                apriori=lambda: len(self._asked().ready) < 2,
                made=lambda: bool("made" in form.values or project.offered("made")),
            )
            with form.shown(ui.element("div"), lambda: self._asked().by_codes):
                self._trees = Trees(form, project.offered("hierarchies"), TREES)
            form.field("recompute")
        if self._tables:
            self._look_soon()

    def _file(self, what: str, files: Sequence[str], at: int) -> ui.select:
        """The field of the first file of cells, or of relations."""

        def choose(file: str) -> None:
            pair = [*self._tables[0]] if self._tables else ["", ""]
            pair[at] = file
            self._take(0, 1, [tuple(pair)])

        chosen = self._tables[0][at] if self._tables else ""
        return one_of(f"File of {what}", files, chosen, choose, NONE[what])

    def _take(self, begin: int, end: int | None, chosen: list[tuple[str, ...]]) -> None:
        self._tables[begin:end] = chosen
        self._form.follow("tables")

    @property
    def _cells(self) -> str:
        return self._tables[0][0] if self._tables else ""

    def _named(self) -> bool:
        """Whether columns have names that can be chosen."""
        return not self._cells.lower().endswith(jj_files.SUFFIX)

    def _described(self) -> bool:
        """Whether there can be metadata."""
        of_argus = self._cells.lower().endswith(ready_tables.SUFFIX) or bool(
            self._project.offered("metadata")
        )
        return bool(self._cells) and of_argus and self._named() and not self._tables[0][1]

    def changed(self, name: str) -> None:
        """Follow a change of what is asked."""
        if name in ("tables", "metadata"):
            self._look_soon()
        if name in ("tables", "by", "value"):
            self._offer()

    def _look_soon(self) -> None:
        ui.timer(0.01, self._look, once=True)

    async def _look(self) -> None:
        """Find the columns of the files of cells, and offer them."""
        before = self._read_from
        codes, values, error = await self._found()
        if before == self._read_from:  # no other file was chosen meanwhile
            self._error = error
            self._form.offer(codes, value=values)
            self._offer()

    @property
    def _read_from(self) -> tuple[object, ...]:
        return *self._tables, self._form.values.get("metadata")

    async def _found(self) -> tuple[list[str], list[str], str]:
        """Columns that may hold codes, those that may hold values, and what is wrong with the file."""
        asked, project = self._asked(), self._project
        self._columns_of = {}
        if not self._cells or not self._named():
            return [], [], ""
        if asked.whole:
            described = asked.values.get("metadata")
            metadata = project.inside(described) if described else None
            try:
                return *ready_tables.argus_columns(project.inside(self._cells), metadata), ""
            except LinkriskError as error:
                return [], [], str(error).replace(f"{project.folder}/", "")
        found = {cells: await look(project, cells) for cells, _ in asked.ready}
        for cells, what in found.items():
            self._columns_of[cells] = [str(one["name"]) for one in what.get("columns", ())]
        errors = [str(what["error"]) for what in found.values() if "error" in what]
        names = list(dict.fromkeys(name for mine in self._columns_of.values() for name in mine))
        return names, names, errors[0] if errors else ""

    def _offer(self) -> None:
        """Fields for the columns of codes, as a command finds them, and what a file of cells lacks."""
        asked, value = self._asked(), self._form.values.get("value", "value")
        codes = list(asked.values.get("by", ())) or self._usual_codes(value)
        lacking = next((file for file, names in self._columns_of.items() if value not in names), None)
        missing = f"{lacking} has no column {value!r}: choose the column of values, or another file"
        read = any(self._columns_of.values()) and not asked.whole
        self._wrong.set_text(self._error or (missing if lacking and read else ""))
        self._trees.offer(codes if asked.by_codes else [])
        self._form.follow()

    def _usual_codes(self, value: str) -> list[str]:
        """Columns of codes of all tables where none are chosen: those before the values."""
        found: list[str] = []
        for names in self._columns_of.values():
            if value in names:
                frame = pd.DataFrame(columns=["value" if name == value else name for name in names])
                found += code_columns(frame)
        return list(dict.fromkeys(found))


class Microdata:
    """The panel of a table of microdata: variables, what is summed, and by which rules it is sensitive.

    `form`: of `tables make`. `asked`: what is asked, as it is now.
    """

    def __init__(self, form: Form, asked: Callable[[], TableAsked]) -> None:
        self._form, self._asked = form, asked
        self._by: list[ui.select] = []

    def show(self) -> None:
        """The panel."""
        form, values = self._form, self._form.values
        with layout.panel("Microdata"):
            form.place("data")
            self._wrong = layout.text("p", "", "bad").props("role=alert")
            with ui.element("div").classes("fields"):
                growing(self._variables, values.get("by", ()), self._tabulate)
            form.place(
                *("response", "weight", "weights_in_rules", "holding", "respondent"),
                weights_in_rules=lambda: "weight" in values,
                respondent=lambda: self._asked().contributing,
            )
            form.shown(layout.hint(HOLDINGS), lambda: {"weight", "holding"} <= values.keys())
            self._trees = Trees(form, form.state.project.offered("hierarchies"), TREES)
            self._offer()
            self._rules()
            form.more("by", "hierarchies")
        if "data" in values:
            self._look()

    def _variables(
        self, at: int, chosen: Sequence[str], follow: Callable[[], None]
    ) -> Callable[[], tuple[str, ...]]:
        """The field for the variables of a table."""
        title = f"By, of table {at + 1}" if at else "By"
        hint = "if any: protected together" if at else "explanatory variables, one to six"
        field = several(title, self._form.columns or chosen, chosen, lambda _: follow(), hint)
        self._by.append(field)
        return lambda: tuple(field.value)

    def _tabulate(self, tables: list[tuple[str, ...]]) -> None:
        self._form.set("by", [list(names) for names in tables])
        self._offer()

    def _offer(self) -> None:
        """Fields for the hierarchies of all variables."""
        self._trees.offer(dict.fromkeys(name for names in self._form.values.get("by", ()) for name in names))

    def _rules(self) -> None:
        form = self._form
        layout.text("h3", "What is sensitive")
        form.field("rules").style("width: 100%")
        with layout.text("dl", "", "rules quiet small"):
            for rule, words in RULES.items():
                layout.text("dt", rule)
                layout.text("dd", words)
        form.place(
            *("request", "shadow", "protection", "manual", "manual_range", "empty", "missing", "cost_column"),
            request=self._requested,
            manual_range=lambda: "manual" in form.values,
            cost_column=lambda: self._asked().values.get("cost") == "given",
        )
        layout.hint(STATUSES)
        form.field("negative")
        form.field("publish_respondents", lambda: "response" in form.values)

    def _requested(self) -> bool:
        """Whether a rule asks who has asked for protection."""
        rules = self._form.values.get("rules", ())
        return "request" in self._form.values or any(rule.startswith("request") for rule in rules)

    def changed(self, name: str) -> None:
        """Follow a change of what is asked."""
        if name == "data":
            self._look()

    def _look(self) -> None:
        """Find the columns of the file, and offer them."""

        def told(error: str) -> None:
            self._wrong.set_text(error)
            known = self._form.columns
            for field in list(self._by):
                field.set_options(known, value=[name for name in field.value if name in known])

        self._form.look("data", told)
