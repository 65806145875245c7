"""The errors that bad input raises, and what options are called in them.

A message names an option by `called`: to who calls a function it is a keyword, to who types a command a
flag, to who fills in a form the label of a field. Which of them is a matter of the process, said once by its
face (`spelled_by`), and handed on to the processes that it starts (`spelling`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

Spelling = Callable[[str, Any], str]
"""Spells an option by its keyword, and its value where the message has one (None: no value).

A function at the top level of a module, where other processes find it.
"""


class _Nothing:
    """The value None of an option, which a message without a value does not mean."""

    def __repr__(self) -> str:
        return "None"

    def __str__(self) -> str:
        return "none"


NONE = _Nothing()


class LinkriskError(ValueError):
    """Something that a user can mend; the message says what, where and how, in one line.

    Parameters
    ----------
    message : str
    option : str, optional
        The keyword of the option that it is mainly about, if it is about one.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> try:
    ...     linkrisk.mask(iris, "noise", parameters={"percent": -1.0})
    ... except linkrisk.LinkriskError as error:
    ...     print(error)
    percent is -1; it must be above 0
    """

    def __init__(self, *message: str, option: str | None = None) -> None:
        super().__init__(*message)
        self.option = option


def keyword(name: str, value: Any = None) -> str:
    """Spell an option as functions take it: ``k_additive``, ``row_by_row=True``, ``id='ROW'``."""
    return name if value is None else f"{name}={plain(value)!r}"


def r_argument(name: str, value: Any = None) -> str:
    """Spell an option as R takes it: ``k_additive``, ``row_by_row = TRUE``, ``drop = c("a", "b")``."""
    return name if value is None else f"{name} = {_in_r(plain(value))}"


def _in_r(value: Any) -> str:
    import json  # by this face alone

    if isinstance(value, list | tuple):
        parts = [_in_r(each) for each in value]
        return parts[0] if len(parts) == 1 else f"c({', '.join(parts)})"
    if value is NONE or isinstance(value, bool):
        return "NULL" if value is NONE else str(value).upper()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


def plain(value: Any) -> Any:
    """Return the text of a path, and the word of one of a fixed few; any other value as it is."""
    value = getattr(value, "value", value)
    return value.__fspath__() if hasattr(value, "__fspath__") else value


class _Face:
    """How options are spelled in this process, in all of its threads."""

    spelling: Spelling = staticmethod(keyword)


_as_keywords: ContextVar[bool] = ContextVar("as_keywords", default=False)


def spelling() -> Spelling:
    """Return how options are spelled in this process, for another one that works for it."""
    return _Face.spelling


def spell_by(chosen: Spelling) -> None:
    """Spell options so, from now on."""
    _Face.spelling = staticmethod(chosen)


@contextlib.contextmanager
def spelled_by(chosen: Spelling) -> Iterator[None]:
    """Spell options so, until the end of the block."""
    before = spelling()
    spell_by(chosen)
    try:
        yield
    finally:
        spell_by(before)


@contextlib.contextmanager
def as_keywords() -> Iterator[None]:
    """Spell options as keywords whatever the face: a text is read that has them so (`noise percent=5`)."""
    token = _as_keywords.set(True)
    try:
        yield
    finally:
        _as_keywords.reset(token)


def called(name: str, value: Any = None) -> str:
    """Spell an option, with a value or without, as whoever runs this process knows it."""
    return keyword(name, value) if _as_keywords.get() else _Face.spelling(name, value)


EXTRAS: Mapping[str, tuple[str, ...]] = {
    "report": ("altair", "jinja2", "markupsafe", "vl_convert"),
    "files": ("openpyxl", "pyarrow", "pyreadr", "pyreadstat"),
    "link": ("jellyfish", "networkx", "rapidfuzz", "sklearn"),
    "app": ("nicegui",),
    "scip": ("pyscipopt",),
    "dask": ("distributed",),
}
"""What a plain installation does not bring: the modules of each extra of `pyproject.toml`."""


class MissingExtraError(LinkriskError):
    """Something was asked for that needs an extra, which is not installed."""


def lacks_extra(module: str) -> bool:
    """Whether a module of an extra is not installed; it is not imported."""
    from importlib.util import find_spec  # which `import linkrisk` does not need

    return find_spec(module) is None


def needs_extra(what: str, *modules: str) -> None:
    """Refuse `what`, such as "reading .sav files", where a module that it uses is not installed.

    Whoever imports a module of `EXTRAS` calls this first: the one place that says what is missing.
    """
    for module in modules:
        if lacks_extra(module):
            extra = next((name for name, brought in EXTRAS.items() if module in brought), None)
            if extra is None:  # a part of every installation
                raise MissingExtraError(f"{what} needs {module}, which is missing: pip install {module}")
            raise MissingExtraError(f"{what} needs the extra {extra!r}: pip install 'linkrisk[{extra}]'")
