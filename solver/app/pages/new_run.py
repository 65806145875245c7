"""A new run: which files, which question, how long; the command that will be run is shown."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.options.kinds import FILE
from linkrisk.solver.app.asking import Step
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form
from linkrisk.solver.app.pages.start import Start
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import SEARCHED, Asked, add, shuffled_by

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


class _New:
    """What is asked, as it is now."""

    def __init__(self, state: State, files: dict[str, str], kind: str) -> None:
        self._state, self._kind, self._certified = state, kind, False
        self._form = Form(state, {**BEGIN, **files}, self._changed)
        self._know_schema()

    def show(self) -> None:
        """The form."""
        with ui.element("div").classes("panel"):
            ui.radio(KINDS, value=self._kind, on_change=self._choose).mark("kind")
        self._place = ui.element("div")
        self._fill()
        self._start = Start(self._state, self._steps, lambda: add(self._state.queue, self._asked))
        self._look()

    def _fill(self) -> None:
        """The fields of the command that answers."""
        form = self._form
        form.begin(self._kind)
        self._place.clear()
        with self._place:
            with ui.element("div").classes("panel"):
                layout.text("h2", "Files")
                with ui.element("div").classes("fields"):
                    for name in ("original", "masked"):
                        if name in form:
                            form.field(name, kind=FILE, usual=EMBEDDED)
                    form.field("schema", usual="none")
                    form.field("id")
                attributes = form.field("attributes").style("width: 100%")
                attributes.props('hint="without any: those of the schema, or all common columns"')
                self._wrong = layout.text("p", "", "bad").props("role=alert")
            if self._kind == "sweep":
                with ui.element("div").classes("panel"):
                    layout.text("h2", "Maskings")
                    words = f"One family of maskings a line, with ranges: {', '.join(METHODS)}."
                    layout.text("p", words, "quiet small")
                    form.field("methods").style("width: 100%")
            with ui.element("div").classes("panel"):
                layout.text("h2", "Search")
                form.place("aggregator", "time_limit", "method", "one_to_one", "seed", "ties", "tolerated")
                if self._kind == "fit":
                    words = "With a certificate for others to check, and its verification here"
                    ui.checkbox(words, value=self._certified, on_change=self._certify).mark("certificate")
                form.more("folder")

    @property
    def _asked(self) -> Asked:
        return Asked(self._kind, self._form.values, certified=self._certified and self._kind == "fit")

    def _steps(self) -> list[Step]:
        self._form.check()
        self._asked.check()
        return self._asked.steps(f"runs/NNNN-{self._kind}")

    def _choose(self, event: Any) -> None:
        self._kind = event.value
        self._fill()
        self._start.update()

    def _certify(self, event: Any) -> None:
        self._certified = bool(event.value)
        self._start.update()

    def _changed(self, name: str) -> None:
        if name in ("original", "masked"):
            self._know_schema()
            self._look()
        self._start.update()

    def _know_schema(self) -> None:
        """Choose the schema of the original, and the record that says who is who in a shuffled file."""
        form, project = self._form, self._state.project
        schema = project.schema_of(form.values.get("original", ""))
        form.put("schema", schema if schema in project.schemas else "")
        record = shuffled_by(project, form.values.get("masked", ""))
        form.offered["id"] = {record: "the record of the masking, which shuffled them"} if record else {}
        form.values.pop("id", None)
        form.values |= {"id": record} if record else {}

    def _look(self) -> None:
        """Find the columns of the original file, and offer them."""
        self._form.look("original", self._wrong.set_text)
