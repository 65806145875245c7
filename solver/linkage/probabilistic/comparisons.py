"""Define comparisons of attribute values: levels of agreement by equality, difference or similarity."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.schema import Scale
from linkrisk.errors import needs_extra
from linkrisk.solver.run.errors import UsageError

MOST_THRESHOLDS = 6
"""Most levels above disagreement: a level or "missing" takes three bits of a pattern."""


class Measure(StrEnum):
    """Quantity that is compared with the thresholds."""

    EQUAL = "equal"
    WITHIN = "within"
    DEVIATIONS = "deviations"
    RANGE = "range"
    JARO_WINKLER = "jaro-winkler"
    LEVENSHTEIN = "levenshtein"


DIFFERENCES = frozenset({Measure.WITHIN, Measure.DEVIATIONS, Measure.RANGE})
"""Measures by absolute difference of two numbers, or of the positions of two ordered categories."""

SIMILARITIES = frozenset({Measure.JARO_WINKLER, Measure.LEVENSHTEIN})
"""Measures by similarity of two texts, from 0 (nothing in common) to 1 (equal)."""


@dataclass(frozen=True)
class Comparison:
    """A measure with its thresholds."""

    # `EQUAL` needs no thresholds. The thresholds of `WITHIN` are differences, those of `DEVIATIONS` and
    # `RANGE` shares of the standard deviation and of the range of the attribute in both files together,
    # those of `JARO_WINKLER` and `LEVENSHTEIN` similarities
    measure: Measure = Measure.EQUAL
    # one for each level above disagreement, full agreement first: ascending differences or descending
    # similarities
    thresholds: tuple[float, ...] = ()
    # where disagreement is full. Match weights of differences or similarities between two thresholds, or
    # the last one and this, are then interpolated linearly (Winkler 1990); without it every level has one
    # weight
    disagreement: float | None = None

    def __post_init__(self) -> None:
        if self.measure is Measure.EQUAL:
            if self.thresholds or self.disagreement is not None:
                raise DataError("comparison 'equal' has no thresholds; leave out what follows it")
            return
        if not 1 <= len(self.thresholds) <= MOST_THRESHOLDS:
            raise DataError(
                f"comparison {self.measure.value!r} has {len(self.thresholds)} thresholds; "
                f"give 1 to {MOST_THRESHOLDS}, as in {self.measure.value}:{self._example()}"
            )
        self._check_values()

    def _check_values(self) -> None:
        knots = self.knots
        name = self.measure.value
        if not all(math.isfinite(knot) and knot >= 0 for knot in knots):
            raise DataError(f"the thresholds of comparison {name!r} must be finite and not negative")
        rising = self.measure in DIFFERENCES
        if not rising and max(knots) > 1:
            raise DataError(f"comparison {name!r} has a threshold above 1; similarities are from 0 to 1")
        steps = [after - before for before, after in pairwise(knots)]
        if not all(step > 0 if rising else step < 0 for step in steps):
            order = "ascending differences" if rising else "descending similarities"
            raise DataError(f"the thresholds of comparison {name!r} must be {order}, full agreement first")
        if not rising and self.thresholds[-1] == 0:
            raise DataError(f"comparison {name!r} has the threshold 0, which every pair of texts reaches")

    def _example(self) -> str:
        return "1,5" if self.measure in DIFFERENCES else "0.92,0.8"

    @property
    def knots(self) -> tuple[float, ...]:
        """List the thresholds, then the value of full disagreement if it is given."""
        return self.thresholds if self.disagreement is None else (*self.thresholds, self.disagreement)

    @property
    def levels(self) -> int:
        """Number of levels: full agreement, those between, disagreement."""
        return 2 if self.measure is Measure.EQUAL else len(self.thresholds) + 1

    @property
    def relative(self) -> bool:
        """Whether thresholds are relative to the deviation or the range."""
        return self.measure in (Measure.DEVIATIONS, Measure.RANGE)

    def in_units(self, deviation: float, extent: float) -> Comparison:
        """Convert relative thresholds to units of the attribute: `WITHIN`."""
        if not self.relative:
            return self
        unit = deviation if self.measure is Measure.DEVIATIONS else extent
        if unit == 0:
            unit = 1.0  # all values are equal
        thresholds = tuple(unit * threshold for threshold in self.thresholds)
        end = None if self.disagreement is None else unit * self.disagreement
        return replace(self, measure=Measure.WITHIN, thresholds=thresholds, disagreement=end)

    def describe(self) -> str:
        """Format the comparison as `parse_comparison` reads it."""
        if self.measure is Measure.EQUAL:
            return self.measure.value
        end = "" if self.disagreement is None else f"..{self.disagreement:.12g}"
        return f"{self.measure.value}:{','.join(f'{value:.12g}' for value in self.thresholds)}{end}"

    def to_dict(self) -> dict[str, Any]:
        """Plain text and numbers, ready for JSON."""
        return {
            "measure": self.measure.value,
            "thresholds": list(self.thresholds),
            "disagreement": self.disagreement,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; KeyError, TypeError or ValueError when it is something else."""
        end = data["disagreement"]
        return cls(
            Measure(data["measure"]),
            tuple(float(value) for value in data["thresholds"]),
            None if end is None else float(end),
        )


