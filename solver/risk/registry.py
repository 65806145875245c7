"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.risk.attribute_disclosure import AttributeDisclosureMeasure
from linkrisk.solver.risk.base import Measure
from linkrisk.solver.risk.information_loss import InformationLossMeasure
from linkrisk.solver.risk.interval_disclosure import IntervalDisclosureMeasure
from linkrisk.solver.risk.references import ReferencePoints
from linkrisk.solver.risk.worst_case import WorstCase

_ALL: tuple[Measure, ...] = (
    WorstCase(),
    ReferencePoints(),
    IntervalDisclosureMeasure(),
    AttributeDisclosureMeasure(),
    InformationLossMeasure(),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
"""One line for each."""
