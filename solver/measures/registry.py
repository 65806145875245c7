"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.measures.base import Measure
from linkrisk.solver.measures.diversity import DiversityOfGroups
from linkrisk.solver.measures.individual_risk import IndividualRiskOfKeys
from linkrisk.solver.measures.references import ReferencePoints
from linkrisk.solver.measures.suda import SpecialUniques
from linkrisk.solver.measures.uniqueness import UniquenessOfKeys
from linkrisk.solver.measures.worst_case import WorstCase

_ALL: tuple[Measure, ...] = (
    WorstCase(),
    ReferencePoints(),
    UniquenessOfKeys(),
    IndividualRiskOfKeys(),
    SpecialUniques(),
    DiversityOfGroups(),
)
"""One line for each."""

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
