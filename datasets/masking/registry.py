"""All masking methods by name, and how to make one from its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.end_coding import BottomCoding, TopCoding
from linkrisk.datasets.masking.global_recoding import GlobalRecoding
from linkrisk.datasets.masking.local_suppression import LocalSuppression
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.optimal_microaggregation import OptimalMicroaggregation
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.protections import PROTECTIONS, Protection
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.masking.recode import Recode
from linkrisk.datasets.masking.record_swapping import RecordSwapping
from linkrisk.datasets.masking.rounding import Rounding
from linkrisk.datasets.masking.weight_calibration import WeightCalibration
from linkrisk.datasets.microdata.numeric import suggestion
from linkrisk.datasets.options.option import Option, options_of
from linkrisk.errors import called

_METHODS = (
    *(Microaggregation, OptimalMicroaggregation, AdditiveNoise, RankSwapping),
    *(Rounding, WeightCalibration, RecordSwapping),
    *(TopCoding, BottomCoding, GlobalRecoding, Recode, Pram, LocalSuppression),
)
"""A new masking method is one file, its class here, and its parameters in `parameters.PARAMETERS`."""


@dataclass(frozen=True)
class MethodEntry:
    """A masking method that can be made by name.

    Attributes
    ----------
    name : str
        What it is called.
    kind : type
        Its dataclass, whose fields with an option are the parameters.
    make : callable
        Makes it from parameters given by keyword.
    """

    name: str
    kind: type[Any]
    make: Callable[..., MaskingMethod]

    @property
    def parameters(self) -> Mapping[str, Option]:
        """What users can set, by name."""
        return options_of(self.kind)


METHODS: Mapping[str, MethodEntry] = MappingProxyType(
    {kind.name: MethodEntry(kind.name, kind, kind) for kind in _METHODS}
    | {name: MethodEntry(name, Protection, partial(replace, PROTECTIONS[name])) for name in PROTECTIONS}
)
"""Every masking method by name: the methods proper and the protections of D11.2."""


def make_method(name: str, parameters: Mapping[str, Any]) -> MaskingMethod:
    """Make a masking method.

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
    """
    if name not in METHODS:
        raise DataError(f"there is no masking method {name!r}{suggestion(name, tuple(METHODS))}")
    entry = METHODS[name]
    known = entry.parameters
    for parameter in parameters:
        if parameter not in known:
            raise DataError(
                f"{name} has no parameter {called(parameter)}; it takes {_listed(known)}", option=parameter
            )
    for parameter, option in known.items():
        if option.required and parameter not in parameters:
            raise DataError(f"{name} needs {called(parameter)}", option=parameter)
    return entry.make(**parameters)


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(map(called, names))
