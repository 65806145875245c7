"""Learned distances: the aggregators, the problem they are learned for, and the evaluator that counts."""

from linkrisk.formulations.linkage import fuzzy_measures as fuzzy_measures
from linkrisk.formulations.linkage.aggregators import AGGREGATORS as AGGREGATORS
from linkrisk.formulations.linkage.aggregators import Aggregator as Aggregator
from linkrisk.formulations.linkage.aggregators import make_aggregator as make_aggregator
from linkrisk.solver.inputs.problem import Problem as Problem
from linkrisk.solver.inputs.reading import make_problem as make_problem
from linkrisk.solver.linkage.evaluator import Evaluator as Evaluator
