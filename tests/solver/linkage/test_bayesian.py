"""The linker bayes: categories, learning, parameters, bad input, and its graphs by their definitions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import chordal_graphs, joint_table, model_of, probability, records
from refusals import refusal

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage import bayesian as linker_module
from linkrisk.solver.linkage import graphical_model as search
from linkrisk.solver.linkage.bayesian import (
    BayesFactors,
    Bayesian,
    estimated_match_share,
    match_probabilities,
)
from linkrisk.solver.linkage.bayesian_parameters import (
    UNKNOWN,
    Intervals,
    Labels,
    equal_frequency,
    learn_categories,
    read_categories,
)
from linkrisk.solver.linkage.graphical_model import (
    GraphicalModel,
    MarginalLikelihood,
    addable,
    improvements,
    junction_forest,
    learn_graph,
    removable,
)
from linkrisk.solver.linkage.judging import judge, most_probable_claim
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.run.errors import UsageError

quick = settings(max_examples=50, deadline=None, derandomize=True)
numbers = st.lists(st.integers(-20, 20), min_size=1, max_size=40).map(lambda v: np.array(v, dtype=float))


@quick
@given(numbers, st.integers(2, 9))
def test_classes_by_their_properties(values, classes):
    cuts = equal_frequency(values, classes)
    distinct = np.unique(values)
    assert list(cuts) == sorted(set(cuts))
    codes = Intervals(cuts).codes(pd.Series(values))
    # Every class has a record, equal values share one, and the order stays.
    assert set(codes) == set(range(len(cuts) + 1))
    assert len(cuts) + 1 <= classes
    for value in distinct:
        assert len(set(codes[values == value])) == 1
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    if distinct.size <= classes:
        assert len(cuts) + 1 == distinct.size


@quick
@given(numbers, st.integers(2, 9), st.floats(-30, 30))
def test_an_unseen_number_falls_into_the_class_of_the_nearest(values, classes, unseen):
    made = Intervals(equal_frequency(values, classes))
    apart = np.abs(values - unseen)
    nearest = values[apart == apart.min()]
    assert made.codes(pd.Series([unseen]))[0] in made.codes(pd.Series(nearest))


def test_numbers_next_to_each_other_are_kept_apart():
    for low, high in ((1.0, np.nextafter(1.0, 2.0)), (-1e308, 1.7e308), (5e-324, 1e-323)):
        made = learn_categories(pd.Series([low, high]), Scale.NUMERIC, 8)
        assert made.codes(pd.Series([low, high])).tolist() == [0, 1]


@pytest.mark.parametrize("scale", [Scale.NOMINAL, Scale.ORDINAL])
def test_missing_and_unseen_values_are_unknown(scale):
    made = learn_categories(pd.Series(["b", "a", "b"]), scale, 8)
    assert (made, made.size) == (Labels(("a", "b")), 2)
    column = pd.Series(["b", None, "c", "a"], dtype=object)
    assert made.codes(column).tolist() == [1, UNKNOWN, UNKNOWN, 0]
    numbers = Intervals((0.5,))
    assert numbers.codes(pd.Series([0.0, np.nan, 1.0])).tolist() == [0, UNKNOWN, 1]
    assert numbers.codes(pd.Series([0, None, 1], dtype="Int64")).tolist() == [0, UNKNOWN, 1]


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"cuts": [2.0, 1.0]},
        {"cuts": ["1"]},
        {"cuts": [1.0], "categories": ["a"]},
        {"categories": ["a", "a"]},
    ],
)
def test_what_is_no_json_of_categories(entry):
    assert refusal(lambda: read_categories(entry, "age")) == (
        'parameters of bayes: attribute \'age\' needs ascending "cuts" or different "categories"; '
        "use parameters as they were written"
    )


ROWS = np.arange(40)


def people(records, seed):
    """Four numbers and a colour that share one hidden number."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=records)
    frame = pd.DataFrame({name: hidden + 0.3 * random.normal(size=records) for name in "abcd"})
    shade = np.digitize(hidden + 0.3 * random.normal(size=records), [-0.5, 0.5])
    return frame.assign(colour=np.array(["red", "green", "blue"])[shade])


SCHEMA = Schema(
    (
        *(Attribute(name, scale=Scale.NUMERIC) for name in "abcd"),
        Attribute("colour", scale=Scale.NOMINAL, categories=("blue", "green", "red", "white")),
    )
)


