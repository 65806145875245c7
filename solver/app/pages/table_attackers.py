"""Who attacks a table besides outsiders, and what is known of them."""

from __future__ import annotations

from nicegui import ui

from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import Asking
from linkrisk.solver.app.table_question import EVERYBODY, LISTED, NOBODY, SINGLETONS, USUAL

WHO = {
    USUAL: "only respondents, where known",
    NOBODY: "nobody",
    SINGLETONS: "the only respondents of cells",
    EVERYBODY: "every respondent",
    LISTED: "those of a file",
}


def show(asking: Asking) -> None:
    """The panel."""
    with ui.element("div").classes("panel"):
        layout.text("h2", "Who attacks")
        layout.text(
            "p",
            "Respondents know what they contributed, and subtract it from what is published: a pattern that "
            "protects from outsiders need not protect from them.",
            "quiet small",
        )
        with ui.element("div").classes("fields"):
            asking.select("Besides outsiders", WHO, "insiders")
            listed = asking.select("File of insiders", asking.files(), "listed")
            asking.shown(listed, lambda now: now.asked.insiders == LISTED)
            asking.select("File of coalitions", asking.files(), "coalitions")
            given = asking.select("File of contributions", asking.files(), "contributors")
            asking.shown(given, lambda now: now.kind == "cells" and now.asked.contributing)
        partly = asking.checkbox(
            "Where a level cannot be kept from somebody, keep as much of it as possible", "partly"
        )
        asking.shown(partly, lambda now: now.asked.attacked)
        hint = layout.text(
            "p",
            "A file of insiders has the columns insider, cell, lower, upper; one of contributions cell, "
            "contributor, amount; one of coalitions coalition, contributor.",
            "quiet small",
        )
        asking.shown(hint, _by_files)


def _by_files(now: Asking) -> bool:
    """Whether a file says who attacks, or what they know."""
    asked = now.asked
    return asked.insiders == LISTED or bool(asked.coalitions) or (now.kind == "cells" and asked.contributing)
