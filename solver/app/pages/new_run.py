"""Pages of new runs on microdata: a file pair, and unsafe combinations of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.options.kinds import FILE
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form
from linkrisk.solver.app.pages.question import Asking, Trees
from linkrisk.solver.app.runs import State
from linkrisk.solver.app.steps import SEARCHED, SUPPRESS, UNSAFE, Asked, in_a_word, in_words, shuffled_by
from linkrisk.solver.linkage.parameters import own_settings

KINDS = {
    "fit": "Worst case: the attack that re-identifies most records, and a bound for all others",
    "risk": "All measures of the release, in one table with one verdict",
    "sweep": "What protection costs: mask the original in many ways",
    "link": "Another linker, which learns without the truth: what it re-identifies",
}
BEGIN = {**SEARCHED, "method": "prl", "methods": ["microaggregation k=3..9:3", "noise percent=10,30"]}
TASKS = {
    UNSAFE: "Count unsafe combinations by variable and category, and what levels of hierarchies would help",
    SUPPRESS: "Suppress the fewest values that leave no unsafe combination, with a proof",
}
RARE = {
    False: "fewer than k records are alike in all key variables",
    True: "a table of a few key variables has a small cell",
}


def register(state: State) -> None:
    """Register the pages."""

    @ui.page("/new")
    def new(original: str = "", masked: str = "", kind: str = "fit") -> None:
        with layout.page(state, "New run", "New run"):
            names = state.project.data_files
            files = {"original": original, "masked": masked}
            given = {what: name for what, name in files.items() if name in names}
            _New(state, given, kind if kind in KINDS else "fit").show()

    @ui.page("/suppress")
    def suppress(name: str = "", task: str = UNSAFE) -> None:
        title = "Unsafe combinations"
        with layout.page_of_file(state, name, f"{title} of {{}}", title) as known:
            chosen = task if task in TASKS else UNSAFE
            if known:
                layout.when_read(state, name, lambda found: _Unsafe(state, name, chosen, found).show())


class _New(Asking):
    """A question about a file pair."""

    tasks = KINDS

    def __init__(self, state: State, files: dict[str, str], kind: str) -> None:
        super().__init__(state, kind, {**BEGIN, **files})
        self.settings = Form(state, {}, self.changed)
        self._certified = False
        self._know_schema()

    @property
    def asked(self) -> Asked:
        """The question that the fields are."""
        values = dict(self.form.values)
        known = own_settings(values["method"]) if self.task == "link" else {}
        values |= {
            name: in_a_word(known[name], one) for name, one in self.settings.values.items() if name in known
        }
        return Asked(self.task, values, certified=self._certified and self.task == "fit")

    def fill(self) -> None:
        """Make the fields of the command that answers."""
        form = self.form
        form.begin(self.task)
        with layout.panel("Files"):
            with ui.element("div").classes("fields"):
                for name in ("original", "masked"):
                    if name in form:
                        form.field(name, kind=FILE, usual="the embedded pair")
                form.field("schema", usual="none")
                form.field("id")
            hint = "without any: those of the schema, or all common columns"
            form.field("attributes", hint=hint).style("width: 100%")
            self._wrong = layout.text("p", "", "bad").props("role=alert")
        if self.task == "sweep":
            with layout.panel("Maskings"):
                layout.hint(f"One family of maskings a line, with ranges: {', '.join(METHODS)}.")
                form.field("methods").style("width: 100%")
        with layout.panel("Search"):
            form.place("aggregator", "time_limit", "method", "one_to_one", "seed", "ties", "tolerated")
            if self.task == "fit":
                words = "With a certificate for others to check, and its verification here"
                ui.checkbox(words, value=self._certified, on_change=self._certify).mark("certificate")
            self._place_of_settings = ui.element("div")
            self._fill_settings()
            form.more("folder")
        form.look("original", self._wrong.set_text)

    def _fill_settings(self) -> None:
        """The parameters of the linker that is chosen, if there is one to be chosen."""
        known = own_settings(self.form.values["method"]) if self.task == "link" else {}
        self.settings.begin(in_words(known, checked=True))
        self.settings.values = {name: one for name, one in self.settings.values.items() if name in known}
        self._place_of_settings.clear()
        if known:
            title = f"Settings of {self.form.values['method']}"
            with self._place_of_settings, layout.folded(title), ui.element("div").classes("fields"):
                self.settings.explain_all()

    def _certify(self, event: Any) -> None:
        self._certified = bool(event.value)
        self.update()

    def check(self) -> None:
        """Raise what is wrong or missing."""
        self.settings.check()
        super().check()

    def changed(self, name: str) -> None:
        """Follow a change of an option."""
        if name in ("original", "masked"):
            self._know_schema()
            self.form.look("original", self._wrong.set_text)
        if name == "method":
            self._fill_settings()
        self.update()

    def _know_schema(self) -> None:
        """Choose the schema of the original, and the record that says who is who in a shuffled file."""
        form, project = self.form, self.state.project
        form.put("schema", project.known_schema(form.values.get("original", "")))
        record = shuffled_by(project, form.values.get("masked", ""))
        form.offered["id"] = {record: "the record of the masking, which shuffled them"} if record else {}
        form.values.pop("id", None)
        form.values |= {"id": record} if record else {}


class _Unsafe(Asking):
    """A question about the key variables of a file."""

    tasks = TASKS

    def __init__(self, state: State, name: str, task: str, found: Mapping[str, Any]) -> None:
        schema = state.project.known_schema(name)
        known = {"schema": schema} if schema else {}
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
            form.field("keys", hint=hint).style("width: 100%")
            ui.radio(RARE, value=self._small, on_change=self._choose_rare).mark("rare")
            small = dict.fromkeys(("dimension", "threshold"), lambda: not self.asked.by_k)
            form.place("k", "dimension", "threshold", "weight", k=lambda: self.asked.by_k, **small)
        if self.task == SUPPRESS:
            with layout.panel("What is suppressed"):
                form.field("problem")
                form.place("household", "untouched", "time_limit")
        with form.shown(layout.panel("Hierarchies"), lambda: self.asked.leveled):
            layout.hint("A file with the categories of a key variable and a column for each coarser level.")
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
