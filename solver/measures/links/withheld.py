"""The worst case without one of the attributes, with what is known of the worst case with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.errors import LinkriskError
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.pair import Ties
from linkrisk.solver.inputs.problem import Problem, problem_of
from linkrisk.solver.measures.task import Attack
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.results import is_bound, objective
from linkrisk.solver.worst_case.beside_orders import beside_orders
from linkrisk.solver.worst_case.search import SearchTask, Start, search
from linkrisk.solver.worst_case.single_fit import FitRequest


@dataclass(frozen=True)
class WithheldAttribute:
    """The worst case of a family where an attribute is not there to be compared."""

    aggregator: str
    attribute: str
    linked: float  # what the attack found links without it: records, or the sum of what links count
    most: float | None  # what none exceeds; None where no bound was found in time
    fall: float  # the same of the attacks that were found
    # by how much the worst case falls with it, at least and at most. More means that it leaks more; below
    # zero where the family links more without it (`owa`, whose ranks are others then). None where no bound
    # was found in time that says so
    fall_low: float | None
    fall_high: float | None


def without(problem: Problem, attribute: str) -> Problem:
    """The problem with one attribute less; FormulationError or DataError where that is none."""
    files = problem.files
    kept = tuple(name for name in files.attributes if name != attribute)
    categorical = {name: one for name, one in files.categorical.items() if name != attribute}
    return problem_of(replace(files, attributes=kept, categorical=categorical), problem.options)


def contained(problem: Problem) -> bool:
    """Whether every distance without an attribute is one of the family with it, so that bounds carry over.

    With weight zero, a measure that does not count it, or a row and column of zeros. Of an OWA it is not: who
    is left out has no rank. With shared ties no bound carries over, whatever the family: candidates that the
    attribute tells apart are rivals with it, and share a link without it.
    """
    if problem.pair.ties is Ties.SHARE:
        return False
    return isinstance(problem.aggregator, WeightedMean | Choquet | Mahalanobis)


def projected(attack: Attack, attribute: str) -> FloatArray | None:
    """Parameters of the smaller problem that are nearest in kind; None where there are none.

    A weighted mean and a quadratic form lose their part, a measure is restricted to the sets without the
    attribute; all are scaled back to their domain.
    """
    aggregator, theta = attack.problem.aggregator, attack.theta
    k, n = aggregator.attributes.index(attribute), len(aggregator.attributes)
    if isinstance(aggregator, WeightedMean):
        smaller = np.delete(theta, k)
        total = float(smaller.sum())
    elif isinstance(aggregator, OrderedWeightedAverage):
        smaller = theta[:-1]
        total = float(smaller.sum())
    elif isinstance(aggregator, Mahalanobis):
        matrix = np.delete(np.delete(aggregator.domain.matrix(theta), k, 0), k, 1)
        smaller, total = matrix[np.triu_indices(n - 1)], float(np.trace(matrix))
    elif type(aggregator) is Choquet:
        sets = np.arange(1, 2**n)
        smaller = theta[(sets >> k) & 1 == 0]
        total = float(smaller[-1]) if smaller.size else 0.0
    else:
        return None
    return smaller / total if total > 0.0 else None


def withheld(attack: Attack, attribute: str, request: FitRequest, clock: Clock) -> WithheldAttribute | None:
    """Search the smaller problem; None where the family cannot take what is left.

    `attack`: of all attributes: its projection is a start, and where the family contains the smaller one, its
    bound is a bound, and blocks that cannot all be linked with it cannot without it. The search proves that
    anew, so that no more depends on it than how soon it ends.
    """
    try:
        problem = without(attack.problem, attribute)
    except LinkriskError:
        return None
    theta, domain = projected(attack, attribute), problem.aggregator.domain
    theta = problem.aggregator.equal() if theta is None else domain.repair(theta)
    start = Start(theta, attack.evaluation.linked, attack.cores)
    run = search(
        SearchTask(problem.searched, request.engine, clock, request.options, starts=[start], others=False)
    )
    _ = run.final  # before all else, which may depend on it
    low, most = attack.result.interval[0], certain_bound(attack)
    unit, inside = problem.survey.unit, contained(attack.problem)
    if inside:
        run.incumbent.tighten(max(most / unit, run.incumbent.value))
    run = beside_orders(run, problem.searched)
    linked, bound = run.incumbent.value * unit, run.incumbent.bound * unit
    total = attack.result.total
    known, bounded = is_bound(linked, bound, total), is_bound(low, most, total)
    least = low - bound if known else None
    return WithheldAttribute(
        aggregator=problem.aggregator.name,
        attribute=attribute,
        linked=linked,
        most=bound if known else None,
        fall=low - linked,
        # What is contained cannot link more than the whole, whatever either links.
        fall_low=max(0.0, least or 0.0) if inside else least,
        fall_high=most - linked if bounded else None,
    )


def certain_bound(attack: Attack) -> float:
    """What no parameters of all attributes exceed, for certain."""
    result = attack.result
    return float(result.details.get(objective(result.details)[1], result.linked_upper_bound))
