"""Register all linkers by name, and create them from their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from textwrap import TextWrapper
from types import MappingProxyType
from typing import Any

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.options.option import Option, options_of
from linkrisk.errors import called, needs_extra
from linkrisk.solver.linkage.bayesian import Bayesian
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.matching import RandomMatching
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.representatives import (
    OrderedWeightedAverages,
    PrincipalComponent,
    SugenoIntegrals,
    SumOfStandardised,
)
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.run.pool import PoolChoice, WorkerPool
from linkrisk.solver.run.progress import Reporter

LINKERS: Mapping[str, type[Linker]] = MappingProxyType(
    {
        linker.name: linker
        for linker in (
            DistanceBased,
            Probabilistic,
            OrderedWeightedAverages,
            SugenoIntegrals,
            Bayesian,
            PrincipalComponent,
            SumOfStandardised,
            RandomMatching,
        )
    }
)
"""Every linker by name. A new one is a file, its class here, and its settings in `parameters.PARAMETERS`."""

for _linker in LINKERS.values():  # the settings are explained where they are declared
    _fill = TextWrapper(105, initial_indent=" " * 8, subsequent_indent=" " * 8).fill
    _explained = (
        f"{name} : {one.annotation}\n{_fill(one.help)}" for name, one in options_of(_linker).items()
    )
    _linker.__doc__ = (_linker.__doc__ or "").replace("{options}", "\n    ".join(_explained))


@dataclass(frozen=True)
class Run:
    """Environment of a linkage besides its options."""

    pool: WorkerPool  # worker pool that compares records
    report: Reporter | None = None
    cancel: Cancel | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)  # options recorded in the result


def check_workers(linker: Linker, choice: PoolChoice) -> None:
    """Refuse workers for a linker that cannot use them."""
    if choice.any and not linker.has_workers:
        raise UsageError(
            f"the linker {linker.name} has no workers: leave {called('workers')} and {called('scheduler')} "
            "out",
            option="workers",
        )


def chosen_linker(method: str | Linker, parameters: Mapping[str, Any] | None) -> Linker:
    """Choose the given linker, or that of a name and its parameters; UsageError for both together."""
    if not isinstance(method, Linker):
        return make_linker(method, parameters or {})
    if parameters:
        raise UsageError("parameters are for a method given by its name; this linker has its own")
    return method


def make_linker(name: str, settings: Mapping[str, Any]) -> Linker:
    """Create a linker from its name and settings; UsageError when there is no such linker or setting."""
    if name not in LINKERS:
        raise UsageError(f"unknown method '{name}': choose one of {', '.join(LINKERS)}")
    known = {item.name: item for item in fields(LINKERS[name])}  # type: ignore[arg-type]
    for setting in settings:
        if setting not in known:
            shown = [called(item.name) for item in known.values() if "option" in item.metadata]
            takes = ", ".join(shown) or "no settings"
            raise UsageError(f"{name} takes no {called(setting)}; it takes {takes}", option=setting)
    needs_extra(f"the linker {name}", *LINKERS[name].requires)
    return LINKERS[name](**{setting: _read(known[setting], value) for setting, value in settings.items()})


def _read(item: Field[Any], value: Any) -> Any:
    """Parse a setting like an option where it is given as text."""
    option: Option | None = item.metadata.get("option")
    if option is None or option.kind.parse is None:
        return value
    read, repeated = option.kind.read, option.kind.repeated
    try:
        if repeated and isinstance(value, list | tuple):
            return tuple(read(one) if isinstance(one, str) else one for one in value)
        return read(value) if isinstance(value, str) and not repeated else value
    except DataError as error:
        raise UsageError(f"{called(item.name)}: {error}", option=item.name) from error
