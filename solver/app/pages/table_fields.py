"""Fields of which a form has as many as there are variables, or one more than are used."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.datasets.microdata.names import parse_pair, shown_pair
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form, several


class Trees:
    """Fields for the hierarchies of variables, made again whenever there are other variables.

    Parameters
    ----------
    form : Form
        Has the option ``hierarchies``, and ``totals`` where the total of a variable can have another name.
    files : sequence of str
        To choose from.
    about : str
        What they are, said where there are variables.
    none : str
        What is said where there are none.
    single : bool
        Whether a variable has one hierarchy at most.
    """

    def __init__(
        self, form: Form, files: Sequence[str], about: str = "", none: str = "", *, single: bool = False
    ) -> None:
        self._form, self._files, self._none, self._single = form, files, none, single
        self._names = ["?"]
        self._chosen = {
            option: [parse_pair(word) for word in form.words(option)]
            for option in ("hierarchies", "totals")
            if option in form
        }
        self._place = ui.element("div")
        self._about = layout.text("p", about, "quiet small")
        self._about.set_visibility(False)

    def offer(self, names: Iterable[str]) -> None:
        """A field for each variable; the chosen files stay chosen."""
        before, self._names = self._names, list(names)
        if self._names == before:
            return
        self._about.set_visibility(bool(self._names))
        self._place.clear()
        apart = "totals" in self._chosen  # then those of a variable stand side by side
        with self._place, ui.element("div").classes("" if apart else "fields"):
            for name in self._names:
                with ui.element("div").classes("fields") if apart else contextlib.nullcontext():
                    self._trees(name)
                    if apart:
                        self._total(name)
            if self._none and not self._names:
                layout.text("p", self._none, "quiet small")
        for option in self._chosen:
            self._say(option)

    def _trees(self, name: str) -> None:
        chosen = [file for one, file in self._chosen["hierarchies"] if one == name]
        title, take = f"Hierarchy of {name}", partial(self._take, "hierarchies", name)
        if not self._single:
            several(title, self._files, chosen, take)
            return
        options = {"": "none", **{file: file for file in self._files}}
        file = next((file for file in chosen if file in options), "")
        ui.select(
            options, value=file, label=title, on_change=lambda event: take([*filter(None, [event.value])])
        )

    def _total(self, name: str) -> None:
        def change(event: Any) -> None:
            code = (event.value or "").strip()
            self._take("totals", name, [code] if code else [])

        code = dict(self._chosen["totals"]).get(name, "")
        ui.input(f"Total of {name}", value=code, placeholder="Total", on_change=change).props("stack-label")

    def _take(self, option: str, name: str, said: Sequence[str]) -> None:
        others = [pair for pair in self._chosen[option] if pair[0] != name]
        self._chosen[option] = [*others, *((name, each) for each in said)]
        self._say(option)

    def _say(self, option: str) -> None:
        """Those of a file that was chosen before are not asked for."""
        words = [shown_pair(*pair) for pair in self._chosen[option] if pair[0] in self._names]
        if words != self._form.words(option):
            self._form.take(option, words)


class Growing:
    """Rows of fields, always one more than are used.

    Parameters
    ----------
    draw : callable
        Makes the row of a number from what is chosen in it and whom to tell of changes; gives what reads it.
    chosen : sequence
        What is chosen, for each row in use.
    changed : callable
        Told what is chosen.
    """

    def __init__(
        self,
        draw: Callable[[int, Sequence[str], Callable[[], None]], Callable[[], tuple[str, ...]]],
        chosen: Iterable[Sequence[str]],
        changed: Callable[[list[tuple[str, ...]]], None],
    ) -> None:
        self._draw, self._changed = draw, changed
        self._place = ui.element("div")
        self._rows: list[Callable[[], tuple[str, ...]]] = []
        for one in (*chosen, ()):
            self._add(one)

    def _add(self, chosen: Sequence[str]) -> None:
        with self._place:
            self._rows.append(self._draw(len(self._rows), chosen, self._follow))

    def _follow(self) -> None:
        found = [read() for read in self._rows]
        self._changed([one for one in found if any(one)])
        if any(found[-1]):
            self._add(())


def pairs(
    form: Form,
    what: str,
    first: int,
    cells: Sequence[str],
    chosen: Iterable[Sequence[str]],
    changed: Callable[[list[tuple[str, ...]]], None],
) -> Growing:
    """Rows for files of cells and relations of tables; `what` they are is numbered from `first`."""

    def draw(at: int, pair: Sequence[str], follow: Callable[[], None]) -> Callable[[], tuple[str, ...]]:
        of, fields = f"{what} {first + at}", []
        offered = (
            (f"Cells of {of}", "none", cells),
            (f"Relations of {of}", BY_CODES, form.files("relations")),
        )
        with ui.element("div").classes("fields"):  # side by side, as they belong together
            for (title, none, files), value in zip(offered, (*pair, "", "")[:2], strict=True):
                options = {"": none, **{name: name for name in files}}
                known = value if value in options else ""
                fields.append(ui.select(options, value=known, label=title, on_change=lambda _: follow()))
        return lambda: tuple(field.value for field in fields)

    return Growing(draw, chosen, changed)


BY_CODES = "none: they follow from the codes"
