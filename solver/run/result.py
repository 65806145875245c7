"""What all results have in common: a JSON that says what it is."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.datasets.microdata.writing import write_whole

if TYPE_CHECKING:
    from linkrisk.solver.documents.document import Audience, Document


class Result(ABC):
    """What an operation returns: frozen, readable, and the same as its JSON.

    Attributes
    ----------
    kind : str
        What the JSON says that it is: its ``format`` is ``linkrisk-`` and this, its schema the file of this
        name in ``docs/schemas``.
    """

    kind: ClassVar[str]

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What the JSON has besides its format, and what that of a larger result has of this one."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON as a dictionary."""
        return headed(self.kind, self.content())

    def to_json(self) -> str:
        """The JSON: what `--json` writes."""
        return dump_json(self.to_dict())

    def in_short(self) -> Document:
        """Make the answer in short, which a terminal and a notebook draw."""
        from linkrisk.solver.documents.short import short_of

        return short_of(self.to_dict())

    def __str__(self) -> str:
        """Draw it as a terminal does."""
        from linkrisk.solver.documents.terminal import terminal

        return terminal(self.in_short())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from linkrisk.solver.documents.notebook import notebook

        return notebook(self.in_short())


class Reported(Result):
    """A result that makes a page of its own, for readers inside and outside."""

    def document(self, audience: Audience) -> Document:
        """Say all of it, or what readers outside may have."""
        from linkrisk.solver.documents.short import page_of

        return page_of(self.to_dict(), audience)

    def to_html(self, external: bool = False) -> str:
        """What `report` writes."""
        from linkrisk.solver.documents.document import Audience
        from linkrisk.solver.documents.page import render_page

        return render_page(self.document(Audience.EXTERNAL if external else Audience.INTERNAL))

    def report(self, output: str | Path, external: bool = False) -> None:
        """Write what was done and found as one HTML page.

        Parameters
        ----------
        output : str or Path
        external : bool
            Whether readers outside may have it: such a page leaves out whatever would help an intruder.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        write_whole(output, self.to_html(external))


_PLAIN = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SCALARS, _LISTS = frozenset((str, int, float, bool, type(None))), frozenset((list, tuple))


def dump_json(content: Any) -> str:
    """Strict JSON (no NaN), indented, with every list of plain values on a line of its own."""
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
            lines = [deeper + _PLAIN.encode(row) for row in content]  # of large files hundreds of thousands
        else:
            lines = [deeper + _render(item, deeper) for item in content]
        return "[\n" + ",\n".join(lines) + "\n" + indent + "]"
    return _PLAIN.encode(content)
