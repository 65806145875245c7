"""A new run: which files, which question, how long; the command that will be run is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import several
from linkrisk.solver.app.run_folder import spelled
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import (
    Question,
    add_fit,
    add_link,
    add_risk,
    add_sweep,
    fit_steps,
    link_steps,
    risk_steps,
    shuffled_by,
    sweep_steps,
)
from linkrisk.solver.run.errors import UsageError

KINDS = {
    "fit": "Worst case: the attack that re-identifies most records, and a bound for all others",
    "risk": "All measures of the release, in one table with one verdict",
    "sweep": "What protection costs: mask the original in many ways",
    "link": "Another linker, which learns without the truth: what it re-identifies",
}
_SEARCHES = ("fit", "risk", "sweep")
LINKER_WORDS = {
    "prl": "probabilistic, of Fellegi and Sunter",
    "dbrl": "nearest record, equal weights",
    "owa": "representatives by OWA operators",
    "sugeno": "representatives by Sugeno integrals",
    "pca": "first principal component",
    "zscore": "sum of standardised values",
    "random": "by chance, for comparison",
}
"""Linkers that need no records to be trained on."""

EMBEDDED = ""
ALIGNED = "row by row, or the id of the schema"
MATCHINGS = {"": "no", "hungarian": "the best matching of all", "greedy": "the best pairs first"}


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/new")
    def new(original: str = "", masked: str = "", kind: str = "fit") -> None:
        with layout.page(state, "New run", "New run"):
            names = state.project.data_files
            question = Question(original if original in names else "", masked if masked in names else "")
            _Form(state, question, kind if kind in KINDS else "fit").show()


class _Form:
    """What is asked, as it is now."""

    def __init__(self, state: State, question: Question, kind: str) -> None:
        self._state, self._kind = state, kind
        self._methods = "microaggregation k=3..9:3\nnoise percent=10,30"
        self._question = self._with_schema(question)

    def show(self) -> None:
        """The form."""
        files = {EMBEDDED: "the embedded pair", **{name: name for name in self._state.project.data_files}}
        question = self._question
        with ui.element("div").classes("panel"):
            ui.radio(KINDS, value=self._kind, on_change=self._choose).mark("kind")
        with ui.element("div").classes("panel"):
            layout.text("h2", "Files")
            with ui.element("div").classes("fields"):
                self._select("Original file", files, question.original, "original")
                masked = self._select("Masked file", files, question.masked, "masked")
                masked.bind_visibility_from(self, "_kind", lambda kind: kind != "sweep")
                schemas = {"": "none", **{name: name for name in self._state.project.schemas}}
                self._schema = self._select("Schema", schemas, question.schema, "schema")
                self._identifier = self._select(
                    "Column that identifies the records", {"": ALIGNED}, "", "identifier"
                )
                self._identifier.bind_visibility_from(self, "_kind", lambda kind: kind != "sweep")
            self._attributes = several(
                "Attributes that an intruder may know",
                (),
                (),
                lambda names: self._set("attributes", names),
                "without any: those of the schema, or all common columns",
            )
            self._attributes.style("width: 100%").mark("attributes")
            self._wrong = layout.text("p", "", "bad").props("role=alert")
        with (
            ui.element("div")
            .classes("panel")
            .bind_visibility_from(self, "_kind", lambda kind: kind == "sweep")
        ):
            layout.text("h2", "Maskings")
            layout.text(
                "p", f"One family of maskings a line, with ranges: {', '.join(METHODS)}.", "quiet small"
            )
            ui.textarea("Methods", value=self._methods, on_change=self._set_methods).style(
                "width: 100%"
            ).mark("methods")
        with ui.element("div").classes("panel"):
            layout.text("h2", "Search")
            with ui.element("div").classes("fields"):
                families = {"all": "all families", **{name: name for name in AGGREGATORS}}
                self._only(
                    _SEARCHES,
                    self._select("Family of distances", families, question.aggregator, "aggregator"),
                    self._number("Time limit in seconds", question.seconds, "seconds", 1),
                )
                linkers = {name: f"{name}: {words}" for name, words in LINKER_WORDS.items()}
                self._only(
                    ("link",),
                    self._select("Linker", linkers, question.linker, "linker"),
                    self._select("Also match one to one", MATCHINGS, question.one_to_one, "one_to_one"),
                )
                self._number("Seed", question.seed, "seed", 0)
                ties = {"": "as usual", "strict": "strict", "share": "shared by identical candidates"}
                self._select("Ties", ties, question.ties, "ties")
                self._only(("risk",), self._number("Tolerated, in % of the records", 5, "tolerated", 0))
            ui.checkbox(
                "With a certificate for others to check, and its verification here",
                on_change=lambda event: self._set("certificate", bool(event.value)),
            ).bind_visibility_from(self, "_kind", lambda kind: kind == "fit").mark("certificate")
        layout.button("Start", self._start).mark("start")
        layout.text("h2", "The command")
        layout.text(
            "p",
            "What is started is this, in the project folder; typed there it does the same.",
            "quiet small",
        )
        self._shown = layout.text("pre", "", "code").props("tabindex=0")
        self._show_command()
        ui.timer(0.01, self._look, once=True)

    async def _look(self) -> None:
        """Find the columns of the original file, and offer them."""
        file = self._question.original
        found = await look(self._state.project, file) if file else {}
        if file != self._question.original:
            return
        self._wrong.set_text(str(found.get("error", "")))
        names = [str(one["name"]) for one in found.get("columns", ())]
        self._attributes.set_options(names, value=[])
        record = shuffled_by(self._state.project, self._question.masked)
        told = {record: "the record of the masking, which shuffled them"} if record else {}
        columns = {name: name for name in names}
        self._identifier.set_options({"": ALIGNED, **told, **columns}, value=record)

    def _select(self, label: str, options: dict[str, str], value: str, key: str) -> ui.select:
        return ui.select(
            options, value=value, label=label, on_change=lambda event: self._set(key, event.value)
        ).mark(key)

    def _only(self, kinds: Sequence[str], *fields: ui.element) -> None:
        """Show fields for some kinds of runs only."""
        for field in fields:
            field.bind_visibility_from(self, "_kind", lambda kind: kind in kinds)

    def _number(self, label: str, value: float, key: str, least: float) -> ui.number:
        return ui.number(
            label, value=value, min=least, on_change=lambda event: self._set_number(key, event.value, least)
        ).mark(key)

    def _set_number(self, key: str, value: Any, least: float) -> None:
        if value is None or value < least:
            return
        self._set(key, int(value) if key == "seed" else value / 100 if key == "tolerated" else float(value))

    def _set(self, key: str, value: Any) -> None:
        self._question = replace(self._question, **{key: value})
        if key in ("original", "masked"):
            self._question = self._with_schema(self._question)
            self._schema.set_value(self._question.schema)
            ui.timer(0.01, self._look, once=True)
        self._show_command()

    def _set_methods(self, event: Any) -> None:
        self._methods = event.value
        self._show_command()

    def _choose(self, event: Any) -> None:
        self._kind = event.value
        self._show_command()

    def _with_schema(self, question: Question) -> Question:
        schema = self._state.project.schema_of(question.original) if question.original else ""
        return replace(question, schema=schema if schema in self._state.project.schemas else "")

    @property
    def _spelled_methods(self) -> list[str]:
        return [line.strip() for line in self._methods.splitlines() if line.strip()]

    def _show_command(self) -> None:
        question, folder = self._question, f"runs/NNNN-{self._kind}"
        if self._kind == "fit":
            steps = fit_steps(question, folder)[0]
        elif self._kind == "risk":
            steps = risk_steps(question, folder)
        elif self._kind == "link":
            steps = link_steps(question, folder)
        else:
            steps = sweep_steps(question, self._spelled_methods, folder)
        self._shown.set_text("\n".join(spelled([*step, *self._state.project.reading]) for step in steps))

    def _start(self) -> None:
        try:
            runs = self._asked()
        except UsageError as error:
            layout.say_error(str(error))
            return
        ui.navigate.to(f"/run/{runs[0].name}" if len(runs) == 1 else "/runs")

    def _asked(self) -> list[Any]:
        """Put the runs into the queue; UsageError where something is missing."""
        question = self._question
        if self._kind == "sweep":
            if not question.original:
                raise UsageError("a sweep needs an original file: choose one")
            if not self._spelled_methods:
                raise UsageError("a sweep needs maskings: write at least one")
            return add_sweep(self._state.queue, question, self._spelled_methods)
        if bool(question.original) != bool(question.masked):
            missing = "masked" if question.original else "original"
            raise UsageError(f"choose the {missing} file, too")
        if self._kind == "link" and not question.original:
            raise UsageError("a linker needs a file pair: choose an original and a masked file")
        return _ADD[self._kind](self._state.queue, question)


_ADD = {"fit": add_fit, "risk": add_risk, "link": add_link}
