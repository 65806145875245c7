"""All runs: which wait, which run and how near their bounds are, which have ended."""

from __future__ import annotations

from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from linkrisk.solver.app.answers import answer
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.progress import ProgressReader
from linkrisk.solver.app.run_folder import Run, runs_of
from linkrisk.solver.app.run_folder import State as RunState
from linkrisk.solver.app.state import State
from linkrisk.solver.documents.formats import duration

TICK = 0.5


def register(state: State) -> None:
    """Register the page."""

    @ui.page("/runs")
    def runs() -> None:
        with layout.page(state, "Runs", "Runs"):
            said = f"At most {state.queue.at_once} at a time; others wait. Closing this page stops nothing."
            layout.text("p", said, "quiet")
            _List(state)


class _List:
    """The list, made anew only when a run is added or changes its state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._body = ui.element("div")
        self._seen: list[tuple[str, RunState]] = []
        self._readers: dict[str, ProgressReader] = {}
        self._update()
        ui.timer(TICK, self._update)

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
                self._live[run.name][0].set_text(self._course(run))
                self._live[run.name][1].set_text(duration(round(run.seconds or 0)))

    def _fill(self, runs: list[Run]) -> None:
        self._live: dict[str, tuple[TextElement, TextElement]] = {}
        if not runs:
            layout.text("p", "There are none yet.", "quiet")
            ui.link("Start one", "/new")
            return
        with layout.table(("Run", "State", "Answer", "Time", "Stop")):
            for run in runs:
                layout.row(
                    [
                        partial(self._name, run),
                        partial(layout.badge, run),
                        partial(self._answer, run),
                        partial(self._time, run),
                        partial(self._stop, run),
                    ]
                )

    def _name(self, run: Run) -> None:
        ui.link(run.command["title"], f"/run/{run.name}")
        layout.text("div", run.name, "quiet small")

    def _answer(self, run: Run) -> None:
        said = layout.text("span", answer(run))
        self._live[run.name] = (said, said)

    def _time(self, run: Run) -> None:
        seconds = layout.text("span", duration(run.seconds) if run.seconds is not None else "")
        self._live[run.name] = (self._live[run.name][0], seconds)

    def _stop(self, run: Run) -> None:
        if not run.state.over:
            words = "Cancel" if run.state is RunState.WAITING else "Stop"
            layout.button(words, run.stop, "flat").props(f'aria-label="{words} {run.name}"')

    def _course(self, run: Run) -> str:
        reader = self._readers.setdefault(run.name, ProgressReader(run))
        reader.read()
        return reader.sentence
