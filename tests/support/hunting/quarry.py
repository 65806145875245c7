"""What is hunted: a nasty file pair, a family of distances and how the engine runs, all from one seed."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

import brute_force as plain
import categorical_cases as mixed
import numpy as np
import pandas as pd
from aggregator_cases import BY_LABEL, CERTIFIABLE, LABELS, NAMES, Case
from exact_runs import files, reference

from hunting.kinds import EXTREME
from hunting.kinds import KINDS as NUMERIC_KINDS
from linkrisk.formulations.linkage.distances import Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.inputs.problem import Problem

CATEGORICAL_KINDS = ("categories", "forbidden pairs")
KINDS = (*NUMERIC_KINDS, *CATEGORICAL_KINDS)
FAMILIES = tuple(LABELS)

_SECONDS = (0.02, 0.1, 0.5, 5.0)
_MOST_RECORDS = 7
_MANY_RECORDS = 30


@dataclass(frozen=True)
class Manner:
    """How the engine runs: the limits, whether rows grow as of large files, and what is checked besides.

    `megabytes` may be exceeded from the beginning; `alone` runs each search of the engine by itself.
    """

    seconds: float
    megabytes: float | None
    growing: bool
    certificate: bool
    alone: bool


@dataclass(frozen=True)
class Quarry:
    """One file pair, its family and the manner of the run; `options` are those of `fit`."""

    kind: str
    family: str
    seed: int
    original: pd.DataFrame
    masked: pd.DataFrame
    options: dict[str, Any]
    manner: Manner

    @property
    def categorical(self) -> bool:
        return self.kind in CATEGORICAL_KINDS

    @property
    def case(self) -> Case:
        """The family by definition: differences of categories have no sign."""
        signed = self.family == "mahalanobis" and self.categorical
        return BY_LABEL["mahalanobis-absolute" if signed else self.family]

    @property
    def aware(self) -> bool:
        return bool(self.options.get("masking"))

    def records(self, problem: Problem) -> plain.Records:
        """The linkage by definition; its blocks are those of the problem."""
        if not self.categorical:
            return reference(problem.pair)
        share = self.options["ties"] == "share"
        direction = self.options["direction"]
        return mixed.reference(
            self.original, self.masked, direction, share=share, aware=self.aware, reachable_only=False
        )

    def to_json(self) -> str:
        """All that is needed to see it again, though `kind`, `family` and `seed` make it anew."""
        content = {
            "kind": self.kind,
            "family": self.family,
            "seed": self.seed,
            "options": self.options,
            "manner": vars(self.manner),
            "original": self.original.to_dict("list"),
            "masked": self.masked.to_dict("list"),
        }
        return json.dumps(content, indent=1)


def draw(kind: str, family: str, seed: int) -> Quarry:
    """The quarry of a seed: the same one every time."""
    random = np.random.default_rng([seed, zlib.crc32(kind.encode()), zlib.crc32(family.encode())])
    make = _categorical if kind in CATEGORICAL_KINDS else _numeric
    original, masked, options = make(kind, random)
    case = BY_LABEL[family]
    options |= {
        "aggregator": case.name,
        "direction": str(random.choice(list(Direction))),
        "ties": str(random.choice(list(Ties))),
        **{
            key: value for key, value in case.options.items() if key != "differences" or kind in NUMERIC_KINDS
        },
    }
    manner = Manner(
        seconds=float(random.choice(_SECONDS)),
        megabytes=1.0 if random.random() < 0.05 else None,
        growing=bool(random.random() < 0.2),
        certificate=bool(random.random() < 0.3) and case in CERTIFIABLE,
        alone=len(original) <= _MOST_RECORDS,
    )
    return Quarry(kind, family, seed, original, masked, options, manner)


def _numeric(kind: str, random: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """Files of this kind; in some an id says who is who, and each file has records of its own."""
    few = random.random() < 0.8
    rows = int(random.integers(2, _MOST_RECORDS + 1 if few else _MANY_RECORDS + 1))
    columns = int(random.integers(2, 5)) if few else int(random.integers(2, 4))
    noise = float(random.choice([0.3, 1.0, 1.4]))
    original, masked = files(int(random.integers(2**31)), rows, columns, noise)
    original, masked = NUMERIC_KINDS[kind](random, original, masked)
    names = list(NAMES[:columns])
    first, second = pd.DataFrame(original, columns=names), pd.DataFrame(masked, columns=names)
    ways = [how for how in Standardisation if kind not in EXTREME or how is not Standardisation.NONE]
    options: dict[str, Any] = {"standardisation": str(random.choice(ways))}
    if random.random() < 0.3 and rows > 3:
        first.insert(0, "id", np.arange(rows))
        second.insert(0, "id", np.arange(rows))
        left_out = random.choice(rows, size=2, replace=False)
        first, second = first.drop(index=left_out[0]), second.drop(index=left_out[1])
        second = second.iloc[random.permutation(len(second))]
        first, second = first.reset_index(drop=True), second.reset_index(drop=True)
        options["id"] = "id"
    return first, second, options


def _categorical(kind: str, random: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """An ordinal, a nominal and perhaps numeric attributes; what is known of the masking forbids pairs."""
    rows, numeric = int(random.integers(3, _MOST_RECORDS + 1)), int(random.integers(0, 3))
    original, masked = mixed.frames(int(random.integers(2**31)), rows, numeric)
    return original, masked, mixed.options(kind == "forbidden pairs")
