"""Parameters of methods and linkers: options that several of them may share, each with its own meaning."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar

from linkrisk.datasets.options.kinds import NAME, SWITCH, Kind
from linkrisk.datasets.options.option import FACES, Option, declared, options_of

T = TypeVar("T")

_FORMS = {"A,B": "columns", "COLUMN": "column"}
"""What a form shows for values that are called so."""


def meant(
    help: str,  # noqa: A002 - the name that argparse uses
    parse: Callable[[str], Any] | None,
    *,
    metavar: str = "",
    repeated: bool = False,
    flag: str = "",
    choices: tuple[str, ...] = (),
    faces: frozenset[str] = FACES,
) -> dict[str, Option]:
    """Make the metadata of a field that is a parameter of a method; `parse` is None for a switch."""
    if parse is None:
        return declared(help, SWITCH, flag=flag)
    form = "choice" if choices else "text" if repeated else _FORMS.get(metavar, "text")
    kind = Kind(parse, metavar, repeated=repeated, field=form, chosen=NAME.chosen if choices else None)
    return declared(help, kind, flag=flag, choices=choices, faces=faces)


def parameter(default: T, help: str, parse: Callable[[str], Any] | None, **more: Any) -> T:  # noqa: A002
    """Declare a parameter of a method as a field with a default; the rest is as in `meant`."""
    made: T = field(default=default, metadata=meant(help, parse, **more))
    return made


@functools.cache
def later(place: str) -> Callable[[str], Any]:
    """Read text by a function that is costly to import, ``module:NAME``; it is imported when it reads."""
    module, _, name = place.partition(":")
    return lambda text: attrgetter(name)(import_module(f"linkrisk.{module}"))(text)


def shared_options(methods: Mapping[str, type[Any]]) -> dict[str, Option]:
    """The parameters of several methods by name, for a command line that offers each of them once.

    One that several have says what it means to each, has all forms of its value, and can be given several
    times where one of them takes several. How text is read is for each to say (`options_of`).
    """
    found: dict[str, list[tuple[str, Option]]] = {}
    for name, kind in methods.items():
        for key, each in options_of(kind).items():
            found.setdefault(key, []).append((name, each))
    return {key: _shared(several, len(several) == len(methods)) for key, several in found.items()}


def _shared(several: Sequence[tuple[str, Option]], everywhere: bool) -> Option:
    meanings: dict[str, list[str]] = {}
    for name, each in several:
        meanings.setdefault(each.help, []).append(name)
    said = "; ".join(f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items())
    kinds = [each.kind for _, each in several]
    return replace(
        several[0][1],
        help=next(iter(meanings)) if everywhere and len(meanings) == 1 else said,
        kind=replace(
            kinds[0],
            metavar="|".join({kind.parse: kind.metavar for kind in reversed(kinds)}.values()),
            repeated=any(kind.repeated for kind in kinds),
        ),
    )
