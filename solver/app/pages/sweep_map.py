"""The map of a sweep: certified risk against loss of information; a point that is picked opens its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.solver.app.answers import finding_text
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.run_folder import Run
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import add_masked_risk
from linkrisk.solver.app.vega import VegaChart
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.charts.wording import worst_said
from linkrisk.solver.documents.formats import significant
from linkrisk.solver.schemas.reading import Interval


def show(state: State, run: Run) -> None:
    """The map, the table, and what is picked."""
    result = run.result
    chart = draw("risk-utility", result)
    layout.text("h2", "Risk and loss of information")
    if chart is None:
        layout.text("p", "No masking has both a loss and a worst case.", "quiet")
        return
    layout.text("p", f"{chart.reading} Pick a point to see its masking.", "quiet small")
    measured = {str(one["masking"]): one for one in result["runs"]}
    drawn = VegaChart.of(chart)
    picked = ui.element("div").props("role=status aria-live=polite")

    def pick(masking: str) -> None:
        picked.clear()
        with picked:
            _masking(state, run, measured[masking])

    drawn.on("pick", lambda event: pick(event.args["masking"]) if _known(event.args, measured) else None)
    names = [column.name for column in chart.table.columns]
    with layout.table(("Masking", "Loss", "Re-identified at worst", "Front", "Details"), (1,)):
        for row in chart.table.rows:
            one = dict(zip(names, row, strict=True))
            name = str(one["masking"])
            said = worst_said(Interval(one["low"], 1.0 if one["high"] is None else one["high"]))
            opener = partial(_opener, partial(pick, name), name)
            layout.row((name, significant(one["loss"], 3), said, one["place"], opener), (1,))


def _known(datum: Any, measured: Mapping[str, Any]) -> bool:
    """Whether what was picked is a masking."""
    return isinstance(datum, Mapping) and str(datum.get("masking")) in measured


def _opener(action: Callable[[], None], masking: str) -> None:
    layout.button("Open", action, "flat").tooltip(masking)


def _masking(state: State, run: Run, one: Mapping[str, Any]) -> None:
    """What was measured of a masking, and the way to make it."""

    def make() -> None:
        files = {
            what: run.command["inputs"][what]
            for what in ("original", "schema")
            if what in run.command["inputs"]
        }
        made = add_masked_risk(state.queue, files, str(one["masking"]).split(" + "))
        ui.navigate.to(f"/run/{made.name}")

    with ui.element("div").classes("panel"):
        layout.text("h3", str(one["masking"]))
        with layout.table(("Family", "Re-identified at worst")):
            for family in one["families"]:
                said = str(family.get("reason") or "–")
                if family["linked"] is not None:
                    ends = Interval(family["linked"], family["most"], one["total"], family["confidence"])
                    said = worst_said(replace(ends, comparable=family["proven"]))
                layout.row((family["aggregator"], said))
        with layout.table(("Measure", "What", "Value")):
            for measure, findings in one["findings"].items():
                for finding in findings:
                    layout.row((measure, finding["words"], finding_text(finding)))
        layout.button("Mask the file like this, and take every measure", make, "outlined")
