"""Fields for any number of tables, each a file of cells and one of relations: one more than are used."""

from __future__ import annotations

from nicegui import ui

from linkrisk.solver.app.pages.table_fields import Asking


class Pairs:
    """The fields.

    Parameters
    ----------
    asking : Asking
    key : str
        The part of the question that they are.
    what : str
        Such as ``table``; its number follows.
    first : int
        Of the first one.
    none : str
        What it means that there are no relations.
    """

    def __init__(self, asking: Asking, key: str, what: str, first: int, none: str) -> None:
        self._asking, self._key, self._what, self._first, self._none = asking, key, what, first, none
        self._place = ui.element("div")
        self._fields: list[tuple[ui.select, ui.select]] = []
        for pair in (*getattr(asking.question, key), ("", "")):
            self._add(*pair)

    def _add(self, cells: str, relations: str) -> None:
        of, asking = f"{self._what} {self._first + len(self._fields)}", self._asking
        with self._place, ui.element("div").classes("fields"):  # side by side, as they belong together
            self._fields.append(
                (
                    self._select(f"Cells of {of}", asking.parts(self._key), cells),
                    self._select(f"Relations of {of}", asking.files(self._none), relations),
                )
            )

    def _select(self, label: str, options: dict[str, str], chosen: str) -> ui.select:
        value = chosen if chosen in options else ""
        return ui.select(options, value=value, label=label, on_change=self._changed).mark(self._key)

    def _changed(self) -> None:
        chosen = tuple((cells.value, relations.value) for cells, relations in self._fields)
        self._asking.set(self._key, tuple(pair for pair in chosen if any(pair)))
        if any(chosen[-1]):
            self._add("", "")
