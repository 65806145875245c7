"""The big-C model of a file pair, written instead of solved."""

from __future__ import annotations

from pathlib import Path

from linkrisk.datasets.options.option import part
from linkrisk.errors import called
from linkrisk.formulations.linkage.block_system import IndicatorOptions, indicator_model
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.model_file import write_model
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import make_problem
from linkrisk.solver.options.operations.fit import FitOptions
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.operations.fit import asked_fit
from linkrisk.solver.worst_case.problem_rows import problem_system


def save_model(asked: FitOptions, path: str | Path) -> MilpModel:
    """Write the model that the engine ``milp`` would solve, as ``.lp`` or ``.mps``.

    Parameters
    ----------
    asked : FitOptions
        What `fit` is asked, of one family and of all records.
    path : str or Path

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used, or several families or samples are asked for.
    """
    request = asked_fit(asked, modelling=True)
    if request.sampling.asked:
        raise UsageError(
            f"a model is of all records: leave {called('sample')}, {called('samples')} and "
            f"{called('strata')} out, or run twice",
            option="sample",
        )
    one = asked.aggregator if isinstance(asked.aggregator, str) else ALL
    if several(asked.aggregator) is not None:
        raise UsageError(
            f"{called('write_model')} writes the model of one family: name one {called('aggregator')}",
            option="aggregator",
        )
    options = recorded(part(ProblemOptions, asked, aggregator=one))
    problem = make_problem(asked.original, asked.masked, options)
    settings = request.options
    tight = settings.big_c is None
    system = problem_system(problem.searched, reduce=tight)
    choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=tight)
    model = indicator_model(system, choices).milp
    write_model(model, path)
    return model
