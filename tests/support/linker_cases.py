"""Small files and models for linkers, with everything about them by definition."""

from __future__ import annotations

import itertools
import random
from itertools import combinations, product
from pathlib import Path

import jellyfish
import networkx as nx
import numpy as np
import pandas as pd
from hypothesis import strategies as st
from rapidfuzz.distance import JaroWinkler, Levenshtein
from small_files import csv_text, survey

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.graphical_model import (
    GraphicalModel,
    cell_counts,
    junction_forest,
    posterior_mean,
)
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts
from linkrisk.solver.linkage.registry import LINKERS


def task_of(queries, candidates, attributes=None, scales=None, **facts):
    """A task on two frames; `scales` names attributes that are not what their values look like."""
    attributes = tuple(attributes or queries.columns)
    schema = Schema.from_frame(pd.DataFrame(queries[list(attributes)]))
    known = [scales.get(a.name, a) if scales else a for a in schema.attributes]
    return LinkageTask(queries, candidates, attributes, attributes, Schema(tuple(known)), **facts)


def ordinal(name, *categories):
    return {name: Attribute(name, scale=Scale.ORDINAL, categories=categories)}


def compare(*texts):
    return tuple(parse_comparison(text) for text in texts)


def expected_counts(m, u, p, pairs=1e6, missing=0.0):
    """Every pattern as often as a model expects it, missing values independent of everything."""
    patterns, counts = [], []
    for pattern in itertools.product(*(range(len(table) + 1) for table in m)):
        match = other = pairs
        for k, level in enumerate(pattern):
            known = 1.0 - missing
            match *= missing if level == 0 else known * m[k][level - 1]
            other *= missing if level == 0 else known * u[k][level - 1]
        patterns.append(pattern)
        counts.append(p * match + (1 - p) * other)
    counts = np.array(counts)
    return PatternCounts(np.array(patterns, dtype=np.uint8)[counts > 0], counts[counts > 0])


def drawn_files(records, seed, sizes, wrong):
    """Two files of the same records; a share `wrong[k]` of attribute k is drawn anew in the second.

    Returns both, and the m- and u-probabilities of agreement that values drawn like that have.
    """
    chance = np.random.default_rng(seed)
    first, second, m, u = {}, {}, [], []
    for k, (size, share) in enumerate(zip(sizes, wrong, strict=True)):
        likely = chance.dirichlet(np.full(size, 3.0))
        values = chance.choice(size, records, p=likely)
        anew = chance.random(records) < share
        first[f"x{k}"] = values.astype(float)
        second[f"x{k}"] = np.where(anew, chance.choice(size, records, p=likely), values).astype(float)
        same = float((likely**2).sum())
        m.append(1 - share + share * same)
        u.append(same)
    return pd.DataFrame(first), pd.DataFrame(second), np.array(m), np.array(u)


def closeness(comparison, a, b):
    """What two known values have in common: a difference, a similarity, or equality."""
    if comparison.measure.value == "within":
        return abs(a - b)
    scorers = {"jaro-winkler": JaroWinkler, "levenshtein": Levenshtein}
    scorer = scorers.get(comparison.measure.value)
    return float(a == b) if scorer is None else scorer.normalized_similarity(a, b)


def level(comparison, a, b):
    """The level of agreement of two values by definition; 0 where one is missing."""
    if pd.isna(a) or pd.isna(b):
        return 0
    value = closeness(comparison, a, b)
    if comparison.measure.value == "equal":
        return 1 + int(value)
    near = comparison.measure.value == "within"
    return 1 + sum(value <= limit if near else value >= limit for limit in comparison.thresholds)


def patterns_by_definition(task, comparisons, allowed=None):
    """How often each pattern occurs, pair by pair."""
    found = {}
    for _, query in task.queries.iterrows():
        for _, candidate in task.candidates.iterrows():
            if allowed is not None and not allowed(query, candidate):
                continue
            pattern = tuple(
                level(how, query[name], candidate[name])
                for name, how in zip(task.query_attributes, comparisons, strict=True)
            )
            found[pattern] = found.get(pattern, 0) + 1
    return found


def as_dict(counts):
    """Pattern counts as a dictionary."""
    rows = zip(counts.patterns.tolist(), counts.counts.tolist(), strict=True)
    return {tuple(pattern): count for pattern, count in rows}


# Small files of persons, and what passes do with them by definition: a plain double loop