def task_of(**changes):
    attacked = people(40, 1)
    given = LinkageTask(
        queries=attacked[["a", "b"]],
        candidates=attacked[["c", "d", "colour"]].iloc[::-1],
        query_attributes=("a", "b"),
        candidate_attributes=("c", "d", "colour"),
        schema=SCHEMA,
        bijection=True,
        training=people(400, 2),
    )
    return replace(given, **changes)


TRUTH = Truth.of(ROWS[::-1].copy(), 40)


def test_missing_and_unseen_values_are_no_evidence():
    task = task_of()
    queries = task.queries.copy()
    queries.loc[0] = np.nan
    colours = task.candidates["colour"].to_list()
    white, missing = (task.candidates.assign(colour=[colour, *colours[1:]]) for colour in ("white", None))
    learned = Bayesian().learn(replace(task, queries=queries, candidates=white))
    assert (learned.scores(ROWS)[0] == 0.0).all()
    assert learned.notes == ("1 values of 'colour' are in no training record and count as missing",)
    same = Bayesian().learn(replace(task, queries=queries, candidates=missing))
    np.testing.assert_array_equal(learned.scores(ROWS), same.scores(ROWS))
    assert same.notes == ()


def test_independent_files_score_zero_and_say_so():
    random = np.random.default_rng(4)
    training = people(400, 2).assign(c=random.normal(size=400), d=random.normal(size=400))
    learned = Bayesian().learn(task_of(training=training, candidate_attributes=("c", "d"), bijection=False))
    assert (learned.scores(ROWS) == 0.0).all()
    assert learned.match_share == 0.0
    assert learned.notes == (
        "no attribute of one file depends on any of the other: all pairs score alike",
        "the estimate of the share of matches is 0, an end of its range",
    )
    assert judge(learned, TRUTH).count == 0


def test_training_records_with_missing_values_are_left_out():
    training = people(400, 2)
    holes = training.copy()
    holes.loc[:9, "a"] = np.nan
    holes.loc[5:14, "colour"] = None
    with_holes = Bayesian().learn(task_of(training=holes))
    without = Bayesian().learn(task_of(training=training.iloc[15:]))
    assert with_holes.parameters == without.parameters
    assert with_holes.notes == ("15 training records with missing values were left out",)


def test_the_share_of_matches_is_estimated_from_all_pairs_unless_it_is_known(monkeypatch):
    learned = Bayesian().learn(task_of(bijection=False))
    assert learned.match_share == estimated_match_share(learned.scores(ROWS))
    assert 1 / 120 < learned.match_share < 1 / 15
    assert Bayesian(match_share=0.3).learn(task_of()).match_share == 0.3
    monkeypatch.setattr(linker_module, "_MOST_PAIRS", 800)
    part = Bayesian().learn(task_of(bijection=False))
    rows = np.sort(np.random.default_rng(0).choice(40, size=20, replace=False))
    assert part.match_share == estimated_match_share(learned.scores(rows))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": None}, "bayes learns from records of which all attributes are known: give training"),
        ({"training": people(20, 1).drop(columns="d")}, "the training records have no attribute 'd'; they"),
        ({"training": people(20, 1).assign(b="many")}, "the training records have text in 'b', which is"),
        (
            {"training": people(20, 1).assign(b=[1.0] + [np.nan] * 19)},
            "1 of 20 training records have no missing value; bayes needs at least two",
        ),
        ({"candidate_attributes": ("c", "b")}, "bayes links files without attributes in common, and both"),
        ({"query_attributes": ()}, "bayes needs at least one attribute of each file"),
    ],
)
def test_bad_tasks_and_settings(changes, message):
    assert refusal(lambda: Bayesian().learn(task_of(**changes))).startswith(message)
    for wrong, said in (
        ({"classes": 1}, "classes is 1; a numeric attribute needs at least 2"),
        ({"prior_weight": 0.0}, "prior_weight is 0; it must be above 0"),
        ({"match_share": 1.0}, "match_share is 1; it must be between 0 and 1"),
    ):
        assert refusal(lambda asked=wrong: Bayesian(**asked)) == said


def broken(**changes):
    parameters = json.loads(json.dumps(Bayesian(classes=2).learn(task_of()).parameters))
    parameters.update(changes)
    return parameters


def with_clique(at=0, **changes):
    parameters = broken()
    parameters["cliques"][at].update(changes)
    return parameters


