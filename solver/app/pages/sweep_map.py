"""The map of a sweep: certified risk against loss of information; a point that is picked opens its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.solver.app.answers import finding_text
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.live import ATTACK, AXIS, BOUND
from linkrisk.solver.app.run_folder import Run
from linkrisk.solver.app.state import State
from linkrisk.solver.app.steps import Question, add_masked_risk
from linkrisk.solver.app.vega import VegaChart
from linkrisk.solver.report.formats import percent, significant

FRONT = "on the front"


def points(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A point per masking that was measured: its loss, and the interval of its worst family."""
    found = []
    for at, one in enumerate(result["runs"]):
        families = [family for family in one.get("families") or [] if family.get("linked") is not None]
        if not families or one.get("loss") is None or not one.get("total"):
            continue
        found.append(
            {
                "at": at,
                "masking": one["masking"],
                "loss": one["loss"],
                "attack": max(family["linked"] for family in families) / one["total"],
                "bound": max(family["most"] for family in families) / one["total"],
                "front": "on the front" if one.get("pareto") == FRONT else "dominated",
            }
        )
    return found


def show(state: State, run: Run) -> None:
    """The map, the table, and what is picked."""
    result = run.result
    rows = points(result)
    layout.text("h2", "Risk and loss of information")
    layout.text(
        "p",
        "Each masking is a point: to the left little information is lost, below little is re-identified. "
        "The line reaches up to what no attack exceeds. Blue maskings are dominated by no other. Pick a "
        "point to see it.",
        "quiet small",
    )
    sentences = [
        f"{one['masking']}: loss {significant(one['loss'], 3)}, at worst {percent(one['bound'], 1.0)}."
        for one in rows
    ]
    chart = VegaChart(map_spec(rows, str(result.get("loss", "loss"))), " ".join(sentences))
    picked = ui.element("div").props("role=status aria-live=polite")

    def pick(at: int) -> None:
        picked.clear()
        with picked:
            _masking(state, run, result["runs"][at])

    chart.on("pick", lambda event: pick(int(event.args["at"])) if "at" in event.args else None)
    with layout.table(("Masking", "Loss", "Re-identified at worst", "Front", "Details"), (1,)):
        for one in rows:
            interval = f"{percent(one['attack'], 1.0)} to {percent(one['bound'], 1.0)}"
            layout.row(
                (
                    one["masking"],
                    significant(one["loss"], 3),
                    interval,
                    one["front"],
                    partial(_opener, partial(pick, one["at"]), str(one["masking"])),
                ),
                (1,),
            )


def _opener(action: Callable[[], None], masking: str) -> None:
    layout.button("Open", action, "flat").tooltip(masking)


def _masking(state: State, run: Run, one: Mapping[str, Any]) -> None:
    """What was measured of a masking, and the way to make it."""

    def make() -> None:
        original = run.command["inputs"]["original"]
        question = Question(original, schema=run.command["inputs"].get("schema", ""))
        methods = str(one["masking"]).split(" + ")
        made = add_masked_risk(state.queue, question, methods, str(one["seed"]))
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


def map_spec(rows: list[dict[str, Any]], loss: str) -> dict[str, Any]:
    """Points with their intervals."""
    x = {
        "field": "loss",
        "type": "quantitative",
        "title": f"information loss ({loss})",
        "scale": {"nice": True},
    }

    def y(name: str) -> dict[str, Any]:
        return {
            "field": name,
            "type": "quantitative",
            "title": "re-identified at worst",
            "axis": {"format": "%"},
        }

    scale = {"domain": ["on the front", "dominated"], "range": [ATTACK, "#808080"]}
    color = {"field": "front", "type": "nominal", "scale": scale, "legend": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 320,
        "background": None,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "color": BOUND},
                "encoding": {"x": x, "y": y("attack"), "y2": {"field": "bound"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 130, "opacity": 1, "cursor": "pointer"},
                "encoding": {
                    "x": x,
                    "y": y("attack"),
                    "color": color,
                    "tooltip": {"field": "masking", "type": "nominal"},
                },
            },
        ],
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": None}, "axis": AXIS},
    }
