"""A forger's suite: no mutation of a fit and its certificate is accepted that says more than the honest ones.

Nor does one end in a traceback, or take two gigabytes or a minute. `forgeries.py` has the mutations,
`forgery_run.py` the honest pairs and what "says more" means; a failure names the pair and the seed of the
mutation, and leaves the forgery in its working folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aggregator_cases import BY_LABEL
from certified import kinds
from forgery_run import honest_pairs, tries

ROOT = Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "tests" / "support"
MOST_KILOBYTES = 2_000_000
MOST_SECONDS = 60.0

HITTING = {"lost", "core", "leaf"}
PROOFS = {
    "weighted-mean": {*HITTING, "edge", "clique"},
    "owa": {*HITTING, "edge"},
    "choquet": {*HITTING, "monotone", "clique", "half", "split"},
    "2-additive": {*HITTING, "edge", "clique", "half", "split", "closed"},
    "3-additive": {*HITTING, "monotone", "total", "split", "closed"},
    "mahalanobis": {"core", "leaf", "split"},
    "mahalanobis-absolute": {"core", "leaf", "split"},
    "weighted-mean categories": {"lost", "leaf", "edge"},
    "choquet categories": {*HITTING, "monotone"},
    "mahalanobis categories": {*HITTING},
    "weighted-mean weights": {"lost", "leaf", "edge"},
    "choquet weights": {*HITTING},
    "mahalanobis weights": {"core", "leaf"},
    "lost": {"lost"},
}
"""What the honest proofs of each family must be made of (`kinds`)."""


def run(folder, seed, count):
    paths = os.pathsep.join([str(ROOT), str(SUPPORT)])
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "forgery_run.py"), str(seed), str(count)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def check(report, count):
    assert report["wrong"] == []
    outcomes = report["outcomes"]
    assert sum(outcomes.values()) == count
    assert "crashed" not in outcomes
    assert report["kilobytes"] - report["kilobytes_before"] < MOST_KILOBYTES  # compiling may take as much
    assert report["slowest"] < MOST_SECONDS  # of the processor's time, for one forgery
    # Mutations that all fail to be read, or that change nothing, would show nothing.
    assert outcomes["RejectedError"] > 0.2 * count
    assert 0 < outcomes["accepted"] < 0.4 * count
    # And every part of a proof was wrong at least once.
    assert {"lost", "cores", "inequalities", "tree", "rivals"} <= report["parts"].keys()


def test_the_honest_pairs_hold_every_kind_of_proof(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, ties, methods, settings, units, room = {}, set(), set(), set(), set(), []
    for honest in honest_pairs():
        certificate = json.loads(honest.texts[1])
        method = certificate["proof"]["method"]
        made.setdefault(honest.label, set()).update(kinds(certificate))
        methods.add((honest.label, method))
        units.add(certificate["bound"]["unit"])
        room.append(honest.verdict.linked_weight < honest.verdict.bound)
        problem = honest.verdict.problem
        settings |= {problem.direction, problem.standardisation, bool(problem.methods)}
        if method != "lost":
            ties.add((honest.label, problem.ties))
    assert made.keys() == PROOFS.keys()
    assert {label: need - made[label] for label, need in PROOFS.items() if not need <= made[label]} == {}
    assert ties >= {(label, rule) for label in made.keys() & BY_LABEL for rule in ("strict", "share")}
    assert methods >= {
        (label, method)
        for label in ("weighted-mean", "owa", "2-additive")
        for method in ("hitting-set", "simplex-tree")
    }
    assert {1, 2, 6} <= units
    assert settings == {
        *("original-to-masked", "masked-to-original"),
        *("own", "original", "pooled", "none"),
        *(False, True),
    }
    # Where as many are linked as the bound allows, a smaller bound is refused before its proof is read.
    assert sum(room) > len(room) / 2


def test_a_hundred_forgeries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(tries(2, 100), 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_ten_thousand_forgeries(tmp_path, seed):
    check(run(tmp_path, seed, 5_000), 5_000)