def table_of(*names):
    return {"attributes": list(names), "cells": [0], "counts": [400]}


NOT_SOUND = "a clique has no valid table of counts"
NOT_A_GRAPH = "the cliques are not those of a decomposable graph"
DISAGREE = "two cliques do not agree on what they share"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: broken(p=None), '"p" is missing or of the wrong type'),
        (lambda: broken(p=1.5), '"p" is 1.5, which is not a probability'),
        (lambda: broken(prior_weight=-1), '"prior_weight" is -1, but must be above 0'),
        (lambda: broken(attributes=[]), '"attributes" is missing or of the wrong type'),
        (lambda: broken(cliques=[]), NOT_A_GRAPH),
        (lambda: broken(cliques=[*broken()["cliques"], table_of("a")]), NOT_A_GRAPH),
        (lambda: broken(cliques=[table_of(*pair) for pair in ("ab", "bc", "cd", "da")]), NOT_SOUND),
        (lambda: broken(cliques=[table_of(*pair) for pair in ("ab", "bc", "cd", "ad")]), NOT_A_GRAPH),
        (lambda: with_clique(attributes=["a", "z"]), NOT_SOUND),
        (lambda: with_clique(cells=[0, 0], counts=[1, 1]), NOT_SOUND),
        (lambda: with_clique(cells=[99], counts=[1]), NOT_SOUND),
        (lambda: with_clique(at=-1, cells=[0], counts=[400]), DISAGREE),
        (lambda: with_clique(at=-1, cells=[0], counts=[7]), DISAGREE),
    ],
)
def test_bad_parameters(make, message):
    said = f"parameters of bayes: {message}; use parameters as they were written"
    assert refusal(lambda: Bayesian.restored(make(), task_of())) == said


def test_part_of_the_attributes_can_be_used_later_and_no_others():
    task = task_of()
    learned = Bayesian().learn(task)
    fewer = Bayesian.restored(learned.parameters, task_of(candidate_attributes=("colour",)))
    blind = replace(task, candidates=task.candidates.assign(c=np.nan, d=np.nan))
    unseen = Bayesian.restored(learned.parameters, blind)
    np.testing.assert_array_equal(fewer.scores(ROWS), unseen.scores(ROWS))
    parameters = Bayesian().learn(task_of(candidate_attributes=("c", "d"))).parameters
    with pytest.raises(UsageError, match="nothing was learned about 'colour'; leave it out"):
        Bayesian.restored(parameters, task)


def test_it_links_more_than_chance_and_comes_back_from_json():
    learned = Bayesian(classes=5, prior_weight=2.5).learn(task_of())
    scores = learned.scores(ROWS)
    assert np.isfinite(scores).all()
    assert learned.notes == ()
    assert judge(learned, TRUTH).rank.mean() < 10
    assert learned.parameters["p"] == learned.match_share == 1 / 40
    claim = most_probable_claim(learned, TRUTH)
    assert claim.probability == pytest.approx(2**claim.score / 40 / (2**claim.score / 40 + 39 / 40), rel=1e-9)
    parameters = json.loads(json.dumps(learned.parameters))
    restored = Bayesian.restored(parameters, task_of(training=None, bijection=False))
    np.testing.assert_array_equal(restored.scores(ROWS), scores)
    assert (restored.parameters, restored.match_share) == (learned.parameters, learned.match_share)


def with_edge_changed(graph, edge):
    changed = graph.copy()
    if changed.has_edge(*edge):
        changed.remove_edge(*edge)
    else:
        changed.add_edge(*edge)
    return changed


def full_score(graph, likelihood):
    forest = junction_forest(graph)
    return likelihood.score(
        [frozenset(clique.nodes) for clique in forest], [frozenset(clique.separator) for clique in forest]
    )


@quick
@given(chordal_graphs())
def test_edges_can_come_and_go_exactly_when_the_graph_stays_chordal(graph):
    for edges, there in ((addable, False), (removable, True)):
        found = {frozenset(edge[:2]) for edge in edges(graph)}
        expected = {
            frozenset(pair)
            for pair in combinations(graph, 2)
            if graph.has_edge(*pair) == there and nx.is_chordal(with_edge_changed(graph, pair))
        }
        assert found == expected


