"""Fields for the hierarchies of a table: any number for each variable, and the code of its total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import Asking, several

ABOUT = (
    "A hierarchy is a file with the columns code and parent, one with a column for each level, or a tree of "
    "ARGUS (.hrc). Choose several where the codes are grouped in several ways, such as regions by county and "
    "by zone; without any, all codes are right below the total."
)


class Hierarchies:
    """The fields, made again whenever there are other variables.

    Parameters
    ----------
    asking : Asking
    kind : str
        Of table that they are of.
    totals : bool
        Whether the total of a variable can have another name.
    """

    def __init__(self, asking: Asking, kind: str, *, totals: bool = False) -> None:
        self._asking, self._kind, self._totals = asking, kind, totals
        self._place = ui.element("div").classes("" if totals else "fields")
        self._about = layout.text("p", ABOUT, "quiet small")
        self._about.set_visibility(False)

    def offer(self, names: Sequence[str]) -> None:
        """A field for each variable; the chosen files stay chosen."""
        if self._asking.grouped.get(self._kind) == list(names):
            return
        self._asking.grouped[self._kind] = list(names)
        self._about.set_visibility(bool(names))
        self._place.clear()
        with self._place:
            for name in names:
                if not self._totals:
                    self._trees(name)
                    continue
                with ui.element("div").classes("fields"):  # side by side, as they belong together
                    self._trees(name)
                    self._total(name)

    def _trees(self, name: str) -> None:
        project = self._asking.state.project
        options = [*project.for_tables("trees"), *project.data_files]
        chosen = [file for one, file in self._asking.question.hierarchies if one == name and file in options]

        def change(files: tuple[str, ...]) -> None:
            others = [one for one in self._asking.question.hierarchies if one[0] != name]
            self._asking.set("hierarchies", (*others, *((name, file) for file in files)))

        several(f"Hierarchy of {name}", options, chosen, change, "").mark(f"hierarchy-{name}")

    def _total(self, name: str) -> None:
        def change(event: Any) -> None:
            others = [one for one in self._asking.question.totals if one[0] != name]
            code = (event.value or "").strip()
            self._asking.set("totals", (*others, *([(name, code)] if code else [])))

        chosen = dict(self._asking.question.totals).get(name, "")
        field = ui.input(f"Total of {name}", value=chosen, placeholder="Total", on_change=change)
        field.props("stack-label").mark(f"total-{name}")
