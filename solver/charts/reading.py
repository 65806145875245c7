"""What charts take out of the JSON of results, and how they write it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkrisk.datasets.microdata.names import Labels, names_in_words
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.results import is_bound, least_key, limit_key, may_say_proven, meets, objective
from linkrisk.solver.schemas.reading import families_of

Result = Mapping[str, Any]

_MOST = 1e300
"""Beyond, per cent and sums would not be finite."""

_SPELLED = {
    "owa": "OWA",
    "choquet": "Choquet integral",
    "mahalanobis": "Mahalanobis-type",
    "classical-mahalanobis": "Mahalanobis, classical",
    "euclid": "equal weights",
}


@dataclass(frozen=True)
class Worst:
    """The worst case of a family, as shares; without ends where it has none."""

    aggregator: str
    low: float | None
    high: float | None
    confidence: float | None = None
    comparable: bool = True

    @property
    def said(self) -> str:
        """The interval and what is known of it."""
        if self.low is None or self.high is None:
            return "no result"
        sure = "" if self.confidence is None else f", {100.0 * self.confidence:g} % sure"
        if self.comparable and self.confidence is None and meets(self.low, self.high):
            return f"{percent(self.low)}, proven"
        if upper_end(self.low, self.high) is None:
            return f"{share(self.low)} or more, no bound in time"
        return f"{between(self.low, self.high)}{sure}"


def run_ends(run: Result) -> tuple[float, float] | None:
    """The worst that is known of a masking of a sweep, as shares; None where nothing was measured."""
    verdict, total = run.get("verdict"), number(run.get("total")) or 1.0
    if isinstance(verdict, Mapping):
        found = [(number(verdict.get("low")), number(verdict.get("high")))]
    else:  # as it was written before there were verdicts
        families = run.get("families") or ()
        found = [(_part(one.get("linked"), total), _part(one.get("most"), total)) for one in families]
    ends = [(low, high) for low, high in found if low is not None and high is not None]
    return (max(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def sweep_sentence(runs: Sequence[Result], asked: int) -> str:
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


def held_out_of(run: Result) -> float | None:
    """The strongest held-out rate of a masking; of equal weights where nothing was learned."""
    found = [one for one in (run.get("findings") or {}).get("held-out") or ()
             if str(one["key"]).startswith("held_out_") and number(one.get("value")) is not None]  # fmt: skip
    learned = [one for one in found if one["key"] != "held_out_equal_weights"] or found
    return max((float(one["value"]) for one in learned), default=None)


def tolerated_of(sweep: Result) -> float | None:
    """The share that is tolerated, beside which the maskings of a sweep were judged."""
    verdicts = (run.get("verdict") for run in sweep.get("runs") or ())
    shares = (number(one.get("tolerated")) for one in verdicts if isinstance(one, Mapping))
    return next((one for one in shares if one is not None), None)


def loss_words(name: Any) -> str:
    """The loss of a map in words, as a title has it."""
    words = {"il1s_of_all": "Loss, IL1s", "pmse": "Loss, pMSE", "": "Loss"}
    key = str(name or "")
    return words.get(key) or f"Loss, {key.replace('_', ' ')}"


def measure(result: Result, name: str) -> Result:
    """The JSON of a measure; empty where it was not taken."""
    every = result.get("measures")  # those of a sweep are names only
    found = every.get(name) if isinstance(every, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def findings(result: Result, name: str) -> list[Result]:
    """The findings of a measure that are shares and have a value."""
    found = measure(result, name).get("findings") or ()
    return [one for one in found if one.get("unit") == "share" and number(one.get("value")) is not None]


def is_weighted(groups: Iterable[Result]) -> bool:
    """Whether shares of groups of records are of sampling weights."""
    return any(one.get("population", one["records"]) != one["records"] for one in groups)


def fits(result: Result) -> list[Result]:
    """The JSON of each family that was searched and has a result."""
    return [
        one for one in families_of(result) if number(one.get("linked")) is not None and "parameters" in one
    ]


def in_words(result: Result, names: Iterable[str]) -> dict[str, str]:
    """What attributes are called for a reader, by name: their labels, where a file or schema has them."""
    known = list(dict.fromkeys(map(str, names)))
    labels: Labels = next((one["labels"] for one in (result, *fits(result)) if one.get("labels")), {})
    return dict(zip(known, names_in_words(known, labels), strict=True))


def fit_of(result: Result, family: str | None) -> Result | None:
    """That of one family; of no name, that of the worst one."""
    found = fits(result)
    if family is not None:
        return next((one for one in found if one.get("aggregator") == family), None)
    return max(found, key=lambda one: ends(one)[0], default=None)


def ends(fit: Result) -> tuple[float, float]:
    """What was maximised, and what it cannot exceed."""
    keys = objective(fit)
    low = number(fit.get(least_key(keys), fit.get(keys[0]))) or 0.0
    high = fit.get(limit_key(keys) if fit.get("confidence") is not None else keys[1])
    return low, low if (most := number(high)) is None else most


def total_of(fit: Result) -> float:
    """What these are part of."""
    return number(fit.get("total_weight")) or number(fit.get("records")) or 1.0


def worst_cases(result: Result) -> list[Worst]:
    """All families, as the measure of the worst case has them, or else as they were fitted."""
    taken = measure(result, "worst-case")
    comparable = all(map(may_say_proven, fits(result)))
    if total := number(taken.get("total")):
        return [
            Worst(one["aggregator"], _part(one.get("linked"), total), _part(one.get("most"), total),
                  one.get("confidence"), comparable)
            for one in taken.get("families") or ()
        ]  # fmt: skip
    return [
        Worst(one["aggregator"], low / total_of(one), high / total_of(one), one.get("confidence"), comparable)
        for one in fits(result)
        for low, high in [ends(one)]
    ]


def _part(value: Any, total: float) -> float | None:
    found = number(value)
    return None if found is None else found / total


def number(value: Any) -> float | None:
    """A number that can be drawn; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= _MOST else None  # nor one that is not a number


