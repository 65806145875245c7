"""`evaluate`: apply learned parameters to a file pair and count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse
from linkrisk.datasets.options.option import given_of, recorded_of
from linkrisk.errors import called
from linkrisk.formulations.errors import FormulationError
from linkrisk.solver.api.chosen_linker import Run
from linkrisk.solver.api.fitted_files import changed, check_same_records, fitted_alignment, fitted_files
from linkrisk.solver.api.link import relink
from linkrisk.solver.compiling.ahead import LINKAGE, compile_once
from linkrisk.solver.inputs.learned_links import reusable_schema
from linkrisk.solver.inputs.link_tasks import LinkOptions
from linkrisk.solver.inputs.mask_records import recorded
from linkrisk.solver.inputs.problem import Problem, make_problem, shares
from linkrisk.solver.inputs.recorded_masking import recorded_masking
from linkrisk.solver.linkage.assignment import assigned_links
from linkrisk.solver.linkage.baselines import baselines
from linkrisk.solver.linkage.counting import counting_by
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.result import LinkResult
from linkrisk.solver.options.operations.evaluate import EvaluateOptions
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.crew import Crew, crew_choice, hired
from linkrisk.solver.run.errors import CancelledError, UsageError
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.records import RecordsTable
from linkrisk.solver.run.results import dump_json
from linkrisk.solver.run.versions import library_versions
from linkrisk.solver.worst_case.answers import in_population, records_table

_GIVE = "give the file that `fit --json` or `link --json` wrote"

_PROBLEM_KEYS = ("aggregator", "direction", "ties", "standardisation", "differences", "missing")


@dataclass(frozen=True)
class EvaluationResult:
    """What given parameters re-identify in a file pair.

    Attributes
    ----------
    linked : int
        Records whose partner is strictly nearest.
    records : int
        Number of blocks.
    one_to_one : int or None
        Correct links when records are assigned one to one, where asked for.
    table : RecordsTable
        What became of every record.
    details : dict
        Everything else of the JSON.
    """

    linked: int
    records: int
    one_to_one: int | None
    table: RecordsTable
    details: dict[str, Any] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `evaluate --json` as a dictionary."""
        headline = {"records": self.records, "linked": self.linked, "one_to_one": self.one_to_one}
        return {**headline, **self.details, "records_table": self.table.to_dict()}

    def to_json(self) -> str:
        """The JSON of `evaluate --json`."""
        return dump_json(self.to_dict())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from linkrisk.solver.charts.linkage_cards import evaluation_card

        return evaluation_card(self.to_dict())

    def __repr__(self) -> str:
        share = 100.0 * self.linked / self.records
        name = self.details["aggregator"]
        return f"EvaluationResult({name}: {self.linked} of {self.records} linked ({share:.1f} %))"


def read_parameters(path: str | Path) -> dict[str, Any]:
    """Read the JSON that `fit --json` wrote; UsageError when it is not one, or is ambiguous."""
    try:
        content = parse(Path(path).read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"{path} cannot be read: {reason}; {_GIVE}") from None
    except AmbiguousError as error:
        raise UsageError(f"{path} cannot be used: {error}; {_GIVE}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{path} is not valid JSON ({place}); {_GIVE}") from None
    except (ValueError, RecursionError):  # not even text, or nested without end
        raise UsageError(f"{path} is not valid JSON; {_GIVE}") from None
    if not isinstance(content, dict) or not (
        isinstance(content.get("parameters"), dict) or isinstance(content.get("families"), list)
    ):
        raise UsageError(f"{path} has no parameters; {_GIVE}")
    return content


def pick_family(fitted: Mapping[str, Any], aggregator: str | None, source: str) -> Mapping[str, Any]:
    """The fit of one family where there are several: the one asked for, or else the worst.

    Raises
    ------
    UsageError
        If there is none.
    """
    if not isinstance(fitted.get("families"), list):
        return fitted
    found = {
        family.get("aggregator"): family
        for family in fitted["families"]
        if isinstance(family, Mapping) and isinstance(family.get("parameters"), Mapping)
    }
    name = fitted.get("worst") if aggregator is None else aggregator
    if name not in found:
        known = ", ".join(str(other) for other in found) or "none"
        raise UsageError(
            f"{source} has no parameters of '{name}', only of {known}: choose with {called('aggregator')}",
            option="aggregator",
        )
    return found[name]


