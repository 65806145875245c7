"""The headline of a worst case: one sentence that terminal, notebook and report share."""

from __future__ import annotations

from collections.abc import Sequence

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.solver.run.counts import count, persons
from linkrisk.solver.run.percent import percent


def worst_sentence(
    low: float,
    high: float,
    total: float,
    *,
    weighted: bool = False,
    confidence: float | None = None,
    kinds: Sequence[str] = (),
) -> str:
    """Say between which numbers the worst case lies.

    Parameters
    ----------
    low, high : float
        What the best attack links, and what no distance of the kind exceeds: records, expected links, or
        sampling weights.
    total : float
        What they are part of.
    weighted : bool
        Whether they are sampling weights.
    confidence : float or None
        Of `high`, where samples were searched; None where it is certain.
    kinds : sequence of str
        The families that both are about, where others were searched, too, that no bound was found of.

    Examples
    --------
    >>> worst_sentence(352, 354, 400)
    'At worst between 352 and 354 of 400 records (88.0 % to 88.5 %) can be re-identified by a distance of ...'
    """
    share = percents(*shares_of(low, high, total))
    number = persons if weighted else count
    of = f"records that stand for {{}} of {number(total)}" if weighted else f"{{}} of {count(total)} records"
    said = of.format(number(low) if low == high else f"between {number(low)} and {number(high)}")
    sure = "" if confidence is None else f", with {100.0 * confidence:.4g} % confidence"
    named = f"these kinds: {', '.join(kinds)}" if kinds else "this kind"
    return f"At worst {said} ({share}) can be re-identified by a distance of {named}{sure}."


def without_recoding(names: Sequence[str]) -> str:
    """Say why a bound proves nothing of an intruder where attributes cannot be compared."""
    return (
        f"{shown_names(names)} cannot be compared, as no category is in both files and no recoding is known; "
        "who knows it may re-identify more"
    )


def percents(low: float, high: float) -> str:
    """Both ends in per cent; one number where they are the same."""
    return " to ".join(dict.fromkeys((percent(low), percent(high))))


def shares_of(low: float, high: float, total: float) -> tuple[float, float]:
    """Both ends as shares; 0 of nothing."""
    return (low / total, high / total) if total > 0 else (0.0, 0.0)
