"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.risk.attributes import Attributes
from linkrisk.solver.risk.base import Measure
from linkrisk.solver.risk.held_out import HeldOut
from linkrisk.solver.risk.records import Records
from linkrisk.solver.risk.references import ReferencePoints
from linkrisk.solver.risk.worst_case import WorstCase

MEASURES: dict[str, Measure] = {
    measure.name: measure for measure in (WorstCase(), ReferencePoints(), Attributes(), Records(), HeldOut())
}
"""One line for each."""
