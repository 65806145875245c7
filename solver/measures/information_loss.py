"""What masking has cost: how far values, moments, relations and frequencies are from the original ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from linkrisk.solver.measures.base import Finding, Measure, MeasureResult, Unit
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.measures.values.category_frequencies import CategoryLoss, category_loss
from linkrisk.solver.measures.values.numeric_loss import NumericLoss, numeric_loss
from linkrisk.solver.measures.values.propensity import Propensity, propensity
from linkrisk.solver.measures.values.released import ReleasedAttribute, released, unreadable
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.percent import percent


@dataclass(frozen=True, eq=False, repr=False)  # that of all measures
class InformationLoss(MeasureResult):
    """Information loss of a release. Every number is 0 where nothing was masked; more is a larger loss."""

    measure: ClassVar[str] = "information-loss"
    records: int  # records with a partner
    both: int  # records of both files
    masked: tuple[str, ...]  # attributes that the masked file has changed
    unchanged: tuple[str, ...]  # those that it has left as they are
    # share, from 0 to 1, of the values of masked attributes that are missing where the original has one
    suppressed: float
    numeric: NumericLoss  # of values, moments, relations and regressions of numeric attributes
    # of the frequencies of every ordinal and nominal attribute that differs
    categories: tuple[CategoryLoss, ...]
    # of all attributes together; None where nothing was masked or there are too few records for a model
    propensity: Propensity | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Numbers of the whole file; those that it has no attributes for are left out."""
        found = [_number(key, words, value) for key, words, value in self.numeric.means if value is not None]
        if self.categories:
            for key, words in (("total_variation", "total variation"), ("hellinger", "Hellinger distance")):
                mean = float(np.mean([getattr(each, key) for each in self.categories]))
                unit = Unit.SHARE if key == "total_variation" else Unit.NUMBER
                found.append(Finding(key, f"category frequencies, {words}", mean, unit))
        if self.suppressed > 0.0:
            found.append(Finding("suppressed", "values suppressed", self.suppressed))
        if self.propensity is not None:
            found.append(_number("pmse", "propensity scores, pMSE", self.propensity.pmse))
            found.append(
                _number("pmse_ratio", "pMSE ratio (1: drawn from the original)", self.propensity.ratio)
            )
        return tuple(found)

    @property
    def paragraph(self) -> str:
        """How far values are off, what has become of relations, whether files can be told apart."""
        if not self.masked:
            return f"nothing was masked: all {len(self.unchanged)} attributes are as they were."
        said = [f"{len(self.masked)} of {len(self.masked) + len(self.unchanged)} attributes were masked"]
        if self.numeric.il1s is not None:
            said[0] += f"; a masked number is {self.numeric.il1s:.2g} * sqrt(2) standard deviations off"
        if self.numeric.correlation is not None:
            said.append(f"Correlations are off by {self.numeric.correlation:.2g} on average")
        if self.categories:
            worst = max(self.categories, key=lambda each: each.total_variation)
            share = percent(worst.total_variation)
            said.append(f"Of the frequencies {share} would have to move back in {worst.attribute}")
        if self.propensity is not None:
            ratio = self.propensity.ratio
            than = "less" if ratio <= 1.0 else "more"
            said.append(
                f"Propensity scores tell the files apart {than} than a file drawn from the original "
                f"(pMSE ratio {ratio:.2g})"
            )
        return ". ".join(said) + "."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers do not look at."""
        said = []
        if self.masked and self.unchanged:
            names = ", ".join(self.unchanged)
            said.append(f"information loss is that of masked attributes; left as they are: {names}")
        if self.numeric.dependent:
            names = ", ".join(self.numeric.dependent)
            said.append(f"regressions leave out linear combinations of other attributes: {names}")
        if self.propensity is not None and self.propensity.records < self.both:
            said.append(
                f"the propensity model is that of {self.propensity.records:,} records of both files, by lot"
            )
        if self.propensity is not None and not self.propensity.converged:
            said.append("the propensity model separates some records of the two files: its pMSE is a limit")
        return tuple(said)

    def to_frame(self) -> pd.DataFrame:
        """Every number: statistic, attribute, with (the other one of a pair), original, masked, loss."""
        rows = [*self.numeric.rows, *(row for each in self.categories for row in each.rows)]
        if self.propensity is not None:
            model = self.propensity
            rows.append(("pmse", None, None, None, None, model.pmse))
            rows.append(("pmse ratio", None, None, None, None, model.ratio))
            rows.append(("pmse standardised", None, None, None, None, model.standardised))
        columns = ["statistic", "attribute", "with", "original", "masked", "loss"]
        return pd.DataFrame(rows, columns=columns)


class InformationLossMeasure(Measure):
    """IL1s, moments, correlations, eigenvalues, regressions, frequencies, pMSE."""

    name: ClassVar[str] = "information-loss"
    title: ClassVar[str] = "Information loss"
    cost: ClassVar[float] = 0.5
    growth: ClassVar[float] = 3.0

    def lacking(self, task: RiskTask) -> str | None:
        """It needs attributes that can be read."""
        return unreadable(task)

    def take(self, task: RiskTask, clock: Clock) -> InformationLoss:
        """Compare the two files."""
        del clock
        return information_loss(released(task))


def information_loss(attributes: Sequence[ReleasedAttribute]) -> InformationLoss:
    """The information loss of some attributes of two files."""
    return InformationLoss(
        int((attributes[0].partner >= 0).sum()),
        len(attributes[0].original) + len(attributes[0].masked),
        tuple(each.name for each in attributes if each.is_masked),
        tuple(each.name for each in attributes if not each.is_masked),
        _suppressed(attributes),
        numeric_loss([each for each in attributes if each.numeric]),
        tuple(_categories(attributes)),
        propensity(attributes),
    )


def _categories(attributes: Sequence[ReleasedAttribute]) -> Iterator[CategoryLoss]:
    """Of all categorical attributes that differ; of all where none does, so that the loss is seen to be 0."""
    categorical = [each for each in attributes if not each.numeric]
    differing = [each for each in categorical if each.differs]
    return (category_loss(each) for each in differing or categorical)


def _suppressed(attributes: Sequence[ReleasedAttribute]) -> float:
    """Share of the known values of masked attributes that the masked file lacks."""
    known = lacking = 0
    for before, after in (each.paired for each in attributes if each.is_masked):
        known += int((~np.isnan(before)).sum())
        lacking += int((~np.isnan(before) & np.isnan(after)).sum())
    return lacking / known if known else 0.0


def _number(key: str, words: str, value: float) -> Finding:
    return Finding(key, words, value, Unit.NUMBER)
