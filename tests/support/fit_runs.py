"""Small file pairs, runs of `fit`, and what holds for every result."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk import evaluate, fit
from linkrisk.solver.engines.steering import BuildSteering, Steering

KEYS = {
    "format",
    "version",
    "aggregator", "aggregator_options", "alignment", "attributes", "backend", "baselines", "best_known",
    "candidates", "certificate", "command", "differences", "direction", "missing", "engine", "importance",
    "interaction", "limit", "linked",
    "linked_upper_bound", "linkrisk", "lost", "margin", "model", "name", "notes", "parameters", "phases",
    "records", "records_table", "seconds", "seed", "standardisation", "status", "threads", "tie_breaking",
    "tied", "ties", "time_limit", "trace", "versions",
}  # fmt: skip
"""What the JSON of every result has."""


def frames(seed, n=7, attributes=3, noise=1.2, twins=False):
    """A masked pair of random records; with `twins`, the first two masked records are the same."""
    random = np.random.default_rng(seed)
    original = random.normal(size=(n, attributes))
    masked = original + noise * random.normal(size=(n, attributes))
    if twins:
        masked[1] = masked[0]
    names = list("ABCDEF"[:attributes])
    return pd.DataFrame(original, columns=names), pd.DataFrame(masked, columns=names)


def solve(case, files, **options):
    """`fit` with the aggregator of a case."""
    return fit(*files, aggregator=case.name, **{**case.options, **options})


def check(result, files):
    """What holds for every result, whatever it says of its proof."""
    content = json.loads(result.to_json())
    assert content == result.to_dict() or json.loads(json.dumps(result.to_dict())) == content
    assert set(content) >= KEYS
    again = evaluate(*files, parameters=content)
    assert again.linked == result.linked
    assert content["linked"] == sum(row[1] for row in content["records_table"]["rows"])
    assert [row[1:3] for row in again.table.rows] == [row[1:3] for row in result.table.rows]
    assert 0 <= result.linked <= result.linked_upper_bound <= result.records - content["lost"]
    linked = content.get("expected_links", result.linked)
    assert linked >= content["baselines"]["euclid"] - 1e-9
    if result.status == "optimal" and "expected_links" not in content:
        assert result.linked == result.linked_upper_bound
    seconds, attacks, bounds = zip(*content["trace"], strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(attacks) == sorted(attacks)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert attacks[-1] == pytest.approx(linked)
    return content


def steered(**build):
    """The steering of a run that makes its rows otherwise than usual: fields of `BuildSteering`."""
    return Steering(build=BuildSteering(**build))
