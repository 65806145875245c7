"""Results drawn: runs side by side, and the map of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.solver.app.answers import difference, finding_text, findings_of, interval_of, least_risk
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.live import VegaChart
from linkrisk.solver.app.runs import Run, State, runs_of
from linkrisk.solver.app.steps import add_masked_risk
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.charts.wording import worst_said
from linkrisk.solver.documents.formats import NOTHING, significant
from linkrisk.solver.report.results import Results
from linkrisk.solver.schemas.intervals import percents
from linkrisk.solver.schemas.reading import Interval

_BETTER = {"higher": "lower", "lower": "higher", "neither": "–"}
"""Which way a number is better for whoever releases the file, by which way it gets worse."""


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/compare")
    def compare(runs: str = "") -> None:
        with layout.page(state, "Compare maskings", "Compare"):
            offered = {run.name: run for run in runs_of(state.project) if interval_of(run.result)}
            if not offered:
                words = "Runs can be compared when they have a worst case; there are none yet."
                layout.text("p", words, "quiet")
                ui.link("Start one", "/new")
                return
            chosen = [name for name in runs.split(",") if name in offered] or list(offered)[:4]
            titles = {name: f"{name}: {run.command['title']}" for name, run in offered.items()}

            def choose(event: Any) -> None:
                ui.navigate.to(layout.address("/compare", runs=",".join(event.value)))

            ui.select(titles, value=chosen, multiple=True, label="Runs", on_change=choose).props(
                "use-chips"
            ).style("width: 100%")
            _show([offered[name] for name in chosen])


def _show(runs: Sequence[Run]) -> None:
    results = [run.result for run in runs]
    intervals = [interval for interval in map(interval_of, results) if interval]
    layout.text("h2", "Worst cases")
    named = {run.name: one for run, one in zip(runs, intervals, strict=True)}
    chart = draw("headline", {}, worst=named)
    if chart is not None:
        layout.hint(
            "Each bar is a share of the records: to the best attack, and pale to what no attack exceeds."
        )
        VegaChart(chart)
    with layout.table(("Run", "Masked file", "Worst case", "Share")):
        for run, interval in zip(runs, intervals, strict=True):
            masked = run.command.get("inputs", {}).get("masked", "the embedded pair")
            link = partial(ui.link, run.name, f"/run/{run.name}")
            layout.row((link, masked, Results.of(run.result).sentence, percents(*interval.shares)))
    files = {run.command.get("inputs", {}).get("original") for run in runs}
    if len(runs) > 1 and len(files) == 1:
        layout.text("p", least_risk(named))
    found = [findings_of(result) for result in results]
    keys = list(dict.fromkeys(key for one in found for key in one))
    if keys:
        layout.text("h2", "Every measure")
        first = runs[0].name
        layout.hint(
            f"Below each number of another run, its difference from {first}: better and worse are said for "
            "whoever releases the file."
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


def show_map(state: State, run: Run) -> None:
    """Show the map of a sweep, its table, and what is picked of either, which can be made as a run."""
    result = run.result
    chart = draw("risk-utility", result)
    layout.text("h2", "Risk and loss of information")
    if chart is None:
        layout.text("p", "No masking has both a loss and a worst case.", "quiet")
        return
    layout.hint(f"{chart.reading} Pick a point to see its masking.")
    measured = {str(one["masking"]): one for one in result["runs"]}
    drawn = VegaChart(chart)
    picked = ui.element("div").props("role=status aria-live=polite")

    def pick(masking: str) -> None:
        picked.clear()
        with picked:
            _masking(state, run, measured[masking])

    def take(event: Any) -> None:
        masking = event.args.get("masking") if isinstance(event.args, Mapping) else None
        if str(masking) in measured:
            pick(str(masking))

    drawn.on("pick", take)

    def opener(masking: str) -> None:
        layout.button("Open", partial(pick, masking), "flat").tooltip(masking)

    names = [column.name for column in chart.table.columns]
    with layout.table(("Masking", "Loss", "Re-identified at worst", "Front", "Details"), (1,)):
        for row in chart.table.rows:
            one = dict(zip(names, row, strict=True))
            name = str(one["masking"])
            said = worst_said(Interval(one["low"], 1.0 if one["high"] is None else one["high"]))
            layout.row((name, significant(one["loss"], 3), said, one["place"], partial(opener, name)), (1,))


def _masking(state: State, run: Run, one: Mapping[str, Any]) -> None:
    """What was measured of a masking, and the way to make it."""

    def make() -> None:
        inputs = run.command["inputs"]
        files = {what: inputs[what] for what in ("original", "schema") if what in inputs}
        made = add_masked_risk(state.queue, files, str(one["masking"]).split(" + "))
        ui.navigate.to(f"/run/{made.name}")

    with ui.element("div").classes("panel"):
        layout.text("h3", str(one["masking"]))
        with layout.table(("Family", "Re-identified at worst")):
            for family in one["families"]:
                said = str(family.get("reason") or NOTHING)
                if family["linked"] is not None:
                    ends = Interval(family["linked"], family["most"], one["total"], family["confidence"])
                    said = worst_said(replace(ends, comparable=family["proven"]))
                layout.row((family["aggregator"], said))
        with layout.table(("Measure", "What", "Value")):
            for measure, findings in one["findings"].items():
                for finding in findings:
                    layout.row((measure, finding["words"], finding_text(finding)))
        layout.button("Mask the file like this, and take every measure", make, "outlined")
