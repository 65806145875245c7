"""Validation of requests: values are known choices, and no option is without effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.datasets.options.option import Option, check_choices, options_of
from linkrisk.errors import called
from linkrisk.solver.options.run import AUTOMATIC
from linkrisk.solver.run.errors import UsageError


def check_asked(asked: Any) -> None:
    """Refuse a request with a value that is no choice, or with an option that would do nothing.

    Raises UsageError with the option, and what to give or to leave out.
    """
    known = options_of(type(asked))
    given = {name: value for name, one in known.items() if not _usual(one, value := getattr(asked, name))}
    check_choices(known, given, UsageError)
    _check_numbers(known, given)
    _check_partners(known, given)


def _usual(one: Option, value: Any) -> bool:
    """Whether a value is the default."""
    plain = isinstance(value, str | int | float | bool)
    return value is one.default or (plain and value == one.default)


def _check_numbers(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """Refuse what is no number, or out of range; options that also take other objects check them."""
    for name, value in given.items():
        one = known[name]
        types, numbers = {part.strip() for part in one.annotation.split("|")}, one.kind.within
        automatic = isinstance(value, str) and value == AUTOMATIC and "str" in types
        if numbers is None or value is None or automatic or types - {"int", "float", "str", "None"}:
            continue
        if not numbers.has(value):
            shown = f"{value:.15g}" if isinstance(value, float) else repr(value)
            raise UsageError(f"{called(name)} must be {numbers}, not {shown}", option=name)


def _check_partners(known: Mapping[str, Option], given: Mapping[str, Any]) -> None:
    """Refuse an option without any of those that it qualifies."""
    for name in given:
        one = known[name]
        needs = [other for other in one.needs if other in known]
        if needs and not any(other in given or known[other].required for other in needs):
            option, others = called(name), " or ".join(map(called, needs))
            raise UsageError(f"{option} {one.because}; give {others}, or leave {option} out", option=name)
