"""linkrisk: how badly a protected microdata file can be re-identified in the worst case, with a proof.

What it offers is listed in `__init__.pyi` beside this file, and imported when it is first asked for: ``from
linkrisk import fit`` loads what `fit` needs, and ``import linkrisk`` next to nothing. The rooms behind it,
`linkrisk.formulations`, `linkrisk.datasets` and `linkrisk.solver`, may change from version to version.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # that of `typing` takes milliseconds, in which Ctrl-C would print a traceback
if TYPE_CHECKING:
    from typing import Any

_LIST = os.path.splitext(__file__)[0] + ".pyi"  # noqa: PTH122  # pathlib takes 20 ms to import
_places: dict[str, str] = {}


def _offered() -> dict[str, str]:
    """The module of each name that is offered; of a module, its package."""
    if not _places:
        with open(_LIST, encoding="utf-8") as lines:  # noqa: PTH123
            for words in map(str.split, lines):
                if words[:1] == ["from"] and words[-2:-1] == ["as"]:
                    _places[words[-1]] = words[1]
    return _places


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("linkrisk")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def __getattr__(name: str) -> Any:
    """Import what is offered when it is first asked for, and keep it."""
    if name == "__all__":
        return list(_offered())
    if name == "__version__":
        found: Any = _version()
    elif name in _offered():
        from importlib import import_module

        place = _offered()[name]
        found = import_module(f"{place}.{name}") if place == __name__ else getattr(import_module(place), name)
    else:
        raise AttributeError(f"module 'linkrisk' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """What Tab completes."""
    return sorted([*_offered(), "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"])
