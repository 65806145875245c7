"""Decomposable graphs and the search among them: against enumeration and full recomputation."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from bayesian_cases import chordal_graphs, model_of, records
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.solver.linkage import graphical_model as search
from linkrisk.solver.linkage.graphical_model import (
    MarginalLikelihood,
    addable,
    improvements,
    junction_forest,
    learn_graph,
    removable,
)

quick = settings(max_examples=60, deadline=None, derandomize=True)


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
def test_the_removable_edges_are_those_of_one_clique_and_the_separator_is_its_rest(graph):
    cliques = [set(nodes) for nodes in nx.find_cliques(graph)]
    for one, other, separator in removable(graph):
        assert [clique for clique in cliques if {one, other} <= clique] == [separator | {one, other}]


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
def test_the_marginal_likelihood_of_a_table_is_that_of_an_urn(data):
    """Records come one after the other, each with the chance that those before it and the prior give it."""
    codes, sizes = data.draw(records(3))
    weight = data.draw(st.sampled_from([0.5, 1.0, 4.0]))
    likelihood = MarginalLikelihood(codes, sizes, weight)
    for chosen in ((0,), (2,), (0, 2), (0, 1, 2)):
        cells = [tuple(row) for row in codes[:, chosen].tolist()]
        size = np.prod([sizes[k] for k in chosen])
        chances = [(cells[:at].count(cell) + weight / size) / (at + weight) for at, cell in enumerate(cells)]
        assert likelihood.of(frozenset(chosen)) == pytest.approx(np.log(chances).sum(), abs=1e-9)
    assert likelihood.of(frozenset()) == 0.0


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
    codes, sizes = data.draw(records(attributes, most=25))
    likelihood = MarginalLikelihood(codes, sizes)
    graph = nx.empty_graph(attributes)
    before = graph.copy()
    for move in improvements(graph, likelihood):
        assert nx.is_chordal(graph)
        gain = full_score(graph, likelihood) - full_score(before, likelihood)
        assert move.gain == pytest.approx(gain, abs=1e-9)
        assert move.gain > 0
        added = graph.has_edge(move.one, move.other)
        rivals = [
            full_score(changed, likelihood) - full_score(before, likelihood)
            for edge in combinations(before, 2)
            if before.has_edge(*edge) != added and nx.is_chordal(changed := with_edge_changed(before, edge))
        ]
        assert move.gain == pytest.approx(max(rivals), abs=1e-9)
        before = graph.copy()
    for edge in combinations(graph, 2):
        changed = with_edge_changed(graph, edge)
        if nx.is_chordal(changed):
            assert full_score(changed, likelihood) <= full_score(graph, likelihood) + 1e-8


def test_gains_of_larger_graphs_add_up_to_the_score():
    random = np.random.default_rng(3)
    hidden = random.integers(0, 3, size=(200, 2))
    codes = (hidden[:, random.integers(0, 2, size=12)] + (random.random((200, 12)) < 0.3)).astype(np.intp)
    likelihood = MarginalLikelihood(codes, [4] * 12)
    graph = nx.empty_graph(12)
    start = full_score(graph, likelihood)
    moves = list(improvements(graph, likelihood))
    assert len(moves) >= 10
    assert full_score(graph, likelihood) == pytest.approx(start + sum(move.gain for move in moves))


def test_removal_mends_what_additions_left_behind():
    """A search that begins with all edges, for which no data speak, takes them away again."""
    codes = np.array([[a, b, c] for a in range(3) for b in range(3) for c in range(3)], dtype=np.intp)
    graph = nx.complete_graph(3)
    moves = list(improvements(graph, MarginalLikelihood(codes, [3] * 3)))
    assert len(moves) == 3
    assert graph.number_of_edges() == 0


def test_the_chain_that_made_the_records_is_found():
    random = np.random.default_rng(7)
    codes = np.empty((3000, 5), dtype=np.intp)
    codes[:, 0] = random.integers(0, 3, size=3000)
    for k in range(1, 5):
        stays = random.random(3000) < 0.7
        codes[:, k] = np.where(stays, codes[:, k - 1], random.integers(0, 3, size=3000))
    graph = learn_graph(MarginalLikelihood(codes, [3] * 5))
    assert set(map(frozenset, graph.edges)) == {frozenset((k, k + 1)) for k in range(4)}


def test_cliques_with_too_many_cells_are_not_considered(monkeypatch):
    same = np.repeat(np.arange(3), 20)
    likelihood = MarginalLikelihood(np.column_stack([same, same, same]).astype(np.intp), [3] * 3)
    monkeypatch.setattr(search, "MOST_CELLS", 9)
    assert learn_graph(likelihood).number_of_edges() == 2
    monkeypatch.setattr(search, "MOST_CELLS", 8)
    assert learn_graph(likelihood).number_of_edges() == 0
