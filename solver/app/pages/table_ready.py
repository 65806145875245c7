"""A table that is there: cells with relations or codes, or a file of ARGUS that says all itself."""

from __future__ import annotations

import pandas as pd
from nicegui import ui

from linkrisk.datasets.tables.argus import jj_files, ready_tables
from linkrisk.datasets.tables.cells_and_relations import code_columns
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import CELLS, Asking, ColumnFields
from linkrisk.solver.app.pages.table_hierarchies import Hierarchies
from linkrisk.solver.app.pages.table_pairs import Pairs

BY_CODES = "none: they follow from the codes"
COUNTS = {"": "guessed: counts, or amounts", "yes": "count: whole numbers", "no": "are amounts"}
_LOOKED_INTO = ("cells", "metadata", "further")
_DEPENDS = ("relations", "value", "codes", "task")


class Ready:
    """The panel.

    Parameters
    ----------
    asking : Asking
    """

    def __init__(self, asking: Asking) -> None:
        self._asking, self._columns = asking, ColumnFields(asking)
        self._names: list[str] = []
        self._columns_of: dict[str, list[str]] = {}
        self._error = ""

    def show(self) -> None:
        """The panel."""
        asking, columns = self._asking, self._columns
        panel = asking.shown(ui.element("div").classes("panel"), lambda now: now.kind == CELLS)
        with panel:
            layout.text("h2", "The table")
            with ui.element("div").classes("fields"):
                asking.select("File of cells", asking.tables(), "cells")
                asking.select("File of relations", asking.files(BY_CODES), "relations", _plain)
                asking.select("Metadata of ARGUS (.rda)", asking.descriptions(), "metadata", _described)
            self._wrong = layout.text("p", "", "bad").props("role=alert")
            self._about()
            self._linked()
            layout.text("h3", "Its columns and hierarchies")
            with ui.element("div").classes("fields"):
                asking.shown(columns.several("Columns of codes", "codes", "none chosen: all"), _named)
                columns.one("Column of values", "value; of ARGUS the first one", "value", _named)
                known = asking.files(more=asking.state.project.for_tables("apriori"))
                asking.select("What is known of cells (.hst)", known, "apriori", _single)
                rules = {"": "not known", **{name: name for name in asking.state.project.rules}}
                asking.select("Rules that it was made by (.json)", rules, "made", _recorded)
                asking.select("The values", COUNTS, "counts")
            grouped = ui.element("div")
            with asking.shown(grouped, lambda now: now.asked.by_codes):
                self._hierarchies = Hierarchies(asking, CELLS, totals=True)
            asking.checkbox("Compute totals again from what is below them", "recompute")
        if asking.question.cells:
            self._look_soon()

    def _about(self) -> None:
        layout.text(
            "p",
            "A line for each cell: its codes, then value, status (u sensitive, m suppressed with it, s safe, "
            "z always published) and levels; of relations a line for each term: relation, cell, coefficient. "
            "Or a JJ file (.jj), or cells of ARGUS (.tab, with .rda and .hrc beside them in the project), "
            "which say themselves which relations there are.",
            "quiet small",
        )

    def _linked(self) -> None:
        """Further tables."""
        place = self._asking.shown(ui.element("div"), _linkable)
        with place:
            layout.text("h3", "Linked to other tables")
            layout.text(
                "p",
                "Tables with common cells are protected together, so that none gives away what another one "
                "hides. Cells are the same where their codes are; a column that a table does not have stands "
                "at its total there.",
                "quiet small",
            )
            Pairs(self._asking, "further", "table", 2, BY_CODES)

    def changed(self, key: str) -> None:
        """Follow a change of the question."""
        if key in _LOOKED_INTO:
            self._look_soon()
        elif key in _DEPENDS:
            self._offer_hierarchies()

    def _look_soon(self) -> None:
        ui.timer(0.01, self._look, once=True)

    async def _look(self) -> None:
        """Find the columns of the file of cells, and offer them."""
        before = self._read_from
        codes, values, error = await self._found()
        if before != self._read_from:  # another file was chosen meanwhile
            return
        self._error = error
        self._names = codes
        self._columns.offer({"codes": codes, "value": values})
        self._offer_hierarchies()

    async def _found(self) -> tuple[list[str], list[str], str]:
        """Columns that may hold codes, those that may hold values, and what is wrong with the file."""
        question, project = self._asking.question, self._asking.state.project
        self._columns_of = {}
        if not question.cells or _is(question.cells, jj_files.SUFFIX):
            return [], [], ""
        if question.whole:
            metadata = project.inside(question.metadata) if question.metadata else None
            try:
                return *ready_tables.argus_columns(project.inside(question.cells), metadata), ""
            except LinkriskError as error:
                return [], [], str(error).replace(f"{project.folder}/", "")
        found = [(cells, await look(project, cells)) for cells, _ in question.ready if cells]
        columns = {cells: [str(one["name"]) for one in what.get("columns", ())] for cells, what in found}
        self._columns_of = columns
        errors = [str(what["error"]) for _, what in found if "error" in what]
        names = list(dict.fromkeys(name for mine in columns.values() for name in mine))
        return names, names, errors[0] if errors else ""

    @property
    def _read_from(self) -> tuple[object, ...]:
        question = self._asking.question
        return question.cells, question.metadata, question.ready

    def _offer_hierarchies(self) -> None:
        """Fields for the columns of codes, as a command finds them."""
        question = self._asking.question
        named = ["value" if name == question.value else name for name in self._names]
        codes = list(question.codes) or self._usual_codes()
        self._wrong.set_text(self._error or self._missing(named))
        self._hierarchies.offer(codes if question.by_codes else [])
        self._asking.follow("")

    def _missing(self, named: list[str]) -> str:
        """What a file of cells lacks."""
        question = self._asking.question
        if not named or question.whole:
            return ""
        value = question.value or "value"
        lacking = next((file for file, names in self._columns_of.items() if value not in names), None)
        if lacking is None:
            return ""
        return f"{lacking} has no column {value!r}: choose the column of values, or another file"

    def _usual_codes(self) -> list[str]:
        """Columns of codes of all tables where none are chosen: those before the values."""
        value, found = self._asking.question.value or "value", []
        for names in self._columns_of.values():
            if value in names:
                frame = pd.DataFrame(columns=["value" if name == value else name for name in names])
                found += code_columns(frame)
        return list(dict.fromkeys(found))


def _is(file: str, suffix: str) -> bool:
    return file.lower().endswith(suffix)


def _plain(now: Asking) -> bool:
    """Whether relations can be in a file of their own."""
    return not now.asked.whole


def _described(now: Asking) -> bool:
    """Whether there can be metadata."""
    asked = now.asked
    of_argus = _is(asked.cells, ready_tables.SUFFIX) or len(now.descriptions()) > 1
    return bool(asked.cells) and of_argus and _named(now) and not asked.relations


def _linkable(now: Asking) -> bool:
    """Whether it can be linked to others."""
    return bool(now.asked.cells) and not now.asked.whole


def _single(now: Asking) -> bool:
    """Whether there is one table: what is known of cells is known of one."""
    return not now.asked.linked_ready


def _recorded(now: Asking) -> bool:
    """Whether there is a file of rules."""
    return bool(now.asked.made or now.state.project.rules)


def _named(now: Asking) -> bool:
    """Whether columns have names that can be chosen."""
    return not _is(now.asked.cells, jj_files.SUFFIX)
