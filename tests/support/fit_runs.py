"""Small file pairs, runs of `fit`, of all records and of parts, and what holds for every result."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from linkrisk import evaluate, fit
from linkrisk.solver.engines.exact.engine import ExactEngine
from linkrisk.solver.engines.steering import BuildSteering, PartSteering, Steering, TreeSteering
from linkrisk.solver.worst_case import parts
from linkrisk.solver.worst_case.parts import UntilHopeless

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


# Runs of `fit` on tiny files whose search of all records is soon given up for parts of them


PARTS = PartSteering(fewest=1, before=0.0, wide=0.0, size=8, worth_processes=1e9)
STEERING = Steering(parts=PARTS, tree=TreeSteering(budget=1))
"""Parts from the first step of the proof on, in this process; trees take small steps."""


def hopeless(patch):
    """Let the search of all records be given up before it has proven anything, whatever it could prove."""
    inner = ExactEngine.run

    def run(self, system, incumbent, *given):
        if isinstance(incumbent.clock, UntilHopeless):
            incumbent.enter("branch and cut")
            incumbent.note()
            assert incumbent.clock.expired
        return inner(self, system, incumbent, *given)

    patch.setattr(ExactEngine, "run", run)


def one_round(patch):
    """Let this be so, and there be one round of parts, and nothing after it."""
    hopeless(patch)
    patch.setattr(parts._PartSearches, "_done", property(lambda _: True))
    patch.setattr(parts, "_once_more", lambda *given: given[-2:])


def noisy(seed=3, records=30, attributes=3):
    """A pair that links few records, two of which share their masked record."""
    return frames(seed, records, attributes, noise=1.2, twins=True)


def in_parts(files, limit=60.0, **options):
    """The result of a fit that goes by parts, and its progress."""
    told = []
    options = {"steering": STEERING, "time_limit": limit, **options}
    return fit(*files, on_progress=told.append, **options), told
