"""Runs of measures on small file pairs: with worst cases or without, releases, sweeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from linkrisk import risk
from linkrisk.datasets.microdata.roles import Scale
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.released import ReleasedAttribute
from linkrisk.solver.measures.task import MeasureChoices, RiskTask
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.worst_case.families import family_problems, read_once, search_families
from linkrisk.solver.worst_case.operations.fitting import fit_request
from linkrisk.solver.worst_case.request import FitRequest


def task_of(files, names=("weighted-mean",), *, seed=0, choices=None, **options):
    """The task of two frames, searched without a limit."""
    asked = ProblemOptions(row_by_row=True, **options)
    request = fit_request(EngineOptions(seed=seed), Limits(None, None))
    first = read_once(*files, asked)
    found = family_problems(first, names, asked)
    problems = {name: problem for name, problem in found.items() if isinstance(problem, Problem)}
    clock = request.clock(first)
    worst = search_families(first, found, request, clock)
    return RiskTask(
        first, problems, schema_of(asked.schema), request, clock, worst, choices or MeasureChoices()
    )


def pair_task(original, masked, *, seed=0, choices=None, **options):
    """The task of two frames for measures that need no worst case."""
    asked = ProblemOptions(row_by_row=True, **options)
    request, choices = FitRequest(None, EngineOptions(seed=seed), Limits()), choices or MeasureChoices()
    first = make_problem(original, masked, asked)
    return RiskTask(first, {}, schema_of(asked.schema), request, Clock(None), None, choices)


# Releases of one small file, and the measure of them


NAMES = ("A", "B")


def files(seed=3, records=8, noise=1.0, releases=2):
    """An original and releases of it, each with noise of its own."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(records, len(NAMES)))
    made = [values, *(values + noise * random.normal(size=values.shape) for _ in range(releases))]
    return [pd.DataFrame(each, columns=list(NAMES)) for each in made]


def taken(original, released, **options):
    options = {"aggregator": "all", "time_limit": None, **options}
    return risk(original, released, measures="releases", **options)


def wide(original, released):
    """The releases side by side, and the original as often."""
    return [
        pd.concat([each.add_suffix(str(at)) for at, each in enumerate(one)], axis=1)
        for one in ([original] * len(released), released)
    ]


def table(result):
    return result["releases"].to_frame().set_index(["number", "aggregator"])


# Maskings of a small survey, and how to sweep them quickly


MASKINGS = [
    "microaggregation k=3,4 attributes=age,income",
    "noise percent=60",
    "rank-swapping percent=10 attributes=age + noise percent=30 attributes=income",
    "microaggregation k=40",
]
QUICK = {"workers": 1, "time_limit": None, "measures": "information-loss", "aggregator": "weighted-mean,owa"}


def numbers(result):
    """All but what a clock measured."""
    return [replace(run, seconds=0.0) for run in result.runs]


# Attributes of two files as the measures of disclosure and loss see them


def attribute(name, original, masked, scale=Scale.NUMERIC, categories=(), partner=None):
    """One attribute; row i of the original belongs to row i of the masked file unless `partner` says more."""
    original, masked = np.array(original, dtype=float), np.array(masked, dtype=float)
    partner = np.arange(len(original)) if partner is None else np.array(partner)
    return ReleasedAttribute(name, scale, original, masked, partner, tuple(categories))


def released_table(original, masked, names="abcdefgh"):
    """Numeric attributes from two arrays."""
    columns = zip(names, np.asarray(original).T, np.asarray(masked).T, strict=False)
    return [attribute(name, before, after) for name, before, after in columns]


# Plain attacks on releases


def scaled(frame):
    """Every column without its mean, in standard deviations."""
    return ((frame - frame.mean()) / frame.std(ddof=0)).to_numpy()


def by_lot(distances, within=1e-12):
    """Expected share of right links where lots decide among the nearest."""
    nearest = np.isclose(distances, distances.min(axis=1, keepdims=True), rtol=0.0, atol=within)
    return float((nearest.diagonal() / nearest.sum(axis=1)).mean())
