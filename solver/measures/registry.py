"""Register all measures by name, in display order."""

from __future__ import annotations

from linkrisk.solver.measures.attribute_disclosure import AttributeDisclosureMeasure
from linkrisk.solver.measures.attributes import Attributes
from linkrisk.solver.measures.base import Measure
from linkrisk.solver.measures.diversity import DiversityOfGroups
from linkrisk.solver.measures.held_out import HeldOut
from linkrisk.solver.measures.information_loss import InformationLossMeasure
from linkrisk.solver.measures.interval_disclosure import IntervalDisclosureMeasure
from linkrisk.solver.measures.keys import IndividualRiskOfKeys, UniquenessOfKeys
from linkrisk.solver.measures.link_reliability import ReliabilityOfLinks
from linkrisk.solver.measures.membership import Membership
from linkrisk.solver.measures.population_uniqueness import PopulationUniques
from linkrisk.solver.measures.records import Records
from linkrisk.solver.measures.references import ReferencePoints
from linkrisk.solver.measures.reidentification import ProbabilityOfReidentification
from linkrisk.solver.measures.released import ChangesOfColumns
from linkrisk.solver.measures.releases import SeveralReleases
from linkrisk.solver.measures.simple_attacks import SimpleAttacksMeasure
from linkrisk.solver.measures.suda import SpecialUniques
from linkrisk.solver.measures.worst_case import WorstCase

_ALL: tuple[Measure, ...] = (
    WorstCase(),
    SeveralReleases(),
    SimpleAttacksMeasure(),
    ReferencePoints(),
    Attributes(),
    Records(),
    HeldOut(),
    Membership(),
    ProbabilityOfReidentification(),
    ReliabilityOfLinks(),
    UniquenessOfKeys(),
    IndividualRiskOfKeys(),
    PopulationUniques(),
    SpecialUniques(),
    DiversityOfGroups(),
    IntervalDisclosureMeasure(),
    AttributeDisclosureMeasure(),
    ChangesOfColumns(),
    InformationLossMeasure(),
)
"""One line for each."""

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _ALL}
