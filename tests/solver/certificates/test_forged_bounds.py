"""Bounds and states of proofs that are claimed beside a certificate, and are not so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from claims import CLAIM, fitted, forge, save

from linkrisk.solver.commands.program import main


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def test_a_fit_that_links_more_than_its_own_bound(capsys):
    random = np.random.default_rng(0)
    save(*({"A": random.normal(size=9), "B": random.normal(size=9)} for _ in range(2)))
    fit = fitted()
    forge(linked_upper_bound=fit["linked"] - 1)
    assert main([*CLAIM]) == 1
    told = f"linked_upper_bound: {fit['linked'] - 1}, but {fit['linked']} are linked"
    assert told in capsys.readouterr().err


def test_a_gap_that_is_called_proven(capsys):
    random = np.random.default_rng(0)
    save(*({"A": random.normal(size=9), "B": random.normal(size=9)} for _ in range(2)))
    fit = fitted()
    forge(linked_upper_bound=fit["linked"] + 1)
    assert main([*CLAIM]) == 1
    assert "status: it is not optimal" in capsys.readouterr().err


@pytest.mark.parametrize("status", ["proven optimal", "Optimal", "x", ""])
def test_a_status_that_only_looks_like_a_proof(status, capsys):
    """Anything but the one word was held to nothing, and named among what was checked."""
    random = np.random.default_rng(0)
    save(*({"A": random.normal(size=9), "B": random.normal(size=9)} for _ in range(2)))
    fit = fitted()
    forge(linked_upper_bound=fit["linked"] + 1, status=status)
    assert main([*CLAIM]) == 1
    assert "status must be one of optimal, feasible, interrupted, no_solution" in capsys.readouterr().err


@pytest.mark.parametrize("status", ["optimal", "feasible"])
def test_a_bound_beyond_all_numbers(status, capsys):
    save({"A": [1.0, 2.0, 4.0]}, {"A": [1.25, 2.0, 4.5]})
    fit = fitted()
    fit.update(linked_upper_bound=10**400, status=status)
    Path("fit.json").write_text(json.dumps(fit), encoding="utf-8")
    capsys.readouterr()
    assert main([*CLAIM]) == 1
    message = "rejected: fit.json, linked_upper_bound: more is claimed than there are records, 3\n"
    assert capsys.readouterr().err == message
