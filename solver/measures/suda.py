"""Find minimal sample uniques (SUDA), their scores, and the risk that they indicate.

References
----------
Elliot, M.J., Manning, A.M., Mayes, K., Gurd, J., Bane, M. (2005) SUDA: a program for detecting special
uniques.

Elliot, M.J., Manning, A.M. (2003) Using DIS to modify the classification of special uniques.

Manning, A.M., Haglin, D.J., Keane, J.A. (2008) A recursive search algorithm for statistical disclosure
assessment. Data Mining and Knowledge Discovery 16, 165-196.

Skinner, C.J., Elliot, M.J. (2002) A measure of disclosure risk for microdata. JRSS B 64, 855-867.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.errors import called
from linkrisk.solver.measures.base import Finding
from linkrisk.solver.measures.keys import (
    MISSING,
    Codes,
    KeyFile,
    KeyMeasure,
    PerRecord,
    groups_of,
    key_notes,
    masked_keys,
    masked_weights,
    sums,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

Bits = NDArray[np.uint8]
Subset = tuple[int, ...]
Level = dict[Subset, Bits]
"""Bits of the records unique on each key set of one size, but not on its first keys."""

MOST_SUBSETS = 8192
"""Most key sets searched: all of up to 13 keys, those of 4 or fewer of 20."""


class Scoring(StrEnum):
    """Weight of a minimal sample unique of size k among a keys.

    ``elliot``: ``prod_{i=k}^{M} (a - i)`` with the largest size M that is looked for, at most a - 1 (Elliot
    et al. 2005; sdcMicro since 5.0.2 with M = a - 1). ``ihsn``: ``(2^(a-k) - 1) k! (a-k)! / a!``, the scores
    of the IHSN's program and of older versions of sdcMicro.
    """

    ELLIOT = "elliot"
    IHSN = "ihsn"


@dataclass(frozen=True, eq=False)
class MinimalUniques:
    """Minimal sample uniques of one file of n records and a keys."""

    largest: int  # sizes up to this one were searched
    score: FloatArray  # (n,): SUDA score: the sum over the record's minimal sample uniques. More is worse
    contribution: FloatArray  # (n, a): the part of the score by this key; parts of a record overlap
    counts: LongArray  # (n, largest): minimal sample uniques of size 1, 2, ... of each record


def largest_size(keys: int) -> int:
    """Find the largest size such that there are at most `MOST_SUBSETS` key sets up to it, at least 1."""
    total = 0
    for size in range(1, keys + 1):
        total += math.comb(keys, size)
        if total > MOST_SUBSETS:
            return max(1, size - 1)
    return keys


def size_scores(keys: int, largest: int, scoring: Scoring = Scoring.ELLIOT) -> FloatArray:
    """Compute the scores of minimal sample uniques of size 1 to `largest`."""
    if scoring is Scoring.IHSN:
        return np.array([(2.0 ** (keys - k) - 1.0) / math.comb(keys, k) for k in range(1, largest + 1)])
    last = min(largest, keys - 1)
    sizes = range(1, largest + 1)
    return np.array([float(math.prod(keys - i for i in range(k, last + 1))) for k in sizes])


def minimal_uniques(
    codes: Codes, largest: int, scoring: Scoring = Scoring.ELLIOT, clock: Clock | None = None
) -> MinimalUniques:
    """Find all minimal sample uniques up to a size, and score them.

    A set of keys makes a record unique when no other record has the same values there; it is minimal when
    none of its subsets does. A missing value is no value: it neither belongs to such a set nor is the same as
    another. Sizes are searched one after the other. As in SUDA2 a set is reached through its first keys, and
    only records that are not unique on these count: others have no minimal set that contains them.

    `codes` (n, a). `largest`: from 1 to a.
    """
    n, keys = codes.shape
    worth = size_scores(keys, largest, scoring)
    counts = np.zeros((n, largest), dtype=np.int64)
    parts = np.zeros((n, keys))
    rows = _two_of_each(codes)
    codes = codes[rows]
    before: Level = {}
    done = 0
    for size in range(1, largest + 1):
        level = _level(codes, size, before, clock if done else None)
        if level is None:
            break
        before, found = level
        for subset, records in found:
            counts[rows[records], size - 1] += 1
            for key in subset:
                parts[rows[records], key] += worth[size - 1]
        done = size
    worth, planned = size_scores(keys, done, scoring), worth[0]
    if planned:  # where fewer sizes were searched than planned, all scores have fewer factors
        parts *= worth[0] / planned
    return MinimalUniques(done, counts[:, :done] @ worth, parts, counts[:, :done])


def _two_of_each(codes: Codes) -> NDArray[np.intp]:
    """Drop records beyond two of each kind: twins are never unique, and a third changes nothing."""
    groups = groups_of(codes)
    before = pd.Series(groups).groupby(groups).cumcount().to_numpy()
    return np.flatnonzero(before < 2)


def _level(
    codes: Codes, size: int, before: Level, clock: Clock | None
) -> tuple[Level, list[tuple[Subset, NDArray[np.intp]]]] | None:
    """Find the records of `_new_uniques` for each key set of this size, and those where it is minimal.

    It is not where the record is unique on a smaller set, which then holds the last key, since the record is
    not unique on the keys before. So it is unique on a set with one key fewer and the same last key, and that
    is new there as well: those suffice.
    """
    unique: Level = {}
    found = []
    n = len(codes)
    for subset, records in _new_uniques(codes, size):
        if clock is not None:
            if clock.expired:
                return None
            clock.spend(float(size * n))
        flags = np.zeros(n, dtype=bool)
        flags[records] = True
        bits = np.packbits(flags)
        smaller = np.zeros_like(bits)
        for part in itertools.combinations(subset[:-1], size - 2) if size > 1 else ():
            smaller |= before[(*part, subset[-1])]
        minimal = np.flatnonzero(np.unpackbits(bits & ~smaller, count=n))
        if minimal.size:
            found.append((subset, minimal))
        unique[subset] = bits
    return unique, found


def _new_uniques(codes: Codes, size: int) -> Iterator[tuple[Subset, NDArray[np.intp]]]:
    """Yield every key set of a size, with the records unique on it but not on its first keys."""
    n, keys = codes.shape
    rows: list[NDArray[np.intp]] = [np.arange(n)]
    groups: list[NDArray[np.int64]] = [np.zeros(n, dtype=np.int64)]
    last: Subset = ()
    for subset in itertools.combinations(range(keys), size):
        kept = next((at for at, (a, b) in enumerate(zip(last, subset, strict=False)) if a != b), 0)
        del rows[kept + 1 :], groups[kept + 1 :]
        for key in subset[kept:]:
            lone, shared, numbers = _split(codes[:, key], rows[-1], groups[-1])
            rows.append(shared)
            groups.append(numbers)
        last = subset
        yield subset, lone


def _split(
    column: Codes, rows: NDArray[np.intp], groups: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """Split groups by a column: new singletons, the other records, and their groups."""
    values = column[rows]
    known = values != MISSING
    rows, values, groups = rows[known], values[known], groups[known]
    if not rows.size:
        return rows, rows, groups
    numbers = pd.factorize(groups * (int(values.max()) + 1) + values)[0].astype(np.int64)
    alone = np.bincount(numbers)[numbers] == 1
    return rows[alone], rows[~alone], numbers[~alone]


# ---- file-level risk, shared out by the scores


def data_intrusion_risk(uniques: int, paired: int, fraction: float) -> float | None:
    """Estimate DIS: the probability that a unique match is correct (Skinner and Elliot 2002); or None.

    ``U pi / (U pi + P (1 - pi))`` with U sample uniques, P records in pairs and the sampling fraction pi.
    """
    whole = uniques * fraction + paired * (1.0 - fraction)
    return None if whole == 0.0 else uniques * fraction / whole


def shared_out(score: FloatArray, keys: int, uniques: int, risk: float | None) -> FloatArray:
    """Distribute the risk of the file over the records by their scores (DIS-SUDA).

    ``1 / (1 + U (1/DIS - 1) / (s^Q A))`` with ``Q = 1 + (8 - a)/20`` and ``A = sum 1/s^Q`` over all
    records of score s > 0, so that the mean odds against re-identification of these are those of DIS where
    all U uniques have a score (Elliot and Manning 2003, as sdcMicro computes it). Q is kept from going below
    0, which it would for more than 28 keys.
    """
    found = np.zeros(score.size)
    held = score > 0.0
    if not risk or not held.any():
        return found
    # Scores relative to the largest: powers of 20! would leave little of the sums.
    power = (score[held] / score.max()) ** max(0.0, 1.0 + (8.0 - keys) / 20.0)
    against = uniques * (1.0 / risk - 1.0)
    found[held] = 1.0 / (1.0 + against / (power * (1.0 / power).sum()))
    return found


FRACTION = 0.01
"""Default sampling fraction without weights: sdcMicro's `DisFraction`."""

