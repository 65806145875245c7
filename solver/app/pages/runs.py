"""Pages of runs: the queue, one run, and several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from nicegui import ui

from linkrisk.solver.app import runs as files_of
from linkrisk.solver.app.answers import (
    ProgressReader,
    answer,
    difference,
    finding_text,
    findings_of,
    grounds,
    interval_of,
    least_risk,
    verdict,
)
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.live import Live, VegaChart
from linkrisk.solver.app.runs import (
    LOG,
    OUTPUT,
    REPORT,
    VERIFICATION,
    Run,
    RunState,
    State,
    find_run,
    runs_of,
)
from linkrisk.solver.app.steps import add_masked_risk
from linkrisk.solver.app.table_steps import CELLS, MADE, PROVEN, RELATIONS, proven_files, verifying
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.charts.theme import worst_said
from linkrisk.solver.documents.wording import NOTHING, duration, significant
from linkrisk.solver.report.results import Results
from linkrisk.solver.schemas.intervals import percents
from linkrisk.solver.schemas.reading import Interval

_BETTER = {"higher": "lower", "lower": "higher", "neither": "–"}
"""Which way a number is better for whoever releases the file, by which way it gets worse."""


def _register_comparison(state: State) -> None:
    """Register the page of several runs."""

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
            _compare([offered[name] for name in chosen])


def _compare(runs: Sequence[Run]) -> None:
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


LOOKS_AT_ALL, LOOKS_AT_ONE = 0.5, 0.3
"""Seconds between two looks at the folders of all runs, or at that of one."""

WORDS = {
    files_of.RESULT: "the result as JSON",
    REPORT: "the report, one page that needs no network",
    files_of.CERTIFICATE: "the certificate: proves to others what was found",
    PROVEN: "all cells and relations in one file, for the check of the certificate: for the house",
    VERIFICATION: "what the check of the certificate said",
    files_of.INTERNAL: "all cells with status and interval: for the house",
    files_of.OUTSIDE: "the report for readers outside",
    CELLS: "the cells of the table, as they were made: for the house",
    MADE: "the rules of the table: for the house, keep them secret",
    RELATIONS: "the relations between the cells",
    files_of.CONTRIBUTORS: "what each respondent contributed to each cell: for the house",
    files_of.RECORD: "how the file was masked, with the seed: keep it secret, it undoes the masking",
}
OF_TABLES = {
    files_of.PUBLISHED_STEM: "the table as it may be published",
    files_of.INTERNAL_STEM: "all cells in another format: for the house",
}
"""Files of tables by how their names begin, whatever their format."""


def register(state: State) -> None:
    """Register the pages."""
    _register_comparison(state)

    @ui.page("/runs")
    def runs() -> None:
        with layout.page(state, "Runs", "Runs"):
            said = f"At most {state.queue.at_once} at a time; others wait. Closing this page stops nothing."
            layout.text("p", said, "quiet")
            _List(state)

    @ui.page("/run/{name}")
    def one(name: str) -> None:
        run = find_run(state.project, name)
        with layout.page(state, run.command["title"] if run else "No such run", "Runs"):
            if run is None:
                layout.text("p", "The project has no run of this name.")
            else:
                _Page(state, run)


class _List:
    """The list, made anew only when a run is added or changes its state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._body = ui.element("div")
        self._seen: list[tuple[str, RunState]] = []
        self._readers: dict[str, ProgressReader] = {}
        self._update()
        ui.timer(LOOKS_AT_ALL, self._update)

    def _update(self) -> None:
        now = [(run, run.state) for run in runs_of(self._state.project)]
        seen = [(run.name, state) for run, state in now]
        if seen != self._seen or not seen:
            self._seen = seen
            self._body.clear()
            with self._body:
                self._fill([run for run, _ in now])
        for run, state in now:
            if state in (RunState.RUNNING, RunState.STOPPING):
                reader = self._readers.setdefault(run.name, ProgressReader(run))
                reader.read()
                self._said[run.name].set_text(reader.sentence)
                self._time[run.name].set_text(duration(round(run.seconds or 0)))

    def _fill(self, runs: list[Run]) -> None:
        self._said: dict[str, layout.TextElement] = {}
        self._time: dict[str, layout.TextElement] = {}
        if not runs:
            layout.text("p", "There are none yet.", "quiet")
            ui.link("Start one", "/new")
            return
        with layout.table(("Run", "State", "Answer", "Time", "Stop")):
            for run in runs:
                made = (self._name, layout.badge, self._answer, self._seconds, self._stop)
                layout.row([partial(cell, run) for cell in made])

    def _name(self, run: Run) -> None:
        ui.link(run.command["title"], f"/run/{run.name}")
        layout.text("div", run.name, "quiet small")

    def _answer(self, run: Run) -> None:
        self._said[run.name] = layout.text("span", answer(run))

    def _seconds(self, run: Run) -> None:
        said = duration(run.seconds) if run.seconds is not None else ""
        self._time[run.name] = layout.text("span", said)

    def _stop(self, run: Run) -> None:
        if not run.state.over:
            words = "Cancel" if run.state is RunState.WAITING else "Stop"
            layout.button(words, run.stop, "flat").props(f'aria-label="{words} {run.name}"')


