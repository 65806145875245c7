"""All runs, and one: its bound closes here; then what it found, and the files to leave with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

from nicegui import ui

from linkrisk.solver.app import runs as files_of
from linkrisk.solver.app.answers import answer, grounds, verdict
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.compare import show_map
from linkrisk.solver.app.pages.live import Live
from linkrisk.solver.app.progress import ProgressReader
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
from linkrisk.solver.app.table_steps import CELLS, MADE, PROVEN, RELATIONS, proven_files, verifying
from linkrisk.solver.documents.formats import duration

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
    """How somebody else checks the certificate of a table."""
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
