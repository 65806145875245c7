"""Runs side by side: the intervals of their worst cases on one axis, and every measure of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.solver.app.answers import (
    difference,
    finding_text,
    findings_of,
    interval_of,
    least_risk,
)
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.run_folder import Run, runs_of
from linkrisk.solver.app.state import State
from linkrisk.solver.app.vega import VegaChart
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.report.content.results import Results
from linkrisk.solver.report.short.worst_case import worst_of_all
from linkrisk.solver.run.worst_sentence import percents

_BETTER = {"higher": "lower", "lower": "higher", "neither": "–"}
"""Which way a number is better for whoever releases the file, by which way it gets worse."""


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/compare")
    def compare(runs: str = "") -> None:
        with layout.page(state, "Compare maskings", "Compare"):
            offered = {run.name: run for run in runs_of(state.project) if interval_of(run.result)}
            if not offered:
                layout.text(
                    "p", "Runs can be compared when they have a worst case; there are none yet.", "quiet"
                )
                ui.link("Start one", "/new")
                return
            chosen = [name for name in runs.split(",") if name in offered] or list(offered)[:4]
            titles = {name: f"{name}: {run.command['title']}" for name, run in offered.items()}
            ui.select(
                titles,
                value=chosen,
                multiple=True,
                label="Runs",
                on_change=lambda event: ui.navigate.to(
                    layout.address("/compare", runs=",".join(event.value))
                ),
            ).props("use-chips").style("width: 100%")
            _show([offered[name] for name in chosen])


def _show(runs: Sequence[Run]) -> None:
    results = [run.result for run in runs]
    intervals = [interval for interval in map(interval_of, results) if interval]
    layout.text("h2", "Worst cases")
    named = {run.name: one for run, one in zip(runs, intervals, strict=True)}
    chart = draw("headline", {}, worst=named)
    if chart is not None:
        layout.text(
            "p",
            "Each bar is a share of the records: to the best attack, and pale to what no attack exceeds.",
            "quiet small",
        )
        VegaChart.of(chart)
    with layout.table(("Run", "Masked file", "Worst case", "Share")):
        for run, interval in zip(runs, intervals, strict=True):
            masked = run.command.get("inputs", {}).get("masked", "the embedded pair")
            link = partial(ui.link, run.name, f"/run/{run.name}")
            layout.row((link, masked, worst_of_all(Results.of(run.result)), percents(*interval.shares)))
    files = {run.command.get("inputs", {}).get("original") for run in runs}
    if len(runs) > 1 and len(files) == 1:
        layout.text("p", least_risk(named))
    found = [findings_of(result) for result in results]
    keys = list(dict.fromkeys(key for one in found for key in one))
    if keys:
        layout.text("h2", "Every measure")
        first = runs[0].name
        layout.text(
            "p",
            f"Below each number of another run, its difference from {first}: better and worse are said for "
            "whoever releases the file.",
            "quiet small",
        ).set_visibility(len(runs) > 1)
        with layout.table(("Measure", "What", "Better", *(run.name for run in runs))):
            for key in keys:
                _measured(key, [one.get(key) for one in found])


def _measured(key: tuple[str, str], findings: Sequence[Mapping[str, Any] | None]) -> None:
    """The row of a number: which way it is better, and how far that of each run is from the first one's."""
    worse = next((one["worse"] for one in findings if one is not None), "neither")

    def cell(at: int) -> None:
        layout.text("div", finding_text(findings[at]))
        if at and (said := difference(findings[0], findings[at])) is not None:
            layout.text("div", said.words, f"small {said.judgement}")

    layout.row((*key, _BETTER[worse], *(partial(cell, at) for at in range(len(findings)))))
