"""A file: its columns with guessed scales and roles, to be corrected and kept as its schema; its rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Role
from linkrisk.datasets.microdata.scales import Scale
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.schema_files import read_schema, write_schema
from linkrisk.datasets.microdata.schema_rows import read_rows
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import HIDDEN
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.reading import when_read
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import AUDIT
from linkrisk.solver.documents.formats import count, percent
from linkrisk.solver.run.errors import UsageError

COLUMNS_AT_ONCE, ROWS_AT_ONCE = 25, 15
NO_ROLE = "no role"


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/file", response_timeout=60)
    async def file(name: str = "") -> None:
        try:
            known = name in state.project.data_files and state.project.inside(name).is_file()
        except UsageError:
            known = False
        with layout.page(state, name if known else "No such file", "Data"):
            if not known:
                layout.text("p", "The project has no file of this name.")
                return
            when_read(state, name, lambda found: _Columns(state, name, found).show())


class _Columns:
    """The columns of a file, and what is said of them so far."""

    def __init__(self, state: State, name: str, found: dict[str, Any]) -> None:
        self._state, self._name, self._found = state, name, found
        self._target = state.project.schema_of(name)
        self._note = ""
        self._attributes = {
            one["name"]: Attribute(**one) for one in read_rows(found["schema"], state.project.folder)
        }
        if self._target in state.project.schemas:
            try:
                kept = read_schema(state.project.inside(self._target))
            except LinkriskError as error:
                self._note = f"The schema {self._target} cannot be read: {error}"
            else:
                self._attributes |= {one.name: one for one in kept.attributes if one.name in self._attributes}
                self._note = f"Roles and scales are those of {self._target}."

    def show(self) -> None:
        """All of it."""
        found = self._found
        layout.text("p", f"{count(found['records'])} records, {count(len(found['columns']))} columns.")
        for note in found["notes"]:
            layout.text("p", note, "quiet small")
        with ui.element("div").classes("lines"):
            self._offers()
        layout.text("h2", "Columns")
        layout.text(
            "p",
            "Roles and scales are guessed from names and values: correct them, and keep them as the schema "
            "of this file. A key variable is one that an intruder may know.",
        )
        layout.text("p", self._note, "quiet small")
        self._paged()
        with ui.element("div").classes("lines"):
            layout.button("Save as schema", self._save)
            layout.text("span", self._target, "quiet small")
        layout.text("h2", "First rows")
        self._rows = ui.element("div")
        self._show_rows()

    def _offers(self) -> None:
        """What can be done with it: with records, or, by its columns, with the cells of a table."""
        name = self._name
        if {"value", "status"} <= self._attributes.keys():
            _to("Protect this table", "filled", "/tables", cells=name)
            _to("Audit it", "outlined", "/tables", cells=name, task=AUDIT)
            _to("Mask this file", "flat", "/mask", name=name)  # records may have such columns, too
            return
        _to("Mask this file", "filled", "/mask", name=name)
        _to("Count or suppress unsafe combinations", "outlined", "/suppress", name=name)
        _to("Check a pair with it", "outlined", "/new", original=name)
        _to("Make a table of it", "outlined", "/tables", microdata=name)

    def _paged(self) -> None:
        columns = self._found["columns"]
        pages = -(-len(columns) // COLUMNS_AT_ONCE)
        body = ui.element("div")

        def fill(page: int) -> None:
            body.clear()
            with (
                body,
                layout.table(("Column", "Role", "Scale", "Different", "Missing", "Values"), numbers=(3, 4)),
            ):
                for one in columns[(page - 1) * COLUMNS_AT_ONCE : page * COLUMNS_AT_ONCE]:
                    self._column(one)

        fill(1)
        if pages > 1:
            ui.pagination(1, pages, direction_links=True, on_change=lambda event: fill(int(event.value)))

    def _column(self, one: dict[str, Any]) -> None:
        name, attribute = one["name"], self._attributes[one["name"]]
        why = f"{one['why_scale']}; {one['why_role']}"

        def named() -> None:
            layout.text("div", name)
            layout.text("div", why, "quiet small")

        def choose(what: str, kinds: type[Role] | type[Scale], none: str) -> None:
            known = getattr(attribute, what)
            ui.select(
                {"": none, **{item.value: item.value for item in kinds}},
                value=known.value if known else "",
                on_change=lambda event: self._change(
                    name, **{what: kinds(event.value) if event.value else None}
                ),
            ).props(f'dense options-dense outlined aria-label="{what.title()}"').style("min-width: 130px")

        role, scale = partial(choose, "role", Role, NO_ROLE), partial(choose, "scale", Scale, "as found")
        missing = one["empty"] + one["coded_missing"]
        share = percent(missing, self._found["records"]) if missing else "–"
        values = "–" if self.hides(name) else _values(one)
        layout.row((named, role, scale, count(one["different"]), share, values), numbers=(3, 4))

    def _change(self, name: str, **what: Any) -> None:
        self._attributes[name] = replace(self._attributes[name], **what)
        if "role" in what:
            self._show_rows()

    def hides(self, name: str) -> bool:
        """Whether values of a column identify somebody, by the role that it has now."""
        return self._attributes[name].role in NAMES_RECORDS

    def _save(self) -> None:
        try:
            schema = Schema(tuple(self._attributes.values()))
            write_schema(schema, self._state.project.inside(self._target))
        except LinkriskError as error:
            layout.say_error(str(error))
        else:
            ui.notify(f"{self._target} is saved")

    def _show_rows(self) -> None:
        self._rows.clear()
        with self._rows:
            self._table()

    def shown_rows(self) -> list[list[str]]:
        """The first rows without values that identify somebody."""
        hidden = [self.hides(one["name"]) for one in self._found["columns"]]
        return [
            [HIDDEN if hide else cell for hide, cell in zip(hidden, row, strict=True)]
            for row in self._found["rows"]
        ]

    def _table(self) -> None:
        names = [one["name"] for one in self._found["columns"]]
        columns = [
            {"name": f"c{at}", "label": name, "field": f"c{at}", "align": "left"}
            for at, name in enumerate(names)
        ]
        rows = [
            {"id": at, **{f"c{k}": cell for k, cell in enumerate(row)}}
            for at, row in enumerate(self.shown_rows())
        ]
        if len(rows) < self._found["records"]:
            layout.text(
                "p", f"The first {count(len(rows))} of {count(self._found['records'])}.", "quiet small"
            )
        layout.text("p", "Values that identify somebody are not shown.", "quiet small")
        ui.table(columns=columns, rows=rows, row_key="id", pagination=ROWS_AT_ONCE).props(
            "dense flat bordered"
        )


def _values(one: dict[str, Any]) -> str:
    if one["lowest"] is not None:
        return f"{one['lowest']:g} to {one['highest']:g}"
    if one["frequent"]:
        shown = ", ".join(
            f"{item['label'] or item['code']} {count(item['records'])}" for item in one["frequent"]
        )
        return shown + (", ..." if one["different"] > len(one["frequent"]) else "")
    return "–"


def _to(words: str, kind: str, page: str, **asked: str) -> None:
    """A button that leads to a page."""
    layout.button(words, lambda: ui.navigate.to(layout.address(page, **asked)), kind)
