"""Quantifiers, representatives of records and their linkers: by definition and by published numbers."""

from __future__ import annotations

import json
import os
from itertools import combinations
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refusal
from scipy.stats import norm, rankdata

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.public.registry import load
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.quantifiers import (
    FAMILIES,
    Quantifier,
    attribute_values,
    normal_probabilities,
    normalised,
    owa,
    parse_family,
    ranged,
    standardised,
    sugeno,
    values_at,
)
from linkrisk.solver.linkage.representatives import (
    Nearest,
    OrderedWeightedAverages,
    PrincipalComponent,
    SugenoIntegrals,
    SumOfStandardised,
    in_classes,
)
from linkrisk.solver.run.errors import UsageError

EVERY = [quantifier for family in FAMILIES.values() for quantifier in family]
POINTS = Quantifier("points", (0, 0, 0.25, 0.1, 0.5, 0.1, 1, 1))


def test_the_families_by_their_formulas():
    x, at = 0.37, np.array([0.37])
    for step, quantifier in enumerate(FAMILIES["power"], start=1):
        assert quantifier(at)[0] == pytest.approx(x ** (step / 5), rel=1e-15)
    for step, quantifier in enumerate(FAMILIES["sigmoid"]):
        assert quantifier(at)[0] == pytest.approx(1 / (1 + np.exp(10 * (step / 10 - x))), rel=1e-14)
    for step, quantifier in enumerate(FAMILIES["threshold"]):
        assert quantifier(at)[0] == (0.0 if x <= step / 10 else 1.0)
    # The sigmoid is set at its ends only; points are joined by lines.
    ends = Quantifier("sigmoid", (0.0,))(np.array([0.0, 1e-9, 1.0 - 1e-9, 1.0]))
    assert ends.tolist() == pytest.approx([0, 0.5, 1, 1], abs=1e-4)
    assert POINTS(np.array([0.0, 0.125, 0.3, 0.75, 1.0])).tolist() == pytest.approx([0, 0.05, 0.1, 0.55, 1])


@pytest.mark.parametrize("size", [5, 10, 20, 30])
def test_a_threshold_at_a_share_of_the_attributes_does_not_count_it(size):
    """i/N <= alpha decided in whole numbers."""
    expected = [[float(10 * i > max(tenths * size, 0)) for i in range(size + 1)] for tenths in range(10)]
    assert values_at(FAMILIES["threshold"], size).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("most", "there is no quantifier family 'most'; use one of power, sigmoid, threshold, or points:"),
        ("most:1", "there is no quantifier 'most'; use one of power, sigmoid, threshold, points"),
        ("power:a", "quantifier 'power:a': 'a' is not a number"),
        ("power:0", "quantifier power:0: the exponent must be above 0"),
        ("power:nan", "quantifier power:nan: every number must be finite"),
        ("sigmoid:", "quantifier sigmoid:: give one alpha, as in sigmoid:0.5"),
        ("points:0 0 1", "quantifier points:0 0 1: give x and Q(x) of at least two points"),
        ("points:0 0.1 1 1", "quantifier points:0 0.1 1 1: the first point must be 0 0 and the last one 1 1"),
        ("points:0 0 0.5 0.5 0.5 0.6 1 1", "the points must have ascending x"),
        ("points:0 0 0.5 0.5 0.6 0.4 1 1", "Q must not decrease from one point to the next"),
    ],
)
def test_what_is_no_quantifier(text, message):
    assert message in refusal(lambda: parse_family(text))


SQUARE = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.floats(0, 1))

# Table I of Torra and Nin (2008), and Table III row by row as printed.
TABLE_1 = """0.2 0.4 0.2 0.4
0.1 0.2 0.1 0.2
0.5 0.6 0.5 0.1
0.8 0.4 0.4 0.7
0.9 0.2 0 0
0.2 0.2 0.3 0.9
0.5 0.3 0.2 1
0 0.1 0.5 1
1 0 0.9 0.2
0.5 1 1 0.8"""
TABLE_3 = """0.374 0.351 0.332 0.315 0.3 0.287 0.276 0.266 0.257 0.25
0.187 0.176 0.166 0.157 0.15 0.144 0.138 0.133 0.129 0.125
0.553 0.514 0.480 0.451 0.425 0.402 0.382 0.363 0.347 0.33125
0.737 0.685 0.641 0.605 0.575 0.550 0.528 0.510 0.494 0.48125
0.705 0.554 0.437 0.346 0.275 0.220 0.176 0.142 0.115 0.09375
0.742 0.620 0.527 0.455 0.4 0.357 0.324 0.298 0.278 0.2625
0.847 0.728 0.634 0.559 0.5 0.453 0.414 0.383 0.358 0.3375
0.822 0.679 0.566 0.474 0.4 0.340 0.290 0.249 0.216 0.1875
0.874 0.766 0.674 0.594 0.525 0.465 0.413 0.368 0.328 0.29375
0.957 0.919 0.884 0.853 0.825 0.799 0.776 0.755 0.736 0.71875"""

# The second record is half the first, and its 0.176 is half of 0.352 (0.35157), not of the 0.351 printed.
MISPRINT = (0, "0.351")


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_families_are_read_and_written():
    for quantifier in [*EVERY, POINTS]:
        assert parse_family(str(quantifier)) == (quantifier,)
    assert parse_family("sigmoid") == FAMILIES["sigmoid"]
    assert parse_family("power:0.5,2") == (Quantifier("power", (0.5,)), Quantifier("power", (2.0,)))
    assert parse_family("points:0 0 1 1,0 0 0.5 1 1 1")[1](np.array([0.25])).tolist() == [0.5]
    assert str(Quantifier("power", (1.0,))) == "power:1"


