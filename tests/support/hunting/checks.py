"""What must hold of every result, whatever limit ended the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import brute_force as plain
import numpy as np
from exact_runs import every_search, optimum
from fit_runs import steered

from hunting.quarry import Quarry
from hunting.reached import Reached, reached
from linkrisk.solver.certificates.checking.verify import verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.operations.fit import fit
from linkrisk.solver.worst_case.result import FamilyFit

_ENUMERATED = 6
"""Blocks up to which every set of them is asked about."""

_ROUNDING = 1e-13
"""Share of the largest distance within which two computations of it may differ."""

_SAME = 1e-9


def pursue(quarry: Quarry) -> list[str]:
    """Run the engine and check what it says: one line for each thing that is wrong.

    Raises
    ------
    FormulationError, DataError, UsageError
        When there is nothing to run: a constant attribute, nobody with a partner.
    """
    problem = make_problem(quarry.original, quarry.masked, ProblemOptions(**quarry.options))
    random = np.random.default_rng(quarry.seed)
    truth = _truth(quarry, problem, random)
    steering = steered(most_reduced=0, most_unreduced=0) if quarry.manner.growing else None
    result = fit(
        quarry.original,
        quarry.masked,
        time_limit=quarry.manner.seconds,
        memory_limit=quarry.manner.megabytes,
        certificate=quarry.manner.certificate,
        steering=steering,
        **quarry.options,
    )
    if result.status == "interrupted":
        raise KeyboardInterrupt
    wrong = [*_count(quarry, problem, result), *_bound(result, truth)]
    if result.certificate is not None:
        wrong += _certificate(problem, result, truth)
    if quarry.manner.alone and not wrong:
        wrong += _searches(problem, truth, random)
    return wrong


def _truth(quarry: Quarry, problem: Problem, random: np.random.Generator) -> Reached:
    """The most that is known to be reached."""
    found = reached(problem.pair, problem.aggregator, random)
    if problem.pair.blocks > _ENUMERATED:
        return found
    try:
        most = optimum(problem.pair, quarry.case, records=quarry.records(problem))
    except AssertionError:  # the linear program of the enumeration gave up
        return found
    # By weight: of a sum of shares nobody can say how many they are.
    return Reached(max(found.weight, most), found.count)


def _count(quarry: Quarry, problem: Problem, result: FamilyFit) -> Iterator[str]:
    """The parameters link as many as reported, by definition; what is near a tie may go either way."""
    records = quarry.records(problem)
    distance = quarry.case.define(problem.aggregator, result.parameters)
    kind = problem.aggregator.differences.value
    quadratic = isinstance(distance, plain.Bilinear)
    size = sum(abs(x) for x in _numbers(result.parameters))
    sure = possible = 0
    for block, own in enumerate(records.partner):
        if not problem.pair.reachable[block]:
            continue
        c = records.distances(block, kind)
        mine, margins = distance(c[own]), [np.inf]
        for rival in records.rivals(block):
            far = max(map(abs, (*c[rival], *c[own])))
            noise = _ROUNDING * size * (far * far if quadratic else far)
            slack = plain.slack(records, block, distance, kind, c[rival])
            gap = distance(c[rival]) - mine - slack
            margins.append(np.sign(gap) * (np.inf if abs(gap) > noise else 0.0))
        sure += min(margins) > 0.0
        possible += min(margins) >= 0.0
    if not sure <= result.linked <= possible:
        yield f"linked {result.linked}, but by definition at least {sure} and at most {possible} are"


def _numbers(value: Any) -> Iterator[float]:
    """All numbers of parameters as JSON has them."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    else:
        yield float(value)


def _bound(result: FamilyFit, truth: Reached) -> Iterator[str]:
    """No parameters link more than the bound, and the attack does not either."""
    content = result.to_dict()
    linked = content.get("expected_links", result.linked)
    most = content.get("expected_links_upper_bound", result.linked_upper_bound)
    if result.linked > result.linked_upper_bound or linked > most + _SAME:
        yield f"linked {linked} above the bound {most}"
    if truth.count > result.linked_upper_bound:
        yield f"{truth.count} linked by other parameters, above the bound {result.linked_upper_bound}"
    if truth.weight > most + _SAME:
        yield f"a weight of {truth.weight} linked by other parameters, above the bound {most}"
    if result.status == "optimal" and abs(most - linked) > _SAME:
        yield f"optimal, with {linked} linked and the bound {most}"


def _certificate(problem: Problem, result: FamilyFit, truth: Reached) -> Iterator[str]:
    """The verifier accepts the certificate, and what it proves is not below the truth."""
    fitted, certificate = (json.loads(json.dumps(x)) for x in (result.to_dict(), result.certificate))
    try:
        verdict = verify(fitted, certificate, problem.files, ("fit", "certificate"))
    except (RejectedError, UsageError) as error:
        yield f"the certificate is refused: {error}"
        return
    if verdict.bound_count < truth.count or float(verdict.bound) < truth.weight - _SAME:
        yield f"{verdict.bound_count} certified (weight {float(verdict.bound)}), but {truth} is reached"


def _searches(problem: Problem, truth: Reached, random: np.random.Generator) -> Iterator[str]:
    """Every search alone, where the engine may have been done by another; sometimes blocks have weights."""
    pair = problem.pair
    if random.random() < 0.3:
        weight = pair.weight * random.choice([0.5, 1.0, 2.0, 3.3, 1.0 / 3.0], size=pair.blocks)
        pair = replace(pair, weight=weight)
        truth = reached(pair, problem.aggregator, random)
    for name, made in every_search(pair, problem.aggregator).items():
        if made.incumbent.bound < truth.weight - _SAME:
            yield f"{name} alone: the bound {made.incumbent.bound} is below {truth.weight}, which is reached"
