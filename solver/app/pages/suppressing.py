"""Unsafe combinations of a file: counted, or values suppressed until there are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from linkrisk.solver.app.asking import Step
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form
from linkrisk.solver.app.pages.reading import when_read
from linkrisk.solver.app.pages.start import Start
from linkrisk.solver.app.pages.table_fields import Trees
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import SUPPRESS, UNSAFE, Asked, add

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


class _Unsafe:
    """What is asked, as it is now."""

    def __init__(self, state: State, name: str, task: str, found: Mapping[str, Any]) -> None:
        schema = state.project.schema_of(name)
        known = {"schema": schema} if schema in state.project.schemas else {}
        self._state, self._task, self._small = state, task, False
        self._form = Form(state, {"data": name, "k": 3, "dimension": 2, **known}, self._changed)
        self._form.columns = [str(one["name"]) for one in found["columns"]]

    def show(self) -> None:
        """The form, with the command that it stands for."""
        with ui.element("div").classes("panel"):
            ui.radio(TASKS, value=self._task, on_change=self._choose).mark("task")
        self._place = ui.element("div")
        self._fill()
        self._start = Start(self._state, self._steps, lambda: add(self._state.queue, self._asked))

    def _fill(self) -> None:
        form, task = self._form, self._task
        form.begin(task)
        self._place.clear()
        with self._place:
            with ui.element("div").classes("panel"):
                layout.text("h2", "What is unsafe")
                schema = form.values.get("schema")
                hint = f"without any, those of {schema}" if schema else "what an intruder may know"
                form.field("keys").props(f'hint="{hint}"').style("width: 100%")
                ui.radio(RARE, value=self._small, on_change=self._choose_rare).mark("rare")
                by_k = {"k": lambda: self._asked.by_k}
                small = dict.fromkeys(("dimension", "threshold"), lambda: not self._asked.by_k)
                form.place("k", "dimension", "threshold", "weight", **by_k, **small)
            if task == SUPPRESS:
                with ui.element("div").classes("panel"):
                    layout.text("h2", "What is suppressed")
                    form.field("problem")
                    form.place("household", "untouched", "time_limit")
            with ui.element("div").classes("panel") as panel:
                layout.text("h2", "Hierarchies")
                words = "A file with the categories of a key variable and a column for each coarser level."
                layout.text("p", words, "quiet small")
                self._trees = Trees(form, form.state.project.data_files, none="Choose key variables first.")
                self._trees.offer(form.values.get("keys", ()))
            form.shown(panel, lambda: self._asked.leveled)
            with ui.element("div").classes("panel"):
                form.more("data", "hierarchies")

    @property
    def _asked(self) -> Asked:
        return Asked(self._task, self._form.values, small=self._small)

    def _steps(self) -> list[Step]:
        self._form.check()
        self._asked.check()
        return self._asked.steps(f"runs/NNNN-{self._task}")

    def _choose(self, event: Any) -> None:
        self._task = event.value
        self._fill()
        self._start.update()

    def _choose_rare(self, event: Any) -> None:
        self._small = bool(event.value)
        self._form.follow()

    def _changed(self, name: str) -> None:
        if name == "keys":
            self._trees.offer(self._form.values.get("keys", ()))
        self._start.update()
