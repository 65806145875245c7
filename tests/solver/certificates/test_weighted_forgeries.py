"""Forged certificates and claims of fits that count sampling weights are rejected, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from claims import CHECK, CLAIM, forge, read, rejected, save, weighted_folder, written
from cli_runs import run

from linkrisk.solver.commands.program import main


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return weighted_folder()


def test_weights_that_were_changed_in_the_file(pair, capsys):
    original, masked = pair
    fitted = written()
    linked = next(at for at, row in enumerate(fitted["records_table"]["rows"]) if row[1])
    lost = next(at for at, row in enumerate(fitted["records_table"]["rows"]) if not row[1])
    for at, factor, key in ((linked, 1 + 1e-6, "total_weight"), (lost, 1 + 1e-6, "total_weight")):
        save(original.assign(W=original["W"].where(original.index != at, factor * original["W"])), masked)
        assert f"fit.json, {key}: " in rejected(capsys)
    # Two weights that change places leave the sum as it is.
    swapped = original["W"].to_numpy().copy()
    swapped[[linked, lost]] = swapped[[lost, linked]]
    assert swapped[linked] != swapped[lost]
    save(original.assign(W=swapped), masked)
    assert "fit.json, weighted_links: " in rejected(capsys)


@pytest.mark.parametrize(("weight", "shown"), [(-1.0, "-1"), (0.0, "0"), (np.nan, "missing")])
def test_weights_that_are_none(weight, shown, pair, capsys):
    original, masked = pair
    written()
    changed = original.assign(W=original["W"].where(original.index != 3, weight))
    save(changed, masked)
    capsys.readouterr()
    assert main([*CHECK]) == 2
    message = f"original.csv, column 'W', row 4: the sampling weight is {shown}; weights must be finite"
    assert message in capsys.readouterr().err
    # And without the schema, where the verifier alone reads them.
    assert main([*CLAIM]) == (2 if np.isnan(weight) else 1)
    said = (
        "row 4: missing value" if np.isnan(weight) else "'W', row 4 of the original file, is not above zero"
    )
    assert said in capsys.readouterr().err


def test_another_column_is_named(pair, capsys):
    del pair
    fitted, proof = written(), read("proof.json")
    names = [("fit.json", fitted), ("proof.json", proof["problem"])]
    for name, holder in names:  # in one of the two
        content = read(name)
        (content if holder is fitted else content["problem"])["weight"] = "other"
        Path(name).write_text(json.dumps(content), encoding="utf-8")
        assert "problem: the fit has weight " in rejected(capsys)
        Path(name).write_text(json.dumps(fitted if holder is fitted else proof), encoding="utf-8")
    fitted["weight"] = proof["problem"]["weight"] = "other"
    claims = {
        key: 2.0 * fitted[key] for key in ("total_weight", "weighted_links", "weighted_links_upper_bound")
    }
    for changed in ({}, claims):
        Path("fit.json").write_text(json.dumps({**fitted, **changed}), encoding="utf-8")
        Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
        assert "weight: the schema says that weights are in column 'W', the fit has 'other'" in rejected(
            capsys
        )
        assert rejected(capsys, *CLAIM).startswith("rejected: ")
    for column, message in (("nobody", "weight: neither file has a column 'nobody'"), ("V1", "total_weight")):
        fitted["weight"] = proof["problem"]["weight"] = column
        Path("fit.json").write_text(json.dumps(fitted), encoding="utf-8")
        Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
        assert message in rejected(capsys, *CLAIM)
    fitted["weight"] = proof["problem"]["weight"] = "text"
    Path("fit.json").write_text(json.dumps(fitted), encoding="utf-8")
    Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
    assert main([*CLAIM]) == 2
    assert "the original file, column 'text', row 1" in capsys.readouterr().err


def test_weights_that_are_dropped_from_the_claim(pair, capsys):
    del pair
    fitted, proof = written(), read("proof.json")
    sums = ("total_weight", "weighted_links", "weighted_links_upper_bound")
    del fitted["weight"]
    fitted["tied"] = None  # which has sums of weights, too
    Path("fit.json").write_text(json.dumps(fitted), encoding="utf-8")
    assert "the fit has weight None, the certificate W" in rejected(capsys)
    del proof["problem"]["weight"]
    Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
    assert "the schema says that weights are in column 'W', the fit has none" in rejected(capsys)
    assert "the fit names no column of weights" in rejected(capsys, *CLAIM)
    for key in sums:
        del fitted[key]
    Path("fit.json").write_text(json.dumps(fitted), encoding="utf-8")
    assert "proof.json, bound" in rejected(capsys, *CLAIM)
    fitted["weight"] = proof["problem"]["weight"] = "W"
    Path("proof.json").write_text(json.dumps(proof), encoding="utf-8")
    Path("fit.json").write_text(json.dumps(fitted), encoding="utf-8")
    assert main([*CHECK]) == 2
    assert "fit.json has no 'total_weight'" in capsys.readouterr().err


@pytest.mark.parametrize("ties", ["strict", "share"])
def test_sums_that_are_made_up(ties, pair, capsys):
    del pair
    fitted = written("--ties", ties)
    for key in ("total_weight", "weighted_links", "weighted_links_upper_bound"):
        for factor in (1 - 1e-8, 1 + 1e-8) if key != "weighted_links_upper_bound" else (1 - 1e-8, 10.0):
            forge(**{key: fitted[key] * factor})
            assert f"fit.json, {key}: " in rejected(capsys)
        forge(**{key: fitted[key] * (1 - 1e-12)})
        assert main([*CHECK]) == 0
        forge(**{key: fitted[key]})
    forge(weighted_links_upper_bound=fitted["weighted_links_upper_bound"] * (1 + 1e-6))
    assert "fit.json, status: it is not optimal" in rejected(capsys)
    forge(weighted_links_upper_bound=fitted["weighted_links_upper_bound"])
    forge(linked_upper_bound=fitted["linked_upper_bound"] - 1)
    assert "fit.json, linked_upper_bound: " in rejected(capsys)
    forge(linked_upper_bound=fitted["linked_upper_bound"])
    forge(baselines={"euclid": fitted["baselines"]["euclid"] * (1 + 1e-6)})
    assert "baselines, euclid" in rejected(capsys)


@pytest.mark.parametrize("family", ["weighted-mean", "choquet"])
def test_a_bound_that_is_lowered_in_the_certificate(family, pair, capsys):
    """By one unit, however small, or by another unit."""
    del pair
    written("--aggregator", family)
    proof = read("proof.json")
    bound = proof["bound"]
    for changed in (
        {"linked_weight": bound["linked_weight"] - 1},
        {"unit": 2 * bound["unit"]},
        {"of": 2},
        {"unit": 1, "of": 1, "linked_weight": 1},
    ):
        Path("proof.json").write_text(json.dumps({**proof, "bound": {**bound, **changed}}), encoding="utf-8")
        assert "proof.json, bound" in rejected(capsys) or "proof.json, proof" in rejected(capsys)


def test_missing_codes_of_the_weights_are_those_of_the_schema(pair, capsys):
    original, masked = pair
    written()
    Path("schema.json").write_text(
        json.dumps({"attributes": [{"name": "W", "role": "weight", "missing": ["999"]}]}), encoding="utf-8"
    )
    assert main([*CHECK]) == 0
    save(original.assign(W=original["W"].where(original.index != 3, 999.0)), masked)
    assert main([*CHECK]) == 2
    assert "the sampling weight is missing" in capsys.readouterr().err


def test_a_table_without_columns_of_that_name_is_said(pair, capsys):
    """Where neither file has it, `fit` counts all records alike, and so does `verify`."""
    original, masked = pair
    save(original.drop(columns="W"), masked)
    fitted = written()
    assert "weight" not in fitted
    capsys.readouterr()
    assert "no weighted mean links more than" in run(capsys, *CHECK)