USUAL = {
    Scale.NUMERIC: Comparison(Measure.DEVIATIONS, (0.1, 0.3), 1.0),
    Scale.ORDINAL: Comparison(),
    Scale.NOMINAL: Comparison(),
    Scale.DATE: Comparison(),  # where dates have stayed text, as keys of passes have
}
"""Default comparison by scale of the attribute."""


def parse_comparison(text: str) -> tuple[str, Comparison]:
    """Read an attribute and how to compare it.

    ``surname=equal``, ``age=within:2``, ``income=deviations:0.1,0.5``, ``surname=jaro-winkler:0.92..0.7``:
    after the colon the thresholds, after two dots where disagreement is full.
    """
    attribute, _, how = text.rpartition("=")
    name, _, numbers = how.partition(":")
    if not attribute.strip() or not name.strip():
        raise DataError(
            f"{text!r} does not say which attribute to compare and how; write it like "
            "surname=jaro-winkler:0.9"
        )
    try:
        measure = Measure(name.strip())
    except ValueError:
        known = ", ".join(member.value for member in Measure)
        raise DataError(f"unknown comparison {name.strip()!r} in {text!r}; use one of {known}") from None
    thresholds, dots, end = numbers.partition("..")
    try:
        values = tuple(float(value) for value in thresholds.split(",")) if thresholds or dots else ()
        disagreement = float(end) if dots else None
    except ValueError:
        raise DataError(f"a threshold in {text!r} is not a number; write it like age=within:2,5") from None
    return attribute.strip(), Comparison(measure, values, disagreement)


def scorer(measure: Measure) -> Any:
    """Return the similarity function of a measure of texts."""
    needs_extra(f"the comparison {measure.value}", "rapidfuzz")
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    return (JaroWinkler if measure is Measure.JARO_WINKLER else Levenshtein).normalized_similarity


_CELLS_AT_ONCE = 2_000_000
"""Similarities held at a time: 16 MB."""

MOST_SIMILAR = 30_000_000
"""Most pairs of similar texts that are kept: some 700 MB."""


def similar_texts(
    first: NDArray[np.generic], second: NDArray[np.generic], comparison: Comparison
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Find the pairs of distinct texts that are more similar than full disagreement.

    By Jaro-Winkler (prefix weight 0.1) or Levenshtein (one minus the least number of edits as a share of the
    longer text). Returns the number of pairs of each text of `first`, and of all pairs, one text of `first`
    after the other, the place in `second` and the similarity.
    """
    how = scorer(comparison.measure)
    from rapidfuzz.process import cdist

    rows, columns = first.tolist(), second.tolist()
    size = max(1, _CELLS_AT_ONCE // max(1, len(columns)))
    segments = np.zeros(len(rows), dtype=np.int64)
    slots, similarities, pairs = [np.empty(0, dtype=np.int32)], [np.empty(0)], 0
    for begin in range(0, len(rows), size):
        part = slice(begin, begin + size)
        matrix = cdist(
            rows[part],
            columns,
            scorer=how,
            score_cutoff=comparison.knots[-1],
            dtype=np.float64,
            workers=os.cpu_count() or 1,
        )
        query, slot = np.nonzero(matrix)
        segments[part] = np.bincount(query, minlength=len(matrix))
        slots.append(slot.astype(np.int32))
        similarities.append(matrix[query, slot])
        pairs += slot.size
        if pairs > MOST_SIMILAR:
            raise UsageError(
                f"comparison {comparison.describe()!r} finds more than {MOST_SIMILAR:,} pairs of similar "
                "texts; ask for a higher similarity"
            )
    return segments, np.concatenate(slots), np.concatenate(similarities)
