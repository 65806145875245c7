"""Keywords of functions: an unknown one is refused with a suggestion."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def checked_keywords(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Make a function refuse unknown keywords with a TypeError that says which one may be meant.

    Its signature stays as it is, for readers and for type checkers.
    """
    known = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]

    @functools.wraps(function)
    def checked(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        for name in kwargs:
            if name not in known:
                close = get_close_matches(name, known, n=1, cutoff=0.5)
                hint = f"did you mean {close[0]!r}?" if close else f"it takes {', '.join(known)}"
                raise TypeError(f"{function.__name__}() takes no {name!r}: {hint}")
        return function(*args, **kwargs)

    return checked
