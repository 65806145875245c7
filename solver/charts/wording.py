"""How charts write numbers, names and intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

from linkrisk.datasets.microdata.names import Labels, names_in_words
from linkrisk.solver.charts.table import Of
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import Interval, fits

_SPELLED = {
    "owa": "OWA",
    "choquet": "Choquet integral",
    "mahalanobis": "Mahalanobis-type",
    "classical-mahalanobis": "Mahalanobis, classical",
    "euclid": "equal weights",
}


def name_of(key: str) -> str:
    """A family or an attack, for people."""
    return _SPELLED.get(key, key.replace("-", " "))


def in_words(result: Json, names: Iterable[str]) -> list[str]:
    """What attributes are called for a reader: their labels, where a file or schema has them."""
    given = list(map(str, names))
    known = list(dict.fromkeys(given))
    labels: Labels = next((one["labels"] for one in (result, *fits(result)) if one.get("labels")), {})
    words = dict(zip(known, names_in_words(known, labels), strict=True))
    return [words[name] for name in given]


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


def points(value: float | None) -> str:
    """A difference of shares, in percentage points."""
    return "none" if value is None else f"{100.0 * value:.1f} points".replace("-", "\N{MINUS SIGN}")


_WRITTEN = {Of.SHARE: (share, " %"), Of.POINTS: (points, " points"), Of.NUMBER: (written, "")}


def between(low: float, high: float, of: Of = Of.SHARE) -> str:
    """An interval, with one unit; one share where both look the same."""
    write, unit = _WRITTEN[of]
    first, last = write(low), write(high)
    if first == last and of is Of.SHARE:
        return first
    return f"{first if first[:1] in '<>' else first.removesuffix(unit)} to {last}"


def ranged(value: float | None, low: float | None, high: float | None, of: Of = Of.SHARE) -> str:
    """A number, with its interval where it has both ends."""
    said = _WRITTEN[of][0](value)
    return said if low is None or high is None else f"{said} ({between(low, high, of)})"


def worst_said(one: Interval | None) -> str:
    """A worst case: what is proven, or its ends, as far as there are some."""
    if one is None:
        return "no result"
    if one.proven:
        return f"{share(one.shares[0])}, proven"
    if one.upper is None:
        return f"{share(one.shares[0])} or more, no bound in time"
    sure = "" if one.confidence is None else f", {100.0 * one.confidence:.10g} % sure"
    return between(*one.shares) + sure


def cut(text: str, most: int = 26, kept: int = 10) -> str:
    """A text that is not too long, of which its ends are kept: there names often differ."""
    return text if len(text) <= most else f"{text[:kept]}…{text[-kept:]}"


def labelled(texts: Sequence[str], at: str = "datum.value") -> str:
    """Vega's expression for texts as labels, quoted as JSON; `at` is that for the number of a text."""
    return f"{json.dumps(list(texts))}[{at}]"


def listed(parts: Sequence[str], most: int = 12) -> str:
    """Parts of a sentence, the first of very many."""
    more = f"; and {len(parts) - most:,} more" if len(parts) > most else ""
    return "; ".join(parts[:most]) + more
