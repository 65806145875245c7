"""SUDA: special uniques among the masked records, and the risk that their scores stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.errors import called
from linkrisk.solver.measures.base import OF_RECORDS, Finding, Measure
from linkrisk.solver.measures.keys.keys import (
    KeyFile,
    PerRecord,
    key_notes,
    masked_keys,
    masked_weights,
    without_keys,
)
from linkrisk.solver.measures.keys.minimal_uniques import (
    Scoring,
    data_intrusion_risk,
    largest_size,
    minimal_uniques,
    sample_counts,
    shared_out,
)
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.run.clock import Clock

FRACTION = 0.01
"""Sampling fraction where no weights say it: sdcMicro's `DisFraction`."""

_SMALL = 2
"""Minimal sample uniques of so many keys or fewer make a record special."""


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
    # probability that a unique match with the file is a correct one. More is worse. None without uniques and
    # pairs
    dis: float | None
    # (a,): part of the sum of all scores that stems from minimal sample uniques with this key, 0 to 1. Parts
    # overlap. All 0 where there are none
    attribute_contribution: FloatArray
    score: FloatArray  # (records,): SUDA score (Elliot et al. 2005); 0 for no minimal sample unique
    dis_suda: FloatArray  # (records,): the record's part of `dis`, a probability. More is worse
    # (records,): size of the record's smallest minimal sample unique, 0 where it has none. Smaller is worse
    smallest: NDArray[np.int64]
    msus: NDArray[np.int64]  # (records,): how many it has. More are worse
    contribution: FloatArray  # (records, a): like `attribute_contribution`, of each record
    remarks: tuple[str, ...] = ()

    @property
    def special(self) -> int:
        """Records that one or two keys make unique."""
        return int(((self.smallest > 0) & (self.smallest <= _SMALL)).sum())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Shares of records by the size of what makes them unique, and the probabilities."""
        n = self.score.size
        return (
            Finding("special_uniques", f"unique on {_SMALL} keys or fewer", self.special / n),
            Finding("with_msu", "with any minimal sample unique", float((self.smallest > 0).sum()) / n),
            Finding("dis", "a unique match is correct (DIS)", self.dis),
            Finding("highest_dis_suda", "highest DIS-SUDA of a record", float(self.dis_suda.max())),
        )

    @property
    def paragraph(self) -> str:
        """Special uniques, the keys behind them, and the probability."""
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
        """What was assumed, and what was left out."""
        said = list(self.remarks)
        if not self.fraction_known:
            said.append(
                f"SUDA: no sampling weights; DIS assumes a sample of {100.0 * FRACTION:g} %, as sdcMicro"
            )
        if self.largest < self.planned:
            said.append(
                f"SUDA: time was up after sets of {self.largest} keys; a longer {called('time_limit')} finds "
                "more"
            )
        elif self.largest < len(self.keys):
            said.append(f"SUDA: sets of at most {self.largest} of the {len(self.keys)} keys were searched")
        return tuple(said)

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


class SpecialUniques(Measure):
    """SUDA and DIS-SUDA."""

    name: ClassVar[str] = "suda"
    title: ClassVar[str] = "Special uniques (SUDA)"
    unit: ClassVar[str] = OF_RECORDS
    cost: ClassVar[float] = 2.0

    def lacking(self, task: RiskTask) -> str | None:
        """Key variables."""
        return without_keys(task)

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
    """SUDA of one file.

    `keys`: n records and a keys. `fraction`: sampling fraction; `FRACTION` where it is not known. `largest`:
    look for minimal sample uniques of up to so many keys; `largest_size` by default. `scoring`: elliot's
    scores, or those that older versions of sdcMicro computed.
    """
    a = len(keys.names)
    planned = largest_size(a) if largest is None else min(largest, a)
    found = minimal_uniques(keys.codes, planned, scoring, clock)
    uniques, paired = sample_counts(keys.codes)
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
