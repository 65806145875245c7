"""Pages of the project: its files, uploads, and a file with its columns and rows."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import UploadEventArguments

from linkrisk.datasets.microdata.formats.number_text import BLANK
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Role, Scale
from linkrisk.datasets.microdata.schema import Attribute, Schema, read_rows
from linkrisk.datasets.microdata.schema_files import read_schema, write_schema
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import HIDDEN
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.project import KINDS, OWN, SCHEMA_END
from linkrisk.solver.app.runs import State
from linkrisk.solver.app.steps import OF_NUMBERS
from linkrisk.solver.app.table_steps import AUDIT, VERIFY
from linkrisk.solver.documents.wording import NOTHING, count, percent
from linkrisk.solver.run.errors import UsageError

COLUMNS_AT_ONCE, ROWS_AT_ONCE = 25, 15

SIGNS = {
    "decimal": {"": "as found", ".": "a point, 12.5", ",": "a comma, 12,5"},
    "thousands": {
        "": "as found",
        ".": "points, 1.250",
        ",": "commas, 1,250",
        "'": "1'250",
        BLANK: "blanks, 1 250",
    },
}
FOR_TABLES: dict[str, tuple[str, dict[str, str], str]] = {
    "tables": ("Ready tables", {}, "cells"),
    "trees": ("Trees of codes, for tables", {}, ""),
    "metadata": ("What the columns of ready tables are", {}, ""),
    "apriori": ("What is known of cells, for tables", {}, ""),
    "certificates": ("Certificates", {"task": VERIFY}, "proof"),
}
"""What only tables are made of: what it is called, and how the page about tables is asked of it."""

ACTIONS = {
    "Look": ("/file", "name"),
    "Mask": ("/mask", "name"),
    "Suppress": ("/suppress", "name"),
    "Check a pair": ("/new", "original"),
    "Make a table": ("/tables", "microdata"),
}
"""What is done with a file of records, on which page, which is told of the file by this name."""


def register(state: State) -> None:
    """Register the pages."""

    @ui.page("/")
    def data() -> None:
        with layout.page(state, "Data", "Data"):
            layout.text(
                "p",
                "Bring the original file and its masked version, or mask one here. Files stay in the project "
                f"folder {state.project.folder.name} on this machine; nothing is sent anywhere.",
            )
            _upload(state, files.refresh)
            _numbers(state)
            layout.text("h2", "Files of the project")
            files()
            layout.text("h2", "No files at hand?")
            layout.text(
                "p",
                "The embedded pair (400 records of the breast cancer data WDBC, microaggregated) shows what "
                "the application does.",
            )
            layout.leading("Try the embedded pair", "outlined", "/new")

    @ui.refreshable
    def files() -> None:
        _files(state)

    @ui.page("/file", response_timeout=60)
    async def file(name: str = "") -> None:
        known = name in state.project.data_files
        with layout.page(state, name if known else "No such file", "Data"):
            if known:
                layout.when_read(state, name, lambda found: _Columns(state, name, found).show())
            else:
                layout.text("p", "The project has no file of this name.")


def _files(state: State) -> None:
    """What is in the project."""
    project, schemas = state.project, set(state.project.schemas)
    for what, (words, query, asked) in FOR_TABLES.items():
        if found := project.for_tables(what):
            with layout.hint(""):
                layout.text("span", f"{words}: ")
                for at, name in enumerate(found):
                    layout.text("span", ", " if at else "")
                    target = layout.address("/tables", **query, **{asked: name}) if asked else ""
                    ui.link(name, target) if target else layout.text("span", name)
    if not project.data_files:
        layout.text("p", "There are no files of records yet.", "quiet")
        return
    with layout.table(("File", "Size", "Schema", "What to do"), numbers=(1,)):
        for name in project.data_files:
            link = partial(ui.link, name, layout.address("/file", name=name))
            known = "yes" if project.schema_of(name) in schemas else "not yet"
            size = _size((project.folder / name).stat().st_size)
            layout.row((link, size, known, partial(_actions, name)), numbers=(1,))
    if others := sorted(name for name in schemas if not name.endswith(SCHEMA_END)):
        layout.hint(f"Also there, as schema or certificate: {', '.join(others)}")


def _actions(name: str) -> None:
    with ui.element("div").classes("lines").style("margin: 0"):
        for words, (page, asked) in ACTIONS.items():
            ui.link(words, layout.address(page, **{asked: name}))


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"


def _numbers(state: State) -> None:
    """How numbers are written in the files, for all commands of the project."""

    def say(name: str, event: Any) -> None:
        with layout.refusing():
            state.project.say_signs(**{name: event.value})

    with ui.expansion("Numbers in text files").style("width: 100%"):
        words = "Said here, all commands of the project have it; else files themselves show it."
        layout.text("p", words, "quiet")
        with ui.element("div").classes("fields"):
            for name, offered in SIGNS.items():
                sign, label = state.project.signs.get(name, ""), OF_NUMBERS[name]
                ui.select(offered, value=sign, label=label, on_change=partial(say, name)).mark(name)


def _upload(state: State, files: Callable[[], object]) -> None:
    async def taken(event: UploadEventArguments) -> None:
        try:
            target = state.project.new_data(event.file.name)
        except UsageError as error:
            layout.say_error(str(error))
            return
        # Beside its place first, so that a file is there as a whole or not at all.
        part = state.project.folder / OWN / "tmp" / secrets.token_hex(8)
        try:
            await event.file.save(part)
            os.replace(part, target)  # noqa: PTH105 - of two paths
        except OSError as error:
            part.unlink(missing_ok=True)
            layout.say_error(f"{target.name} could not be kept: {(error.strerror or str(error)).lower()}")
            return
        files()
        ui.notify(f"{target.name} is in the project")

    most = f"{state.access.most / 1e6:,.0f} MB"
    large = f"The file is too large: at most {most} are taken; start the app with --max-upload."
    upload = ui.upload(
        multiple=True,
        auto_upload=True,
        max_file_size=state.access.most,
        on_upload=taken,
        on_rejected=lambda: layout.say_error(large),
    )
    upload.props("flat bordered").mark("upload")
    # The field itself is the way in by keyboard: the button that the framework would show has no name.
    with upload.add_slot("header"), ui.element("label").classes("choose"):
        layout.text("span", "Drop files here, or click to choose them")
        layout.text("span", f"at most {most} each", "small")
        ui.element("q-uploader-add-trigger")
    ui.run_javascript(
        "for (const one of document.querySelectorAll('.q-uploader__input'))"
        " { one.tabIndex = 0; one.removeAttribute('title'); }"
    )
    layout.hint(f"Read are {KINDS}.")


class _Columns:
    """The columns of a file, with roles and scales to be corrected and kept as its schema; its rows."""

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
            layout.hint(note)
        with ui.element("div").classes("lines"):
            self._offers()
        layout.text("h2", "Columns")
        layout.text(
            "p",
            "Roles and scales are guessed from names and values: correct them, and keep them as the schema "
            "of this file. A key variable is one that an intruder may know.",
        )
        layout.hint(self._note)
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
            layout.leading("Protect this table", "filled", "/tables", cells=name)
            layout.leading("Audit it", "outlined", "/tables", cells=name, task=AUDIT)
            layout.leading("Mask this file", "flat", "/mask", name=name)  # records may have such columns, too
            return
        layout.leading("Mask this file", "filled", "/mask", name=name)
        layout.leading("Count or suppress unsafe combinations", "outlined", "/suppress", name=name)
        layout.leading("Check a pair with it", "outlined", "/new", original=name)
        layout.leading("Make a table of it", "outlined", "/tables", microdata=name)

    def _paged(self) -> None:
        columns = self._found["columns"]
        pages = -(-len(columns) // COLUMNS_AT_ONCE)
        titles = ("Column", "Role", "Scale", "Different", "Missing", "Values")
        body = ui.element("div")

        def fill(page: int) -> None:
            body.clear()
            with body, layout.table(titles, numbers=(3, 4)):
                for one in columns[(page - 1) * COLUMNS_AT_ONCE : page * COLUMNS_AT_ONCE]:
                    self._column(one)

        fill(1)
        if pages > 1:
            ui.pagination(1, pages, direction_links=True, on_change=lambda event: fill(int(event.value)))

    def _column(self, one: dict[str, Any]) -> None:
        name, attribute = one["name"], self._attributes[one["name"]]

        def named() -> None:
            layout.text("div", name)
            layout.text("div", f"{one['why_scale']}; {one['why_role']}", "quiet small")

        def choose(what: str, kinds: type[Role] | type[Scale], none: str) -> None:
            known = getattr(attribute, what)

            def take(event: Any) -> None:
                self._change(name, **{what: kinds(event.value) if event.value else None})

            options = {"": none, **{item.value: item.value for item in kinds}}
            field = ui.select(options, value=known.value if known else "", on_change=take)
            field.props(f'dense options-dense outlined aria-label="{what.title()}"').style("min-width: 130px")

        role, scale = partial(choose, "role", Role, "no role"), partial(choose, "scale", Scale, "as found")
        missing = one["empty"] + one["coded_missing"]
        share = percent(missing, self._found["records"]) if missing else NOTHING
        values = NOTHING if self.hides(name) else _values(one)
        layout.row((named, role, scale, count(one["different"]), share, values), numbers=(3, 4))

    def _change(self, name: str, **what: Any) -> None:
        self._attributes[name] = replace(self._attributes[name], **what)
        if "role" in what:
            self._show_rows()

    def hides(self, name: str) -> bool:
        """Whether values of a column identify persons, by its role."""
        return self._attributes[name].role in NAMES_RECORDS

    def _save(self) -> None:
        with layout.refusing():
            schema = Schema(tuple(self._attributes.values()))
            write_schema(schema, self._state.project.inside(self._target))
            ui.notify(f"{self._target} is saved")

    def shown_rows(self) -> list[list[str]]:
        """First rows without identifying values."""
        hidden = [self.hides(one["name"]) for one in self._found["columns"]]
        return [
            [HIDDEN if hide else cell for hide, cell in zip(hidden, row, strict=True)]
            for row in self._found["rows"]
        ]

    def _show_rows(self) -> None:
        self._rows.clear()
        columns = [
            {"name": f"c{at}", "label": one["name"], "field": f"c{at}", "align": "left"}
            for at, one in enumerate(self._found["columns"])
        ]
        rows = [
            {"id": at, **{f"c{k}": cell for k, cell in enumerate(row)}}
            for at, row in enumerate(self.shown_rows())
        ]
        with self._rows:
            if len(rows) < self._found["records"]:
                layout.hint(f"The first {count(len(rows))} of {count(self._found['records'])}.")
            layout.hint("Values that identify somebody are not shown.")
            table = ui.table(columns=columns, rows=rows, row_key="id", pagination=ROWS_AT_ONCE)
            table.props("dense flat bordered")


def _values(one: dict[str, Any]) -> str:
    if one["lowest"] is not None:
        return f"{one['lowest']:g} to {one['highest']:g}"
    shown = [f"{item['label'] or item['code']} {count(item['records'])}" for item in one["frequent"]]
    more = ["..."] if one["different"] > len(shown) else []
    return ", ".join([*shown, *more]) if shown else NOTHING