_SMALL = 2
"""Largest minimal sample unique that makes a record special."""


@dataclass(frozen=True, eq=False, repr=False)
class Suda(PerRecord):
    """Special uniques of the masked file (`minimal_uniques` has definitions, formulas and sources)."""

    measure: ClassVar[str] = "suda"
    per_record: ClassVar[tuple[str, ...]] = ("score", "dis_suda", "smallest", "msus", "contribution")
    keys: tuple[str, ...]
    largest: int  # minimal sample uniques of up to so many keys were looked for
    planned: int  # how many it would have been with more time
    fraction: float  # sampling fraction, 0 to 1
    fraction_known: bool  # whether it comes from sampling weights
    uniques: int  # sample uniques on all keys. More are worse
    paired: int  # records whose key exactly one other record has
    dis: float | None  # that a unique match is correct; more is worse. None without uniques or pairs
    attribute_contribution: FloatArray  # (a,): parts of all scores by key; they overlap
    score: FloatArray  # (records,): SUDA score (Elliot et al. 2005); 0 for no minimal sample unique
    dis_suda: FloatArray  # (records,): the record's part of `dis`, a probability. More is worse
    smallest: NDArray[np.int64]  # (records,): size of the smallest one, or 0; smaller is worse
    msus: NDArray[np.int64]  # (records,): how many it has. More are worse
    contribution: FloatArray  # (records, a): like `attribute_contribution`, of each record
    remarks: tuple[str, ...] = ()

    @property
    def special(self) -> int:
        """Count records that one or two keys make unique."""
        return int(((self.smallest > 0) & (self.smallest <= _SMALL)).sum())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report shares of records by the size of their smallest minimal sample unique, and probabilities."""
        n = self.score.size
        return (
            Finding("special_uniques", f"unique on {_SMALL} keys or fewer", self.special / n),
            Finding("with_msu", "with any minimal sample unique", float((self.smallest > 0).sum()) / n),
            Finding("dis", "a unique match is correct (DIS)", self.dis),
            Finding("highest_dis_suda", "highest DIS-SUDA of a record", float(self.dis_suda.max())),
        )

    @property
    def paragraph(self) -> str:
        """Report special uniques, the keys involved, and the probability."""
        held = int((self.smallest > 0).sum())
        if not held:
            return f"no record is unique on {self.largest} of the {len(self.keys)} key variables or fewer."
        order = np.argsort(-self.attribute_contribution, kind="stable")[:2]
        most = " and ".join(
            f"{self.keys[at]} ({100.0 * self.attribute_contribution[at]:.0f} %)" for at in order
        )
        text = (
            f"{held:,} of {self.score.size:,} masked records have minimal sample uniques of up to "
            f"{self.largest} key variables, {self.special:,} of them of {_SMALL} or fewer. Most of the score "
            f"stems from {most}."
        )
        if self.dis is None:
            return text
        return f"{text} A unique match is right with probability {self.dis:.3g} (DIS)."

    @property
    def notes(self) -> tuple[str, ...]:
        """Note assumptions, and what was left out."""
        notes = list(self.remarks)
        if not self.fraction_known:
            notes.append(
                f"SUDA: no sampling weights; DIS assumes a sample of {100.0 * FRACTION:g} %, as sdcMicro"
            )
        if self.largest < self.planned:
            notes.append(
                f"SUDA: time was up after sets of {self.largest} keys; a longer {called('time_limit')} finds "
                "more"
            )
        elif self.largest < len(self.keys):
            notes.append(f"SUDA: sets of at most {self.largest} of the {len(self.keys)} keys were searched")
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per masked record: row (from 1), score, dis_suda, smallest, msus, one column per key."""
        columns = {
            "row": np.arange(1, self.score.size + 1),
            "score": self.score,
            "dis_suda": self.dis_suda,
            "smallest": self.smallest,
            "msus": self.msus,
            **{f"contribution_{name}": self.contribution[:, at] for at, name in enumerate(self.keys)},
        }
        return pd.DataFrame(columns)


