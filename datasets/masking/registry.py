"""All masking methods by name, and how to make one of its parameters or of one line of text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import CategoricalMethod, MaskingMethod, Recoding, about, recodings_of
from linkrisk.datasets.masking.parameters import PARAMETERS, PROTECTIONS
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.options.late import imported
from linkrisk.datasets.options.option import Option, options_of
from linkrisk.errors import as_keywords, called

_PLACES = {
    "microaggregation": "microaggregation:Microaggregation",
    "optimal-microaggregation": "microaggregation:OptimalMicroaggregation",
    "noise": "noise:AdditiveNoise",
    "rank-swapping": "rank_swapping:RankSwapping",
    "rounding": "noise:Rounding",
    "weight-calibration": "weight_calibration:WeightCalibration",
    "record-swapping": "record_swapping:RecordSwapping",
    "top-coding": "recoding:TopCoding",
    "bottom-coding": "recoding:BottomCoding",
    "global-recoding": "recoding:GlobalRecoding",
    "recode": "recoding:Recode",
    "pram": "pram:Pram",
    "local-suppression": "local_suppression:LocalSuppression",
    **dict.fromkeys(PROTECTIONS, "microaggregation:Protection"),
}
"""A new masking method is one file, its class here, and its parameters in `parameters.PARAMETERS`."""


@dataclass(frozen=True)
class MethodEntry:
    """A masking method that can be made by name; its module is imported when it is."""

    name: str  # what it is called

    @cached_property
    def kind(self) -> type[Any]:
        """Its dataclass, whose fields with an option are the parameters."""
        found: type[Any] = imported(f"linkrisk.datasets.masking.{_PLACES[self.name]}")
        return found

    def make(self, **parameters: Any) -> MaskingMethod:
        """Make it from parameters given by keyword."""
        if self.name in PROTECTIONS:
            ready = imported("linkrisk.datasets.masking.microaggregation:PROTECTIONS")
            made: MaskingMethod = replace(ready[self.name], **parameters)
        else:
            made = self.kind(**parameters)
        return made

    @property
    def parameters(self) -> Mapping[str, Option]:
        """Its parameters by name."""
        return options_of(PARAMETERS[self.name])


METHODS: Mapping[str, MethodEntry] = MappingProxyType({name: MethodEntry(name) for name in PARAMETERS})
"""Every masking method by name: the methods proper and the protections of D11.2."""


def make_method(name: str, parameters: Mapping[str, Any]) -> MaskingMethod:
    """Make a masking method from its parameters.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    parameters : mapping
        Its parameters by name.

    Raises
    ------
    DataError
        If there is no such method, it has no such parameter, one is missing, or a value is out of range.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> method = linkrisk.masking.make_method("rounding", {"base": 0.5})
    >>> method
    Rounding(attributes=None, schema=None, base=0.5, positive=False)
    """
    if name not in METHODS:
        raise DataError(f"there is no masking method {name!r}{suggestion(name, tuple(METHODS))}")
    entry = METHODS[name]
    known = entry.parameters
    for parameter in parameters:
        if parameter not in known:
            takes = ", ".join(map(called, known))
            raise DataError(
                f"{name} has no parameter {called(parameter)}; it takes {takes}", option=parameter
            )
    for parameter, option in known.items():
        if option.required and parameter not in parameters:
            raise DataError(f"{name} needs {called(parameter)}", option=parameter)
    return entry.make(**parameters)


def masking_method(text: str, schema: Schema | None = None) -> MaskingMethod:
    """Read a method from text, such as "top-coding categories=3 attributes=age,size".

    Parameters are those of the command `mask`; one without a value is written alone. A value with blanks or
    quotes stands in single quotes: ``attributes='"income, gross",home town'``. A method without a schema of
    its own takes `schema`.
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
    """Read a method for categories as `masking_method` does; a DataError for any other."""
    method = masking_method(text)
    if not isinstance(method, CategoricalMethod):
        kinds = [known for known, entry in METHODS.items() if issubclass(entry.kind, CategoricalMethod)]
        raise DataError(
            f"{method.name} does not recode categories; the methods that do are {', '.join(kinds)}"
        )
    return method


def is_record(text: str) -> bool:
    """Whether a text names the record of a masking rather than a method."""
    return text.lower().endswith(".json")


def names_files(text: str) -> bool:
    """Whether a method as text is a record, or reads parameters from files; none is opened."""
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
    """Parse one parameter into `parameters`."""
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
    """Recodings of the categories of an original table by methods given as text.

    `schema` has the categorical attributes that are compared, with the order of their categories. A method
    that names no attributes masks all of them; one with a schema of its own keeps that.
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
