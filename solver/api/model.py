"""The big-C model of a file pair, written instead of solved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkrisk.errors import called
from linkrisk.formulations.linkage.block_indicator import IndicatorOptions, indicator_model
from linkrisk.formulations.programs.mixed_integer import MilpModel
from linkrisk.solver.backends.model_file import write_model
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import ProblemOptions, make_problem
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.problem_rows import problem_system


def save_model(
    original: Any, masked: Any, path: str | Path, options: ProblemOptions, settings: EngineOptions
) -> MilpModel:
    """Write the model that the engine ``milp`` would solve, as ``.lp`` or ``.mps``.

    Parameters
    ----------
    original, masked
        As `fit` takes them.
    path : str or Path
    options : ProblemOptions
        The problem, of one family.
    settings : EngineOptions
        Margin and constant C.

    Raises
    ------
    UsageError, DataError, FormulationError
        If the request or the files cannot be used, or several families are asked for.
    """
    if several(options.aggregator) is not None:
        raise UsageError(
            f"{called('write_model')} writes the model of one family: name one {called('aggregator')}",
            option="aggregator",
        )
    problem = make_problem(original, masked, recorded(options))
    tight = settings.big_c is None
    system = problem_system(problem.searched, reduce=tight)
    choices = IndicatorOptions(margin=settings.margin, big_c=settings.big_c, scale=tight)
    model = indicator_model(system, choices).milp
    write_model(model, path)
    return model
