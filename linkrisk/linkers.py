"""Linkers: what an intruder may link with besides a learned distance, and who judges the links."""

from linkrisk.solver.linkage.bayesian import Bayesian as Bayesian
from linkrisk.solver.linkage.distance_based import DistanceBased as DistanceBased
from linkrisk.solver.linkage.judging import judge as judge
from linkrisk.solver.linkage.judging import most_probable_claim as most_probable_claim
from linkrisk.solver.linkage.linker import LinkageTask as LinkageTask
from linkrisk.solver.linkage.linker import Linker as Linker
from linkrisk.solver.linkage.linker import Truth as Truth
from linkrisk.solver.linkage.matching import RandomMatching as RandomMatching
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic as Probabilistic
from linkrisk.solver.linkage.registry import LINKERS as LINKERS
from linkrisk.solver.linkage.representatives import OrderedWeightedAverages as OrderedWeightedAverages
from linkrisk.solver.linkage.representatives import PrincipalComponent as PrincipalComponent
from linkrisk.solver.linkage.representatives import SugenoIntegrals as SugenoIntegrals
from linkrisk.solver.linkage.representatives import SumOfStandardised as SumOfStandardised
