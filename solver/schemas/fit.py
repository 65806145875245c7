"""The JSON of `fit`: the worst case of one family of distances, or of several and the worst of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.options.names import (
    AggregatorName,
    DifferencesName,
    DirectionName,
    EngineName,
    MissingName,
    StandardisationName,
    TiesName,
)
from linkrisk.solver.schemas.keys import key

Ending = Literal["optimal", "feasible", "interrupted", "no_solution"]
Limit = Literal["time", "work", "memory", "user", "ties"] | None
Labels = dict[str, dict[str, Any]]


class Strata(TypedDict):
    """Of a stratum."""

    records: int
    linked: int


class RecordsTable(TypedDict):
    """What became of every record."""

    columns: Annotated[
        list[str], key("`record`, `linked`, `rank`, `distance`, `nearest_other`, `margin`, `ties`")
    ]
    rows: Annotated[list[list[Any]], key("a row for each record; of more than 100,000 none")]
    left_out: NotRequired[Annotated[int, key("records of which there is no row")]]
    ranks: NotRequired[Annotated[list[int], key("partners that stand at rank 1, 2, …, 10, and above")]]


class Workers(TypedDict):
    """Who was to work."""

    scheduler: Annotated[str | None, key("its address")]
    asked: Annotated[int | None, key("how many were asked for")]
    at_start: Annotated[int | None, key("how many there were")]


class Solved(TypedDict):
    """What was solved."""

    name: Annotated[str, key("files")]
    direction: DirectionName
    attributes: Annotated[list[str], key("that were compared")]
    candidates: Annotated[int, key("records that each may be linked to")]
    ties: TiesName
    standardisation: StandardisationName
    weight: NotRequired[Annotated[str, key("with sampling weights: their column")]]
    total_weight: NotRequired[Annotated[float, key("their sum", public=True)]]
    stratum: NotRequired[Annotated[str, key("column of strata, where there are some")]]
    not_comparable: NotRequired[
        Annotated[
            list[str],
            key("attributes without a category in common and without a known recoding: nothing is proven"),
        ]
    ]


class Problem(Solved):
    """What was solved, of one family of distances."""

    aggregator: Annotated[AggregatorName, key("the family", public=True)]
    aggregator_options: Annotated[dict[str, Any], key("such as `k_additive`")]
    alignment: Annotated[str, key("`row by row`, `id COLUMN` or `index labels`")]
    differences: DifferencesName
    missing: MissingName
    schema: NotRequired[
        Annotated[
            dict[str, Any],
            key("with categorical attributes: their scales and categories; it also names dates"),
        ]
    ]
    masking: NotRequired[
        Annotated[
            list[str],
            key("known masking methods; `inferred`"),
        ]
    ]
    recodings: NotRequired[Annotated[list[dict[str, Any]], key("what these can have made of each category")]]
    labels: NotRequired[Annotated[Labels, key("of columns and their codes, where a file or schema has some")]]


class Done(TypedDict):
    """How it was made."""

    seconds: Annotated[float, key("total time")]
    time_limit: Annotated[float | None, key("in seconds; null without one")]
    work_limit: NotRequired[Annotated[float, key("in units of work")]]
    work: NotRequired[Annotated[float, key("units that were done")]]
    workers: NotRequired[Annotated[Workers, key("where others were to work")]]
    command: Annotated[str | None, key("the command line")]
    linkrisk: Annotated[str, key("version of this program")]


class Ends(TypedDict):
    """The interval, where it is in expected links or in sampling weights, or not certain."""

    expected_links: NotRequired[
        Annotated[float, key("with `--ties share`: the expected number", public=True)]
    ]
    expected_links_upper_bound: NotRequired[Annotated[float, key("and its bound", public=True)]]
    weighted_links: NotRequired[
        Annotated[float, key("the sum of the weights of linked records", public=True)]
    ]
    weighted_links_upper_bound: NotRequired[Annotated[float, key("and its bound", public=True)]]
    confidence: NotRequired[
        Annotated[float, key("where samples were searched: that of the limits", public=True)]
    ]
    linked_confidence_limit: NotRequired[Annotated[int, key("no parameters link more records", public=True)]]
    linked_lower_limit: NotRequired[
        Annotated[int, key("what the attack links at least, where not all records were counted", public=True)]
    ]
    expected_links_confidence_limit: NotRequired[
        Annotated[float, key("the same of expected links", public=True)]
    ]
    expected_links_lower_limit: NotRequired[Annotated[float, key("", public=True)]]
    weighted_links_confidence_limit: NotRequired[Annotated[float, key("the same of weights", public=True)]]
    weighted_links_lower_limit: NotRequired[Annotated[float, key("", public=True)]]


class Counted(TypedDict):
    """On how many records an attack was counted."""

    records: int
    all: bool
    linked_lower_limit: NotRequired[float]
    expected_links_lower_limit: NotRequired[float]
    weighted_links_lower_limit: NotRequired[float]


class Sampling(TypedDict):
    """What a limit rests on."""

    sample: Annotated[
        dict[str, float], key("what is linked within the samples, and what cannot be exceeded there")
    ]
    stages: Annotated[list[dict[str, Any]], key("by size: what was searched, and the limit that it gives")]
    draw: Annotated[dict[str, Any], key("method, seed and size")]
    counted: Annotated[Counted, key("on how many records the attack was counted")]


class Parts(TypedDict):
    """What a bound is the sum of."""

    parts: int
    largest: Annotated[int, key("records in it")]
    searched: int
    proven: Annotated[int, key("that are closed")]


class BestKnown(TypedDict):
    """A baseline outside a family that links more than was found."""

    attack: str
    linked: float
    above_bound: Annotated[bool, key("more than the bound of this family")]
    options: Annotated[str | None, key("options of `fit` for the family that contains it")]


class Tied(TypedDict):
    """Records that only a tie prevents from being linked."""

    records: int
    with_twins: Annotated[int, key("those whose partner equals another candidate")]
    expected_links: NotRequired[Annotated[float, key("with guesses among equals")]]
    guessed_at_most: NotRequired[Annotated[float, key("what guesses add at most, whatever the parameters")]]


class TieBreaking(TypedDict):
    """Parameters that print as zero and still matter."""

    attributes: NotRequired[list[str]]
    ranks: NotRequired[Annotated[list[int], key("of an OWA")]]
    linked_without: Annotated[
        float | None, key("records linked without all of these; null where there was no time")
    ]


class Made(TypedDict):
    """Whether a certificate was made."""

    made: bool
    reason: str | None


class Baselines(TypedDict):
    """Records linked without learning; null where there was no time to count."""

    euclid: Annotated[float | None, key(public=True)]
    mahalanobis: Annotated[float | None, key(public=True)]


class FamilyFit(Problem, Ends, Done):
    """The worst case of one family."""

    records: Annotated[int, key("that have a partner", public=True)]
    linked: Annotated[int, key("records whose partner is strictly nearest: the attack, counted", public=True)]
    linked_upper_bound: Annotated[int, key("no parameters link more", public=True)]
    status: Annotated[Ending, key("how the search ended", public=True)]
    limit: Annotated[Limit, key("what was hit, or null", public=True)]
    parameters: Annotated[
        dict[str, Any], key("`weights`, `measure` (and `moebius`) or `matrix`: see the aggregator's page")
    ]
    bound_from: NotRequired[
        Annotated[
            AggregatorName,
            key(
                "of several families: the one whose bound is shown, as it contains this one",
                public=True,
            ),
        ]
    ]
    importance: Annotated[dict[str, float] | None, key("share of each attribute; null where there is none")]
    interaction: Annotated[list[list[float]] | None, key("pairwise interactions; null where there are none")]
    baselines: Annotated[
        Baselines, key("records linked without learning; null where there was no time to count", public=True)
    ]
    best_known: Annotated[
        BestKnown | None, key("the baseline outside this family that links more than was found")
    ]
    tie_breaking: Annotated[TieBreaking | None, key("parameters that print as zero and still matter")]
    tied: Annotated[Tied, key("records that only a tie prevents from being linked")]
    certificate: Annotated[Made | None, key("null where none was asked for")]
    lost: Annotated[int, key("records that no parameters link", public=True)]
    margin: Annotated[
        float | None,
        key("with `milp`: the bound is of parameters that keep it; null with `exact`"),
    ]
    strata: NotRequired[Annotated[dict[str, Strata], key("by code")]]
    sampling: NotRequired[Annotated[Sampling, key("where samples were searched: what the limit rests on")]]
    parts: NotRequired[Annotated[Parts, key("where the bound is a sum over parts")]]
    notes: Annotated[list[str], key("what else you should know, in sentences")]
    engine: EngineName
    backend: Annotated[str | None, key("of `milp`; null with `exact`")]
    seed: int
    threads: int
    phases: Annotated[
        dict[str, float],
        key(
            "seconds by phase: `rows` and `first attack`, then `tree`, `attack` and `hitting sets` (`exact`, "
            "those that were needed), `parts` and `all again` (where parts were searched), or `build` and "
            "`solve` (`milp`)"
        ),
    ]
    model: Annotated[
        dict[str, Any] | None, key("with `milp`: rows, columns and non-zeros; null with `exact`")
    ]
    trace: Annotated[list[list[float | None]], key("every improvement: seconds, linked, bound")]
    versions: Annotated[dict[str, str], key("of what the numbers depend on")]
    records_table: Annotated[RecordsTable, key("what became of every record")]


class NoFit(TypedDict):
    """A family without a result."""

    aggregator: Annotated[AggregatorName, key(public=True)]
    reason: Annotated[str, key("why there is none")]


class Families(Solved, Ends, Done):
    """The worst cases of several families, and of all of them together."""

    records: Annotated[int, key("that have a partner", public=True)]
    linked: Annotated[int, key("by the worst of the attacks", public=True)]
    linked_upper_bound: Annotated[int, key("no parameters of any family link more", public=True)]
    proven: Annotated[bool, key("whether the two meet")]
    worst: Annotated[AggregatorName, key("the family that links most")]
    notes: Annotated[list[str], key("on the files")]
    engine: EngineName
    seed: int
    families: Annotated[list[FamilyFit | NoFit], key("in the order in which they were searched")]


Fit = FamilyFit | Families