class SpecialUniques(KeyMeasure):
    """Computes SUDA and DIS-SUDA."""

    name: ClassVar[str] = "suda"
    title: ClassVar[str] = "Special uniques (SUDA)"
    cost: ClassVar[float] = 2.0

    def take(self, task: RiskTask, clock: Clock) -> Suda:
        """Search the masked file."""
        weight, remarks = masked_weights(task)
        fraction = None if weight is None else float(min(1.0, weight.size / weight.sum()))
        return special_uniques(masked_keys(task), fraction, clock=clock, remarks=(*remarks, *key_notes(task)))


def special_uniques(
    keys: KeyFile,
    fraction: float | None = None,
    *,
    largest: int | None = None,
    scoring: Scoring = Scoring.ELLIOT,
    clock: Clock | None = None,
    remarks: tuple[str, ...] = (),
) -> Suda:
    """SUDA of one file, by sets of up to `largest` keys; `FRACTION` is sampled where that is not known."""
    a = len(keys.names)
    planned = largest_size(a) if largest is None else min(largest, a)
    found = minimal_uniques(keys.codes, planned, scoring, clock)
    frequency = sums(groups_of(keys.codes))  # a missing value is a category
    uniques, paired = int((frequency == 1).sum()), int((frequency == 2).sum())
    assumed = FRACTION if fraction is None else fraction
    dis = data_intrusion_risk(uniques, paired, assumed)
    total, held = found.score.sum(), found.counts > 0
    scores = np.where(found.score > 0.0, found.score, 1.0)
    return Suda(
        keys.names,
        found.largest,
        planned,
        assumed,
        fraction is not None,
        uniques,
        paired,
        dis,
        found.contribution.sum(axis=0) / (total if total else 1.0),
        found.score,
        shared_out(found.score, a, uniques, dis),
        np.where(held.any(axis=1), held.argmax(axis=1) + 1, 0),
        found.counts.sum(axis=1),
        found.contribution / scores[:, None],
        remarks,
    )
