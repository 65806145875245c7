"""The JSON of `risk` and of one measure, of `sweep`, and of `verify`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from linkrisk.solver.options.names import (
    AggregatorName,
    DirectionName,
    MissingName,
    StandardisationName,
    TiesName,
)
from linkrisk.solver.schemas.fit import Families, Labels, Workers
from linkrisk.solver.schemas.keys import OPEN, key
from linkrisk.solver.schemas.linkage import Notes, Versions

Known = Annotated[float | None, key(public=True)]
Rated = AggregatorName | Literal["equal-weights"]
Answer = Literal["above", "below", "open"]


class VerdictFinding(TypedDict):
    """One thing that is known of a release."""

    key: str
    severity: Literal["red", "against-green", "information"]
    sentence: str
    about: list[str]
    low: Known
    high: Known
    confidence: Known


class Verdict(TypedDict):
    """The worst of all that is known, beside what is tolerated."""

    answer: Annotated[Answer, key(public=True)]
    low: Annotated[float, key("share of the records that can be re-identified, at least", public=True)]
    high: Annotated[float, key("and at most", public=True)]
    tolerated: Annotated[float, key(public=True)]
    confidence: Annotated[float | None, key("null where the ends are certain", public=True)]
    sentence: str
    findings: Annotated[list[VerdictFinding], key("the most severe first", public=True)]
    weighted: Annotated[bool, key("whether shares are of sampling weights", public=True)]


class Finding(TypedDict):
    """One number of a measure."""

    key: str
    words: str
    value: Known
    unit: Annotated[Literal["share", "records", "persons", "percentage points", "number"], key(public=True)]
    worse: Annotated[Literal["higher", "lower", "neither"], key("which way is worse", public=True)]
    low: Known
    high: Known
    kind: Annotated[Literal["certain", "95 % confidence", "range"] | None, key("of interval", public=True)]


class Measure(TypedDict):
    """What a measure has found; each has fields of its own besides."""

    findings: Annotated[list[Finding], key(public=True)]
    notes: list[str]


class Rate(TypedDict):
    """What an attack links that has learned from a share of the records."""

    aggregator: Annotated[Rated, key(public=True)]
    share: Known
    held_out: Known
    low: Known
    high: Known
    gap: Known
    one_to_one: Known
    worst: Known


class HeldOut(Measure):
    """The held-out attack."""

    rates: Annotated[list[Annotated[Rate, OPEN]], key(public=True)]
    shares: Annotated[list[float], key(public=True)]
    chance: Known


class ReleaseRisk(TypedDict):
    """What releases allow, up to one of them."""

    aggregator: Annotated[Rated, key(public=True)]
    number: Known
    low: Known
    high: Known
    rise: Known
    rise_low: Known
    rise_high: Known


class Releases(Measure):
    """Several releases of the same file."""

    way: Annotated[Literal["together", "apart"], key(public=True)]
    releases: Annotated[int, key(public=True)]
    risks: Annotated[list[Annotated[ReleaseRisk, OPEN]], key(public=True)]


AnyMeasure = Annotated[Measure, OPEN]
Measures = TypedDict(
    "Measures",
    {
        "worst-case": Annotated[Measure, OPEN, key(public=True)],
        "releases": Annotated[Releases, OPEN, key(public=True)],
        "simple-attacks": Annotated[Measure, OPEN, key(public=True)],
        "references": Annotated[Measure, OPEN, key(public=True)],
        "attributes": Annotated[Measure, OPEN, key(public=True)],
        "records": Annotated[Measure, OPEN, key(public=True)],
        "held-out": Annotated[HeldOut, OPEN, key(public=True)],
        "membership": Annotated[Measure, OPEN, key(public=True)],
        "reidentification": Annotated[Measure, OPEN, key(public=True)],
        "link-reliability": Annotated[Measure, OPEN, key(public=True)],
        "uniqueness": Annotated[Measure, OPEN, key(public=True)],
        "individual-risk": Annotated[Measure, OPEN, key(public=True)],
        "population-uniqueness": Annotated[Measure, OPEN, key(public=True)],
        "suda": Annotated[Measure, OPEN, key(public=True)],
        "diversity": Annotated[Measure, OPEN, key(public=True)],
        "interval-disclosure": Annotated[Measure, OPEN, key(public=True)],
        "attribute-disclosure": Annotated[Measure, OPEN, key(public=True)],
        "changes": Annotated[Measure, OPEN, key(public=True)],
        "information-loss": Annotated[Measure, OPEN, key(public=True)],
    },
    total=False,
)


class Certificate(TypedDict):
    """The certificate of a family in a report."""

    aggregator: Annotated[AggregatorName, key(public=True)]
    sha256: str | None
    verified: Annotated[bool | None, key(public=True)]
    said: str


class Risk(TypedDict):
    """Every measure of one release."""

    verdict: Annotated[Verdict, key(public=True)]
    name: Annotated[str, key("files")]
    direction: DirectionName
    attributes: list[str]
    alignment: str
    candidates: int
    ties: TiesName
    standardisation: StandardisationName
    missing: MissingName
    weight: NotRequired[str]
    total_weight: NotRequired[float]
    stratum: NotRequired[str]
    schema: NotRequired[dict[str, Any]]
    masking: NotRequired[list[str]]
    recodings: NotRequired[list[dict[str, Any]]]
    labels: NotRequired[Labels]
    not_comparable: NotRequired[list[str]]
    records: Annotated[int, key("that have a partner", public=True)]
    notes: Notes
    workers: NotRequired[Workers]
    seed: int
    seconds: float
    measure_seconds: dict[str, float]
    time_limit: float | None
    work_limit: NotRequired[float]
    work: NotRequired[float]
    command: str | None
    versions: Versions
    measures: Annotated[Measures, key("by name: findings, and what each has besides", public=True)]
    not_measured: Annotated[dict[str, str], key("why others could not be taken")]
    titles: Annotated[dict[str, str], key("of measures, for people")]
    worst_case: Annotated[Families, key("as in the JSON of `fit`")]
    certificates: NotRequired[Annotated[list[Certificate], key("what `report` adds", public=True)]]


class FamilyRisk(TypedDict):
    """The worst case of a family, of a masking."""

    aggregator: AggregatorName
    linked: float | None
    most: float | None
    proven: bool
    confidence: float | None
    reason: str | None


class Run(TypedDict):
    """One masking of a sweep."""

    pareto: Literal["on the front", "dominated", "open"] | None
    masking: str
    name: str
    seed: int
    status: Literal["done", "refused", "failed"]
    reason: Annotated[str | None, key("why there is nothing")]
    records: int
    total: float
    families: list[FamilyRisk]
    verdict: Verdict | None
    with_twins: int
    findings: Annotated[dict[str, list[Finding]], key("by measure")]
    loss: float | None
    not_measured: dict[str, str]
    seconds: float


class Sweep(TypedDict):
    """Maskings of a table, measured."""

    name: Annotated[str, key("the table")]
    records: int
    columns: int
    maskings: int
    kept_before: int
    folder: str | None
    families: list[AggregatorName]
    measures: list[str]
    direction: DirectionName
    ties: TiesName | None
    standardisation: StandardisationName
    differences: str | None
    missing: MissingName
    k_additive: int | None
    nominal: list[str]
    ordinal: list[str]
    schema: Any
    drop_constant: bool
    id: str | None
    attributes: list[str] | None
    seed: int
    tolerated: float
    time_limit: float | None
    work_limit: float | None
    workers: int | None
    scheduler: str | None
    seconds: float
    command: str | None
    notes: Notes
    versions: Versions
    labels: NotRequired[Labels]
    loss: Annotated[str, key("the number that is on the map beside the risk")]
    runs: list[Run]
    unfinished: Annotated[list[str], key("maskings for which there was no time")]


class Proved(TypedDict):
    """What is proved of two files."""

    aggregator: AggregatorName
    direction: DirectionName
    ties: TiesName
    attributes: list[str]
    records: int
    linked: int
    linked_upper_bound: int
    expected_links: NotRequired[float]
    expected_links_upper_bound: NotRequired[float]
    weight: NotRequired[str]
    total_weight: NotRequired[float]
    weighted_links: NotRequired[float]
    weighted_links_upper_bound: NotRequired[float]
    assumed_masking: list[str]
    covers_ties: bool
    method: str
    lost: int
    cores: int
    leaves: int


class Checked(TypedDict):
    """What `verify` finds of a fit or of a table."""

    verified: bool
    rejected: Annotated[str | None, key("the first check that failed")]
    said: Annotated[list[str], key("what is proved, in sentences, with all that it rests on")]
    name: NotRequired[str]
    alignment: NotRequired[str]
    seconds: NotRequired[float]
    proved: NotRequired[Annotated[Proved | None, key("what is proved of two files")]]
    protected: NotRequired[Annotated[bool, key("what is proved of a table")]]
    demands: NotRequired[int]
    met: NotRequired[int]
    missed: NotRequired[int]
    undecided: NotRequired[int]
    defect: NotRequired[str]


class CheckedFits(TypedDict):
    """What `verify` finds of several fits."""

    verified: bool
    certificates: Annotated[dict[str, Checked], key("by family")]


Verification = Checked | CheckedFits
