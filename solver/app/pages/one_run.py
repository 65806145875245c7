"""One run: its bound closes here; then what it found, and the files to leave with."""

from __future__ import annotations

from nicegui import ui

from linkrisk.solver.app.answers import answer, grounds, verdict
from linkrisk.solver.app.pages import layout, outcome
from linkrisk.solver.app.pages.live import Live
from linkrisk.solver.app.run_folder import LOG, OUTPUT, Run, find_run
from linkrisk.solver.app.run_folder import State as RunState
from linkrisk.solver.app.state import State
from linkrisk.solver.documents.formats import duration

TICK = 0.3


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/run/{name}")
    def one(name: str) -> None:
        run = find_run(state.project, name)
        with layout.page(state, run.command["title"] if run else "No such run", "Runs"):
            if run is None:
                layout.text("p", "The project has no run of this name.")
            else:
                _Page(state, run)


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
        self._timer = ui.timer(TICK, self._update)
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
            if log and not _above(run, log):
                layout.text("h2", "What it said besides")
                layout.text("pre", log, "code").props("tabindex=0")
            outcome.show(self._state, run)
            layout.text("h2", "What it printed")
            layout.text("pre", run.text(OUTPUT), "code").props("tabindex=0")


def _above(run: Run, log: str) -> bool:
    """Whether what was said besides is the answer, which stands above already."""
    refused = run.result.get("rejected") if isinstance(run.result, dict) else None
    return log in (f"error: {answer(run)}", f"rejected: {refused}")
