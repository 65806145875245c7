"""Charts on pages: definitions of Vega-Lite, drawn in the browser by a bundle that this server has."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui.element import Element

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.documents.page.scripts import bundled

BUNDLE = "/linkrisk/vega.js"


@functools.cache
def bundle() -> bytes:
    """The drawing library with all that it needs, about 0.9 MB: that of the reports."""
    return bundled().encode()


@functools.cache
def bundle_tag() -> str:
    """What tells a browser whether it has this bundle already."""
    return hashlib.sha256(bundle()).hexdigest()[:16]


class VegaChart(Element, component="vega_chart.js"):
    """A chart; data sets of its definition that have a name can be given anew.

    Parameters
    ----------
    spec : mapping
        The Vega-Lite definition.
    description : str
        The text alternative.
    """

    def __init__(self, spec: Mapping[str, Any], description: str) -> None:
        super().__init__()
        self._props["spec"] = dict(spec)
        self._props["description"] = description
        self._props["bundle"] = BUNDLE

    @classmethod
    def of(cls, chart: Chart) -> VegaChart:
        """A chart of `solver.charts`."""
        return cls(chart.spec, chart.description)

    def put(self, datasets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Give data sets anew, by name."""
        self.run_method("put", {name: list(rows) for name, rows in datasets.items()})

    def describe(self, text: str) -> None:
        """Say what it shows now."""
        if self._props.get("description") != text:
            self._props["description"] = text
            self.update()
