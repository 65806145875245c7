"""The bound closes: attack and bound of each family on a chart that moves while the search runs."""

from __future__ import annotations

import time
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.progress import Course, ProgressReader
from linkrisk.solver.app.run_folder import Run
from linkrisk.solver.app.vega import VegaChart

ATTACK, BOUND = "#0072B2", "#D55E00"
MOST = 2000
"""Points of a chart; of more, every other."""

_TEXT = {"labelColor": "currentColor", "titleColor": "currentColor", "domainColor": "currentColor"}
_SIZES = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "tickCount": 5}
AXIS = {**_TEXT, **_SIZES, "gridColor": "currentColor", "gridOpacity": 0.12, "tickColor": "currentColor"}
"""Axes that are read on light and dark pages alike."""


def course_spec() -> dict[str, Any]:
    """Attack and bound over time as steps, with what lies between them."""
    x = {"field": "seconds", "type": "quantitative", "title": "seconds"}
    scale = {"zero": False, "nice": True}

    def y(name: str) -> dict[str, Any]:
        return {"field": name, "type": "quantitative", "title": "records", "scale": scale}

    def step(name: str, color: str) -> dict[str, Any]:
        mark = {"type": "line", "interpolate": "step-after", "color": color, "strokeWidth": 2.5}
        return {"mark": mark, "encoding": {"x": x, "y": y(name)}}

    area = {"type": "area", "interpolate": "step-after", "color": "#808080", "opacity": 0.15}
    between = {"mark": area, "encoding": {"x": x, "y": y("attack"), "y2": {"field": "bound"}}}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 200,
        "background": None,
        "data": {"name": "course"},
        "layer": [between, step("bound", BOUND), step("attack", ATTACK)],
        "config": {"font": "system-ui, sans-serif", "view": {"stroke": None}, "axis": AXIS},
    }


class Live:
    """The charts of a run, one a family, made when the family begins."""

    def __init__(self, run: Run) -> None:
        self._reader = ProgressReader(run)
        self._title = layout.text("h2", "The bound closes")
        self._reading = layout.text(
            "p",
            "Blue is the best attack so far, orange the bound that no attack of the family exceeds: the "
            "truth lies between them, and where they meet it is proven.",
            "quiet small",
        )
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
        self._heard = time.monotonic() if new else self._heard
        courses = list(self._reader.courses.values())
        if courses:
            self._show(visible=True)
        for course in courses:
            if course.family not in self._charts:
                self._add(course)
            said, chart = self._charts[course.family]
            said.set_text(course.sentence if going and course is courses[-1] else course.interval)
            goes_on = going and course is courses[-1]
            if new or goes_on:
                chart.put("course", _rows(course, time.monotonic() - self._heard if goes_on else 0.0))
            chart.describe(f"Attack and bound over time: {course.interval}")

    def _show(self, *, visible: bool) -> None:
        for element in (self._title, self._reading, self._place):
            element.set_visibility(visible)

    def _add(self, course: Course) -> None:
        with self._place, ui.element("section").classes("course"):
            layout.text("h3", family_words(course.family) or "Worst case")
            said = layout.text("p", "", "small")
            spec = {**course_spec(), "datasets": {"course": _rows(course, 0.0)}}
            self._charts[course.family] = (said, VegaChart(spec, course.interval))


def family_words(name: str) -> str:
    """What a family is called; the name itself of what is none."""
    if name not in AGGREGATORS:
        return name
    words = AGGREGATORS[name].words.title
    return words[:1].upper() + words[1:]


def _rows(course: Course, since: float) -> list[dict[str, float]]:
    first = next((at for at, point in enumerate(course.points) if point[1] > 0), 0)
    points = course.points[first:]  # before the first attack there is nothing to be seen but its zero
    if since > 0:  # nothing has changed for so long
        seconds, attack, bound = points[-1]
        points = [*points, (seconds + since, attack, bound)]
    while len(points) > MOST:
        points = [*points[:-1:2], points[-1]]
    return [{"seconds": seconds, "attack": attack, "bound": bound} for seconds, attack, bound in points]