class _Page:
    """A run, followed until it is over."""

    def __init__(self, state: State, run: Run) -> None:
        self._state, self._run = state, run
        with ui.element("div").classes("lines"):
            self._badge = ui.element("span")
            self._time = layout.text("span", "", "quiet")
            layout.text("span", run.name, "quiet small")
            self._stop = layout.button("Stop", self._ask, "outlined").mark("stop")
        self._said = layout.text("p", "", "headline").props("role=status aria-live=polite")
        self._live = Live(run)
        self._outcome = ui.element("div")
        self._seen: RunState | None = None
        self._timer = ui.timer(LOOKS_AT_ONE, self._update)
        self._update()

    def _ask(self) -> None:
        self._run.stop()
        self._update()

    def _update(self) -> None:
        run, state = self._run, self._run.state
        self._live.update(going=not state.over)
        if state is RunState.WAITING:
            self._say("It waits for the runs before it.")
        elif not state.over:
            self._say(self._live.sentence or "Reading and comparing records.")
        self._time.set_text(duration(round(run.seconds)) if run.seconds is not None else "")
        if state is self._seen:
            return
        self._seen = state
        self._badge.clear()
        with self._badge:
            layout.badge(run)
        self._stop.set_visibility(not state.over)
        words = {RunState.WAITING: "Cancel", RunState.STOPPING: "Stop without its certificate"}
        self._stop.set_text(words.get(state, "Stop"))
        if state.over:
            self._finish()

    def _say(self, sentence: str) -> None:
        if self._said.text != sentence:
            self._said.set_text(sentence)

    def _finish(self) -> None:
        self._timer.deactivate()
        run = self._run
        self._say(answer(run))
        self._said.classes(verdict(run))
        self._outcome.clear()
        with self._outcome:
            for ground in grounds(run):
                layout.text("p", ground)
            log = run.text(LOG).strip()
            refused = run.result.get("rejected") if isinstance(run.result, dict) else None
            if log and log not in (f"error: {answer(run)}", f"rejected: {refused}"):  # the answer, as above
                layout.printed("What it said besides", log)
            _show(self._state, run)
            layout.printed("What it printed", run.text(OUTPUT))


def _show(state: State, run: Run) -> None:
    """All that it has found."""
    files, command = run.files(), run.command
    failed = run.state is RunState.FAILED and not run.result
    if failed:
        _again(run)
    masked = next((name for name in files if "-masked" in name), "")
    if masked and command["kind"] in ("mask", "suppress"):
        pair = {"original": command["inputs"]["original"], "masked": f"runs/{run.name}/{masked}"}
        layout.leading("Check this pair", "filled", "/new", **pair)
    if command["kind"] == "sweep" and run.result:
        show_map(state, run)
    if VERIFICATION in files:
        layout.printed("Verification of the certificate", run.text(VERIFICATION))
    if files_of.CERTIFICATE in files and command["kind"] == "tables":
        _for_strangers(run)
    if REPORT in files:
        layout.text("h2", "Report")
        ui.element("iframe").props(
            f'src="/report/{run.name}" title="Report" sandbox="allow-scripts allow-downloads allow-modals"'
        ).classes("report")
        ui.link("Open the report alone", f"/report/{run.name}", new_tab=True)
    layout.text("h2", "Files")
    _files(run, [name for name in files if name != OUTPUT], command.get("inputs", {}).get("schema"))
    ui.link("All as one zip, with the commands", f"/zip/{quote(run.name)}").mark("zip")
    layout.text("h2", "The same again")
    layout.hint("In the project folder these commands do the same:")
    layout.code(run.script if len(run.lines) > 1 else "\n".join(run.lines))
    if not failed:
        _again(run)


def _files(run: Run, files: list[str], schema: str | None) -> None:
    """Its files one by one, where there are any."""
    listed = {name: (f"runs/{run.name}/{name}", _words(name)) for name in files}
    listed |= {schema: (schema, "the schema")} if schema else {}
    if listed:
        with layout.table(("File", "What it is")):
            for name, (path, words) in listed.items():
                layout.row((partial(ui.link, name, layout.download_address(path)), words))


def _words(name: str) -> str:
    """What a file is."""
    begin = name.rpartition(".")[0]
    return WORDS.get(name) or OF_TABLES.get(begin, "the masked file" if "-masked" in name else "")


def _for_strangers(run: Run) -> None:
    """Explain how a third party verifies the certificate of a table."""
    beside = bool(isinstance(run.result, Mapping) and run.result.get("respondents"))
    files = proven_files(beside=beside)
    layout.text("h2", "For whoever checks it")
    with layout.text("p", ""):
        layout.text("span", "With these files in a folder, and linkrisk, anybody can check the proof: ")
        for at, name in enumerate((files_of.CERTIFICATE, *files)):
            layout.text("span", " and " if at else "")
            ui.link(name, layout.download_address(f"runs/{run.name}/{name}"))
    layout.code(files_of.spelled(verifying(beside=beside)))
    layout.hint(
        "The check takes fractions, needs no optimiser, and shares no code with the search. It is about "
        f"outsiders. {files[0]} holds the values of all cells: give it only to those who may see them."
    )


def _again(run: Run) -> None:
    """The way to a page where all that was asked is chosen already."""
    kind, inputs = run.command["kind"], run.command.get("inputs", {})
    if kind == "tables":
        target = layout.address("/tables", again=run.name)
    elif kind in ("unsafe", "suppress"):
        target = layout.address("/suppress", name=inputs["original"], task=kind)
    else:
        pair = {what: name for what, name in inputs.items() if what in ("original", "masked")}
        target = layout.address("/new", kind=kind, **pair)
    if kind != "mask":
        ui.link("Ask again with other settings", target)
