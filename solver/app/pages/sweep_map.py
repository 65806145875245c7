"""The map of a sweep: certified risk against loss of information; a point that is picked opens its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from linkrisk.solver.documents.formats import percent, significant


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
            low, high = one["low"], one["low"] if one["high"] is None else one["high"]
            between = f"{percent(low, 1.0)} to {percent(high, 1.0)}" if high > low else percent(low, 1.0)
            opener = partial(_opener, partial(pick, name), name)
            layout.row((name, significant(one["loss"], 3), between, one["place"], opener), (1,))


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
                if family.get("linked") is None:
                    layout.row((family["aggregator"], str(family.get("reason") or "–")))
                    continue
                low, high = (percent(family[key], one["total"]) for key in ("linked", "most"))
                layout.row(
                    (family["aggregator"], f"{low}, proven" if family["proven"] else f"{low} to {high}")
                )
        with layout.table(("Measure", "What", "Value")):
            for measure, findings in one["findings"].items():
                for finding in findings:
                    layout.row((measure, finding["words"], finding_text(finding)))
        layout.button("Mask the file like this, and take every measure", make, "outlined")
