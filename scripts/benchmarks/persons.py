"""Two files of the same persons, the second with errors like those that the data sets of febrl have.

The attributes are those of febrl4 without its number of social security, which hardly any two persons share
and no census has. Names are made of syllables, with the frequencies of Zipf and Mandelbrot; persons of one
street number, street and suburb are nobody's family. Errors are as frequent as in febrl4: 2.2 attributes of a
person on average, typing errors (a letter inserted, deleted, replaced or exchanged with the next), another
value, none at all, or two attributes that changed places.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NAMES = np.ndarray[tuple[int], np.dtype[np.object_]]

SIZES = {"given_name": 3_000, "surname": 25_000, "street": 30_000, "place": 40_000, "suburb": 2_500}
"""How many different names there are."""

STATES = ("nsw", "vic", "qld", "wa", "sa", "tas", "act", "nt")
WAYS = ("street", "place", "court", "crescent", "road", "close", "avenue", "drive")

CHANGED = {
    "given_name": 0.32, "surname": 0.33, "street_number": 0.16, "address_1": 0.38, "address_2": 0.43,
    "suburb": 0.25, "postcode": 0.16, "state": 0.05, "date_of_birth": 0.09,
}  # fmt: skip
"""How often each attribute is changed, in proportion to the others."""

MANY = (0.30, 0.34, 0.23, 0.10, 0.03)
"""How often 1, 2, ... attributes of a person are changed."""

LACKING = {
    "given_name": 0.02,
    "street_number": 0.03,
    "address_1": 0.02,
    "address_2": 0.08,
    "date_of_birth": 0.02,
}
"""How often an attribute is missing in the first file."""

TYPING, OTHER, MISSING = 0.62, 0.22, 0.08
"""Kinds of errors; the rest are two attributes that change places."""

PLACES = {
    "given_name": "surname", "surname": "given_name", "address_1": "address_2", "address_2": "address_1",
}  # fmt: skip
"""What changes places with what; other attributes get a typing error instead."""

_STARTS = "b,br,c,ch,d,f,g,gr,h,j,k,l,m,n,p,r,s,sh,st,t,th,v,w"
_SYLLABLES = [start + vowel for start in _STARTS.split(",") for vowel in "aeiou"]
_ENDINGS = ("", "", "n", "r", "s", "ll", "tt", "ck", "son", "ton", "ley")
_LETTERS, _DIGITS = np.array(list("abcdefghijklmnopqrstuvwxyz")), np.array(list("0123456789"))


def draw_persons(persons: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw two files; records of the same person have the same `rec_id`, in different rows."""
    chance = np.random.default_rng(seed)
    first = _persons(persons, chance)
    second = _with_errors(first, chance)
    for name, share in LACKING.items():
        first.loc[chance.random(persons) < share, name] = ""
    second = second.iloc[chance.permutation(persons)].reset_index(drop=True)
    return first, second


def _persons(persons: int, chance: np.random.Generator) -> pd.DataFrame:
    names = {kind: _names(size, chance) for kind, size in SIZES.items()}
    drawn = {kind: chance.choice(size, persons, p=_zipf(size)) for kind, size in SIZES.items()}
    ways = np.array(WAYS, dtype=object)[chance.integers(len(WAYS), size=SIZES["street"])]
    streets = names["street"] + " " + ways
    postcodes = chance.permutation(np.arange(1000, 9000))[: SIZES["suburb"]]
    states = np.array(STATES, dtype=object)[chance.choice(len(STATES), SIZES["suburb"], p=_zipf(len(STATES)))]
    age = 100 * 365 * np.sqrt(chance.random(persons)) * chance.random(persons) ** 0.25
    birth = np.datetime64("2015-12-31") - age.astype(int)
    number = np.ceil(chance.exponential(60, persons)).astype(int)
    return pd.DataFrame(
        {
            "rec_id": [f"p{person}" for person in range(persons)],
            "given_name": names["given_name"][drawn["given_name"]],
            "surname": names["surname"][drawn["surname"]],
            "street_number": number.astype(str).astype(object),
            "address_1": streets[drawn["street"]],
            "address_2": names["place"][drawn["place"]],
            "suburb": names["suburb"][drawn["suburb"]],
            "postcode": postcodes[drawn["suburb"]].astype(str).astype(object),
            "state": states[drawn["suburb"]],
            "date_of_birth": np.char.replace(birth.astype(str), "-", "").astype(object),
        }
    ).astype(object)


def _names(size: int, chance: np.random.Generator) -> NAMES:
    """Different names of two or three syllables, and more where these do not suffice."""
    found: dict[str, None] = {}
    while len(found) < size:
        parts = chance.integers(len(_SYLLABLES), size=(size, 3)).tolist()
        many, ends = (
            chance.integers(2, 4, size=size).tolist(),
            chance.integers(len(_ENDINGS), size=size).tolist(),
        )
        for syllables, number, end in zip(parts, many, ends, strict=True):
            found["".join(_SYLLABLES[part] for part in syllables[:number]) + _ENDINGS[end]] = None
    return np.array(list(found)[:size], dtype=object)


def _zipf(size: int) -> NDArray[np.float64]:
    weight = 1.0 / (np.arange(size) + 1 + size / 100) ** 0.9
    return np.asarray(weight / weight.sum())


def _with_errors(first: pd.DataFrame, chance: np.random.Generator) -> pd.DataFrame:
    persons, names = len(first), list(CHANGED)
    many = 1 + chance.choice(len(MANY), persons, p=MANY)
    # The attributes of the largest keys are drawn without replacement, in proportion to their weights.
    keys = chance.random((persons, len(names))) ** (1.0 / np.array(list(CHANGED.values())))
    rank = (-keys).argsort(axis=1).argsort(axis=1)
    second = {name: first[name].to_numpy(dtype=object).copy() for name in first}
    for k, name in enumerate(names):
        _change(second, first, name, np.flatnonzero(rank[:, k] < many), chance)
    return pd.DataFrame(second)


def _change(
    second: Mapping[str, NAMES],
    first: pd.DataFrame,
    name: str,
    rows: NDArray[np.intp],
    chance: np.random.Generator,
) -> None:
    """Make errors in an attribute of some persons."""
    kind = np.searchsorted(np.cumsum([TYPING, OTHER, MISSING]), chance.random(rows.size), side="right")
    if name not in PLACES:
        kind[kind == 3] = 0
    typed, other, missing, moved = (rows[kind == which] for which in range(4))
    column = second[name]
    letters = _DIGITS if name in ("street_number", "postcode", "date_of_birth") else _LETTERS
    column[typed] = _mistyped(column[typed], letters, chance)
    column[other] = first[name].to_numpy()[chance.integers(len(first), size=other.size)]
    column[missing] = ""
    if moved.size:
        twin = second[PLACES[name]]
        column[moved], twin[moved] = twin[moved].copy(), column[moved].copy()


def _mistyped(values: NAMES, letters: NDArray[np.str_], chance: np.random.Generator) -> list[str]:
    """One letter inserted, deleted, replaced, or exchanged with the next."""
    how, where = chance.integers(4, size=values.size), chance.random(values.size)
    new = letters[chance.integers(letters.size, size=values.size)]
    made = []
    for text, kind, share, letter in zip(values, how.tolist(), where.tolist(), new.tolist(), strict=True):
        at = int(share * len(text))
        if kind == 0:
            made.append(text[:at] + letter + text[at:])
        elif kind == 1 and len(text) > 1:
            made.append(text[:at] + text[at + 1 :])
        elif kind == 2:
            made.append(text[:at] + letter + text[at + 1 :])
        else:
            made.append(text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :])
    return made
