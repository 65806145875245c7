"""The choices of command options, for help texts.

The names are those of classes that need numpy and pandas, and a help text should not wait for these. So they
are kept in a file beside this one, and a test compares it with the classes. How to make it again:
``LINKRISK_UPDATE_GOLDEN=1 .venv/bin/python -m pytest tests/solver/commands/test_offered.py``.
"""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linkrisk.datasets.masking.base import Option

FILE = os.path.join(os.path.dirname(__file__), "offered.json")  # noqa: PTH118, PTH120  # pathlib takes 20 ms


class Setting(NamedTuple):
    """A parameter of some masking methods or linkers, as an option of a command.

    Attributes
    ----------
    help : str
        What it means to each of them.
    metavar : str or None
        What to call its value; None where it takes none.
    repeated : bool
        Whether it can be given several times.
    flag : str
        What the option is called, without the dashes; where it is empty, like the parameter.
    """

    help: str
    metavar: str | None
    repeated: bool
    flag: str = ""


class Offered(NamedTuple):
    """The parameters of all masking methods and linkers."""

    masking_settings: Mapping[str, Setting]
    linker_settings: Mapping[str, Setting]


@functools.cache
def offered() -> Offered:
    """What is kept in the file."""
    with open(FILE, encoding="utf-8") as file:  # noqa: PTH123
        content: dict[str, Any] = json.load(file)
    for name, value in content.items():
        if isinstance(value, list):
            content[name] = tuple(value)
        if isinstance(value, dict):
            content[name] = {known: Setting(**setting) for known, setting in value.items()}
    return Offered(**content)


def as_json(names: Offered) -> str:
    """The content of the file."""
    settings = {"masking_settings": names.masking_settings, "linker_settings": names.linker_settings}
    plain = {kind: {name: item._asdict() for name, item in kept.items()} for kind, kept in settings.items()}
    return json.dumps({**names._asdict(), **plain}, indent=1, ensure_ascii=False) + "\n"


def offered_by_the_classes() -> Offered:
    """The same from the classes, which takes a second."""
    from linkrisk.datasets.masking.registry import all_options
    from linkrisk.solver.linkage.registry import all_settings

    return Offered(
        masking_settings={name: _setting(option) for name, option in all_options().items()},
        linker_settings={name: _setting(option) for name, option in all_settings().items()},
    )


def _setting(option: Option) -> Setting:
    return Setting(
        option.help, None if option.parse is None else option.metavar, option.repeated, option.flag
    )
