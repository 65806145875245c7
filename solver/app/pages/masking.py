"""Page of masking: methods with their parameters, and a preview of the changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.datasets.masking.registry import METHODS, masking_method
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema_files import read_schema
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.form import Form
from linkrisk.solver.app.preview import preview
from linkrisk.solver.app.project import Project
from linkrisk.solver.app.runs import State
from linkrisk.solver.app.steps import about, add_mask, in_words, spelled_method
from linkrisk.solver.documents.wording import NOTHING, count, percent, significant
from linkrisk.solver.run.errors import UsageError

SHOWN = 12
"""Rows of the preview, and columns of these."""


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/mask")
    def mask(name: str = "") -> None:
        with layout.page_of_file(state, name, "Mask {}", "Mask a file") as known:
            if known:  # an error would only be seen when a run has failed
                layout.when_read(state, name, lambda found: _Mask(state, name, found).show())


class _Mask:
    """A method with its parameters, those that were added before it, and what is released."""

    def __init__(self, state: State, name: str, found: Mapping[str, Any]) -> None:
        self._state, self._name = state, name
        self._method, self._seed = "microaggregation", ""
        self._before: list[str] = []
        self._parameters = Form(state, {}, lambda _: None)
        self._release = Form(state, {}, lambda _: None)
        for form in (self._parameters, self._release):
            form.columns = [str(one["name"]) for one in found["columns"]]
        self._roles = {str(one["name"]): one.get("role") for one in found["columns"]}
        self._outcome = ui.element("div")

    def show(self) -> None:
        """The form with the place for its preview."""
        self._schema = self._state.project.known_schema(self._name)
        said = (
            f"Roles and scales are those of {self._schema}."
            if self._schema
            else "There is no schema yet: the method masks what it can. Ids and weights that are recognised "
            "stay as they are."
        )
        layout.text("p", said, "quiet")
        with layout.panel():
            ui.select(list(METHODS), value=self._method, label="Method", on_change=self._choose).style(
                "max-width: 360px"
            ).mark("method")
            self._fields = ui.element("div").classes("fields")
            self._fill()
            self._sequence = layout.hint("")
            with ui.element("div").classes("lines"):
                layout.button("Preview", self._preview, "outlined")
                layout.button("Add another method after it", self._add, "flat")
            self._show_release()
            with ui.element("div").classes("lines"):
                layout.button("Mask", self._start).mark("mask")
        self._outcome.move(target_index=-1)

    def _show_release(self) -> None:
        """What becomes of names, ids and the order of records."""
        layout.text("h3", "What is released")
        if self._schema:
            schema = read_schema(self._state.project.inside(self._schema))
            self._roles |= {each.name: each.role for each in schema.attributes if each.role is not None}
        form = self._release
        form.begin("mask")
        form.values["drop"] = [name for name in form.columns if self._roles.get(name) == Role.IDENTIFIER]
        form.field("drop", hint="names and other direct identifiers name the records")
        form.field("renumber", hint="record ids and household numbers")
        form.field("shuffle")
        ui.input("Seed", on_change=lambda event: setattr(self, "_seed", event.value.strip())).props(
            'stack-label placeholder="a new one that nobody can guess"'
        ).style("max-width: 360px")
        form.more("data", "method")

    def _choose(self, event: Any) -> None:
        self._method = event.value
        self._parameters.values.clear()
        self._fill()

    def _fill(self) -> None:
        """The fields of the parameters, whose values are words of the method."""
        self._fields.clear()
        with self._fields:
            self._parameters.begin(in_words(METHODS[self._method].parameters))
            self._parameters.explain_all()

    def _methods(self) -> list[str]:
        """All methods as text; UsageError or DataError where one is not fit."""
        values = {**self._parameters.values, **({"schema": self._schema} if self._schema else {})}
        _check_files(self._state.project, self._method, values)
        spelled = spelled_method(self._method, values)
        if not self._schema:  # it is read from the project folder, where this process does not run
            with about("mask"):
                masking_method(spelled)
        return [*self._before, spelled]

    def _add(self) -> None:
        with layout.refusing():
            self._before = self._methods()
            self._sequence.set_text(f"First: {', then '.join(self._before)}. The method above follows.")

    async def _preview(self) -> None:
        try:
            methods = self._methods()
        except LinkriskError as error:
            layout.say_error(str(error))
            return
        self._outcome.clear()
        with self._outcome:
            layout.text("p", "Trying it...", "quiet")
        found = await preview(self._state.project, self._name, methods)
        self._outcome.clear()
        with self._outcome:
            layout.text("h2", "What would change")
            if "error" in found:
                layout.text("p", str(found["error"]), "bad")
            else:
                _show_preview(found)

    def _start(self) -> None:
        with layout.refusing():
            if self._seed and not self._seed.isdigit():
                raise UsageError(f"the seed {self._seed!r} is not a whole number of at least 0")
            released = {**self._release.values, "seed": self._seed}
            run = add_mask(self._state.queue, self._name, self._methods(), **released)
            ui.navigate.to(f"/run/{run.name}")


def _check_files(project: Project, method: str, values: dict[str, Any]) -> None:
    """Files that parameters name have to be in the project."""
    for key, value in values.items():
        option = METHODS[method].parameters.get(key)
        if option is None or "FILE" not in option.kind.metavar or not value:
            continue
        for one in value if isinstance(value, list) else [str(value)]:
            file = one.rpartition("=")[2].strip()
            if not project.inside(file).is_file():
                raise UsageError(f"{key}: the project has no file {file!r}")


def _show_preview(found: dict[str, Any]) -> None:
    for sentence in found["does"]:
        layout.text("p", sentence)
    if found["records"] < found["all"]:
        layout.hint(f"Tried on the first {count(found['records'])} of {count(found['all'])} records.")
    titles = ("Column", "Values changed", "Mean change, in standard deviations", "Different values")
    with layout.table(titles, (1, 2, 3)):
        for one in found["columns"]:
            before, after = map(count, one["different"])
            moved = one["moved"]
            moved = NOTHING if moved is None or math.isnan(moved) else significant(moved, 3)
            layout.row((one["name"], percent(one["changed"], 1.0), moved, f"{before} → {after}"), (1, 2, 3))
    layout.text("p", _estimate(found))
    if found["perhaps_codes"]:
        said = f"{shown_names(found['perhaps_codes'])}: few different whole numbers, masked as numbers."
        cure = "If these are codes, choose the others as attributes, or save a schema that says so."
        layout.text("p", f"{said} {cure}")
    if found["as_is"]:
        layout.hint(f"Not masked: {shown_names(found['as_is'])}.")
    layout.text("h3", "Distributions, before and after")
    with layout.hint(""):
        for words, kind in (("the original", "before"), ("masked", "after")):
            ui.element("span").classes(f"legend share {kind}")
            layout.text("span", f"{words}  ")
    with ui.element("div").classes("distributions"):
        for one in found["columns"][:SHOWN]:
            _distribution(one)
    layout.text("h3", "First records, before and after")
    with layout.table([one["name"] for one in found["columns"]][:SHOWN]):
        for record in found["rows"][:SHOWN]:
            layout.row([partial(_pair, *pair) for pair in record[:SHOWN]])


def _estimate(found: Mapping[str, Any]) -> str:
    """What an intruder without any skill gets right, as a first idea of the risk."""
    if "not_linked" in found:
        return f"The risk was not estimated: {found['not_linked']}."
    return (
        "Linking each of these records to its nearest masked one, with equal weights of all columns and a "
        f"guess among equals, is right for {percent(found['linked'], 1.0)}. The worst case is not below "
        "that: check the pair after masking."
    )


def _distribution(column: Mapping[str, Any]) -> None:
    """Bars of a column, the original above the masked one."""
    most = max((max(old, new) for _, old, new in column["distribution"]), default=0.0)
    with ui.element("figure").classes("distribution"):
        layout.text("figcaption", column["name"])
        for label, old, new in column["distribution"]:
            layout.text("div", label or "(missing)", "label small quiet")
            with ui.element("div").props(f'role=img aria-label="{percent(old, 1.0)}, {percent(new, 1.0)}"'):
                for share, kind in ((old, "before"), (new, "after")):
                    width = 100.0 * share / most if most else 0.0
                    ui.element("div").classes(f"share {kind}").style(f"width: {width:.1f}%")


def _pair(before: str, after: str) -> None:
    if before != after:
        layout.text("span", before or "(missing)", "was")
        layout.text("span", " → ")
    layout.text("span", after or "(missing)")