@quick
@given(chordal_graphs())
def test_junction_trees_have_the_running_intersection_property(graph):
    forest = junction_forest(graph)
    assert {frozenset(clique.nodes) for clique in forest} == set(map(frozenset, nx.find_cliques(graph)))
    tree = nx.empty_graph(len(forest))
    for at, clique in enumerate(forest):
        assert clique.parent < at
        if clique.parent >= 0:
            tree.add_edge(at, clique.parent)
            shared = set(clique.nodes) & set(forest[clique.parent].nodes)
            assert clique.separator == tuple(sorted(shared)) != ()
        else:
            assert clique.separator == ()
    for node in graph:
        assert nx.is_connected(tree.subgraph([at for at, each in enumerate(forest) if node in each.nodes]))
    assert nx.number_connected_components(tree) == nx.number_connected_components(graph)


@quick
@given(st.data())
def test_the_score_of_a_graph_is_the_product_of_predictions_by_its_tables(data):
    """Ties the marginal likelihood, the tables and the messages together: each from its own code."""
    graph = data.draw(chordal_graphs(most=4))
    codes, sizes = data.draw(records(len(graph), most=6))
    weight = data.draw(st.sampled_from([0.5, 1.0, 4.0]))
    predicted = sum(
        model_of(graph, codes[:at], sizes, weight)
        .log_probability({node: row[node].reshape(1, 1) for node in graph})
        .item()
        for at, row in enumerate(codes)
    )
    assert full_score(graph, MarginalLikelihood(codes, sizes, weight)) == pytest.approx(predicted, abs=1e-9)


@quick
@given(st.data())
def test_every_move_keeps_the_graph_chordal_and_is_the_best_one(data):
    attributes = data.draw(st.integers(2, 5))
    likelihood = MarginalLikelihood(*data.draw(records(attributes, most=25)))
    graph = nx.empty_graph(attributes)

    def gains(before, which=(True, False)):
        """Of all edges that may come or go what each gains."""
        changed = {edge: with_edge_changed(before, edge) for edge in combinations(before, 2)}
        whole = full_score(before, likelihood)
        return [
            full_score(other, likelihood) - whole
            for edge, other in changed.items()
            if before.has_edge(*edge) in which and nx.is_chordal(other)
        ]

    before = graph.copy()
    for move in improvements(graph, likelihood):
        assert nx.is_chordal(graph)
        gain = full_score(graph, likelihood) - full_score(before, likelihood)
        assert move.gain == pytest.approx(gain, abs=1e-9)
        assert move.gain > 0
        rivals = gains(before, (not graph.has_edge(move.one, move.other),))
        assert move.gain == pytest.approx(max(rivals), abs=1e-9)
        before = graph.copy()
    assert max(gains(graph)) <= 1e-8


def test_cliques_with_too_many_cells_are_not_considered(monkeypatch):
    same = np.repeat(np.arange(3), 20)
    likelihood = MarginalLikelihood(np.column_stack([same, same, same]).astype(np.intp), [3] * 3)
    monkeypatch.setattr(search, "MOST_CELLS", 9)
    assert learn_graph(likelihood).number_of_edges() == 2
    monkeypatch.setattr(search, "MOST_CELLS", 8)
    assert learn_graph(likelihood).number_of_edges() == 0


@st.composite
def models(draw, least=1):
    graph = draw(chordal_graphs(least, most=5))
    codes, sizes = draw(records(len(graph)))
    return model_of(graph, codes, sizes, draw(st.sampled_from([0.5, 1.0, 4.0])))


@quick
@given(models(), st.data())
def test_messages_give_the_probability_of_any_evidence(model, data):
    joint = joint_table(model)
    known = {}
    for node in range(joint.ndim):
        if data.draw(st.booleans()):
            known[node] = data.draw(st.integers(0, joint.shape[node] - 1))
    logs = model.log_probability({node: np.array([[code]]) for node, code in known.items()})
    assert logs.shape == (1, 1)
    assert logs.item() == pytest.approx(np.log(probability(joint, known)), abs=1e-12)


def test_nothing_vanishes_in_a_long_chain():
    """Two thousand nodes, each with chance 0.001 of being what it is given the one before it."""
    table = np.full((2, 2), 0.0005)
    table[0, 0] = table[1, 1] = 0.4995
    graph = nx.path_graph(2001)
    prior = model_of(graph, np.empty((0, 2001), dtype=np.intp), (2,) * 2001)
    chain = GraphicalModel(prior.forest, (table,) * len(prior.forest))
    logs = chain.log_probability({node: np.array([[node % 2]]) for node in range(2001)})
    assert logs.item() == pytest.approx(np.log(0.5) + 2000 * np.log(0.001))


