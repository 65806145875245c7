"""Relations between an original and a released column: dependence, digests, parts of ids."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.dates import looks_dated, read_dates
from linkrisk.datasets.pairs.cells import are_numeric, cell_codes, id_text
from linkrisk.datasets.pairs.recodings import ValueMap

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")

_HEX = r"[0-9a-fA-F]{6,128}"

_FEW = 20
"""Records by which an algorithm is recognised."""


def digests_like(before: pd.Series, after: pd.Series) -> pd.Series:
    """Digests of a column, or their beginnings, where the column beside it holds them; else the column."""
    if are_numeric(after):
        return before
    few = after.notna().to_numpy() & before.notna().to_numpy()
    few[np.flatnonzero(few)[_FEW:]] = False
    shown, known = after[few].astype("str"), _texts(before[few])
    size = shown.str.len()
    if not few.any() or not shown.str.fullmatch(_HEX).all() or size.nunique() > 1:
        return before
    for algorithm in ALGORITHMS:
        for spelled in (str, str.lower, str.upper):
            made = [_digest(algorithm, spelled(text), int(size.iloc[0])) for text in known]
            if made == shown.str.lower().tolist():
                texts, upper = _texts(before), (shown != shown.str.lower()).any()
                found = texts.map(
                    lambda text, algorithm=algorithm, spelled=spelled: _digest(
                        algorithm, spelled(text), int(size.iloc[0])
                    ),
                    na_action="ignore",
                )
                return found.str.upper() if upper else found
    return before


def _texts(column: pd.Series) -> pd.Series:
    """Values as they are written; whole numbers without a point."""
    if are_numeric(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return column.astype(object).map(lambda cell: str(cell).strip(), na_action="ignore")


def _digest(algorithm: str, text: str, size: int) -> str:
    return hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()[:size]


MOST_RECORDS = 5_000
"""Partners that are looked at to find out whether two columns go together."""

MOST_TEXTS = 300
"""Records whose texts are compared word by word."""

_SURE = 6.0
"""Standard deviations above chance."""

_PAIRS = 10.0
"""Pairs of records above chance that agree in both columns."""

_BINS = 8
"""Groups of equal size that values in their order are cut into."""


Codings = tuple[IndexArray, ...]
"""A column as codes in several ways, -1 where it has no value."""


def codings(column: pd.Series) -> Codings:
    """A column as codes: of its values, and of eight groups of them in their order."""
    values = in_order(column)
    known = ~np.isnan(values)
    found = np.full((2, len(values)), -1, dtype=np.intp)
    different, found[0, known], count = np.unique(values[known], return_inverse=True, return_counts=True)
    before = (np.cumsum(count) - count) * _BINS // max(1, int(known.sum()))
    found[1, known] = before[found[0, known]]
    return (found[0],) if different.size <= _BINS else (found[0], found[1])


def goes_with(before: Codings, after: Codings) -> float:
    """How clearly two columns, side by side, depend on each other: standard deviations above chance, or 0.

    What is counted are pairs of records that agree in both columns. By chance their number is that of a
    Poisson variable, or varies less.
    """
    return max(_above_chance(one, other) for one in before for other in after)


def _above_chance(one: IndexArray, other: IndexArray) -> float:
    known = (one >= 0) & (other >= 0)
    one, other = one[known], other[known]
    together = one * (int(other.max(initial=0)) + 1) + other
    both, first, second = (_pairs(codes) for codes in (together, one, other))
    everything = len(one) * (len(one) - 1) / 2.0
    if min(first, second) == 0.0 or max(first, second) >= everything:
        return 0.0
    chance = first * second / everything
    above = both - chance
    return float(above / np.sqrt(chance)) if above >= max(_PAIRS, _SURE * np.sqrt(chance)) else 0.0


def _pairs(codes: IndexArray) -> float:
    few = len(codes) > 0 and codes.max() < 4 * len(codes)
    count = (np.bincount(codes) if few else np.unique(codes, return_counts=True)[1]).astype(np.float64)
    return float((count * (count - 1.0)).sum() / 2.0)


def in_order(column: pd.Series) -> FloatArray:
    """Values as numbers in their order: days of dates, text as it is sorted; missing ones are NaN."""
    if are_numeric(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if looks_dated(column):
        try:
            return read_dates([(column, "")])[0].days
        except DataError:
            pass  # of several forms, one cannot tell which
    text = column.astype(object).map(str, na_action="ignore")
    numbers = pd.to_numeric(text, errors="coerce")
    if not (numbers.isna() & text.notna()).any():
        return numbers.to_numpy(dtype=np.float64)
    codes = pd.factorize(text, sort=True)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def recognised_by(before: pd.Series, after: pd.Series, partner: IndexArray) -> BoolArray:
    """Which records one released column tells by itself to somebody who knows it, shape (before,).

    Where its values are recoded, each to one other, they are alone with what their value has become. Numbers
    have their partner strictly nearest, by their values or by their ranks.
    """
    codes = cell_codes(before, after, loosely=True).second
    becomes = np.where(codes < 0, np.nan, codes.astype(np.float64))[partner]
    shown = ValueMap.of(in_order(before), becomes)
    recognised = (
        alone(codes)[partner]
        if shown is not None and shown.by_evidence
        else np.zeros(len(before), dtype=np.bool_)
    )
    if are_numeric(before, after):
        first, second = in_order(before), in_order(after)
        by_value = _nearest(first, second, partner)
        return max(
            (recognised, by_value, _nearest(_ranks(first), _ranks(second), partner)), key=np.count_nonzero
        )
    return recognised


def by_words(before: pd.Series, after: pd.Series, partner: IndexArray) -> BoolArray:
    """Which of the first records a text tells: their partner's has more of their words than any other."""
    recognised = np.zeros(len(before), dtype=np.bool_)
    some = np.flatnonzero((before.notna().to_numpy()) & (after.notna().to_numpy()[partner]))[:MOST_TEXTS]
    texts = [side.iloc[rows].astype(str) for side, rows in ((before, some), (after, partner[some]))]
    if not some.size or any(side.str.strip().str.count(" ").mean() < 1.0 for side in texts):
        return recognised
    words = [side.str.lower().str.split().map(frozenset) for side in texts]
    code = {word: at for at, word in enumerate({word for side in words for text in side for word in text})}
    has = np.zeros((2, some.size, len(code)), dtype=np.float32)
    for side, one in zip(has, words, strict=True):
        for row, text in zip(side, one, strict=True):
            row[[code[word] for word in text]] = 1.0
    many = has.sum(axis=2)
    both = has[0] @ has[1].T
    alike = both / np.maximum(many[0][:, None] + many[1] - both, 1.0)
    own = alike.diagonal().copy()
    np.fill_diagonal(alike, -1.0)
    recognised[some] = own > alike.max(axis=1)
    return recognised


