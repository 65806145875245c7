"""Missing values in every aggregator, by every rule: by definition, optimal by brute force, verified."""

from __future__ import annotations

import json

import aggregator_cases
import brute_force as plain
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import CASES
from exact_runs import every_search, optimum
from pairwise import pairwise

from linkrisk.formulations.linkage.comparison import Columns, Missing
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair
from linkrisk.solver.certificates.checking.verify import verify
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.lexicographic import linked_in_order
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.worst_case.operations.fit import fit

everywhere = pytest.mark.parametrize("case", CASES, ids=aggregator_cases.LABELS)
rules = pytest.mark.parametrize("rule", list(Missing), ids=str)


def lacking(seed, n, attributes=3, share=0.2, noise=0.6):
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    masked = original + noise * random.normal(size=(n, attributes))
    for values in (original, masked):
        values[2:][random.random((n - 2, attributes)) < share] = np.nan
    return original, masked


@pairwise(case=CASES, rule=list(Missing), direction=list(Direction), ties=list(Ties))
def test_the_evaluator_counts_by_definition(case, rule, direction, ties):
    files = lacking(1, 14)
    files[1][7] = files[1][8] = files[1][9]
    pair = make_pair(*files, direction=direction, ties=ties, columns=Columns(missing=rule))
    aggregator = case.make(3)
    reference = plain.of_pair(pair, rule.value)
    for theta in aggregator.domain.sample(3, np.random.default_rng(2)):
        define = case.define(aggregator, aggregator.decode(theta))
        expected = plain.outcome(reference, define, aggregator.differences.value)
        found = Evaluator(pair, 1).rank(aggregator.form(theta))
        assert found.linked.tolist() == expected.linked
        assert found.rank.tolist() == expected.rank
        assert found.ties.tolist() == expected.ties
        np.testing.assert_allclose(found.distance, expected.distance, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(found.nearest_other, expected.nearest_other, rtol=1e-9, atol=1e-13)
        count = Evaluator(pair).count(aggregator.form(theta)).linked
        np.testing.assert_array_equal(count, found.linked)


@pairwise(case=CASES, rule=list(Missing), seed=range(2))
def test_every_search_finds_the_optimum(case, rule, seed):
    direction = list(Direction)[seed % 2]
    pair = make_pair(*lacking(seed, 5, noise=1.0), direction=direction, columns=Columns(missing=rule))
    best = optimum(pair, case, records=plain.of_pair(pair, rule.value))
    for name, made in every_search(pair, case.make(3)).items():
        assert made.incumbent.value >= best - 1e-9, name
        assert made.incumbent.bound >= best - 1e-9, name


@rules
@pytest.mark.parametrize("ranked", [False, True])
def test_orders_compare_by_definition(rule, ranked):
    pair = make_pair(*lacking(5, 20), columns=Columns(missing=rule))
    reference = plain.of_pair(pair, rule.value)
    order = (2, 0, 1)
    found = linked_in_order(pair, np.array(order), ranked=ranked)
    for block in range(pair.blocks):
        distances = [sorted(c, reverse=True) if ranked else c for c in reference.distances(block, "absolute")]
        own = distances[reference.partner[block]]
        nearer = [
            j
            for j in reference.rivals(block)
            if tuple(distances[j][k] for k in order) <= tuple(own[k] for k in order)
        ]
        assert found[block] == (not nearer)


@everywhere
@rules
@pytest.mark.parametrize("mixed", [False, True], ids=["numbers", "categories"])
def test_fit_and_its_certificate(case, rule, mixed):
    tables = [pd.DataFrame(values, columns=["a", "b", "c"]) for values in lacking(3, 16)]
    options = {"aggregator": case.name, **case.options, "missing": rule.value}
    if mixed:
        for table in tables:
            table["b"] = [None if np.isnan(x) else "xyz"[(x > -0.5) + (x > 0.5)] for x in table["b"]]
        options["nominal"] = ["b"]
    if mixed and options.get("differences") == "signed":
        pytest.skip("differences of categories have no sign")
    result = fit(*tables, certificate=True, time_limit=30.0, **options)
    assert result.linked <= result.linked_upper_bound
    assert any(f"missing='{rule}'" in note for note in result.details["notes"])
    claim, certificate = (json.loads(json.dumps(each)) for each in (result.to_dict(), result.certificate))
    files = make_problem(*tables, ProblemOptions(**options)).files
    verdict = verify(claim, certificate, files, ("fit", "certificate"))
    assert (verdict.linked, verdict.bound_count) == (result.linked, result.linked_upper_bound)
    assert verdict.has_missing
    other = next(each for each in Missing if each is not rule)
    with pytest.raises(RejectedError, match=f"the fit has missing {other}, the certificate {rule}"):
        verify({**claim, "missing": other.value}, certificate, files, ("fit", "certificate"))
