"""Give all results a JSON with a format, a summary, a page and charts."""

from __future__ import annotations

import importlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.datasets.microdata.writing import write_whole
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.documents.document import Audience, Document


class Result(ABC):
    """The result of an operation: frozen, readable, and equivalent to its JSON."""

    # name of the JSON's ``format``, after ``linkrisk-``, and of its schema in ``docs/schemas``
    kind: ClassVar[str]

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Build the JSON without its format, as embedded in the JSON of larger results."""

    def to_dict(self) -> dict[str, Any]:
        """Build the JSON as a dictionary."""
        return headed(self.kind, self.content())

    def to_json(self) -> str:
        """Build the JSON that `--json` writes."""
        return dump_json(self.to_dict())

    def in_short(self) -> Document:
        """Build the short answer for terminal and notebook."""
        from linkrisk.solver.documents.short import short_of

        return short_of(self.to_dict())

    def __str__(self) -> str:
        """Render the short answer as text."""
        from linkrisk.solver.documents.terminal import terminal

        return terminal(self.in_short())

    def _repr_html_(self) -> str | None:
        """Render the short answer as HTML for notebooks; None without the extra `report`."""
        from linkrisk.solver.documents.notebook import notebook

        return notebook(self.in_short())


class Reported(Result):
    """A result with a report page, for internal and external readers."""

    def document(self, audience: Audience) -> Document:
        """Build the document, complete or for external readers."""
        from linkrisk.solver.documents.short import page_of

        return page_of(self.to_dict(), audience)

    def to_html(self, external: bool = False) -> str:
        """Render the page that `report` writes."""
        from linkrisk.solver.documents.document import Audience
        from linkrisk.solver.documents.page import render_page

        return render_page(self.document(Audience.EXTERNAL if external else Audience.INTERNAL))

    def report(self, output: str | Path, external: bool = False) -> None:
        """Write an HTML page; with `external` one that leaves out whatever would help an intruder."""
        write_whole(output, self.to_html(external))


def plain(value: Any) -> Any:
    """Convert integral floats to integers and infinities to None, for JSON."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value


_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SCALARS, _LISTS = frozenset((str, int, float, bool, type(None))), frozenset((list, tuple))


def dump_json(content: Any) -> str:
    """Write strict JSON (no NaN), indented, with each list of scalars on one line."""
    return _render(content, "") + "\n"


def _nested(content: Iterable[Any]) -> bool:
    """Whether one of these values is a list or a mapping."""
    return not _SCALARS.issuperset(map(type, content)) and any(
        isinstance(item, dict | list | tuple) for item in content
    )


def _render(content: Any, indent: str) -> str:
    deeper = indent + "  "
    if isinstance(content, dict) and content:
        lines = [
            f"{deeper}{_PLAIN.encode(str(key))}: {_render(value, deeper)}" for key, value in content.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"
    if isinstance(content, list | tuple) and _nested(content):
        if _LISTS.issuperset(map(type, content)) and _SCALARS.issuperset(map(type, chain(*content))):
            lines = [deeper + _PLAIN.encode(row) for row in content]  # large files have hundreds of thousands
        else:
            lines = [deeper + _render(item, deeper) for item in content]
        return "[\n" + ",\n".join(lines) + "\n" + indent + "]"
    return _PLAIN.encode(content)


_GALLERY = "linkrisk.solver.charts.gallery"
"""Module imported by name, so that results do not depend on the drawing libraries."""


class Plots:
    """The charts of one result, each a method; ``dir`` lists those that it has something for.

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
