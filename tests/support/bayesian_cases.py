"""Small decomposable graphs and models, with everything about them by enumeration."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from linkrisk.solver.linkage.graphical_model import (
    GraphicalModel,
    cell_counts,
    junction_forest,
    posterior_mean,
)


@st.composite
def chordal_graphs(draw, least=1, most=7):
    """Edges drawn one by one; those that would make a cycle without a chord are left out again."""
    nodes = draw(st.integers(least, most))
    graph = nx.empty_graph(nodes)
    for edge in draw(st.permutations(list(combinations(range(nodes), 2)))):
        if draw(st.booleans()):
            graph.add_edge(*edge)
            if not nx.is_chordal(graph):
                graph.remove_edge(*edge)
    return graph


@st.composite
def records(draw, attributes, most=12):
    """Codes of a few records, and how many categories each attribute has."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=attributes, max_size=attributes)))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = draw(st.lists(row, min_size=1, max_size=most))
    return np.array(rows, dtype=np.intp).reshape(-1, attributes), sizes


def model_of(graph, codes, sizes, prior_weight=1.0):
    """The model with posterior means of these records; none gives the prior alone."""
    forest = junction_forest(graph)
    tables = tuple(
        posterior_mean(
            *cell_counts(codes, clique.nodes, sizes),
            tuple(sizes[node] for node in clique.nodes),
            prior_weight,
        )
        for clique in forest
    )
    return GraphicalModel(forest, tables)


def joint_table(model):
    """All probabilities, one axis per node: the product over cliques over the product over separators."""
    sizes = [model.sizes[node] for node in sorted(model.sizes)]
    joint = np.ones(sizes)
    for state in product(*map(range, sizes)):
        for clique, table in zip(model.forest, model.tables, strict=True):
            joint[state] *= table[tuple(state[node] for node in clique.nodes)]
            if clique.separator:
                inside = [clique.nodes.index(node) for node in clique.separator]
                others = tuple(k for k in range(table.ndim) if k not in inside)
                joint[state] /= table.sum(axis=others)[tuple(state[node] for node in clique.separator)]
    return joint


def probability(joint, known):
    """Of what is known, from all probabilities."""
    return joint[tuple(known.get(node, slice(None)) for node in range(joint.ndim))].sum()
