"""Which table: a file of cells and its relations, or microdata with variables and rules; and hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import Asking

BY_CODES = "none: they follow from the codes"
_COUNTED = {"": "records are counted"}
_NUMBERED = {"": "none: records are numbered"}


class Source:
    """The panels of both kinds of tables; one of them is shown."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._columns: dict[str, list[str]] = {"cells": [], "microdata": []}

    def show(self) -> None:
        """The panels."""
        self._cells()
        self._microdata()
        for what in ("cells", "microdata"):
            if getattr(self._asking.question, what):
                self._look_soon(what)

    def changed(self, key: str) -> None:
        """Follow a change of the question."""
        if key in ("cells", "microdata") and getattr(self._asking.question, key):
            self._look_soon(key)
        if key in ("relations", "by"):
            self._offer_trees()

    def _look_soon(self, what: str) -> None:
        ui.timer(0.01, lambda: self._look(what), once=True)

    def _panel(self, kind: str) -> ui.element:
        return self._asking.shown(ui.element("div").classes("panel"), lambda now: now.kind == kind)

    def _cells(self) -> None:
        asking, files = self._asking, self._asking.files()
        with self._panel("cells"):
            layout.text("h2", "The table")
            with ui.element("div").classes("fields"):
                asking.select("File of cells", files, "cells")
                asking.select("File of relations", {**files, "": BY_CODES}, "relations")
            self._code_trees = ui.element("div").classes("fields")
            layout.text(
                "p",
                "A line for each cell: its codes, then value, status (u sensitive, z always published) and "
                "levels. A line for each term of a relation: relation, cell, coefficient.",
                "quiet small",
            )

    def _microdata(self) -> None:
        asking, question = self._asking, self._asking.question
        with self._panel("microdata"):
            layout.text("h2", "Microdata")
            with ui.element("div").classes("fields"):
                asking.select("File of microdata", asking.files(), "microdata")
                self._by = (
                    ui.select(
                        list(question.by),
                        value=list(question.by),
                        label="By",
                        multiple=True,
                        on_change=lambda event: asking.set("by", tuple(event.value)),
                    )
                    .props("use-chips")
                    .mark("by")
                )
                self._response = self._column("What is summed", _COUNTED, "response")
                self._respondent = self._column("Names of respondents", _NUMBERED, "respondent")
                asking.shown(self._respondent, lambda now: now.asked.contributing)
            self._variable_trees = ui.element("div").classes("fields")
            ui.textarea(
                "Rules, one a line", value="\n".join(question.rules), on_change=self._set_rules
            ).props("rows=3").style("width: 100%").mark("rules")
            layout.text(
                "p",
                "p=10: the p % rule; nk=2,75: dominance; frequency=3: fewer than three respondents. A "
                "hierarchy is a file with the columns code and parent, or a tree of ARGUS (.hrc).",
                "quiet small",
            )

    def _column(self, label: str, none: dict[str, str], key: str) -> ui.select:
        """A field for a column of the microdata, whose names are not known yet."""
        chosen = getattr(self._asking.question, key)
        return self._asking.select(label, {**none, **({chosen: chosen} if chosen else {})}, key)

    def _set_rules(self, event: Any) -> None:
        lines = (line.strip() for line in event.value.splitlines())
        self._asking.set("rules", tuple(line for line in lines if line))

    async def _look(self, what: str) -> None:
        """Find the columns of a file, and offer them."""
        asking, file = self._asking, getattr(self._asking.question, what)
        found = await look(asking.state.project, file)
        if file != getattr(asking.question, what):
            return
        if "error" in found:
            layout.say_error(str(found["error"]))
            return
        names = [str(column["name"]) for column in found["columns"]]
        self._columns[what] = names
        if what == "microdata":
            kept = [name for name in asking.question.by if name in names]
            self._by.set_options(names, value=kept)
            self._offer_columns(self._response, _COUNTED, names, asking.question.response)
            self._offer_columns(self._respondent, _NUMBERED, names, asking.question.respondent)
        self._offer_trees()

    @staticmethod
    def _offer_columns(field: ui.select, none: dict[str, str], names: Sequence[str], chosen: str) -> None:
        options = {**none, **{name: name for name in names}}
        field.set_options(options, value=chosen if chosen in options else "")

    def _offer_trees(self) -> None:
        """A field for the hierarchy of each column of codes, or of each variable."""
        question = self._asking.question
        cells = self._columns["cells"]
        codes = cells[: cells.index("value")] if "value" in cells and not question.relations else []
        for place, names in ((self._code_trees, codes), (self._variable_trees, question.by)):
            place.clear()
            with place:
                for name in names:
                    self._tree(name)

    def _tree(self, name: str) -> None:
        chosen, options = dict(self._asking.question.hierarchies).get(name, ""), self._asking.trees()
        ui.select(
            options,
            value=chosen if chosen in options else "",
            label=f"Hierarchy of {name}",
            on_change=self._setter(name),
        ).mark(f"hierarchy-{name}")

    def _setter(self, name: str) -> Callable[[Any], None]:
        def change(event: Any) -> None:
            others = [one for one in self._asking.question.hierarchies if one[0] != name]
            added = [(name, event.value)] if event.value else []
            self._asking.set("hierarchies", (*others, *added))

        return change
