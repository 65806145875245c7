"""Base of pages that ask: a choice of tasks, the fields of one, and its command."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from nicegui import ui

from linkrisk.datasets.microdata.names import parse_pair, shown_pair
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form, one_of, several
from linkrisk.solver.app.runs import State, spelled
from linkrisk.solver.app.steps import Asked
from linkrisk.solver.app.table_steps import Pairs, TableAsked, add


class Asking(ABC):
    """What is asked, as it is now: a `task` of `tasks`, and the values of the options of its command."""

    tasks: ClassVar[Mapping[str, str]]

    def __init__(self, state: State, task: str, values: Mapping[str, Any]) -> None:
        self.state, self.task = state, task
        self.form = Form(state, values, self.changed)
        self._shown: layout.TextElement | None = None

    @property
    @abstractmethod
    def asked(self) -> Asked | TableAsked:
        """The question that the fields are."""

    @abstractmethod
    def fill(self) -> None:
        """Make the fields of the task."""

    def show(self) -> None:
        """The page."""
        with ui.element("div").classes("panel"):
            choose = ui.radio(dict(self.tasks), value=self.task, on_change=self._choose)
            choose.mark("task")
            self.about = layout.text("p", "", "quiet small about")
        self._place = ui.element("div")
        self.fill_anew()
        with ui.element("div").classes("lines"):
            layout.button("Start", self._start).mark("start")
            self._missing = layout.text("span", "", "quiet").props("role=status aria-live=polite")
        layout.text("h2", "The command")
        words = "What is started is this, in the project folder; typed there it does the same."
        layout.hint(words)
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self.update()

    def fill_anew(self) -> None:
        """Make the fields again, as another command has others."""
        self._place.clear()
        with self._place:
            self.fill()

    def _choose(self, event: Any) -> None:
        self.task = event.value
        self.fill_anew()
        self.update()

    def changed(self, name: str) -> None:  # noqa: ARG002 - for pages that follow some
        """Follow a change of an option."""
        self.update()

    def check(self) -> None:
        """Raise what is wrong or missing."""
        self.form.check()
        self.asked.check()

    def update(self) -> None:
        """Show the command, or what it lacks."""
        if self._shown is None:
            return
        try:
            self.check()
        except LinkriskError as error:
            said = str(error)
            self._missing.set_text(f"{said[:1].upper()}{said[1:]}.")
            self._shown.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        steps = self.asked.steps(f"runs/NNNN-{self.asked.kind}")
        lines = (spelled([*step.argv, *self.state.project.reading]) for step in steps)
        self._shown.set_text("\n".join(lines))

    def _start(self) -> None:
        with layout.refusing():
            self.check()
            runs = add(self.state.queue, self.asked)
            ui.navigate.to(f"/run/{runs[0].name}" if len(runs) == 1 else "/runs")


class Trees:
    """Fields for the hierarchies of variables, made again whenever there are other variables.

    `form`: has the option ``hierarchies``, and ``totals`` where the total of a variable can have another
    name. `files`: to choose from. `about`, `none`: what they are, and what is said where there are no
    variables. `single`: whether a variable has one hierarchy at most.
    """

    def __init__(
        self, form: Form, files: Sequence[str], about: str = "", none: str = "", *, single: bool = False
    ) -> None:
        self._form, self._files, self._none, self._single = form, files, none, single
        self._names = ["?"]
        known = [option for option in ("hierarchies", "totals") if option in form]
        self._chosen = {option: [parse_pair(word) for word in form.words(option)] for option in known}
        self._place = ui.element("div")
        self._about = layout.hint(about)
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
                layout.hint(self._none)
        for option in self._chosen:
            self._say(option)

    def _trees(self, name: str) -> None:
        chosen = [file for one, file in self._chosen["hierarchies"] if one == name]
        title, take = f"Hierarchy of {name}", partial(self._take, "hierarchies", name)
        if self._single:
            one_of(title, self._files, chosen[0] if chosen else "", lambda file: take([file] if file else []))
        else:
            several(title, self._files, chosen, take)

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


Draw = Callable[[int, Sequence[str], Callable[[], None]], Callable[[], tuple[str, ...]]]
"""Makes the row of a number from what is chosen in it and whom to tell of changes; gives what reads it."""

Told = Callable[[list[tuple[str, ...]]], None]
"""Is told what is chosen, for each row in use."""


def growing(draw: Draw, chosen: Iterable[Sequence[str]], changed: Told) -> None:
    """Make rows of fields, always one more than are used."""
    place, rows = ui.element("div"), list[Callable[[], tuple[str, ...]]]()

    def add(one: Sequence[str]) -> None:
        with place:
            rows.append(draw(len(rows), one, follow))

    def follow() -> None:
        found = [read() for read in rows]
        changed([one for one in found if any(one)])
        if any(found[-1]):
            add(())

    for one in (*chosen, ()):
        add(one)


def pairs(what: str, first: int, files: Mapping[str, Sequence[str]], chosen: Pairs, changed: Told) -> None:
    """Make rows for `files`, cells and relations, of tables; `what` they are is numbered from `first`."""

    def draw(at: int, pair: Sequence[str], follow: Callable[[], None]) -> Callable[[], tuple[str, ...]]:
        fields = []
        with ui.element("div").classes("fields"):  # side by side, as they belong together
            for (part, offered), value in zip(files.items(), (*pair, "", "")[:2], strict=True):
                title = f"{part.title()} of {what} {first + at}"
                fields.append(one_of(title, offered, value, lambda _: follow(), NONE[part]))
        return lambda: tuple(field.value for field in fields)

    growing(draw, chosen, changed)


NONE = {"cells": "none", "relations": "none: they follow from the codes"}
"""What it means that there is no file of these."""
