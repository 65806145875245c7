"""What the estimator can be asked: what `fit` can of one family, with the seed by scikit-learn's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import TEXT
from linkrisk.datasets.options.option import PYTHON, option
from linkrisk.solver.options.engine import Engine
from linkrisk.solver.options.linking import Scales
from linkrisk.solver.options.operations.fit import FitOptions
from linkrisk.solver.options.pair import Attributes, Comparison, Family
from linkrisk.solver.options.run import Cancellable, Limits, Memory, Model, Samples, Workers

if TYPE_CHECKING:
    from linkrisk.solver.options.types import RandomState


@dataclass(frozen=True, kw_only=True)
class EstimatorOptions(
    Attributes, Scales, Family, Comparison, Samples, Workers, Engine, Model, Limits, Memory, Cancellable
):  # fmt: skip
    """What the estimator can be asked."""

    words: ClassVar[Mapping[str, str]] = FitOptions.words

    random_state: int | RandomState | None = option(
        None,
        "the seed of every random choice: a number, or a RandomState; None draws one from numpy's global "
        "generator",
        TEXT,
        faces=frozenset({PYTHON}),
    )
