"""How a table is searched or audited, and what is left of it."""

from __future__ import annotations

from nicegui import ui

from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import ALSO, Asking, several
from linkrisk.solver.app.pages.table_pairs import Pairs
from linkrisk.solver.app.table_question import AUDIT, AUTOMATIC, OPTIMAL, OWN, SUPPRESS, VERIFY
from linkrisk.solver.backends.registry import available_backends

COSTS = {
    "value": "its value",
    "unit": "one for each cell",
    "log": "logarithm of its value",
    "given": "as a column says",
}
METHODS = {
    "auto": "what fits its size",
    "optimal": "optimal",
    "modular": "modular",
    "heuristic": "heuristic",
}
PUBLISHED = {
    ".csv": "CSV: a line for each cell",
    ".xlsx": "workbook (.xlsx): as one prints it",
    ".parquet": "Parquet (.parquet)",
    ".tab": "codes and values of ARGUS (.tab)",
}
HOUSE = {
    ".jj": "JJ file (.jj)",
    ".tab": "cells of ARGUS (.tab, .rda)",
    ".sbs": "Eurostat (.sbs)",
    ".xlsx": "workbook (.xlsx)",
}
BY_CODES = "none: they follow from the codes"


def show(asking: Asking) -> None:
    """The panels: of a search or an audit, and of what is left."""
    panel = asking.shown(ui.element("div").classes("panel"), lambda now: now.asked.task == SUPPRESS)
    with panel:
        _search(asking)
    panel = asking.shown(ui.element("div").classes("panel"), lambda now: now.asked.task == AUDIT)
    with panel:
        _audit(asking)
    panel = asking.shown(ui.element("div").classes("panel"), lambda now: now.asked.task != VERIFY)
    with panel:
        _left(asking)


def _search(asking: Asking) -> None:
    layout.text("h2", "Search")
    with ui.element("div").classes("fields"):
        asking.select("Method", METHODS, "method")
        asking.select("Cost of a cell", COSTS, "cost")
        asking.number("Time limit in seconds, 0 for none", "seconds", 0)
    layout.text(
        "p",
        "Optimal is what costs least, proven, or the best that is found, with a bound; up to 3,000 "
        "cells it fits. Modular looks at subtables one by one and repairs what they leave open; "
        "heuristic is the quickest. All end in an audit over all relations.",
        "quiet small",
    )
    with ui.expansion("What solves it").classes("more").mark("more-search"):
        with ui.element("div").classes("fields"):
            backends = {OWN: "exact: our own", **{name: name for name in available_backends()}}
            asking.select("Backend", backends, "backend", _by_backend)
            asking.number("Seed", "seed", 0)
        layout.text(
            "p",
            "A backend solves the program of the optimal method; with one, that method is taken whatever the "
            "size of the table. Modular and heuristic have none.",
            "quiet small",
        )


def _by_backend(now: Asking) -> bool:
    """Whether a backend can solve it."""
    return now.asked.method in (AUTOMATIC, OPTIMAL)


def _audit(asking: Asking) -> None:
    layout.text("h2", "What else is published")
    layout.text(
        "p",
        "Other tables or releases of the same cells, known by their codes: what any of them publishes, "
        "everybody knows. Each is a file for the house, which has the values of what it hides.",
        "quiet small",
    )
    Pairs(asking, ALSO, "release", 1, BY_CODES)
    with ui.expansion("How long, and with how many processes").classes("more").mark("more-audit"):
        with ui.element("div").classes("fields"):
            asking.number("Time limit of the audit in seconds, 0 for none", "audit_seconds", 0)
            asking.number("Processes", "workers", 1)
        layout.text(
            "p",
            "A sensitive cell that was not looked at in time does not count as protected. More processes are "
            "worth it from some thousand suppressed cells on.",
            "quiet small",
        )


def _left(asking: Asking) -> None:
    """Certificate and formats."""
    layout.text("h2", "Proof and files")
    asking.checkbox("With a certificate for others to check, and its check here", "certified")
    asking.checkbox("Decide every level in rational numbers, without tolerance: slower", "exact")
    layout.text("p", "A certificate implies rational numbers.", "quiet small")
    with (
        ui.expansion("Formats of the files").classes("more").mark("more-files"),
        ui.element("div").classes("fields"),
    ):
        asking.select("Published table", PUBLISHED, "published")
        several(
            "More for the house",
            HOUSE,
            [end for end in asking.question.house if end in HOUSE],
            lambda ends: asking.set("house", ends),
            "",
        ).mark("house")
