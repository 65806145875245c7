"""Layout of all pages: navigation, headings and short texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement as TextElement

from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.runs import Run, RunState, State

PLACES = {"Data": "/", "New run": "/new", "Tables": "/tables", "Runs": "/runs", "Compare": "/compare"}
"""Ways that every page has at its head."""

STATE_CLASSES = {RunState.DONE: "good", RunState.FAILED: "bad", RunState.LOST: "bad"}


@contextmanager
def page(state: State, title: str, place: str = "") -> Iterator[None]:
    """Open a page with its heading."""
    ui.page_title(f"{title} - linkrisk")
    with ui.element("header").classes("top"):
        ui.link("linkrisk", "/").classes("brand")
        with ui.element("nav").props('aria-label="Pages"'):
            for name, address in PLACES.items():
                link = ui.link(name, address)
                if name == place:
                    link.props('aria-current="page"')
        text("span", state.project.folder.name, "folder hide-narrow")
    with ui.element("div").classes("page"):  # inside of the one main element
        text("h1", title)
        yield


@contextmanager
def page_of_file(state: State, name: str, title: str, none: str) -> Iterator[bool]:
    """A page about a file of records if there is such a one, else the way to choose one."""
    known = name in state.project.data_files
    with page(state, title.format(name) if known else none, "Data"):
        if not known:
            text("p", "Choose a file on the page Data.")
            ui.link("Data", "/")
        yield known


def text(tag: str, content: str, classes: str = "") -> TextElement:
    """A piece of text."""
    made = TextElement(tag=tag, text=content)
    return made.classes(classes) if classes else made


def panel(title: str = "") -> ui.element:
    """A part of a page, with its heading."""
    made = ui.element("div").classes("panel")
    if title:
        with made:
            text("h2", title)
    return made


def folded(title: str) -> ui.expansion:
    """A part that is rarely asked for."""
    return ui.expansion(title).classes("more")


def table(titles: Sequence[str], numbers: Sequence[int] = ()) -> ui.element:
    """A table to be filled with `row`; the columns at `numbers` hold numbers."""
    with ui.element("div").classes("scroll").props("tabindex=0"):
        made = ui.element("table").classes("listed")
    with made, ui.element("thead"), ui.element("tr"):
        for at, title in enumerate(titles):
            text("th", title, "num" if at in numbers else "").props("scope=col")
    with made:
        return ui.element("tbody")


def row(cells: Sequence[str | Callable[[], object]], numbers: Sequence[int] = ()) -> None:
    """A row: texts, or what makes the content of a cell."""
    with ui.element("tr"):
        for at, cell in enumerate(cells):
            if isinstance(cell, str):
                text("td", cell, "num" if at in numbers else "")
            else:
                with ui.element("td"):
                    cell()


def button(words: str, action: Callable[..., object], kind: str = "filled") -> ui.button:
    """A button: ``filled`` for what a page is for, ``outlined`` and ``flat`` for what else can be done."""
    # Without a colour of the framework, whose white text cannot be read on the light blue of dark pages.
    return (
        ui.button(words, on_click=action, color=None)
        .props("no-caps unelevated flat")
        .classes(f"button {kind}")
    )


def badge(run: Run) -> TextElement:
    """Badge with the state of a run."""
    state = run.state
    return text("span", state.value, f"badge {STATE_CLASSES.get(state, '')}")


def address(path: str, **query: str) -> str:
    """An address with its query, whatever is in the names."""
    return path + (f"?{urlencode(query)}" if query else "")


def download_address(name: str) -> str:
    """Where a file of the project is downloaded from."""
    return f"/download/{quote(name)}"


def hint(content: str) -> TextElement:
    """What a reader may pass over."""
    return text("p", content, "quiet small")


def code(content: str) -> None:
    """Text whose every character counts, with a button that copies it."""
    text("pre", content, "code").props("tabindex=0")
    button("Copy", lambda: ui.clipboard.write(content), "flat")


def printed(title: str, content: str) -> None:
    """Text as a command has printed it."""
    text("h2", title)
    text("pre", content, "code").props("tabindex=0")


def leading(words: str, kind: str, path: str, **query: str) -> None:
    """A button that leads to a page."""
    button(words, lambda: ui.navigate.to(address(path, **query)), kind)


def say_error(message: str) -> None:
    """Say what is wrong, where the reader is."""
    ui.notify(message, type="negative", multi_line=True, close_button="Close", timeout=0)


@contextmanager
def refusing() -> Iterator[None]:
    """Say what is refused meanwhile, and end there."""
    try:
        yield
    except LinkriskError as error:
        say_error(str(error))


def when_read(state: State, name: str, show: Callable[[dict[str, Any]], None]) -> None:
    """Show the description of a file by `looking.look`, or its error."""
    place = ui.element("div")
    with place:
        text("p", "Reading the file...", "quiet")

    async def read() -> None:
        found = await look(state.project, name)
        place.clear()
        with place:
            if "error" in found:
                text("p", str(found["error"]), "bad")
            else:
                show(found)

    ui.timer(0.01, read, once=True)
