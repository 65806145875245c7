"""With what probability key variables are as they were: by the masking method, or from the two files.

Source: N. Shlomo and C. Skinner, Assessing the protection provided by misclassification-based disclosure
limitation methods for survey microdata, Annals of Applied Statistics 4 (2010), 1291-1310.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.base import Recoding, Transition
from linkrisk.datasets.masking.registry import spelled_recodings
from linkrisk.datasets.microdata.categories import Categories, occurring
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.categorical import NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.recodings import level_of


class Source(StrEnum):
    """Where the probabilities of a key variable are from."""

    UNCHANGED = "unchanged"
    RECODED = "recoded"
    KNOWN = "known"
    ESTIMATED = "estimated"


@dataclass(frozen=True, eq=False)
class KeyChange:
    """What masking has done to one key variable."""

    key: str
    # ``unchanged``; ``recoded``, where each category always became the same other one, which an intruder does
    # with what he knows too; ``known``, of the masking method; or ``estimated`` from the two files
    source: Source
    stays: float  # share of the records that have the same value in both files
    of_record: FloatArray  # (masked records,): ``M_jj``, that its category is the true one


def correct_match_probability(
    population: Sequence[float] | FloatArray, into: Sequence[float] | FloatArray, own: int, fraction: float
) -> float:
    """The probability that a sample unique is the unit of the population that it is linked to.

    ``(M_jj / (1 - pi M_jj)) / sum_k F_k M_kj / (1 - pi M_kj)``, for a unit with true category j that is
    linked to the only released record of category j; every unit is in the sample with probability pi, and a
    unit of category k is released as j with probability ``M_kj`` (Shlomo and Skinner 2010). For a small pi,
    or little misclassification, it is near ``M_jj / F~_j``, with ``F~_j = sum_k F_k M_kj``.
    """
    count, chance = np.asarray(population, dtype=np.float64), np.asarray(into, dtype=np.float64)
    odds = chance / (1.0 - fraction * chance)
    return float(odds[own] / (count * odds).sum())


def key_changes(files: FilePair, keys: Sequence[str], masking: Sequence[object]) -> tuple[KeyChange, ...]:
    """What masking has done to each key variable of both files, by methods in words or estimates."""
    known = known_recodings(files, keys, masking)
    return tuple(_change(files, key, known.get(key)) for key in keys)


def known_recodings(
    files: FilePair, keys: Sequence[str], masking: Sequence[object]
) -> Mapping[str, Recoding]:
    """The recodings that are known, of key variables that are compared (see `key_changes`)."""
    schema = Schema(
        tuple(
            Attribute(name, scale=attribute.scale, categories=attribute.categories)
            if attribute.scale is Scale.ORDINAL
            else Attribute(name, scale=Scale.NOMINAL)
            for name, attribute in files.categorical.items()
        )
    )
    found: dict[str, Recoding] = {}
    for text in masking:
        if isinstance(text, str) and text != NOT_INFERRED and level_of(text, files.dates)[0] is None:
            found |= spelled_recodings([text], files.original, schema)
    return {name: found[name] for name in keys if name in found}


def _change(files: FilePair, key: str, known: Recoding | None) -> KeyChange:
    row = np.flatnonzero(files.partner >= 0)
    before, after = occurring(files.original[key]), occurring(files.masked[key])
    first = _as_codes(before, after)[row]
    second = after.codes[files.partner[row]]
    size = len(after.names)
    stays = float((first == second).mean())
    if stays == 1.0:
        return KeyChange(key, Source.UNCHANGED, 1.0, np.ones(after.codes.size))
    if isinstance(known, Transition):
        probability = _diagonal(known, after.names)
        return KeyChange(key, Source.KNOWN, stays, _spread(probability, after.codes))
    if _is_function(before.codes[row], second) and not set(after.names) >= set(before.names):
        return KeyChange(key, Source.RECODED, stays, np.ones(after.codes.size))
    kept = np.bincount(first[(first == second) & (first >= 0)], minlength=size)
    all_of = np.bincount(first[first >= 0], minlength=size)
    probability = np.divide(kept, all_of, out=np.zeros(size), where=all_of > 0)
    return KeyChange(key, Source.ESTIMATED, stays, _spread(probability, after.codes))


def recoded_alike(files: FilePair, changes: Sequence[KeyChange]) -> pd.DataFrame:
    """The original file with keys recoded as masking has recoded them: what an intruder compares with."""
    frame = files.original.copy()
    row = np.flatnonzero(files.partner >= 0)
    for change in changes:
        if change.source is Source.RECODED:
            before, after = occurring(files.original[change.key]), occurring(files.masked[change.key])
            becomes = dict(zip(before.codes[row], after.codes[files.partner[row]], strict=True))
            # Categories that no record with a partner has stay what they are.
            cells = [
                (*after.names, None)[becomes[code]] if code in becomes else (*before.names, None)[code]
                for code in before.codes
            ]
            frame[change.key] = pd.Series(cells, dtype=object)
    return frame


def _as_codes(before: Categories, after: Categories) -> IndexArray:
    """Codes of original records by the categories of the masked file; -2 where there is no such category."""
    place = {name: at for at, name in enumerate(after.names)}
    table = np.array([*(place.get(name, -2) for name in before.names), -1], dtype=np.intp)
    return np.asarray(table[before.codes], dtype=np.intp)


def _is_function(first: IndexArray, second: IndexArray) -> bool:
    """Whether equal codes of the original file have equal codes in the masked one."""
    pairs = pd.DataFrame({"first": first, "second": second}).drop_duplicates()
    return not bool(pairs["first"].duplicated().any())


def _diagonal(known: Transition, names: Sequence[str]) -> FloatArray:
    """The probability with which each category stays, 0 for one that was none before."""
    before = {name: at for at, name in enumerate(known.before)}
    after = {name: at for at, name in enumerate(known.after)}
    return np.array(
        [known.probability[before[name], after[name]] if name in before else 0.0 for name in names]
    )


def _spread(probability: FloatArray, codes: IndexArray) -> FloatArray:
    """The probability of each record's category; a missing value stays missing."""
    return np.append(probability, 1.0)[codes]
