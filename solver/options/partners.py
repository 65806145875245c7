"""Options that say something of another one: without it they would do nothing, and are refused."""

from __future__ import annotations

from typing import Any

from linkrisk.datasets.options.option import REQUIRED, options_of
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError


def check_partners(asked: Any) -> None:
    """Refuse a request that has an option without any of those that it needs.

    Raises
    ------
    UsageError
        With the option, and what to give or to leave out.
    """
    known = options_of(type(asked))

    def given(name: str) -> bool:
        value, default = getattr(asked, name), known[name].default
        plain = isinstance(value, str | int | float | bool)
        return default is REQUIRED or not (value is default or (plain and value == default))

    for name, one in known.items():
        needs = [other for other in one.needs if other in known]
        if needs and given(name) and not any(map(given, needs)):
            option, others = called(name), " or ".join(map(called, needs))
            raise UsageError(f"{option} {one.because}; give {others}, or leave {option} out", option=name)
