"""Unsafe combinations of a file: counted, or values suppressed until there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.question import Asking
from linkrisk.solver.app.pages.reading import when_read
from linkrisk.solver.app.pages.table_fields import Trees
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import SUPPRESS, UNSAFE, Asked

TASKS = {
    UNSAFE: "Count unsafe combinations by variable and category, and what levels of hierarchies would help",
    SUPPRESS: "Suppress the fewest values that leave no unsafe combination, with a proof",
}
RARE = {
    False: "fewer than k records are alike in all key variables",
    True: "a table of a few key variables has a small cell",
}


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/suppress")
    def suppress(name: str = "", task: str = UNSAFE) -> None:
        known = name in state.project.data_files
        with layout.page(state, f"Unsafe combinations of {name}" if known else "Unsafe combinations", "Data"):
            if not known:
                layout.text("p", "Choose a file on the page Data.")
                ui.link("Data", "/")
                return
            chosen = task if task in TASKS else UNSAFE
            when_read(state, name, lambda found: _Unsafe(state, name, chosen, found).show())


class _Unsafe(Asking):
    """A question about the key variables of a file."""

    tasks = TASKS

    def __init__(self, state: State, name: str, task: str, found: Mapping[str, Any]) -> None:
        schema = state.project.schema_of(name)
        known = {"schema": schema} if schema in state.project.schemas else {}
        super().__init__(state, task, {"data": name, "k": 3, "dimension": 2, **known})
        self.form.columns = [str(one["name"]) for one in found["columns"]]
        self._small = False

    @property
    def asked(self) -> Asked:
        """The question that the fields are."""
        return Asked(self.task, self.form.values, small=self._small)

    def fill(self) -> None:
        """Make the fields of the command that answers."""
        form = self.form
        form.begin(self.task)
        with layout.panel("What is unsafe"):
            schema = form.values.get("schema")
            hint = f"without any, those of {schema}" if schema else "what an intruder may know"
            form.field("keys").props(f'hint="{hint}"').style("width: 100%")
            ui.radio(RARE, value=self._small, on_change=self._choose_rare).mark("rare")
            small = dict.fromkeys(("dimension", "threshold"), lambda: not self.asked.by_k)
            form.place("k", "dimension", "threshold", "weight", k=lambda: self.asked.by_k, **small)
        if self.task == SUPPRESS:
            with layout.panel("What is suppressed"):
                form.field("problem")
                form.place("household", "untouched", "time_limit")
        with form.shown(layout.panel("Hierarchies"), lambda: self.asked.leveled):
            words = "A file with the categories of a key variable and a column for each coarser level."
            layout.text("p", words, "quiet small")
            files = self.state.project.data_files
            self._trees = Trees(form, files, none="Choose key variables first.", single=True)
            self._trees.offer(form.values.get("keys", ()))
        with layout.panel():
            form.more("data", "hierarchies")

    def _choose_rare(self, event: Any) -> None:
        self._small = bool(event.value)
        self.form.follow()

    def changed(self, name: str) -> None:
        """Follow a change of an option."""
        if name == "keys":
            self._trees.offer(self.form.values.get("keys", ()))
        self.update()
