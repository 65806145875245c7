"""Names of fixed choices, as literal types for editors and type checkers."""

from __future__ import annotations

from typing import Literal, get_args

AggregatorName = Literal["weighted-mean", "owa", "choquet", "mahalanobis"]
DirectionName = Literal["original-to-masked", "masked-to-original"]
TiesName = Literal["strict", "share"]
StandardisationName = Literal["own", "original", "pooled", "none"]
DifferencesName = Literal["squared", "absolute", "signed"]
MissingName = Literal["nearest", "expected", "farthest"]
EngineName = Literal["exact", "milp"]
MatchingName = Literal["hungarian", "greedy"]
LinkerName = Literal["dbrl", "prl", "owa", "sugeno", "bayes", "pca", "zscore", "random"]
SuppressionName = Literal["cover", "recount", "joint"]
CostName = Literal["one", "entropy", "priority"]

AGGREGATORS: tuple[str, ...] = get_args(AggregatorName)
DIRECTIONS: tuple[str, ...] = get_args(DirectionName)
TIES: tuple[str, ...] = get_args(TiesName)
STANDARDISATIONS: tuple[str, ...] = get_args(StandardisationName)
DIFFERENCES: tuple[str, ...] = get_args(DifferencesName)
MISSING: tuple[str, ...] = get_args(MissingName)
ENGINES: tuple[str, ...] = get_args(EngineName)
MATCHINGS: tuple[str, ...] = get_args(MatchingName)
LINKERS: tuple[str, ...] = get_args(LinkerName)
WAYS = ("together", "apart")
MEASURES = (
    "worst-case",
    "releases",
    "simple-attacks",
    "references",
    "attributes",
    "records",
    "held-out",
    "membership",
    "reidentification",
    "link-reliability",
    "uniqueness",
    "individual-risk",
    "population-uniqueness",
    "suda",
    "diversity",
    "interval-disclosure",
    "attribute-disclosure",
    "changes",
    "information-loss",
)
MASKING_METHODS = "linkrisk.datasets.masking.parameters:PARAMETERS"
"""Where the names of masking methods are."""
SUPPRESSIONS: tuple[str, ...] = get_args(SuppressionName)
COSTS: tuple[str, ...] = get_args(CostName)
BACKENDS = "linkrisk.solver.backends.registry:BACKENDS"
"""Where the names of backends are, which may be added to in one line there."""