SURNAMES = ("smith", "smyth", "schmidt", "jones", "johns", "miller", "mueller", "o'brien", "taylor", "tailor")
NAMES = ("anna", "anne", "bob", "robert", "martha", "marta", "dwayne", "duane")
COMPARE = compare("surname=jaro-winkler:0.92,0.8", "name=jaro-winkler:0.9", "town=equal", "age=within:0,2")


def persons(records, seed=0, wrong=0.15, missing=0.05):
    """Two files of the same persons in the same order, the second with errors; cells are missing in both."""
    chance = np.random.default_rng(seed)
    surnames = 1.0 / (1 + np.arange(len(SURNAMES)))

    def drawn():
        return pd.DataFrame(
            {
                "surname": chance.choice(SURNAMES, records, p=surnames / surnames.sum()).astype(object),
                "name": chance.choice(NAMES, records).astype(object),
                "town": chance.choice(("york", "cork", "leeds", "hull"), records).astype(object),
                "age": chance.integers(20, 60, records).astype(float),
                "born": [
                    f"19{y}-{m:02}-{d:02}"
                    for y, m, d in chance.integers([10, 1, 1], [99, 13, 29], (records, 3))
                ],
            }
        )

    first = drawn()
    second = first.where(chance.random(first.shape) > wrong, drawn())
    for frame in (first, second):
        for name in frame:
            frame.loc[chance.random(records) < missing, name] = None
    return first, second


def task(records, seed=0, **facts):
    """A task on such files; dates of birth are there for keys only."""
    first, second = persons(records, seed)
    return task_of(first, second, ("surname", "name", "town", "age"), **facts)


def linker(*passes, **settings):
    settings.setdefault("compare", COMPARE)
    return Probabilistic(passes=tuple(parse_pass(text) for text in passes), **settings)


FUNCTIONS = {
    "soundex(surname)": ("surname", lambda text: jellyfish.soundex(text.replace("'", ""))),
    "surname[:3]": ("surname", lambda text: text[:3]),
    "name[-1:]": ("name", lambda text: text[-1:]),
    "year(born)": ("born", lambda text: text[:4]),
    "month(born)": ("born", lambda text: str(int(text[5:7]))),
}


def key_values(one, frame):
    """The values of the keys of a pass, given as a list, for every record; None where one is missing."""
    found = []
    for record in frame.to_dict("records"):
        values = []
        for key in one:
            column, function = FUNCTIONS.get(key, (key, lambda value: value))
            values.append(None if pd.isna(record[column]) else function(record[column]))
        found.append(None if None in values else tuple(values))
    return found


def pairs_by_definition(passes, queries, candidates):
    """The first pass of every pair that some pass compares."""
    found = {}
    for p, one in enumerate(passes):
        first, second = key_values(one, queries), key_values(one, candidates)
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                if a is not None and a == b:
                    found.setdefault((i, j), p)
    return found


# Small decomposable graphs and models, with everything about them by enumeration


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


# Small files for every linker: with the same attributes, without a common one, and training records


KNOWN, PUBLISHED = ("age", "income"), ("hours", "rent")
APART = ["--original", "known.csv", "--masked", "published.csv"]
TOGETHER = ["--original", "original.csv", "--masked", "masked.csv"]


def with_rent(records: int, seed: int) -> list[list[float]]:
    """Answers of the survey, and a rent that grows with the income."""
    chance = random.Random(seed + 100)
    return [
        [age, income, hours, round(income * (0.2 + 0.05 * chance.random()))]
        for age, income, hours in survey(records, seed)
    ]


def write_files() -> None:
    """Write known.csv, published.csv (the same people, other attributes) and training.csv (other people)."""
    people = with_rent(30, 1)
    Path("known.csv").write_text(csv_text([row[:2] for row in people], KNOWN), encoding="utf-8")
    Path("published.csv").write_text(csv_text([row[2:] for row in people], PUBLISHED), encoding="utf-8")
    names = (*KNOWN, *PUBLISHED)
    Path("training.csv").write_text(csv_text(with_rent(300, 7), names), encoding="utf-8")


def link_arguments(method: str) -> list[str]:
    """A `link` by this method on the small files."""
    linker = LINKERS[method]
    files = TOGETHER if linker.common_attributes else APART
    training = ["--training", "training.csv"] if linker.learns_from_training else []
    return ["link", "--method", method, *files, *training]