def bayes_factor(joint, known_a, known_b):
    both = probability(joint, {**known_a, **known_b})
    return both / (probability(joint, known_a) * probability(joint, known_b))


def test_the_chain_that_made_the_records_is_found_and_removal_mends_additions():
    random = np.random.default_rng(7)
    codes = np.empty((3000, 5), dtype=np.intp)
    codes[:, 0] = random.integers(0, 3, size=3000)
    for k in range(1, 5):
        stays = random.random(3000) < 0.7
        codes[:, k] = np.where(stays, codes[:, k - 1], random.integers(0, 3, size=3000))
    graph = learn_graph(MarginalLikelihood(codes, [3] * 5))
    assert set(map(frozenset, graph.edges)) == {frozenset((k, k + 1)) for k in range(4)}
    graph = nx.complete_graph(3)
    assert len(list(improvements(graph, MarginalLikelihood(np.array([*np.ndindex(3, 3, 3)]), [3] * 3)))) == 3
    assert graph.number_of_edges() == 0


@quick
@given(models(least=2), st.data(), st.sampled_from([1, 7, 10**6]))
def test_bayes_factors_by_enumeration_with_missing_values(model, data, at_once):
    joint = joint_table(model)
    nodes = data.draw(st.permutations(range(joint.ndim)))
    middle = data.draw(st.integers(1, len(nodes) - 1))
    sides = nodes[:middle], nodes[middle:]

    def drawn(side):
        record = st.tuples(*(st.integers(-1, joint.shape[node] - 1) for node in side))
        return np.array(data.draw(st.lists(record, min_size=1, max_size=4)), dtype=np.intp)

    queries, candidates = map(drawn, sides)
    bayes = BayesFactors(model, (queries, sides[0]), (candidates, sides[1]), at_once)
    rows = np.arange(len(queries))[::-1]
    weights = bayes.weights(rows)
    for place, row in enumerate(rows):
        for column, candidate in enumerate(candidates):
            known = [
                {node: code for node, code in zip(side, record, strict=True) if code >= 0}
                for side, record in zip(sides, (queries[row], candidate), strict=True)
            ]
            expected = np.log2(bayes_factor(joint, *known))
            assert weights[place, column] == pytest.approx(expected, abs=2e-9)
    turned = BayesFactors(model, (candidates, sides[1]), (queries, sides[0]))
    swapped = turned.weights(np.arange(len(candidates)))
    np.testing.assert_allclose(swapped, weights[::-1].T, atol=2e-9)


@quick
@given(models())
def test_connected_means_a_path_from_file_to_file(model):
    graph = nx.Graph()
    for clique in model.forest:
        nx.add_path(graph, clique.nodes)
        graph.add_nodes_from(clique.nodes)
    nodes = sorted(graph)
    for middle in range(len(nodes) + 1):
        expected = any(nx.has_path(graph, a, b) for a in nodes[:middle] for b in nodes[middle:])
        assert model.connected(nodes[:middle], nodes[middle:]) == expected


def em(weights, match_share, steps):
    """The iteration as the paper has it: the mean posterior probability is the next p."""
    for _ in range(steps):
        match_share = match_probabilities(weights, match_share).mean()
    return match_share


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.floats(-8, 8), min_size=4, max_size=30), st.floats(0.05, 0.95))
def test_the_share_of_matches_is_where_em_ends(weights, start):
    weights = np.array([*weights, 8.0, -8.0])
    found = estimated_match_share(weights)
    assert em(weights, found, 1) == pytest.approx(found, abs=1e-10)
    near = em(weights, start, 3000)
    assert abs(em(weights, found, 1) - found) <= abs(em(weights, near, 1) - near) + 1e-12
    assert near == pytest.approx(found, abs=2e-2)


def test_the_ends_of_the_range():
    assert estimated_match_share(np.array([-1.0, -3.0])) == 0.0
    assert estimated_match_share(np.array([1.0, 3.0])) == 1.0
    assert estimated_match_share(np.zeros(5)) == 0.0
    assert estimated_match_share(np.array([3000.0, -3000.0])) == pytest.approx(0.5)
    assert match_probabilities(np.array([5.0, 3000.0]), 0.0).tolist() == [0.0, 0.0]
    assert match_probabilities(np.array([-5.0]), 1.0).tolist() == [1.0]
