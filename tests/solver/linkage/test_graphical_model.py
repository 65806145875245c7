"""Decomposable graphs, their search and their probabilities: against definitions and enumeration."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import chordal_graphs, joint_table, model_of, probability, records

from linkrisk.solver.linkage import graphical_model as search
from linkrisk.solver.linkage.bayesian import BayesFactors, estimated_match_share, match_probabilities
from linkrisk.solver.linkage.graphical_model import (
    GraphicalModel,
    MarginalLikelihood,
    addable,
    improvements,
    junction_forest,
    learn_graph,
    removable,
)

quick = settings(max_examples=40, deadline=None, derandomize=True)


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
