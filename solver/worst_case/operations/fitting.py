"""What `fit` does: check the request, search, certify; or write the model to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from linkrisk.datasets.options.option import part, recorded_of
from linkrisk.errors import called
from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.registry import ENGINES, check_taken, choose_engine, get_engine
from linkrisk.solver.inputs.limits import engine_options, limits_of
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.inputs.recorded_masking import recorded
from linkrisk.solver.options.pair import ALL, ProblemOptions
from linkrisk.solver.options.worst_case import FitOptions
from linkrisk.solver.run.clock import Limits
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.pool import pool_choice
from linkrisk.solver.worst_case.families import fit_families, several
from linkrisk.solver.worst_case.operations.live import watched
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.sampled.samples import SamplingChoice, check_choice
from linkrisk.solver.worst_case.search_state import problem_system
from linkrisk.solver.worst_case.single_fit import Fitted, fit_one


def fitted(asked: FitOptions) -> FitResult:
    """Search what a request asks for, and certify it; errors as of `fit`."""
    request = asked_fit(asked)
    with watched(asked.on_progress) as report:
        found = find(asked, replace(request, report=report))
    if asked.on_found is not None:
        asked.on_found(found if isinstance(found, FitResult) else FitResult.of(found.result))
    if isinstance(found, FitResult):
        return found
    certified = found.certified(asked.certificate_time_limit) if asked.certificate else found.result
    return FitResult.of(certified)


def asked_fit(asked: FitOptions, *, modelling: bool = False) -> FitRequest:
    """Check the request of `fit` before anything is read."""
    limits = limits_of(asked.time_limit, asked.work_limit, asked.memory_limit, asked.cancel)
    sampling = sampling_choice(asked.sample, asked.samples, asked.confidence, asked.strata)
    workers = pool_choice(asked.scheduler, asked.workers)
    options, given = engine_options(
        seed=asked.seed,
        threads=asked.threads,
        backend=asked.backend,
        margin=asked.margin,
        big_c=asked.big_c,
        steering=asked.steering,
    )
    engine = asked.engine or choose_engine(given, modelling=modelling)
    request = fit_request(options, limits, engine, given=given, certificate=asked.certificate)
    own, (page, listed) = asked.certificate_time_limit is not None, asked.reserve
    return replace(
        request,
        sampling=sampling,
        workers=workers,
        command=asked.command,
        own_seconds=own,
        page=page,
        listed=listed,
        settings=recorded_of(asked),
    )


def find(asked: FitOptions, request: FitRequest) -> Fitted | FitResult:
    """Search the requested family, ready for its certificate; or all of several."""
    names, options = several(asked.aggregator), _problem_options(asked)
    with request.with_pool() as ready:
        if names is not None:
            return fit_families(asked.original, asked.masked, names, options, ready)
        return fit_one(make_problem(asked.original, asked.masked, options), ready)


def _problem_options(asked: FitOptions) -> ProblemOptions:
    """Extract the options of the problem; of several families, those common to all."""
    one = asked.aggregator if isinstance(asked.aggregator, str) else ALL
    return recorded(part(ProblemOptions, asked, aggregator=one))


def fit_request(
    options: EngineOptions,
    limits: Limits,
    engine: str | None = None,
    *,
    given: Sequence[str] = (),
    certificate: bool = False,
) -> FitRequest:
    """Check engine and limits before anything is read; `given` are settings that the engine must accept.

    UsageError otherwise.
    """
    runner = get_engine(engine or choose_engine(given), options)
    check_taken(runner, given)
    if certificate and not runner.proves:
        able = next(name for name, kind in ENGINES.items() if kind.proves)
        raise UsageError(
            f"the engine {runner.name} gives no proof that could be checked: use {called('engine', able)}",
            option="engine",
        )
    if limits.work is not None and not runner.counts:
        able = next(name for name, kind in ENGINES.items() if kind.counts)
        raise UsageError(
            f"the work of the engine {runner.name} is done by its optimiser, which is not counted: use "
            f"{called('engine', able)}, or {called('time_limit')}",
            option="engine",
        )
    return FitRequest(runner, options, limits, certificate)


def sampling_choice(
    sample: int | str | None, samples: int | None, confidence: float, strata: str | None
) -> SamplingChoice:
    """Make the sampling options; UsageError when no file could satisfy them."""
    choice = SamplingChoice(sample, samples, float(confidence), strata)
    check_choice(choice)
    return choice


def save_model(asked: FitOptions, path: str | Path) -> MilpModel:
    """Write the model that the engine ``milp`` would solve, as ``.lp`` or ``.mps``.

    Errors as of `fit`; UsageError also if several families or samples are asked for.
    """
    request = asked_fit(asked, modelling=True)
    if request.sampling.asked:
        raise UsageError(
            f"a model is of all records: leave {called('sample')}, {called('samples')} and "
            f"{called('strata')} out, or run twice",
            option="sample",
        )
    if several(asked.aggregator) is not None:
        raise UsageError(
            f"{called('write_model')} writes the model of one family: name one {called('aggregator')}",
            option="aggregator",
        )
    from linkrisk.formulations.linkage.block_system import indicator_model
    from linkrisk.solver.backends.model_file import write_model
    from linkrisk.solver.engines.milp import indicator_options

    problem = make_problem(asked.original, asked.masked, _problem_options(asked))
    system = problem_system(problem.searched, reduce=request.options.big_c is None)
    model = indicator_model(system, indicator_options(request.options)).milp
    write_model(model, path)
    return model