def learned_options(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `ProblemOptions` under which parameters were learned."""
    known = {key: fitted[key] for key in _PROBLEM_KEYS if isinstance(fitted.get(key), str)}
    if isinstance(fitted.get("attributes"), list):
        known["attributes"] = [str(name) for name in fitted["attributes"]]
    schema = fitted.get("schema")
    if "attributes" in known:
        recorded = schema if isinstance(schema, Mapping) else {"attributes": []}
        known["schema"] = reusable_schema(recorded, known["attributes"])
    options = fitted.get("aggregator_options")
    if isinstance(options, Mapping) and isinstance(options.get("k_additive"), int):
        known["k_additive"] = options["k_additive"]
    return known


@taking(EvaluateOptions)
def evaluate(asked: EvaluateOptions) -> EvaluationResult | LinkResult:
    """Apply parameters learned by `fit`, or by a linker, to a file pair.

    Parameters
    ----------
    {options}

    Returns
    -------
    EvaluationResult or LinkResult
        The second for what `link` learned.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request, the parameters or the files cannot be used.
    CancelledError
        If `cancel` has been used: incomplete counts are not a result.
    """
    asked_for = crew_choice(asked.scheduler, asked.workers)

    def do() -> EvaluationResult | LinkResult:
        with hired(asked_for) as crew:
            return _evaluate(asked, given_of(asked, ProblemOptions), crew)

    return cancellable(do, asked.cancel)


def _evaluate(asked: EvaluateOptions, given: dict[str, Any], crew: Crew) -> EvaluationResult | LinkResult:
    """What `evaluate` does, all of it; `given` are the options of the problem that are not as learned."""
    parameters, original, masked = asked.parameters, asked.original, asked.masked
    one_to_one, report, cancel = asked.one_to_one, asked.on_progress, asked.cancel
    if isinstance(parameters, Mapping):
        fitted, source = parameters, "the parameters"
    elif isinstance(parameters, str | Path):
        fitted, source = read_parameters(parameters), str(parameters)
    else:
        fitted, source = parameters.to_dict(), "the parameters"
    whole, fitted = fitted, pick_family(fitted, given.get("aggregator"), source)
    named = None
    if original is None and masked is None:
        folder = Path(parameters).parent if isinstance(parameters, str | Path) else None
        named = fitted_files(whole, source, folder)
        original, masked = named or (None, None)
    if named is not None and not given.keys() & {"id_column", "row_by_row"}:
        given |= fitted_alignment(whole)
    if "method" in fitted:
        matching = "hungarian" if one_to_one else None
        run = Run(crew, report, cancel)
        return relink(original, masked, fitted, run, one_to_one=matching, **_link_options(given, source))
    given.setdefault("masking", recorded_masking(fitted))
    options = recorded(ProblemOptions(**{**learned_options(fitted), **given}))
    problem = make_problem(original, masked, options)
    if named is not None:
        check_same_records(whole, problem.pair.blocks, len(problem.pair.candidates), source)
    alone = original is None and masked is None and "name" not in fitted
    theta = _encode(problem, fitted["parameters"], source, alone)
    compile_once(LINKAGE, report)
    crew.prepare(compile_once, LINKAGE)
    crew.know(problem.pair, problem.rereading)
    stop = None if cancel is None else lambda: cancel.cancelled
    evaluator = Evaluator(problem.pair, stop=stop, elsewhere=counting_by(crew, problem.pair, report))
    form = problem.aggregator.form(theta)
    evaluation = evaluator.table(form)
    same = named is not None and given.keys() <= {"id_column", "row_by_row", "masking"}
    stale = changed(fitted, evaluation.linked) if same else ()
    details = {
        **problem.describe(),
        "expected_links": float(shares(problem)[evaluation.linked].sum()),
        **problem.survey.links(evaluation.linked, shares(problem)),
        **problem.survey.strata(evaluation.linked),
        "parameters": problem.aggregator.decode(theta),
        "baselines": in_population(baselines(evaluator, problem.aggregator), problem.survey.unit),
        "notes": [*problem.files.notes, *stale],
        **crew.describe(),
        **recorded_of(asked),
        "versions": library_versions(),
    }
    if cancel is not None and cancel.cancelled:
        raise CancelledError("the run was cancelled before there was a result")
    return EvaluationResult(
        linked=evaluation.count,
        records=problem.pair.blocks,
        one_to_one=assigned_links(problem.pair, form) if one_to_one else None,
        table=records_table(problem.labels, evaluation),
        details=details,
    )


def _link_options(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Options of a problem as options of `link`."""
    known = {item.name for item in fields(LinkOptions)}
    for name in given:
        if name not in known:
            raise UsageError(
                f"{source} is the result of a linker, which takes no {name.replace('_', ' ')}: leave it out"
            )
    return dict(given)


def _encode(problem: Problem, parameters: Mapping[str, Any], source: str, alone: bool) -> NDArray[np.float64]:
    """Read parameters; what is wrong with them is said along with where they are from.

    Those that are `alone` come without files, and unless they fit the embedded pair these are asked for.
    """
    try:
        return problem.aggregator.encode(parameters)
    except FormulationError as error:
        if alone:
            files = f"give {called('original')} and {called('masked')}"
            raise UsageError(f"{source} does not say which files it is about: {files}") from None
        raise UsageError(f"{source}: {error}", option=error.option) from None
