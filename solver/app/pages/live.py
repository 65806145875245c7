"""Charts drawn in the browser by a local bundle, of running searches, too."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.app.answers import Course, ProgressReader
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.runs import Run
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.gallery import draw
from linkrisk.solver.charts.worst_case import costs
from linkrisk.solver.documents.page.scripts import bundled

BUNDLE = "/linkrisk/vega.js"


@functools.cache
def bundle() -> bytes:
    """The drawing library with all that it needs, about 0.9 MB: that of the reports."""
    return bundled().encode()


@functools.cache
def bundle_tag() -> str:
    """Entity tag by which a browser knows the bundle."""
    return hashlib.sha256(bundle()).hexdigest()[:16]


class VegaChart(Element, component="../vega_chart.js"):
    """A chart of `solver.charts`; data sets of its definition that have a name can be given anew."""

    def __init__(self, chart: Chart) -> None:
        super().__init__()
        self._props.update(spec=dict(chart.spec), description=chart.description, bundle=BUNDLE)

    def put(self, datasets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Give data sets anew, by name."""
        self.run_method("put", {name: list(rows) for name, rows in datasets.items()})

    def describe(self, text: str) -> None:
        """Say what it shows now."""
        if self._props.get("description") != text:
            self._props["description"] = text
            self.update()


_SEARCHED = ("", *AGGREGATORS)
MOST = 2000
"""Points of a chart; of more, every other."""


class Live:
    """The charts of a run, one a family, made when the family begins."""

    def __init__(self, run: Run) -> None:
        self._run, self._reader = run, ProgressReader(run)
        self._title = layout.text("h2", "The bound closes")
        self._reading = layout.hint("")
        self._place = ui.element("div").classes("courses")
        self._heard = time.monotonic()
        self._charts: dict[str, tuple[TextElement, VegaChart]] = {}
        self._show(visible=False)

    @property
    def sentence(self) -> str:
        """What is being done."""
        return self._reader.sentence

    def update(self, *, going: bool) -> None:
        """Take in what is new; while a run is `going`, the last family's chart goes on, too."""
        new = self._reader.read()
        if not going:
            new = self._reader.end(self._run.result) or new
        self._heard = time.monotonic() if new else self._heard
        # The searches of a sweep are as many as its maskings: its map shows them.
        courses = [one for one in self._reader.courses.values() if one.costs or one.family in _SEARCHED]
        if courses:
            self._show(visible=True)
        since = time.monotonic() - self._heard if going else 0.0
        rows = {course.family: _rows(course, since if course is courses[-1] else 0.0) for course in courses}
        span = [{"t": 0.0}, {"t": max((points[-1]["t"] for points in rows.values()), default=0.0)}]
        for course in courses:
            if course.family not in self._charts:
                self._add(course)
            said, chart = self._charts[course.family]
            said.set_text(course.sentence if going and course is courses[-1] else course.interval)
            if new or going:
                chart.put({"trace": rows[course.family], "span": span})
            what = "Cost" if course.costs else "Attack"
            chart.describe(f"{what} and bound over time: {course.interval}")

    def _show(self, *, visible: bool) -> None:
        for element in (self._title, self._reading, self._place):
            element.set_visibility(visible)

    def _add(self, course: Course) -> None:
        with self._place, ui.element("section").classes("course"):
            layout.text("h3", _title(course))
            said = layout.text("p", "", "small")
            chart = _chart(course)
            self._reading.set_text(chart.reading)
            self._charts[course.family] = (said, VegaChart(chart))


def _title(course: Course) -> str:
    if course.costs:
        return f"Against {course.family} alone" if course.family else "Against all attackers"
    known = AGGREGATORS.get(course.family)
    words = known.words.title if known else course.family
    return words[:1].upper() + words[1:] if known else words or "Worst case"


def _chart(course: Course) -> Chart:
    trace = [(row["t"], row["low"], row["high"]) for row in _rows(course, 0.0)]
    if course.costs:
        return costs(trace)
    known = {"aggregator": course.family or "worst case", "records": course.total, "trace": trace}
    found = draw("bound", known, live=True)
    assert found is not None  # a course has a point
    return found


def _rows(course: Course, since: float) -> list[dict[str, float]]:
    first = next((at for at, point in enumerate(course.points) if point[1] > 0), 0)
    if first == len(course.points) - 1 and first > 0:  # one point alone is no course
        first -= 1
    points = course.points[first:]  # before the first attack, or bound, there is only its zero to be seen
    if since > 0:  # nothing has changed for so long
        seconds, attack, bound = points[-1]
        points = [*points, (seconds + since, attack, bound)]
    while len(points) > MOST:
        points = [*points[:-1:2], points[-1]]
    return [{"t": seconds, "low": attack, "high": bound} for seconds, attack, bound in points]