def test_table_3_to_the_printed_digits():
    made = owa(np.array(rows(TABLE_1), dtype=float), FAMILIES["power"])
    for record, (values, printed) in enumerate(zip(made, rows(TABLE_3), strict=True)):
        for value, text in zip(values, printed, strict=True):
            text = "0.352" if (record, text) == MISPRINT else text
            digits = len(text.partition(".")[2])
            assert abs(value - float(text)) <= 0.5 * 10.0**-digits + 1e-12, (record, value, text)


def owa_by_definition(record, quantifier):
    descending = sorted(record, reverse=True)
    at = quantifier(np.arange(len(record) + 1) / len(record))
    return sum((at[i + 1] - at[i]) * value for i, value in enumerate(descending))


def sugeno_on_all_subsets(record, quantifier):
    """``max over A of min(mu(A), min of the values in A)`` with ``mu(A) = Q(|A|/N)``."""
    size = len(record)
    measure = values_at([quantifier], size)[0]
    return max(
        min(measure[count], min(record[at] for at in subset))
        for count in range(1, size + 1)
        for subset in combinations(range(size), count)
    )


@given(SQUARE, st.sampled_from(EVERY))
def test_owa_by_definition(values, quantifier):
    expected = [owa_by_definition(record.tolist(), quantifier) for record in values]
    np.testing.assert_allclose(owa(values, [quantifier])[:, 0], expected, atol=1e-13)


@given(SQUARE, st.sampled_from(EVERY))
def test_sugeno_by_definition_on_all_subsets(values, quantifier):
    expected = [sugeno_on_all_subsets(record.tolist(), quantifier) for record in values]
    assert sugeno(values, [quantifier])[:, 0].tolist() == expected


@given(SQUARE, st.data())
def test_missing_values_are_left_out_of_their_record(values, data):
    gone = data.draw(arrays(np.bool_, values.shape))
    with_gaps = np.where(gone, np.nan, values)
    for aggregation in (owa, sugeno):
        made = aggregation(with_gaps, EVERY)
        for record, known, mine in zip(values, ~gone, made, strict=True):
            if known.any():
                assert (mine == aggregation(record[known][None, :], EVERY)[0]).all()
            else:
                assert np.isnan(mine).all()


COLUMN = np.array([[2.0, 5.0], [4.0, 5.0], [np.nan, 5.0], [10.0, 5.0]])


def test_normalising_by_definition():
    assert ranged(COLUMN)[:, 0].tolist() == pytest.approx([0.0, 0.25, np.nan, 1.0], nan_ok=True)
    known = np.array([2.0, 4.0, 10.0])
    z = (known - known.mean()) / known.std()
    for way, expected in ((standardised, z), (normal_probabilities, norm.cdf(z))):
        assert way(COLUMN)[[0, 1, 3], 0] == pytest.approx(expected)
        assert np.isnan(way(COLUMN)[2, 0])
    for way in (ranged, standardised):
        assert (way(COLUMN)[:, 1] == 0.0).all()
    assert normalised(COLUMN, "ranging", "zero")[2, 0] == 0.0
    assert np.isnan(normalised(COLUMN, "ranging", "projection")[2, 0])
    assert np.isnan(normalised(np.full((3, 1), np.nan), "standardising", "projection")).all()
    # Sugeno integrals cut standardised values at one.
    assert sugeno(np.array([[2.5, 1.5]]), [Quantifier("power", (1.0,))]).tolist() == [[1.0]]


LEVELS = Attribute("level", scale=Scale.ORDINAL, categories=("low", "middle", "high"))


def test_categories_count_by_their_position():
    frame = pd.DataFrame({"level": ["high", None, "low"], "size": [1, 2, None]})
    made = attribute_values(
        frame, ["level", "size"], Schema((Attribute("size", scale=Scale.NUMERIC), LEVELS))
    )
    np.testing.assert_array_equal(made, [[2.0, 1.0], [np.nan, 2.0], [0.0, np.nan]])


@pytest.mark.parametrize(
    ("attribute", "values", "message"),
    [
        (Attribute("a", scale=Scale.NOMINAL), ["x", "y"], "attribute 'a' is nominal and has no order"),
        (Attribute("a", scale=Scale.ORDINAL, categories=("x",)), ["x", "y"], "record 2: 'y' is not one of"),
        (Attribute("a", scale=Scale.NUMERIC), [1.0, np.inf], "attribute 'a' has a value beyond 1e+150"),
    ],
)
def test_values_that_cannot_be_used(attribute, values, message):
    frame, schema = pd.DataFrame({"a": values}), Schema((attribute,))
    assert message in refusal(lambda: attribute_values(frame, ["a"], schema))
    assert "need at least one attribute in each file" in refusal(lambda: attribute_values(frame, [], schema))


def test_classes_are_quantiles_of_both_files_together():
    queries, candidates = np.array([[1.0], [2.0], [3.0], [np.nan]]), np.array([[4.0], [5.0], [6.0], [2.0]])
    first, second = in_classes(queries, candidates, 3)
    assert first[:, 0].tolist() == ["1", "1", "2", None]
    assert second[:, 0].tolist() == ["2", "3", "3", "1"]


LINKERS = [
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
    "linker", LINKERS, ids=[f"{linker.name}-{position}" for position, linker in enumerate(LINKERS)]
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


class Spy(Nearest):
    """Remembers its tasks."""

    seen: ClassVar[list] = []

    def learn(self, task):
        self.seen.append(task)
        return super().learn(task)


def test_another_linker_of_the_representatives(one_factor):
    learned = OrderedWeightedAverages(inner=Spy(), classes=5).learn(one_factor)
    (inner_task,) = Spy.seen
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
