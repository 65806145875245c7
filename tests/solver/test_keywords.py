"""Keywords of the functions: explicit, the same everywhere; a misspelt one is told its neighbour."""

from __future__ import annotations

import dataclasses
import inspect
import typing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from fit_runs import frames

import linkrisk
from linkrisk import compare, evaluate, find_links, fit, link, mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.parameters import PARAMETERS
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.formulations.linkage.aggregators import AGGREGATORS
from linkrisk.formulations.linkage.comparison import Missing
from linkrisk.formulations.linkage.distances import Differences, Standardisation
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.engines.base import EngineOptions
from linkrisk.solver.engines.registry import ENGINES
from linkrisk.solver.inputs.releases import Way
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.matching import MATCHINGS
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.measures import verdict as measures
from linkrisk.solver.measures.registry import MEASURES
from linkrisk.solver.options import names as known
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.run import AUTOMATIC, MARGIN, TOLERATED
from linkrisk.solver.options.run import CONFIDENCE as SAMPLED
from linkrisk.solver.run import clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.suppression.problem import COSTS, KINDS
from linkrisk.solver.worst_case.sampled.samples import CONFIDENCE

HAND_ON = {"make_tables": "make_table"}
"""Functions that hand their keywords on to another."""

OFFERED = [getattr(linkrisk, name) for name in linkrisk.__all__]
FUNCTIONS = [one for one in OFFERED if inspect.isfunction(one) and one.__name__ not in HAND_ON]
each = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)


def keywords(function):
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def defaults(options):
    return {item.name: item.default for item in dataclasses.fields(options)}


@each
def test_every_keyword_is_explicit_typed_and_explained(function):
    parameters = inspect.signature(function).parameters.values()
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters)
    hints = typing.get_type_hints(function, localns={"FitResult": linkrisk.FitResult})
    assert set(hints) == {*inspect.signature(function).parameters, "return"}
    documented = inspect.getdoc(function).split("Parameters\n---")[1].split("Returns\n---")[0]
    for name in inspect.signature(function).parameters:
        assert name in documented, name


def test_what_was_learned_holds_unless_it_is_given():
    taken = keywords(evaluate)
    assert {taken[name] for name in defaults(ProblemOptions)} == {None, False}


def test_links_are_found_by_what_links_are_judged_by_but_for_the_truth():
    judged, found = keywords(link), keywords(find_links)
    assert set(judged) - set(found) == {"original_attributes", "masked_attributes", "id", "row_by_row",
                                        "training", "ties", "threshold", "curve"}  # fmt: skip
    assert set(found) - set(judged) == {"original_id", "masked_id"}
    assert {judged[name] == found[name] for name in set(judged) & set(found) - {"method"}} == {True}


@pytest.mark.parametrize(
    ("literal", "names"),
    [
        *((known.DirectionName, Direction), (known.TiesName, Ties)),
        *((known.StandardisationName, Standardisation), (known.DifferencesName, Differences)),
        *((known.MissingName, Missing), (known.EngineName, ENGINES), (known.MatchingName, MATCHINGS)),
        *((known.SuppressionName, KINDS), (known.CostName, COSTS), (known.AggregatorName, AGGREGATORS)),
        (known.LinkerName, LINKERS),
    ],
)
def test_type_checkers_know_the_names(literal, names):
    assert typing.get_args(literal) == tuple(names)


@pytest.mark.parametrize(
    ("said", "names"), [(known.WAYS, Way), (known.MEASURES, MEASURES), (tuple(PARAMETERS), METHODS)]
)
def test_help_knows_the_names(said, names):
    assert said == tuple(names)


def test_help_knows_the_numbers_that_hold_when_nothing_is_said():
    assert (EngineOptions().margin, CONFIDENCE, measures.TOLERATED, clock.AUTOMATIC) == (
        *(MARGIN, SAMPLED, TOLERATED, AUTOMATIC),
    )


@each
def test_a_keyword_like_none_is_told_all(function):
    with pytest.raises(TypeError) as error:
        function(zzzzzz=1)
    known = ", ".join(inspect.signature(function).parameters)
    assert str(error.value) == f"{function.__name__}() takes no 'zzzzzz': it takes {known}"


def test_parameters_of_a_linker_that_has_its_own():
    with pytest.raises(UsageError) as error:
        link(*frames(0), method=DistanceBased(), parameters={"weights": ()})
    assert str(error.value) == "parameters are for a method given by its name; this linker has its own"


def test_the_exact_engine_takes_no_option_of_a_model():
    with pytest.raises(UsageError) as error:
        fit(*frames(0), engine="exact", margin=1e-5, big_c=10.0)
    assert str(error.value) == (
        "margin and big_c are not for the engine exact: leave that out, or use the engine milp"
    )


@pytest.mark.parametrize(
    ("options", "engine"),
    [({}, "exact"), ({"backend": "scipy"}, "milp"), ({"margin": 1e-4}, "milp"), ({"big_c": 50.0}, "milp")],
)
def test_options_of_a_model_choose_the_engine(options, engine):
    details = fit(*frames(1, 10), **options).details
    assert details["engine"] == engine
    assert details["backend"] == (None if engine == "exact" else options.get("backend", "highs"))


def test_seed_and_threads_are_those_given():
    details = fit(*frames(1, 10), seed=np.int64(3), engine="milp", threads=2).details
    assert (details["seed"], details["threads"]) == (3, 2)
    details = compare(*frames(1, 10), backends=["highs"], seed=4, margin=1e-4).details
    assert (details["seed"], details["threads"], details["margin"]) == (4, 1, 1e-4)


def test_arrays_frames_and_tables_of_other_libraries_are_one():
    original, masked = frames(2, 14)
    arrays = original.to_numpy(), masked.to_numpy()
    named = [pd.DataFrame(array, columns=["V1", "V2", "V3"]) for array in arrays]
    expected = fit(*named)
    assert fit(*arrays).parameters == expected.parameters
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        assert fit(*map(convert, named)).table == expected.table
    assert evaluate(*arrays, parameters=expected).linked == expected.linked
    assert link(*arrays, method="dbrl").table == link(*named, method="dbrl").table
    first, second = (mask(data, AdditiveNoise(percent=10.0), seed=1).table for data in (arrays[0], named[0]))
    pd.testing.assert_frame_equal(first, second)
    with pytest.raises(DataError) as error:
        fit(arrays[0][:, 0], arrays[1])
    assert str(error.value) == (
        "original is an array with 1 dimensions; give one with two, records by attributes"
    )


def test_results_are_parameters():
    files = frames(3, 12)
    found = fit(*files, aggregator=["weighted-mean", "owa"])
    assert evaluate(*files, parameters=found).linked == found.linked
    assert evaluate(*files, parameters=found, aggregator="owa").linked == found.results["owa"].linked
    linked = link(*files, method="dbrl")
    assert evaluate(*files, parameters=linked).table == linked.table
