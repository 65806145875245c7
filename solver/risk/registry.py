"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.risk.base import Measure
from linkrisk.solver.risk.link_reliability import ReliabilityOfLinks
from linkrisk.solver.risk.population_uniqueness import PopulationUniques
from linkrisk.solver.risk.references import ReferencePoints
from linkrisk.solver.risk.worst_case import WorstCase

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (WorstCase(), ReferencePoints(), PopulationUniques(), ReliabilityOfLinks())
}
"""One line for each."""
