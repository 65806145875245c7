"""Which linkers can compare representatives, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from linkrisk.datasets.microdata.schema import Scale, Schema
from linkrisk.solver.linkage.linker import Linker
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.representatives.nearest import Nearest

AGREEMENT = Comparison(Measure.DEVIATIONS, (0.05,), 1.0)
"""They agree within a twentieth of a standard deviation; up to one deviation weights are interpolated."""


def _nearest(schema: Schema) -> Linker:
    del schema
    return Nearest()


def _probabilistic(schema: Schema) -> Linker:
    return Probabilistic(compare=tuple((name, AGREEMENT) for name in schema.select(scale=Scale.NUMERIC)))


INNER_LINKERS: Mapping[str, Callable[[Schema], Linker]] = MappingProxyType(
    {"distance": _nearest, "probabilistic": _probabilistic}
)
"""What makes the linker of `--linkage` from the schema of the representatives.

They have equal names in both files, and are numeric, or ordinal under `--classes`.
"""
