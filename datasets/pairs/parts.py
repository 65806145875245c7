"""Parts of the texts and numbers that identify records: a region at their beginning, a year of birth, a sex.

Whoever reads an id sees how it was made. So its pieces between signs, and one or two characters at each place
of ids of equal length, are columns of the release like others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import IndexArray
from linkrisk.datasets.microdata.cells import are_numeric
from linkrisk.datasets.pairs.identifiers import id_text
from linkrisk.datasets.pairs.related import codings, goes_with

MOST_RECORDS = 1_000
"""Records by which parts are told to go with columns of the original."""

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
    """The part of a released column that goes best with a column of the original, and the name of that.

    Parameters
    ----------
    column : Series
    known : DataFrame
        Columns of the original.
    shown : DataFrame
        Other released columns: what they tell is no news. All are of the same records, in the same order.
    may : callable
        Whether somebody may know a column of the original; asked only where it matters.
    """
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