def numbers(values: Iterable[Any] | None) -> list[float | None]:
    """The same of several."""
    return [number(value) for value in values or ()]


def hundredfold(value: float | None) -> float | None:
    """A share in per cent."""
    return None if value is None else 100.0 * value


def name_of(key: str) -> str:
    """A family or an attack, for people."""
    return _SPELLED.get(key, key.replace("-", " "))


def kept(value: float | None, factor: float = 1.0) -> float | None:
    """A number of the data, without the digits that only rounding has made."""
    return None if value is None else float(f"{factor * value:.10g}")


def written(value: float | None) -> str:
    """A number that is no share, for people."""
    if value is None:
        return "none"
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.2g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 4)}f}".replace("-", "\N{MINUS SIGN}")


def share(value: float | None) -> str:
    """A share, for people."""
    return "none" if value is None else percent(value).replace("-", "\N{MINUS SIGN}")


def upper_end(low: float | None, high: float | None) -> float | None:
    """The upper end of a worst case, a share; None where no bound was found."""
    return high if low is None or high is None or is_bound(low, high, 1.0) else None


def worst_between(low: float, high: float) -> str:
    """A worst case: what is proven, or its ends, as far as there are some."""
    if meets(low, high):
        return f"{share(low)}, proven"
    return (
        between(low, high) if upper_end(low, high) is not None else f"{share(low)} or more, no bound in time"
    )


def between(low: float, high: float) -> str:
    """An interval of shares, with one sign of per cent; one number where both look the same."""
    first = share(low)
    if first == share(high):
        return first
    return f"{first.removesuffix(' %') if first[:1] not in '<>' else first} to {share(high)}"


def points(value: float | None) -> str:
    """A difference of shares, in percentage points."""
    return "none" if value is None else f"{100.0 * value:.1f} points".replace("-", "\N{MINUS SIGN}")


LONGEST, KEPT = 26, 10
"""Characters of a label beside an axis; of a longer one, how many stay at each end: capitals are wide."""


def labelled(texts: Sequence[str], at: str = "datum.value") -> str:
    """Vega's expression for texts as labels; `at` is that for the number of a text.

    A long one loses its middle, for names often differ at their ends alone; JSON is how its texts are quoted.
    """
    cut = [text if len(text) <= LONGEST else f"{text[:KEPT]}…{text[-KEPT:]}" for text in texts]
    return f"{json.dumps(cut)}[{at}]"


def listed(parts: Sequence[str], most: int = 12) -> str:
    """Parts of a sentence, the first of very many."""
    more = f"; and {len(parts) - most:,} more" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more
