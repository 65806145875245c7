"""Small file pairs as tasks of measures: with worst cases, searched once, and without any search."""

from __future__ import annotations

from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.task import MeasureChoices, RiskTask
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.worst_case.families import family_problems, read_once, search_families
from linkrisk.solver.worst_case.operations.fit import fit_request
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
