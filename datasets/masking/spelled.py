"""A masking method with its parameters as one line of text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod, about
from linkrisk.datasets.masking.recoding import CategoricalMethod, Recoding, recodings_of
from linkrisk.datasets.masking.registry import METHODS, make_method
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.errors import as_keywords


def masking_method(text: str, schema: Schema | None = None) -> MaskingMethod:
    """Read "METHOD parameter=value ...", such as "top-coding categories=3 attributes=age,size".

    Parameters are those of the command `mask`; one without a value is written alone. A value with blanks or
    quotes stands in single quotes: ``attributes='"income, gross",home town'``. A method without a schema of
    its own has the one that is given.

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
    if schema is not None:
        parameters.setdefault("schema", schema)
    try:
        with as_keywords():
            return make_method(name, parameters)
    except DataError as error:
        raise DataError(f"{name}: {str(error).removeprefix(f'{name} ')}", option=error.option) from error


def categorical_method(text: str) -> CategoricalMethod:
    """Read a method as `masking_method` does; one that recodes categories.

    Raises
    ------
    DataError
        If there is no such method, or a parameter does not fit.
    """
    method = masking_method(text)
    if not isinstance(method, CategoricalMethod):
        kinds = [known for known, entry in METHODS.items() if issubclass(entry.kind, CategoricalMethod)]
        raise DataError(
            f"{method.name} does not recode categories; the methods that do are {', '.join(kinds)}"
        )
    return method


def is_record(text: str) -> bool:
    """Whether it is the name of a record of a masking rather than a method."""
    return text.lower().endswith(".json")


def names_files(text: str) -> bool:
    """Whether a method as text has parameters that are read from files, or is a record; none is looked at."""
    if is_record(text):
        return True
    try:
        name, *settings = shlex.split(text) or [""]
    except ValueError:
        return False
    known = METHODS[name].parameters if name in METHODS else {}
    keys = {setting.partition("=")[0] for setting in settings}
    return any("FILE" in known[key].kind.metavar for key in keys if key in known)


def _read(name: str, parameters: dict[str, Any], key: str, value: str | None) -> None:
    """Add one parameter."""
    known = METHODS[name].parameters
    if key not in known:
        raise DataError(f"{name} has no parameter {key!r}{suggestion(key, tuple(known))}")
    kind = known[key].kind
    if (value is None) != (kind.parse is None):
        raise DataError(f"{name}: {key} takes {'a value' if value is None else 'no value'}")
    if key in parameters and not kind.repeated:
        raise DataError(f"{name}: {key} is given twice; give it once")
    with about(f"{name}, {key}"):
        parsed = True if value is None or kind.parse is None else kind.read(value)
    parameters[key] = (*parameters.get(key, ()), parsed) if kind.repeated else parsed


def spelled_recodings(texts: Sequence[str], original: pd.DataFrame, schema: Schema) -> dict[str, Recoding]:
    """What methods given as text make of the categories of an original table.

    Parameters
    ----------
    texts : sequence of str
        See `categorical_method`.
    original : DataFrame
        The table that was masked.
    schema : Schema
        The categorical attributes that matter, with the order of their categories. A method that names no
        attributes masks all of them; one with a schema of its own keeps that.

    Raises
    ------
    DataError
        If a method does not fit, or masks an attribute that is not in the schema.
    """
    methods = []
    for text in texts:
        method = categorical_method(text)
        method = replace(
            method,
            attributes=schema.names if method.attributes is None else method.attributes,
            schema=schema if method.schema is None else method.schema,
        )
        for name in method.attributes or ():
            if name not in schema.names:
                raise DataError(
                    f"masking: {name!r} is not a categorical attribute that is compared; name those that are "
                    "with attributes=A,B (recodings of numbers and dates show in the files by themselves)"
                )
        methods.append(method)
    return recodings_of(methods, original)
