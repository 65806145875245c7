"""All charts by name: what each is made of, and how it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from altair.utils.schemapi import debug_mode

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.reading import Result, fits, measure
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True)
class Drawing:
    """A chart that can be drawn.

    Attributes
    ----------
    module : str
        File of this folder whose function has the chart's name, with underscores for hyphens.
    sources : tuple of str
        What it needs one of: names of measures; ``fit``, a family that was searched; ``sweep``.
    by_family : bool
        Whether it is that of one family of distances, which `draw` takes.
    """

    module: str
    sources: tuple[str, ...]
    by_family: bool = False


GALLERY: Mapping[str, Drawing] = {
    "headline": Drawing("headline", ("worst-case", "fit")),
    "bound": Drawing("bound", ("fit",), by_family=True),
    "weights": Drawing("attributes", ("attributes", "fit"), by_family=True),
    "shapley": Drawing("attributes", ("attributes", "fit"), by_family=True),
    "interactions": Drawing("pairs", ("attributes", "fit"), by_family=True),
    "matrix": Drawing("pairs", ("attributes", "fit"), by_family=True),
    "withheld": Drawing("attributes", ("attributes",), by_family=True),
    "waterfall": Drawing("waterfall", ("records",), by_family=True),
    "groups": Drawing("groups", ("records",)),
    "ranks": Drawing("groups", ("records",)),
    "learning-curve": Drawing("held_out", ("held-out",)),
    "releases": Drawing("releases", ("releases",)),
    "loss": Drawing("disclosure", ("information-loss",)),
    "disclosure": Drawing("disclosure", ("interval-disclosure",)),
    "reliability": Drawing("reliability", ("link-reliability",)),
    "risk-utility": Drawing("risk_utility", ("sweep",)),
}
"""In the order in which a reader meets them."""


def draw(name: str, result: Result, **options: Any) -> Chart | None:
    """Draw a chart of the JSON of a result; None where it has nothing for it.

    Parameters
    ----------
    name : str
        One of `GALLERY`.
    result : mapping
        What `to_dict` of a result gives, or its JSON: of ``fit``, ``risk`` or ``sweep``.
    **options
        ``family``, where the chart is of one; of a waterfall the ``record``.

    Raises
    ------
    UsageError
        If there is no chart of this name.
    """
    if name not in GALLERY:
        raise UsageError(f"there is no chart {name!r}: choose from {', '.join(GALLERY)}")
    module = importlib.import_module(f"linkrisk.solver.charts.{GALLERY[name].module}")
    function: Callable[..., Chart | None] = getattr(module, name.replace("-", "_"))
    with debug_mode(False):  # which would have every part checked on the way; the tests check the whole
        return function(result, **options)


def offered(result: Result) -> tuple[str, ...]:
    """The charts whose sources a result has."""
    has = {"fit": bool(fits(result)), "sweep": "runs" in result}
    return tuple(
        name
        for name, one in GALLERY.items()
        if any(has[source] if source in has else measure(result, source) for source in one.sources)
    )
