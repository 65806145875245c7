"""What is checked of every request: values are choices that there are, no option is without effect."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from linkrisk.datasets.options.option import Option, options_of
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError


def check_asked(asked: Any) -> None:
    """Refuse a request with a value that is no choice, or with an option that would do nothing.

    Raises
    ------
    UsageError
        With the option, and what to give or to leave out.
    """
    known = options_of(type(asked))
    given = {name: value for name, one in known.items() if not _usual(one, value := getattr(asked, name))}
    check_choices(known, given)
    _check_partners(known, given)


def _usual(one: Option, value: Any) -> bool:
    """Whether a value is the default."""
    plain = isinstance(value, str | int | float | bool)
    return value is one.default or (plain and value == one.default)


def check_choices(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """Refuse a value that is none of the choices of its option, or has one among others that is none."""
    for name, value in given.items():
        one = known[name]
        if not one.choices or one.kind.chosen is None or (value is None and "None" in one.annotation):
            continue
        offered = list(dict.fromkeys([*one.names, *one.named]))
        for each in one.kind.chosen(value):
            if not isinstance(each, str) or each not in offered:
                close = get_close_matches(str(each), offered, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(offered)}"
                raise UsageError(f"unknown {called(name)} {each!r}: {hint}", option=name)


def _check_partners(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """Refuse an option without any of those that it says something of."""
    for name in given:
        one = known[name]
        needs = [other for other in one.needs if other in known]
        if needs and not any(other in given or known[other].required for other in needs):
            option, others = called(name), " or ".join(map(called, needs))
            raise UsageError(f"{option} {one.because}; give {others}, or leave {option} out", option=name)