def _ranks(values: FloatArray) -> FloatArray:
    return np.asarray(pd.Series(values).rank(pct=True), dtype=np.float64)


def _nearest(own: FloatArray, others: FloatArray, partner: IndexArray) -> BoolArray:
    """Of which numbers the partner is strictly the nearest."""
    values, count = np.unique(others[~np.isnan(others)], return_counts=True)
    mine = others[partner]
    known = ~(np.isnan(own) | np.isnan(mine))
    if not values.size:
        return known
    bounds = np.r_[-np.inf, values, np.inf]
    at = np.searchsorted(values, mine)
    at[~known] = 0
    distance = np.abs(own - mine)
    apart = np.minimum(np.abs(own - bounds[at]), np.abs(own - bounds[at + 2]))
    return np.asarray(known & (count[at] == 1) & (distance < apart))


def alone(codes: npt.NDArray[np.intp] | npt.NDArray[np.int64]) -> BoolArray:
    """Which records have a code that no other one has; one without a value (-1) is not known by it."""
    _, place, count = np.unique(codes, return_inverse=True, return_counts=True)
    return np.asarray((count[place] == 1) & (codes >= 0))


PARTS_OF = 1_000
"""Records by which parts are recognised to go with columns of the original."""

_LONGEST = 16
"""Characters from the beginning that are looked at one by one and in pairs."""

_BEGINNINGS = range(1, 7)

_ENDS = range(1, 5)

