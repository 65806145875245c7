"""The linkers `owa`, `sugeno`, `pca`, `zscore` and `nearest` behind the interface of linkers."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from refusals import refusal
from scipy.stats import rankdata

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.public.registry import load
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Linker, Truth
from linkrisk.solver.linkage.quantifiers import FAMILIES, owa, parse_family, sugeno
from linkrisk.solver.linkage.representatives import (
    Nearest,
    OrderedWeightedAverages,
    PrincipalComponent,
    SugenoIntegrals,
    SumOfStandardised,
)
from linkrisk.solver.run.errors import UsageError

EVERY = [
    OrderedWeightedAverages(),
    SugenoIntegrals(),
    PrincipalComponent(),
    SumOfStandardised(),
    PrincipalComponent(compare_by="score"),
    SumOfStandardised(compare_by="score"),
    OrderedWeightedAverages(classes=20, missing="zero"),
    SugenoIntegrals(normalisation="normal", standardise=True),
]


each_linker = pytest.mark.parametrize(
    "linker", EVERY, ids=[f"{linker.name}-{position}" for position, linker in enumerate(EVERY)]
)


def task(queries, candidates, **others):
    """A task of two arrays; the attributes are called q0, q1, ... and c0, c1, ..."""
    first = pd.DataFrame(queries).add_prefix("q")
    second = pd.DataFrame(candidates).add_prefix("c")
    names = [tuple(frame.columns) for frame in (first, second)]
    schema = Schema(tuple(Attribute(name, scale=Scale.NUMERIC) for side in names for name in side))
    return LinkageTask(first, second, *names, schema, **others)


@pytest.fixture
def one_factor():
    """Five attributes of 40 records that all grow with the same hidden number, divided 3 to 2."""
    random = np.random.default_rng(8)
    values = random.normal(size=(40, 1)) + 0.1 * random.normal(size=(40, 5))
    return task(values[:, :3], values[:, 3:])


@each_linker
def test_parameters_survive_json_gaps_give_finite_scores_and_nominal_attributes_are_refused(
    linker, one_factor
):
    learned = linker.learn(one_factor)
    restored = type(linker).restored(json.loads(json.dumps(learned.parameters)), one_factor)
    assert restored.parameters == learned.parameters
    part = np.array([5, 0, 39])
    scores = learned.scores(part)
    assert scores.shape == (3, 40)
    assert (restored.scores(part) == scores).all()
    assert (learned.scores(np.arange(40))[part] == scores).all()
    random = np.random.default_rng(1)
    values = random.normal(size=(12, 6))
    values[random.random(values.shape) < 0.2] = np.nan
    values[:, 0] = values[:, 3] = np.arange(12)
    assert np.isfinite(linker.learn(task(values[:, :3], values[:, 3:])).scores(np.arange(12))).all()
    frame = pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.0]})
    schema = Schema((Attribute("a", scale=Scale.NOMINAL), Attribute("b", scale=Scale.NUMERIC)))
    with pytest.raises(UsageError, match="attribute 'a' is nominal"):
        linker.learn(LinkageTask(frame, frame, ("b",), ("a",), schema))


@pytest.mark.parametrize(
    ("linker", "aggregation"), [(OrderedWeightedAverages, owa), (SugenoIntegrals, sugeno)]
)
def test_scores_are_distances_of_raw_representatives(linker, aggregation, one_factor):
    learned = linker(normalisation="standardising", quantifiers=(FAMILIES["power"],)).learn(one_factor)
    values = (frame.to_numpy() for frame in (one_factor.queries, one_factor.candidates))
    sides = [aggregation((each - each.mean(axis=0)) / each.std(axis=0), FAMILIES["power"]) for each in values]
    expected = -np.sqrt(((sides[0][:, None] - sides[1][None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(learned.scores(np.arange(40)), expected, atol=1e-12)


def test_permuted_attributes_link_all_records():
    """The example of Torra and Nin (2008, section 3.2): the same values in another order."""
    values = np.random.default_rng(2).random((10, 4))
    values[:2] = [[0.0] * 4, [1.0] * 4]  # so that ranging changes nothing
    shuffled = np.random.default_rng(3).permuted(values, axis=1)
    shuffled[:2] = values[:2]
    for linker in (OrderedWeightedAverages, SugenoIntegrals):
        learned = linker(normalisation="ranging").learn(task(values, shuffled))
        assert judge(learned, Truth.of(np.arange(10), 10)).count == 10
        assert (np.diag(learned.scores(np.arange(10))) == 0.0).all()


@pytest.mark.skipif(
    "LINKRISK_DATA" not in os.environ, reason="needs public data: set LINKRISK_DATA to its folder"
)
@pytest.mark.parametrize(
    ("data", "queries", "candidates", "normalisation", "published"),
    [
        (
            "abalone",
            ("Height", "Whole_weight", "Viscera_weight"),
            ("Length", "Diameter", "Shucked_weight", "Shell_weight"),
            "standardising",
            (9.9, 7.9, 8.8),
        ),
        (
            "ionosphere",
            ("a05", "a07", "a09", "a11", "a13", "a20"),
            ("a15", "a17", "a19", "a21", "a23", "a30"),
            "ranging",
            (14.4, 21.8, 21.9),
        ),
    ],
)
def test_near_the_published_links(data, queries, candidates, normalisation, published):
    """Tables V and VI of Torra and Nin (2008), OWA and DBRL, means of ten draws like theirs."""
    frame = load(data)
    schema = Schema.from_frame(frame)
    for family, expected in zip(FAMILIES.values(), published, strict=True):
        linker = OrderedWeightedAverages(quantifiers=(family,), normalisation=normalisation)
        counts = []
        for seed in range(10):
            drawn = frame.sample(100, random_state=seed, ignore_index=True)
            learned = linker.learn(LinkageTask(drawn, drawn, queries, candidates, schema))
            counts.append(judge(learned, Truth.of(np.arange(100), 100)).count)
        # Two standard errors of the difference of two such means: a draw has a standard deviation near 3.
        assert np.mean(counts) == pytest.approx(expected, abs=2.7)


@dataclass(frozen=True)
class Spy(Linker):
    """Remembers its task and links by the distance of the first attribute."""

    name = "spy"
    seen: tuple[list, ...] = ([],)

    def learn(self, task):
        self.seen[0].append(task)
        return Nearest().learn(task)

    @classmethod
    def restored(cls, parameters, task):
        raise NotImplementedError


def test_another_linker_of_the_representatives(one_factor):
    spy = Spy(([],))
    learned = OrderedWeightedAverages(inner=spy, classes=5).learn(one_factor)
    (inner_task,) = spy.seen[0]
    assert inner_task.query_attributes == inner_task.candidate_attributes
    assert inner_task.query_attributes == tuple(str(quantifier) for quantifier in FAMILIES["sigmoid"])
    for attribute in inner_task.schema.attributes:
        assert attribute.scale is Scale.ORDINAL
        assert attribute.categories == ("1", "2", "3", "4", "5")
    assert set(inner_task.queries.to_numpy().ravel()) <= set("12345")
    assert learned.probabilities(np.zeros(3)) is None


def first_component(values):
    """By the singular value decomposition of standardised values, with a positive sum of loadings."""
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    vector = np.linalg.svd(z)[2][0]
    return z @ (vector * np.sign(vector.sum()))


@pytest.mark.parametrize(
    ("linker", "place"),
    [
        (PrincipalComponent, first_component),
        (SumOfStandardised, lambda x: ((x - x.mean(axis=0)) / x.std(axis=0)).sum(axis=1)),
    ],
)
def test_places_in_one_order(linker, place, one_factor):
    sums = [place(frame.to_numpy()) for frame in (one_factor.queries, one_factor.candidates)]
    ranks = [(rankdata(values) - 0.5) / 40 for values in sums]
    scores = [(values - values.mean()) / values.std() for values in sums]
    for by, (first, second) in (("rank", ranks), ("score", scores)):
        made = linker(compare_by=by).learn(one_factor).scores(np.arange(40))
        np.testing.assert_allclose(made, -np.abs(first[:, None] - second), atol=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OrderedWeightedAverages(linkage="x"), "unknown linkage 'x': choose one of distance"),
        (lambda: OrderedWeightedAverages(classes=1), "classes is 1; give 2 to 10000, or 0"),
        (lambda: OrderedWeightedAverages(quantifiers=()), "there is no quantifier; give at least one"),
        (
            lambda: OrderedWeightedAverages(quantifiers=(FAMILIES["power"], parse_family("power:0.2"))),
            "the quantifier power:0.2 is given twice; give it once",
        ),
    ],
)
def test_bad_settings(make, message):
    assert refusal(make).startswith(message)


def test_gaps_are_projected_or_zero_and_who_has_no_values_is_linked_to_nobody():
    queries = np.array([[0.0, 0.0], [np.nan, 1.0], [1.0, 0.5]])
    candidates, middle = np.array([[0.0], [1.0], [0.5]]), np.array([1])
    for missing, expected in (("projection", [[-1.0, 0.0, -0.5]]), ("zero", [[-0.5, -0.5, 0.0]])):
        asked = {"quantifiers": (parse_family("power:1"),), "normalisation": "ranging", "missing": missing}
        learned = OrderedWeightedAverages(**asked).learn(task(queries, candidates))
        assert learned.scores(middle).tolist() == expected
    queries[1] = np.nan
    learned = OrderedWeightedAverages().learn(task(queries, candidates))
    assert (learned.scores(middle) == -np.inf).all()
    assert learned.notes == ("records without any value in the file of queries: 1",)
    assert not judge(learned, Truth.of(np.arange(3), 3)).linked[1]


def test_what_are_no_parameters(one_factor):
    def restored(linker, parameters):
        return lambda: linker.restored(parameters, one_factor)

    parameters = PrincipalComponent().learn(one_factor).parameters
    parameters["loadings"]["queries"] = {"x": 1.0}
    for make, message in (
        (restored(OrderedWeightedAverages, {"quantifiers": 7}), "these are not parameters of owa: they need"),
        (restored(SugenoIntegrals, {}), "these are not parameters of sugeno: they need"),
        (
            restored(PrincipalComponent, {"by": "rank", "loadings": 3}),
            "these are not parameters of pca: they",
        ),
        (
            restored(PrincipalComponent, parameters),
            "the loadings are of x, but the file has q0, q1, q2; choose",
        ),
        (lambda: Nearest().learn(one_factor), "nearest compares attributes that both files have"),
    ):
        assert message in refusal(make)
