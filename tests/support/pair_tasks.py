"""The task of a measure that does not look at worst cases, without searching for any."""

from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.measures.task import MeasureChoices, RiskTask
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock, Limits
from linkrisk.solver.worst_case.single_fit import FitRequest


def pair_task(original, masked, *, seed=0, choices=None, **options):
    """What a measure looks at, of two frames."""
    given = ProblemOptions(row_by_row=True, **options)
    problem = make_problem(original, masked, given)
    request = FitRequest(None, EngineOptions(seed=seed), Limits())
    return RiskTask(
        problem, {}, schema_of(given.schema), request, Clock(None), None, choices or MeasureChoices()
    )
