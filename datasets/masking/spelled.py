"""A masking method with its parameters as one line of text, for those who know how a file was masked."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd

from datasets.errors import DataError
from datasets.masking.recoding import CategoricalMethod, Recoding, recodings_of
from datasets.masking.registry import METHODS, make_method
from datasets.numeric import suggestion


def categorical_method(text: str) -> CategoricalMethod:
    """Read "METHOD parameter=value ...", such as "top-coding categories=3 attributes=age,size".

    Parameters are those of the command `mask`; one without a value is written alone.

    Raises
    ------
    DataError
        If there is no such method, or a parameter does not fit.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise DataError(f"{text!r} cannot be read: {str(error).lower()}") from None
    if not words:
        raise DataError("the masking method is empty; write for example: top-coding categories=3")
    name, *settings = words
    if name not in METHODS:
        raise DataError(f"there is no masking method {name!r}{suggestion(name, tuple(METHODS))}")
    parameters: dict[str, Any] = {}
    for setting in settings:
        key, mark, value = setting.partition("=")
        _read(name, parameters, key, value if mark else None)
    method = make_method(name, parameters)
    if not isinstance(method, CategoricalMethod):
        kinds = [known for known, entry in METHODS.items() if issubclass(entry.kind, CategoricalMethod)]
        raise DataError(f"{name} does not recode categories; the methods that do are {', '.join(kinds)}")
    return method


def _read(name: str, parameters: dict[str, Any], key: str, value: str | None) -> None:
    """Add one parameter."""
    known = METHODS[name].parameters
    if key not in known:
        raise DataError(f"{name} has no parameter {key!r}{suggestion(key, tuple(known))}")
    option = known[key].metadata["option"]
    if (value is None) != (option.parse is None):
        raise DataError(f"{name}: {key} takes {'a value' if value is None else 'no value'}")
    parsed = True if value is None else option.parse(value)
    if option.repeated:
        parameters[key] = (*parameters.get(key, ()), parsed)
    else:
        parameters[key] = parsed


def spelled_recodings(texts: Sequence[str], original: pd.DataFrame) -> dict[str, Recoding]:
    """What methods given as text make of the categories of an original table."""
    return recodings_of([categorical_method(text) for text in texts], original)
