"""What is asked of measures beside the files: groups, the size of the population, how numbers were masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.microdata.names import parse_names, shown_name
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True)
class MeasureChoices:
    """Checked as far as that goes without the files."""

    # columns of the original file to show risk by; None where the measure chooses
    groups: tuple[str, ...] | None = None
    # sampling fraction: records for each person of the population, above 0 and at most 1
    fraction: float | None = None
    # how numeric attributes were masked, where that is known: as text, and the method. How categorical ones
    # were, the problem says
    masked_by: tuple[tuple[str, MaskingMethod], ...] = ()

    @classmethod
    def of(
        cls,
        groups: str | Sequence[str] | None = None,
        fraction: float | None = None,
        masked_by: Sequence[tuple[str, MaskingMethod]] = (),
    ) -> MeasureChoices:
        """Read them as they are given; DataError or UsageError for what cannot be meant."""
        if groups is not None:
            names = parse_names(groups) if isinstance(groups, str) else groups
            groups = tuple(dict.fromkeys(str(name) for name in names))
        return cls(groups, None if fraction is None else _checked(fraction), tuple(masked_by))

    def check(self, files: FilePair) -> None:
        """Refuse groups of no column, and a fraction beside sampling weights."""
        columns = [str(name) for name in files.original.columns]
        check_known(self.groups or (), columns, "the original file", option="groups")
        weight = files.design.weight_column
        if self.fraction is not None and weight is not None:
            raise UsageError(
                f"the sampling weights (column {shown_name(weight)} of the schema) say what is sampled: "
                f"leave {called('fraction')} out, or the role weight",
                option="fraction",
            )


def _checked(fraction: object) -> float:
    """A sampling fraction; UsageError otherwise."""
    if isinstance(fraction, bool) or not isinstance(fraction, Real) or not 0.0 < float(fraction) <= 1.0:
        raise UsageError(f"the sampling fraction must be above 0 and at most 1, not {fraction!r}")
    return float(fraction)
