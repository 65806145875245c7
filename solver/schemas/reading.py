"""Readers of the JSON of results, for pages, charts, inputs and application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from linkrisk.datasets.microdata.schema import Scale, Schema
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.intervals import (
    WEIGHTED,
    guessed_ends,
    is_bound,
    least_of,
    limit_key,
    may_say_proven,
    meets,
    objective,
    says_more,
)
from linkrisk.solver.schemas.keys import OPEN, Json, schema_of, wrong
from linkrisk.solver.schemas.linkage import Learned
from linkrisk.solver.schemas.risk import Finding, Verdict


@dataclass(frozen=True)
class Interval:
    """How much can be linked at worst."""

    # `low`, `high`: records, expected links or sampling weights; `high` holds with `confidence` where there
    # is one
    low: float
    high: float
    total: float = 1.0  # what they are part of
    confidence: float | None = None
    # whether all attributes can be compared: else the ends say nothing of who knows how they were recoded
    comparable: bool = True
    weighted: bool = False  # whether they are sampling weights

    @property
    def proven(self) -> bool:
        """Whether the two ends meet, for certain."""
        return self.comparable and self.confidence is None and meets(self.low, self.high)

    @property
    def bounded(self) -> bool:
        """Whether more is known than that no more than all, or nearly all, can be linked."""
        return self.proven or says_more(self.low, self.high, self.total)

    @property
    def shares(self) -> tuple[float, float]:
        """Both ends as shares; 0 of nothing."""
        whole = self.total or 1.0
        return self.low / whole, self.high / whole

    @property
    def upper(self) -> float | None:
        """The upper end as a share; None where no bound was found."""
        return self.shares[1] if is_bound(*self.shares, 1.0) else None


# ---- worst cases


def families_of(result: Json) -> Sequence[Json]:
    """The families of a fit or of measures, with those that have no result; none of another JSON."""
    if "runs" in result:
        return ()
    worst = result.get("worst_case") or result
    return worst.get("families") or ([worst] if "aggregator" in worst else [])


def fits(result: Json) -> list[Json]:
    """The families that were searched and have a result."""
    return [one for one in families_of(result) if "parameters" in one]


def fit_of(result: Json, family: str | None) -> Json | None:
    """That of one family; of no name, that of the worst one."""
    named = [one for one in fits(result) if family in (None, one["aggregator"])]
    return max(named, key=least_of, default=None)


def interval(family: Json) -> Interval:
    """What the learned distance of a family links, and what none of the family exceeds."""
    keys = objective(family)
    total = family["total_weight"] if keys == WEIGHTED else family["records"]
    confidence = family.get("confidence")
    high = family[keys[1] if confidence is None else limit_key(keys)]
    comparable = may_say_proven(family)
    return Interval(least_of(family), high, total, confidence, comparable, keys == WEIGHTED)


def worst_cases(result: Json) -> dict[str, Interval | None]:
    """The worst case of every family by its name; None of one that has no result."""
    return {one["aggregator"]: interval(one) if "parameters" in one else None for one in families_of(result)}


def together(intervals: Iterable[Interval]) -> Interval:
    """Of several families: the worst of them, and what none exceeds."""
    every = list(intervals)
    worst = max(every, key=lambda one: one.low)
    return replace(worst, high=max(one.high for one in every))


def guessed(families: Iterable[Json], whole: Interval) -> tuple[float, float] | None:
    """Both ends where equal candidates are guessed among; None where nothing is equal, or they were."""
    return guessed_ends(families, whole.low, whole.high, whole.total)


def upper_end(low: float | None, high: float | None) -> float | None:
    """The upper end of a worst case, a share; None where no bound was found."""
    return high if low is None or high is None else Interval(low, high).upper


# ---- measures


def measure(result: Json, name: str) -> Json:
    """The JSON of a measure; empty where it was not taken."""
    every = result.get("measures")  # those of a sweep are names only
    found: Json = every.get(name, {}) if isinstance(every, Mapping) else {}
    return found


def findings(result: Json, name: str) -> list[Finding]:
    """The findings of a measure that are shares and have a value."""
    found: Sequence[Finding] = measure(result, name).get("findings") or ()
    return [one for one in found if one["unit"] == "share" and one["value"] is not None]


def is_weighted(groups: Iterable[Json]) -> bool:
    """Whether shares of groups of records are of sampling weights."""
    return any(one.get("population", one["records"]) != one["records"] for one in groups)


# ---- sweeps


def run_ends(run: Json) -> tuple[float, float] | None:
    """The worst that is known of a masking of a sweep, as shares; None where nothing was measured."""
    verdict: Verdict | None = run.get("verdict")
    return (verdict["low"], verdict["high"]) if verdict else None


def held_out_of(run: Json) -> float | None:
    """The strongest held-out rate of a masking; of equal weights where nothing was learned."""
    found: Sequence[Finding] = (run.get("findings") or {}).get("held-out") or ()
    rates = {
        one["key"]: one["value"]
        for one in found
        if one["key"].startswith("held_out_") and one["value"] is not None
    }
    learned = {key: value for key, value in rates.items() if key != "held_out_equal_weights"} or rates
    return max(learned.values(), default=None)


def tolerated_of(sweep: Json) -> float | None:
    """The share that is tolerated, beside which the maskings of a sweep were judged."""
    verdicts = (run.get("verdict") or {} for run in sweep.get("runs") or ())
    return next((one["tolerated"] for one in verdicts if "tolerated" in one), None)


def loss_words(name: Any) -> str:
    """The loss of a map in words, as a title has it."""
    words = {"il1s_of_all": "Loss, IL1s", "pmse": "Loss, pMSE", "": "Loss"}
    key = str(name or "")
    return words.get(key) or f"Loss, {key.replace('_', ' ')}"


def sweep_sentence(runs: Sequence[Json], asked: int) -> str:
    """How many maskings of a sweep were measured, and how many of these are not dominated."""
    done = [run for run in runs if run.get("status") == "done"]
    placed = [run for run in done if run.get("pareto") is not None]
    front = sum(run.get("pareto") == "on the front" for run in placed)
    said = f"{len(done)} of {asked} maskings {'was' if asked == 1 else 'were'} measured"
    if not done:
        return f"{said}."
    if not placed:
        return f"{said}; the loss of none is known, so that none can be preferred to another."
    some = f" of the {len(placed)} whose loss is known" if len(placed) < len(done) else " of these"
    are = "is" if front == 1 else "are"
    return f"{said}; {front}{some} {are} not dominated: no other one has both less risk and less loss."


# ---- what was learned

_OPTIONS = (
    *("aggregator", "direction", "ties", "standardisation", "differences", "missing"),
    *("attributes", "original_attributes", "masked_attributes"),
)


def learned_options(learned: Json) -> dict[str, Any]:
    """The options under which parameters were learned, in the JSON of `fit` or `link`, as far as it has them.

    Raises UsageError if one is not of its kind.
    """
    complaint = wrong(schema_of(Annotated[Learned, OPEN]), learned)
    if complaint is not None:
        raise UsageError(f"{complaint}; give the file that `fit --json` or `link --json` wrote")
    known = {key: learned[key] for key in _OPTIONS if learned.get(key) is not None}
    if "attributes" in known or learned.get("schema"):
        known["schema"] = reusable_schema(learned.get("schema") or {}, known.get("attributes", ()))
    if "k_additive" in (options := learned.get("aggregator_options") or {}):
        known["k_additive"] = options["k_additive"]
    if "precision_recall" in learned:
        known["curve"] = learned["precision_recall"] is not None
    return known


def reusable_schema(schema: Json, attributes: Sequence[str]) -> dict[str, Any]:
    """A schema for other files: their nominal attributes may have other categories.

    `schema`: what was recorded. `attributes`: all that were compared: those that the schema does not list
    were numeric, and have to be again.
    """
    recorded = Schema.from_dict({"attributes": [], **schema})
    rows = recorded.to_dict()["attributes"]
    rows += [{"name": one, "scale": Scale.NUMERIC.value} for one in attributes if one not in recorded.names]
    nominal = [row for row in rows if row.get("scale") == Scale.NOMINAL]
    for row in nominal:
        row.pop("categories", None)
    return {"attributes": rows}


# ---- numbers


def number(value: Any) -> float | None:
    """A number that can be drawn; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _MOST else None  # nor one that is not a number


_MOST = 1e300
"""Beyond, per cent and sums would not be finite."""