_CLOSE = 0.5
"""Correlation of ranks from which on a part is a number like one of the original."""


def has_parts(column: pd.Series) -> bool:
    """Whether a column is text, or whole numbers of which most are different."""
    if not are_numeric(column):
        return not isinstance(column.dtype, pd.CategoricalDtype) or column.nunique() * 2 > len(column)
    known = column.dropna()
    return bool(known.nunique() * 2 > len(column) and (known % 1 == 0).all())


def parts(column: pd.Series) -> dict[str, pd.Series]:
    """Columns of what texts are made of, by what to call them; numbers are written with zeros before them."""
    text = column.astype(object).map(id_text, na_action="ignore").astype("str")
    sizes = text[column.notna()].str.len()
    if not len(sizes):
        return {}
    if text[column.notna()].str.fullmatch(r"\d+").all():
        text, least = text.str.zfill(int(sizes.max())), int(sizes.max())
    else:
        least = int(sizes.min())
    text = text.where(column.notna())
    found = dict(_pieces(text))
    found |= {f"the first {_characters(size)}": text.str[:size] for size in _BEGINNINGS if size < least}
    found |= {f"the last {_characters(size)}": text.str[-size:] for size in _ENDS if size < least}
    if least == sizes.max() or text.str.len().nunique() == 1:
        for first in range(1, min(least, _LONGEST)):
            found[f"character {first + 1}"] = text.str[first : first + 1]
            if first + 2 < least:
                found[f"characters {first + 1} and {first + 2}"] = text.str[first : first + 2]
    return found


def _characters(size: int) -> str:
    return "character" if size == 1 else f"{size} characters"


def _pieces(text: pd.Series) -> Iterator[tuple[str, pd.Series]]:
    """What stands between signs, or runs of letters and of digits, where all have as many."""
    for pattern in (r"[^\W_]+", r"[^\W\d_]+|\d+"):
        pieces = text.str.findall(pattern)
        count = pieces.dropna().map(len)
        if count.nunique() == 1 and count.iloc[0] > 1:
            for at in range(min(int(count.iloc[0]), _LONGEST)):
                yield f"piece {at + 1}", pieces.str[at]
            return


def telling_part(
    column: pd.Series, known: pd.DataFrame, shown: pd.DataFrame, may: Callable[[str], bool]
) -> tuple[str, str] | None:
    """The part of a released column that goes best with a column of the original, and the name of that."""
    records = len(column)
    coded = {str(name): codings(known[name]) for name in known}
    shown_codes = (pd.factorize(shown[name])[0] for name in shown)
    others = [codes for codes in shown_codes if codes.max() * 2 < records]
    found: list[tuple[float, str, str]] = []
    seen, pieces = set(), parts(column)
    for words, part in pieces.items():
        codes = pd.factorize(part)[0].astype(np.intp)
        many = int(codes.max(initial=-1)) + 1
        if many < 2 or many * 2 > records or (key := codes.tobytes()) in seen:
            continue
        seen.add(key)
        clear = [(goes_with(before, (codes,)), words, name) for name, before in coded.items()]
        clear = [one for one in clear if one[0] > 0.0]
        if clear and not any(_follows(codes, each) for each in others):
            found += clear
    found.sort(key=lambda one: -one[0])
    best = next(((words, name) for _, words, name in found if may(name)), None)
    if best is None or not are_numeric(known[best[1]]):
        return best
    # Of a number the part that follows it most closely: two figures of a year rather than one.
    alike = {words: pieces[words] for _, words, name in found if name == best[1]}
    ranks = {words: pd.to_numeric(part, errors="coerce").rank() for words, part in alike.items()}
    close = {
        words: abs(each.corr(known[best[1]].rank())) for words, each in ranks.items() if each.nunique() > 1
    }
    close = {words: each for words, each in close.items() if each > _CLOSE}
    return (max(close, key=lambda words: close[words]), best[1]) if close else best


def _follows(codes: IndexArray, other: npt.NDArray[np.intp]) -> bool:
    """Whether another column tells each code."""
    pairs = (other + 1) * (int(codes.max()) + 2) + codes + 1
    return np.unique(pairs).size == np.unique(other).size
