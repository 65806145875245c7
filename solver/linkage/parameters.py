"""Declare the parameters of linkers once, for command line, functions and application.

The linkers themselves are slow to import, which help texts avoid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.microdata.names import parse_names
from linkrisk.datasets.options.kinds import by_name, number, whole
from linkrisk.datasets.options.option import Option, later, meant, options_of, parameter, shared_options
from linkrisk.solver.options import names

if TYPE_CHECKING:
    from linkrisk.solver.linkage.probabilistic.blocking import Pass
    from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
    from linkrisk.solver.linkage.quantifiers import Family

USUAL_BAND = (0.5, 0.9)
"""Default band of match probabilities for clerical review."""

NORMALISED_BY = ("ranging", "standardising", "normal")
"""Names of normalisations (`representatives.normalising`)."""

MISSING = ("projection", "zero")
"""Treatment of missing values: left out of their record, or replaced by zero after normalisation.

``projection`` is Proposition 3 of Torra and Nin (2008), ``zero`` what they did in their experiments.
"""

COMPARED_BY = ("distance", "probabilistic")
"""Linkers that can compare representatives (`representatives.inner`)."""


def _weights(text: str) -> tuple[tuple[str, float], ...]:
    return tuple(by_name(text, number))


def _normalised(default: str) -> dict[str, Option]:
    said = f"how each file is normalised: {', '.join(NORMALISED_BY)} (default: {default})"
    return meant(said, str, metavar="WAY", choices=NORMALISED_BY)


def _sigmoid() -> tuple[Family, ...]:
    from linkrisk.solver.linkage.quantifiers import FAMILIES

    return (FAMILIES["sigmoid"],)


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DistanceBasedParameters:
    """Of `DistanceBased`."""

    weights: tuple[tuple[str, float], ...] | None = parameter(
        None, "weights of attributes (default: all equal)", _weights, metavar="A=2,B=1"
    )
    differences: str = parameter(
        "squared",
        "squared or absolute attribute distances (default: squared)",
        str,
        metavar="KIND",
        choices=("squared", "absolute"),
    )
    standardisation: str = parameter(
        "own",
        "own, original, pooled or none (default: own)",
        str,
        metavar="HOW",
        choices=names.STANDARDISATIONS,
    )
    masking: tuple[str, ...] = parameter(
        (),
        "how categories were masked, as 'top-coding categories=3 attributes=A'; give it once for each "
        "method; or the FILE.json that mask --record has written",
        str,
        metavar="METHOD",
        repeated=True,
    )
    missing: str = parameter(
        "expected",
        "what a missing value is compared as: nearest, expected or farthest (default: expected)",
        str,
        metavar="RULE",
        choices=names.MISSING,
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ProbabilisticParameters:
    """Of `Probabilistic`."""

    compare: tuple[tuple[str, Comparison], ...] = parameter(
        (),
        "how to compare an attribute: surname=equal, age=within:2, income=deviations:0.1,0.5, "
        "name=jaro-winkler:0.92..0.7 (interpolated); repeat it for others",
        later("solver.linkage.probabilistic.comparisons:parse_comparison"),
        metavar="A=HOW",
        repeated=True,
    )
    blocking: tuple[str, ...] = parameter(
        (), "compare only pairs that are equal on one of these columns", parse_names, metavar="A,B"
    )
    match_share: float | None = parameter(
        None,
        "share p of matches among compared pairs (default: 1/records in a bijection, else estimated)",
        number,
        metavar="P",
    )
    estimate_share: bool = parameter(False, "estimate p also in a bijection", None)
    fixed_u: bool = parameter(False, "take u-probabilities from the agreement of all pairs", None)
    prior: float = parameter(
        1.0, "pairs added to each level of an attribute, for m and u (default 1)", number, metavar="C"
    )
    false_link_rate: float | None = parameter(
        None, "most non-matches to link, as a share of them", number, metavar="MU"
    )
    false_non_link_rate: float | None = parameter(
        None, "most matches to leave out, as a share of them", number, metavar="LAMBDA"
    )
    passes: tuple[Pass, ...] = parameter(
        (),
        "compare only pairs that agree on all these keys: surname,year(birth_date) or soundex(surname),"
        "postcode[:3]; repeat it for further passes",
        later("solver.linkage.probabilistic.blocking:parse_pass"),
        metavar="KEYS",
        repeated=True,
        flag="pass",
    )
    linked_leave: bool = parameter(
        False, "records of linked pairs take no part in later passes (default: they do)", None
    )
    clerical_band: tuple[float, float] | None = parameter(
        None,
        "with passes: match probabilities from which on a pair is for clerical review, and linked "
        f"(default {USUAL_BAND[0]:g},{USUAL_BAND[1]:g})",
        later("solver.linkage.probabilistic.passes:parse_band"),
        metavar="LOW,HIGH",
    )
    frequency_weights: bool = parameter(
        False, "with passes: agreement on a rare value weighs more than on a common one", None
    )
    tolerance: float = parameter(
        1e-6, "EM stops when no probability changes by more (default 1e-6)", number, metavar="T"
    )
    most_iterations: int = parameter(5000, "most iterations of EM (default 5000)", whole, metavar="N")


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class RepresentativeLinkerParameters:
    """Of `RepresentativeLinker`."""

    quantifiers: tuple[Family, ...] = field(
        default_factory=_sigmoid,
        metadata=meant(
            "power, sigmoid or threshold (default: sigmoid), with alphas of your own as in power:0.5,2, "
            "or points:0 0 0.5 0.2 1 1; can be repeated",
            later("solver.linkage.quantifiers:parse_family"),
            metavar="Q",
            repeated=True,
        ),
    )
    normalisation: str = field(default="standardising", metadata=_normalised("standardising"))
    missing: str = parameter(
        "projection",
        "missing values: projection leaves them out of their record, zero puts 0 after normalising "
        "(default: projection)",
        str,
        metavar="WAY",
        choices=MISSING,
    )
    linkage: str = parameter(
        "distance",
        f"what compares the representatives: {', '.join(COMPARED_BY)} (default: distance)",
        str,
        metavar="WAY",
        choices=COMPARED_BY,
    )
    standardise: bool = parameter(False, "standardise the representatives", None)
    classes: int = parameter(
        0,
        "classes of equal frequency for the representatives (default: 0, numbers as they are)",
        whole,
        metavar="N",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class SugenoIntegralsParameters(RepresentativeLinkerParameters):
    """Of `SugenoIntegrals`."""

    normalisation: str = field(default="ranging", metadata=_normalised("ranging"))


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class BayesianParameters:
    """Of `Bayesian`."""

    classes: int = parameter(8, "most classes of a numeric attribute", whole, metavar="K")
    prior_weight: float = parameter(1.0, "weight of the prior, in records", number, metavar="W")
    match_share: float | None = parameter(
        None, "share of pairs that are matches (default: estimated)", number, metavar="P"
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class OneDimensionParameters:
    """Of `OneDimension`."""

    compare_by: str = parameter(
        "rank",
        "compare places in the order (rank) or values (score) (default: rank)",
        str,
        metavar="WAY",
        choices=("rank", "score"),
    )


PARAMETERS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "dbrl": DistanceBasedParameters,
        "prl": ProbabilisticParameters,
        "owa": RepresentativeLinkerParameters,
        "sugeno": SugenoIntegralsParameters,
        "bayes": BayesianParameters,
        "pca": OneDimensionParameters,
        "zscore": OneDimensionParameters,
    }
)
"""Parameter class of every linker that has parameters (`registry.LINKERS` has the linkers)."""


def all_settings() -> dict[str, Option]:
    """Every setting that users can give; the help of a shared one says what it means to each linker."""
    return shared_options(PARAMETERS)


def own_settings(method: str) -> Mapping[str, Option]:
    """List the settings of a linker; none where it has none, or there is no such linker."""
    return options_of(PARAMETERS[method]) if method in PARAMETERS else {}
