"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.measures.base import Measure
from linkrisk.solver.measures.references import ReferencePoints
from linkrisk.solver.measures.worst_case import WorstCase

MEASURES: dict[str, Measure] = {measure.name: measure for measure in (WorstCase(), ReferencePoints())}
"""One line for each."""
