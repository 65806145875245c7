"""A place of a page that waits until a file is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.state import State


def when_read(state: State, name: str, show: Callable[[dict[str, Any]], None]) -> None:
    """Show what is in a file of the project, or the line that says what is wrong with it.

    Parameters
    ----------
    state : State
    name : str
        Of the file.
    show : callable
        Told what `looking.look` found; what it makes stands where the page waited.
    """
    place = ui.element("div")
    with place:
        layout.text("p", "Reading the file...", "quiet")

    async def read() -> None:
        found = await look(state.project, name)
        place.clear()
        with place:
            if "error" in found:
                layout.text("p", str(found["error"]), "bad")
            else:
                show(found)

    ui.timer(0.01, read, once=True)
