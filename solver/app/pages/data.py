"""The first page: what is in the project, and taking a file in."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from functools import partial

from nicegui import ui
from nicegui.events import UploadEventArguments

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.reading import BLANK
from linkrisk.solver.app.asking import OF_NUMBERS
from linkrisk.solver.app.kinds import KINDS
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.project import OWN, SCHEMA_END
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_steps import VERIFY
from linkrisk.solver.run.errors import UsageError

FOR_TABLES_WORDS = {
    "tables": "Ready tables",
    "trees": "Trees of codes, for tables",
    "metadata": "What the columns of ready tables are",
    "apriori": "What is known of cells, for tables",
    "certificates": "Certificates",
}

SIGNS = {
    "decimal": (OF_NUMBERS["decimal"], {"": "as found", ".": "a point, 12.5", ",": "a comma, 12,5"}),
    "thousands": (
        OF_NUMBERS["thousands"],
        {"": "as found", ".": "points, 1.250", ",": "commas, 1,250", "'": "1'250", BLANK: "blanks, 1 250"},
    ),
}

_TARGETS: dict[str, Callable[[str], str]] = {
    "tables": lambda name: layout.address("/tables", cells=name),
    "certificates": lambda name: layout.address("/tables", task=VERIFY, proof=name),
}


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/")
    def data() -> None:
        with layout.page(state, "Data", "Data"):
            layout.text(
                "p",
                "Bring the original file and its masked version, or mask one here. Files stay in the project "
                f"folder {state.project.folder.name} on this machine; nothing is sent anywhere.",
            )
            _upload(state, _files.refresh)
            _numbers(state)
            layout.text("h2", "Files of the project")
            _files(state)
            layout.text("h2", "No files at hand?")
            layout.text(
                "p",
                "The embedded pair (400 records of the breast cancer data WDBC, microaggregated) shows what "
                "the application does.",
            )
            layout.button("Try the embedded pair", lambda: ui.navigate.to("/new"), "outlined")

    @ui.refreshable
    def _files(state: State) -> None:
        _for_tables(state)
        names = state.project.data_files
        if not names:
            layout.text("p", "There are no files of records yet.", "quiet")
            return
        schemas = set(state.project.schemas)
        with layout.table(("File", "Size", "Schema", "What to do"), numbers=(1,)):
            for name in names:
                schema = state.project.schema_of(name)
                layout.row(
                    (
                        partial(ui.link, name, layout.address("/file", name=name)),
                        _size((state.project.folder / name).stat().st_size),
                        "yes" if schema in schemas else "not yet",
                        partial(_actions, name),
                    ),
                    numbers=(1,),
                )
        others = [name for name in schemas if not name.endswith(SCHEMA_END)]
        if others:
            layout.text(
                "p", f"Also there, as schema or certificate: {', '.join(sorted(others))}", "quiet small"
            )


def _numbers(state: State) -> None:
    """How numbers are written in the files, for all commands of the project."""

    def say(name: str, sign: str) -> None:
        try:
            state.project.say_signs(**{name: sign})
        except DataError as error:
            layout.say_error(str(error))

    with ui.expansion("Numbers in text files").style("width: 100%"):
        layout.text(
            "p",
            "Said here, all commands of the project have it; else files themselves show it.",
            "quiet",
        )
        with ui.element("div").classes("fields"):
            for name, (label, offered) in SIGNS.items():
                ui.select(
                    offered,
                    value=state.project.signs.get(name, ""),
                    label=label,
                    on_change=lambda event, name=name: say(name, event.value),
                ).mark(name)


def _for_tables(state: State) -> None:
    """Files that only tables are made of."""
    for what, words in FOR_TABLES_WORDS.items():
        found = state.project.for_tables(what)
        if found:
            with layout.text("p", "", "quiet small"):
                layout.text("span", f"{words}: ")
                for at, name in enumerate(found):
                    layout.text("span", ", " if at else "")
                    target = _TARGETS.get(what)
                    ui.link(name, target(name)) if target else layout.text("span", name)


def _actions(name: str) -> None:
    with ui.element("div").classes("lines").style("margin: 0"):
        ui.link("Look", layout.address("/file", name=name))
        ui.link("Mask", layout.address("/mask", name=name))
        ui.link("Suppress", layout.address("/suppress", name=name))
        ui.link("Check a pair", layout.address("/new", original=name))
        ui.link("Make a table", layout.address("/tables", microdata=name))


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

    most = state.access.most
    upload = ui.upload(
        multiple=True,
        auto_upload=True,
        max_file_size=most,
        on_upload=taken,
        on_rejected=lambda: layout.say_error(
            f"The file is too large: at most {most / 1e6:,.0f} MB are taken; start the app with --max-upload."
        ),
    )
    upload.props("flat bordered").mark("upload")
    # The field itself is the way in by keyboard: the button that the framework would show has no name.
    with upload.add_slot("header"), ui.element("label").classes("choose"):
        layout.text("span", "Drop files here, or click to choose them")
        layout.text("span", f"at most {most / 1e6:,.0f} MB each", "small")
        ui.element("q-uploader-add-trigger")
    ui.run_javascript(
        "for (const one of document.querySelectorAll('.q-uploader__input'))"
        " { one.tabIndex = 0; one.removeAttribute('title'); }"
    )
    layout.text("p", f"Read are {KINDS}.", "quiet small")


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB"
