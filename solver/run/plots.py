"""``result.plot``: the charts of a result, drawn only when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cached_property
from types import ModuleType
from typing import Any

from linkrisk.solver.run.errors import UsageError

_GALLERY = "linkrisk.solver.charts.gallery"
"""By its name: charts are made from the JSON of results, and drawing needs libraries that results do not."""


class Plots:
    """The charts of one result, each a method; ``dir`` lists those that it has something for.

    Parameters
    ----------
    made : callable
        Returns the JSON of the result as a dictionary.

    Examples
    --------
    ``result.plot.bound().save("bound.svg")``; charts of one family of distances take ``family=``.
    """

    def __init__(self, made: Callable[[], Mapping[str, Any]]) -> None:
        self._made = made

    @cached_property
    def _result(self) -> Mapping[str, Any]:
        return self._made()

    @cached_property
    def _gallery(self) -> ModuleType:
        return importlib.import_module(_GALLERY)

    def __dir__(self) -> list[str]:
        return [name.replace("-", "_") for name in self._gallery.offered(self._result)]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        chart = name.replace("_", "-")
        if name.startswith("_") or chart not in self._gallery.GALLERY:
            raise AttributeError(f"there is no chart {name!r}: choose from {', '.join(dir(self))}")

        def draw(**options: Any) -> Any:
            found = self._gallery.draw(chart, self._result, **options)
            if found is None:
                asked = "".join(f", {key}={value!r}" for key, value in options.items())
                raise UsageError(
                    f"the result has nothing for the chart {name!r}{asked}; it has: {', '.join(dir(self))}"
                )
            return found

        draw.__name__ = name
        draw.__doc__ = f"Draw the chart {chart} of this result; UsageError where there is nothing for it."
        return draw

    def __repr__(self) -> str:
        return f"Plots({', '.join(dir(self))})"
