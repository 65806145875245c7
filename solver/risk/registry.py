"""All measures by name, in the order in which they are shown."""

from __future__ import annotations

from linkrisk.solver.risk.base import Measure
from linkrisk.solver.risk.diversity import DiversityOfGroups
from linkrisk.solver.risk.individual_risk import IndividualRiskOfKeys
from linkrisk.solver.risk.references import ReferencePoints
from linkrisk.solver.risk.suda import SpecialUniques
from linkrisk.solver.risk.uniqueness import UniquenessOfKeys
from linkrisk.solver.risk.worst_case import WorstCase

_ALL: tuple[Measure, ...] = (
    WorstCase(),
    ReferencePoints(),
    UniquenessOfKeys(),
    IndividualRiskOfKeys(),
    SpecialUniques(),
    DiversityOfGroups(),
)

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
"""One line for each."""
