"""Unsafe combinations of a file: counted, or values suppressed until there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.reading import when_read
from linkrisk.solver.app.pages.table_fields import several
from linkrisk.solver.app.run_folder import spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.suppression_steps import (
    COVER,
    JOINT,
    RECOUNT,
    SMALL_TABLES,
    SUPPRESS,
    TOGETHER,
    UNSAFE,
    SuppressionQuestion,
    add_suppression,
    suppression_steps,
)

TASKS = {
    UNSAFE: "Count unsafe combinations by variable and category, and what levels of hierarchies would help",
    SUPPRESS: "Suppress the fewest values that leave no unsafe combination, with a proof",
}
RARE = {
    TOGETHER: "fewer than k records are alike in all key variables",
    SMALL_TABLES: "a table of a few key variables has a small cell",
}
PROBLEMS = {
    COVER: "every unsafe combination of the file loses a value",
    RECOUNT: "counted again in the output, every record has k alike",
    JOINT: "the same, by levels of recoding together with suppression",
}
NONE = "none"


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
            when_read(state, name, lambda found: _Form(state, name, chosen, found).show())


class _Form:
    """What is asked, as it is now."""

    def __init__(self, state: State, name: str, task: str, found: Mapping[str, Any]) -> None:
        self._state = state
        self._columns = [str(one["name"]) for one in found["columns"]]
        schema = state.project.schema_of(name)
        self._question = SuppressionQuestion(
            name,
            schema if schema in state.project.schemas else "",
            task,
        )
        self._shown: list[tuple[ui.element, Any]] = []

    def show(self) -> None:
        """The form, with the command that it stands for."""
        with ui.element("div").classes("panel"):
            self._radio(TASKS, "task")
        with ui.element("div").classes("panel"):
            layout.text("h2", "What is unsafe")
            self._unsafe()
        with ui.element("div").classes("panel") as panel:
            layout.text("h2", "What is suppressed")
            self._suppressed()
        self._when(panel, lambda asked: asked.task == SUPPRESS)
        with ui.element("div").classes("panel") as panel:
            layout.text("h2", "Hierarchies")
            layout.text(
                "p",
                "A file with the categories of a key variable and a column for each coarser level.",
                "quiet small",
            )
            self._place = ui.element("div").classes("fields")
        self._when(panel, lambda asked: asked.task == UNSAFE or asked.problem == JOINT)
        self._missing = layout.text("p", "", "bad").props("role=alert")
        layout.button("Start", self._start).mark("start")
        layout.text("h2", "The command")
        self._command = layout.text("pre", "", "code").props("tabindex=0")
        self._offer_hierarchies()
        self._changed()

    def _unsafe(self) -> None:
        asked = self._question
        hint = f"without any, those of {asked.schema}" if asked.schema else "what an intruder may know"
        several("Key variables", self._columns, (), self._set_keys, hint).style("width: 100%").mark("keys")
        self._radio(RARE, "rare")
        with ui.element("div").classes("fields"):
            self._when(self._number("k", "k", 2), lambda now: now.by_k)
            self._when(self._number("Key variables of a table, at most", "dimension", 1), _not_by_k)
            self._when(self._number("A cell is small up to", "threshold", 1), _not_by_k)
            self._column("Counted in the population, by the weights", "weight")

    def _suppressed(self) -> None:
        self._radio(PROBLEMS, "problem")
        with ui.element("div").classes("fields"):
            self._column("Households", "household")
            ui.input(
                "Code for what is taken out, else a gap",
                on_change=lambda event: self._set("code", (event.value or "").strip()),
            ).mark("code")
            several(
                "Key variables that keep all values",
                self._columns,
                (),
                lambda names: self._set("untouched", names),
                "",
            ).mark("untouched")
            self._number("Time limit in seconds, 0 for none", "seconds", 0)

    def _radio(self, options: Mapping[str, str], key: str) -> None:
        ui.radio(
            dict(options),
            value=getattr(self._question, key),
            on_change=lambda event: self._set(key, event.value),
        ).mark(key)

    def _column(self, label: str, key: str) -> None:
        options = {"": NONE, **{name: name for name in self._columns}}
        ui.select(
            options,
            value=getattr(self._question, key),
            label=label,
            on_change=lambda event: self._set(key, event.value),
        ).mark(key)

    def _number(self, label: str, key: str, least: int) -> ui.number:
        kind = type(getattr(self._question, key))

        def change(event: Any) -> None:
            if event.value is not None and event.value >= least:
                self._set(key, kind(event.value))

        return ui.number(label, value=getattr(self._question, key), min=least, on_change=change).mark(key)

    def _offer_hierarchies(self) -> None:
        """A field for each key variable; the chosen files stay chosen."""
        project, keys = self._state.project, self._question.keys
        files = {"": NONE, **{name: name for name in project.data_files}}
        chosen = dict(self._question.hierarchies)
        self._place.clear()
        with self._place:
            for name in keys:
                ui.select(
                    files,
                    value=chosen.get(name, ""),
                    label=f"Hierarchy of {name}",
                    on_change=lambda event, name=name: self._set_hierarchy(name, event.value),
                ).mark(f"hierarchy-{name}")
            if not keys:
                layout.text("p", "Choose key variables first.", "quiet small")

    def _set_hierarchy(self, name: str, file: str) -> None:
        others = tuple(one for one in self._question.hierarchies if one[0] != name)
        self._set("hierarchies", (*others, *([(name, file)] if file else [])))

    def _set_keys(self, names: Sequence[str]) -> None:
        kept = tuple(one for one in self._question.hierarchies if one[0] in names)
        self._question = replace(self._question, hierarchies=kept)
        self._set("keys", tuple(names))
        self._offer_hierarchies()

    def _set(self, key: str, value: Any) -> None:
        self._question = replace(self._question, **{key: value})
        self._changed()

    def _when(self, element: ui.element, shown: Any) -> None:
        """Show an element only while something is asked."""
        self._shown.append((element, shown))

    def _changed(self) -> None:
        for element, shown in self._shown:
            element.set_visibility(shown(self._question))
        try:
            steps = suppression_steps(self._question, f"runs/NNNN-{self._question.task}")
        except LinkriskError as error:
            said = str(error)
            self._missing.set_text(f"{said[:1].upper()}{said[1:]}.")
            self._command.set_text("It is shown when nothing is missing.")
            return
        self._missing.set_text("")
        self._command.set_text("\n".join(map(spelled, steps)))

    def _start(self) -> None:
        try:
            run = add_suppression(self._state.queue, self._question)
        except LinkriskError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{run.name}")


def _not_by_k(asked: SuppressionQuestion) -> bool:
    return not asked.by_k
