"""Known models of Fellegi and Sunter, small files, and comparing by definition, for tests of `prl`."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from rapidfuzz.distance import JaroWinkler, Levenshtein

from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts


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
