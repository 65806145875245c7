"""The registry of charts: their modules, and the results that they draw."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from linkrisk.errors import needs_extra
from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import fits, measure

GALLERY: Mapping[str, tuple[str, ...]] = {
    "headline": ("worst_case", "fit"),
    "bound": ("worst_case", "fit"),
    "weights": ("attributes", "attributes", "fit"),
    "shapley": ("attributes", "attributes", "fit"),
    "interactions": ("attributes", "attributes", "fit"),
    "matrix": ("attributes", "attributes", "fit"),
    "withheld": ("attributes", "attributes"),
    "waterfall": ("records", "records"),
    "groups": ("records", "records"),
    "ranks": ("records", "records"),
    "learning-curve": ("series", "held-out"),
    "releases": ("series", "releases"),
    "loss": ("attributes", "information-loss"),
    "disclosure": ("series", "interval-disclosure"),
    "reliability": ("series", "link-reliability"),
    "risk-utility": ("risk_utility", "sweep"),
}
"""The module of each, whose function has its name; and what it needs one of: names of measures; ``fit``, a
family that was searched; ``sweep``. In the order in which a reader meets them."""


def draw(name: str, result: Json, **options: Any) -> Chart | None:
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

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> chart = linkrisk.charts.draw("weights", linkrisk.fit(iris, masked).to_dict())
    >>> type(chart).__module__.split(".")[0]
    'linkrisk'
    """
    if name not in GALLERY:
        raise UsageError(f"there is no chart {name!r}: choose from {', '.join(GALLERY)}")
    needs_extra("drawing charts", "altair")
    from altair.utils.schemapi import debug_mode

    module = importlib.import_module(f"linkrisk.solver.charts.{GALLERY[name][0]}")
    function: Callable[..., Chart | None] = getattr(module, name.replace("-", "_"))
    with debug_mode(False):  # which would have every part checked on the way; the tests check the whole
        return function(result, **options)


def offered(result: Json) -> tuple[str, ...]:
    """The charts whose sources a result has.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.charts.offered(linkrisk.fit(iris, masked).to_dict())
    ('headline', 'bound', 'weights', 'shapley', 'interactions', 'matrix')
    """
    has = {"fit": bool(fits(result)), "sweep": "runs" in result}
    return tuple(
        name
        for name, (_, *sources) in GALLERY.items()
        if any(has[source] if source in has else measure(result, source) for source in sources)
    )
