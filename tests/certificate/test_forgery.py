"""A forger's suite: no mutation of a fit and its certificate is accepted that says more than the honest ones.

Nor does one end in a traceback, or take two gigabytes or a minute. `forgeries.py` has the mutations and what
"says more" means; a failure names the pair and the seed of the mutation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from forgeries import mutated

HERE = Path(__file__).resolve().parent
MOST_KILOBYTES = 2_000_000
MOST_SECONDS = 60.0


def run(folder, seed, count):
    """What became of so many forgeries, tried in a process of its own."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent), str(HERE.parent.parent)])
    done = subprocess.run(
        [sys.executable, str(HERE / "forgery_run.py"), str(seed), str(count)],
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


def test_some_hundred_forgeries(tmp_path):
    check(run(tmp_path, 1, 250), 250)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_ten_thousand_forgeries(tmp_path, seed):
    check(run(tmp_path, seed, 5_000), 5_000)


def test_the_same_seed_makes_the_same_forgery(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = (
        '{"linked": 3, "parameters": {"weights": {"A": 1.0}}}',
        '{"linked": 3, "proof": {"lost": [[0, 1]]}}',
    )
    for seed in range(50):
        assert mutated(texts, Random(seed)) == mutated(texts, Random(seed))
    assert len({mutated(texts, Random(seed)) for seed in range(50)}) > 25
