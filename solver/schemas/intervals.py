"""The interval of a worst case: its keys in JSON, when an end is a bound, and the sentences about it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from linkrisk.datasets.microdata.names import shown_names
from linkrisk.solver.run.number_format import count, percent, persons, with_confidence

LINKED = ("linked", "linked_upper_bound")
EXPECTED = ("expected_links", "expected_links_upper_bound")
WEIGHTED = ("weighted_links", "weighted_links_upper_bound")
"""Keys of the JSON for the two ends of what a search maximises: records, with shared ties expected links,
with sampling weights the sum of theirs."""


_SAME = 1e-9
_NOTHING = 0.01
"""A bound that rules out no more than this share of what lies between the attack and all records is none."""


def objective(result: Container[str]) -> tuple[str, str]:
    """Which of these pairs of keys a result has for what was maximised."""
    return next((keys for keys in (WEIGHTED, EXPECTED) if keys[1] in result), LINKED)


def limit_key(keys: tuple[str, str]) -> str:
    """The key for what is not exceeded with some confidence, where samples were searched."""
    return f"{keys[0]}_confidence_limit"


def least_key(keys: tuple[str, str]) -> str:
    """The key for what is linked at least, with the same confidence, where not all records were counted."""
    return f"{keys[0]}_lower_limit"


def least_of(result: Mapping[str, Any]) -> float:
    """Return the lower end of a fit's JSON: the count, or its confidence limit for all records."""
    keys = objective(result)
    least: float = result.get(least_key(keys), result.get(keys[0], result["linked"]))
    return least


def says_more(low: float, high: float, total: float) -> bool:
    """Whether a bound is not trivial: it excludes a part of what lies between attack and all records."""
    return total - high > max(_NOTHING * (total - low), 1e-9 * total)


def meets(low: float, high: float) -> bool:
    """Whether attack and bound are the same number, up to the rounding of sums."""
    return high - low <= _SAME * abs(low) + 1e-12


def is_bound(low: float, high: float, total: float) -> bool:
    """Whether an upper end is a bound: it meets the attack, or is not trivial."""
    return meets(low, high) or says_more(low, high, total)


def guessed_ends(
    fits: Iterable[Mapping[str, Any]], low: float, high: float, total: float
) -> tuple[float, float] | None:
    """What is linked where equal candidates are guessed among; None where no record has some, or they were.

    Parameters
    ----------
    fits : iterable of mapping
        Details or JSON of the fits that the ends are of.
    low, high, total : float
        What is linked without guessing, what none exceeds, and what both are part of.
    """
    tied = [one["tied"] for one in fits if "expected_links" in (one.get("tied") or {})]
    if not tied:
        return None
    least = max(low, *(one["expected_links"] for one in tied))
    more = max(one.get("guessed_at_most", total) for one in tied)
    return least, max(least, min(high + more, total))


NOT_YET = "it was asked for, and not made yet"
"""Why there is no certificate of a fit whose certificate is to come."""


def may_say_proven(fitted: Mapping[str, Any]) -> bool:
    """Whether a bound that a fit has reached may be called proven, from its details or its JSON.

    Not where an attribute cannot be compared, nor where a certificate was asked for that could not be made.
    """
    asked = fitted.get("certificate")
    made = not isinstance(asked, Mapping) or asked.get("made") is True
    return made and "not_comparable" not in fitted


def worst_sentence(
    low: float,
    high: float,
    total: float,
    *,
    weighted: bool = False,
    confidence: float | None = None,
    kinds: Sequence[str] = (),
    guessed: tuple[float, float] | None = None,
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
    guessed : (float, float) or None
        Both ends where equal candidates are guessed among, which is never less; None where nothing is equal.

    Examples
    --------
    >>> worst_sentence(352, 354, 400)
    'At worst between 352 and 354 of 400 records (88.0 % to 88.5 %) can be re-identified by a distance of ...'
    """
    number = persons if weighted else count
    ends = (low, high) if guessed is None else guessed
    first, last = (number(end) for end in ends)
    bounded = is_bound(*ends, total)
    at_worst, least = ("At worst", "") if bounded else ("", "at least ")
    said = least + (f"between {first} and {last}" if bounded and first != last else first)
    said = f"{said} of {number(total)}"
    of = f"records that stand for {said}" if weighted else f"{said} records"
    share = percents(*shares_of(*ends, total)) if bounded else percent(shares_of(*ends, total)[0])
    named = f"these kinds: {', '.join(kinds)}" if kinds else "this kind"
    text = f"{at_worst} {of} ({share}) can be re-identified by a distance of {named}".strip()
    text = text[0].upper() + text[1:]
    if guessed is not None:
        text += by_lot(*shares_of(low, high, total))
    return f"{text}{with_confidence(confidence)}." if bounded else f"{text}; no bound was found in time."


def without_recoding(names: Sequence[str]) -> str:
    """Say why a bound proves nothing of an intruder where attributes cannot be compared."""
    return (
        f"{shown_names(names)} cannot be compared, as no category is in both files and no recoding is known; "
        "who knows it may re-identify more"
    )


def percents(low: float, high: float) -> str:
    """Both ends of a share in per cent; one number where they are the same, or there is no upper one."""
    if not is_bound(low, high, 1.0):
        return f"{percent(low)} or more"
    return " to ".join(dict.fromkeys((percent(low), percent(high))))


def by_lot(low: float, high: float) -> str:
    """Say that equal candidates are guessed among, and what is linked without, as shares."""
    return f" where equal records are guessed among ({percents(low, high)} without)"


def ends_said(
    low: float | None,
    high: float | None,
    sure: str,
    write: Callable[[float], str],
    *,
    certain: bool = False,
    share: bool = False,
) -> str:
    """Say what interval a number has: ``3.0 % to 5.0 %, for certain``, ``or more, no bound in time``.

    Parameters
    ----------
    low, high : float or None
        Ends of its interval, as far as there are some.
    sure : str
        What kind of interval that is.
    write : callable
        Makes a text of an end.
    certain, share : bool
        Whether the ends are certain, and whether they are shares of one.
    """
    if certain and low is not None and high is not None and meets(low, high):
        return "proven"
    if certain and (high is None or (share and low is not None and not is_bound(low, high, 1.0))):
        return "or more, no bound in time"
    if high is None or low is None:
        return f"{write(low)} or more, {sure}" if low is not None else f"{write(high or 0.0)} or less, {sure}"
    return f"{' to '.join(dict.fromkeys((write(low), write(high))))}, {sure}"


def shares_of(low: float, high: float, total: float) -> tuple[float, float]:
    """Both ends as shares; 0 of nothing."""
    return (low / total, high / total) if total > 0 else (0.0, 0.0)
