"""A new run: which files, which question, how long; the command that will be run is shown."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.options.kinds import FILE
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.question import Asking
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import SEARCHED, Asked, shuffled_by

KINDS = {
    "fit": "Worst case: the attack that re-identifies most records, and a bound for all others",
    "risk": "All measures of the release, in one table with one verdict",
    "sweep": "What protection costs: mask the original in many ways",
    "link": "Another linker, which learns without the truth: what it re-identifies",
}
BEGIN = {
    **SEARCHED,
    "method": "prl",
    "methods": ["microaggregation k=3..9:3", "noise percent=10,30"],
}
EMBEDDED = "the embedded pair"


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/new")
    def new(original: str = "", masked: str = "", kind: str = "fit") -> None:
        with layout.page(state, "New run", "New run"):
            names = state.project.data_files
            files = {"original": original, "masked": masked}
            given = {what: name for what, name in files.items() if name in names}
            _New(state, given, kind if kind in KINDS else "fit").show()


class _New(Asking):
    """A question about a file pair."""

    tasks = KINDS

    def __init__(self, state: State, files: dict[str, str], kind: str) -> None:
        super().__init__(state, kind, {**BEGIN, **files})
        self._certified = False
        self._know_schema()

    @property
    def asked(self) -> Asked:
        """The question that the fields are."""
        return Asked(self.task, self.form.values, certified=self._certified and self.task == "fit")

    def fill(self) -> None:
        """Make the fields of the command that answers."""
        form = self.form
        form.begin(self.task)
        with layout.panel("Files"):
            with ui.element("div").classes("fields"):
                for name in ("original", "masked"):
                    if name in form:
                        form.field(name, kind=FILE, usual=EMBEDDED)
                form.field("schema", usual="none")
                form.field("id")
            attributes = form.field("attributes").style("width: 100%")
            attributes.props('hint="without any: those of the schema, or all common columns"')
            self._wrong = layout.text("p", "", "bad").props("role=alert")
        if self.task == "sweep":
            with layout.panel("Maskings"):
                words = f"One family of maskings a line, with ranges: {', '.join(METHODS)}."
                layout.text("p", words, "quiet small")
                form.field("methods").style("width: 100%")
        with layout.panel("Search"):
            form.place("aggregator", "time_limit", "method", "one_to_one", "seed", "ties", "tolerated")
            if self.task == "fit":
                words = "With a certificate for others to check, and its verification here"
                ui.checkbox(words, value=self._certified, on_change=self._certify).mark("certificate")
            form.more("folder")
        form.look("original", self._wrong.set_text)

    def _certify(self, event: Any) -> None:
        self._certified = bool(event.value)
        self.update()

    def changed(self, name: str) -> None:
        """Follow a change of an option."""
        if name in ("original", "masked"):
            self._know_schema()
            self.form.look("original", self._wrong.set_text)
        self.update()

    def _know_schema(self) -> None:
        """Choose the schema of the original, and the record that says who is who in a shuffled file."""
        form, project = self.form, self.state.project
        schema = project.schema_of(form.values.get("original", ""))
        form.put("schema", schema if schema in project.schemas else "")
        record = shuffled_by(project, form.values.get("masked", ""))
        form.offered["id"] = {record: "the record of the masking, which shuffled them"} if record else {}
        form.values.pop("id", None)
        form.values |= {"id": record} if record else {}
