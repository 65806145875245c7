"""Certificates of fits that count sampling weights: against brute force, printed, and forged."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import brute_force as plain
import brute_optimum
import numpy as np
import pytest
from aggregator_cases import BY_LABEL, CERTIFIABLE
from certified import frames
from claims import (
    CHECK,
    CLAIM,
    KINDS,
    PROOF,
    SCHEMA,
    forge,
    read,
    rejected,
    save,
    weighted,
    weighted_folder,
    write,
    written,
)
from cli_runs import run

from linkrisk import fit, verify
from linkrisk.solver.commands.program import main

LABELS = [case.label for case in CERTIFIABLE]


def proven(files, **options):
    made = fit(*files, schema=SCHEMA, certificate=True, time_limit=None, **options)
    assert made.certificate is not None, made.details["certificate"]
    fitted, certificate = json.loads(made.to_json()), json.loads(json.dumps(made.certificate))
    return fitted, verify(fitted, *files, certificate=certificate, schema=SCHEMA)


def exact_sum(fitted, files, direction, share):
    """What is linked, as a rational number, by the table of records alone."""
    original, masked = files
    queries = original if direction == "original-to-masked" else masked
    total = Fraction(0)
    for row in fitted["records_table"]["rows"]:
        at = int(row[0]) - 1
        candidates = masked if queries is original else original.drop(columns="W")
        copies = int((candidates == candidates.iloc[at]).all(axis=1).sum()) if share else 1
        total += Fraction(float(original["W"].iloc[at])) / copies if row[1] else 0
    return total


# ---------------------------------------------------------------- what is proved


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_the_optimum_of_brute_force_is_proved(label, seed):
    kind, case = list(KINDS)[seed], BY_LABEL[label]
    ties = ("strict", "share")[(seed + LABELS.index(label)) % 2]
    direction = ("original-to-masked", "masked-to-original")[seed // 2 % 2]
    files = weighted(seed, kind)
    fitted, found = proven(files, aggregator=case.name, ties=ties, direction=direction, **case.options)
    values = [frame[["V1", "V2"]].to_numpy() for frame in files]
    reference = plain.records(*values, direction, share=ties == "share")
    reference = replace(reference, sampling=files[0]["W"].tolist())
    best = brute_optimum.optimum(reference, case.family(2), 1e-7)
    assert found.verified, found.rejected
    verdict = found.verdict
    assert verdict.linked_weight <= verdict.bound
    assert float(verdict.bound) == pytest.approx(best, rel=2e-9)
    assert verdict.linked_weight == exact_sum(fitted, files, direction, ties == "share")
    assert verdict.total == sum(map(Fraction, files[0]["W"].tolist()))
    assert fitted["status"] == "optimal"


def test_a_search_without_time_is_certified_for_what_it_knows():
    files = weighted(3, "tenths", rows=20)
    made = fit(*files, schema=SCHEMA, certificate=True, time_limit=1e-9)
    found = verify(made, *files, schema=SCHEMA)
    assert found.verified, found.rejected
    assert made.status == "feasible"
    assert found.to_dict()["proved"]["weighted_links_upper_bound"] <= made.interval[1] * (1 + 1e-9)


def test_weights_of_the_masked_file_and_records_without_partner():
    """Blocks are those with a partner; the weights of all others count nowhere."""
    original, masked = weighted(4, "tenths", rows=12)
    original["key"] = range(12)
    masked = masked.assign(key=range(12), W=original.pop("W"))
    original, masked = original.iloc[2:], masked.iloc[:9].iloc[::-1]
    for direction in ("original-to-masked", "masked-to-original"):
        made = fit(original, masked, id="key", schema=SCHEMA, direction=direction, certificate=True)
        found = verify(made, original, masked, id="key", schema=SCHEMA)
        assert found.verified, found.rejected
        assert (found.verdict.records, found.verdict.weighted_file) == (7, "masked")
        assert found.verdict.total == sum(Fraction(w) for w in masked["W"][masked["key"] >= 2].tolist())


@pytest.mark.parametrize("label", ["weighted-mean", "owa", "choquet"])
@pytest.mark.parametrize("gone", ["lost", "given up"])
def test_heavy_records_do_not_blur_the_light_ones(gone, label):
    """Weights of a millionth are below the rounding of a sum with 3e9 in it."""
    original, masked = frames(3, 8, 2, twins=False)
    if gone == "lost":  # whoever comes after them is what they were
        masked.iloc[:3] = masked.iloc[3:6].to_numpy()
        original.iloc[:3] = original.iloc[3:6].to_numpy() + 0.01
    else:  # two that cannot be linked together, and so on
        masked.iloc[[0, 1, 2]] = masked.iloc[[1, 2, 0]].to_numpy()
    weights = np.array([1e9, 1e9, 1e9, 1.5e-6, 1e-6, 3e-6, 1e-6, 2e-6])
    case = BY_LABEL[label]
    fitted, found = proven((original.assign(W=weights), masked), aggregator=case.name, **case.options)
    assert found.verified, found.rejected
    low, high = fitted["weighted_links"], fitted["weighted_links_upper_bound"]
    assert high < 1e-5
    # A search whose unit is their mean takes such sums for the same; nobody else needs to.
    assert (fitted["status"] == "optimal") == (high <= low * (1 + 1e-9))


def test_an_order_of_attributes_that_links_more_is_told_with_its_weight(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x = [0.4999, 1.0, 1e6, 2e6, 3e6, 4e6]  # the first is nearly half way between two, which is a tie here
    save({"x": x, "W": [2.5, 1, 1, 1, 1, 1]}, {"x": [0.0, *x[1:]]})
    write("schema.json", SCHEMA)
    options = ["--schema", "schema.json", "--row-by-row"]
    assert main(["fit", *CLAIM[4:], *PROOF, *options, "--standardisation", "none"]) == 0
    capsys.readouterr()
    assert main([*CLAIM, *options]) == 0
    printed = capsys.readouterr().out
    assert "differ by more than a tie links records that stand for more than 5 of 7.5 (weights of" in printed
    said = "links 6 records, which stand for 7.5, by differences so small compared with others"
    assert f"not covered by this: comparing x alone {said}" in printed
    forge(weighted_links_upper_bound=7.4)
    assert main([*CLAIM, *options]) == 1
    assert "upper_bound: 7.4 is claimed, an order of attributes links 7.5" in capsys.readouterr().err


# ---------------------------------------------------------------- on the command line


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return weighted_folder()


@pytest.mark.parametrize(
    ("ties", "direction"), [("strict", "original-to-masked"), ("share", "masked-to-original")]
)
def test_what_is_printed(ties, direction, pair, capsys):
    fitted = written("--ties", ties, "--direction", direction)
    capsys.readouterr()
    lines = run(capsys, *CHECK).splitlines()
    total, most = f"{pair[0]['W'].sum():.10g}", f"{fitted['weighted_links']:.10g}"
    shared = ", shared by identical candidates" if ties == "share" else ""
    assert lines[1:4] == [
        f"proved: no weighted mean links records that stand for more than {most} of {total} (weights of "
        f"column W of the original file{shared}; {direction}, ties {ties}, records aligned row by row), by "
        "squared differences of V1, V2, each file in units of its own mean and deviation",
        f"proved: the parameters of the fit link {fitted['linked']} records, which stand for {most}",
        f"proved: by that bound no more than {fitted['linked_upper_bound']} of 12 records are linked",
    ]
    checked, _, unchecked = next(one for one in lines if "; not checked " in one).partition("; not checked ")
    for key in (
        "weighted_links",
        "weighted_links_upper_bound",
        "total_weight",
        "linked",
        "baselines (euclid)",
    ):
        assert key in checked
    assert "weight" not in unchecked
    assert read("proof.json")["problem"]["weight"] == "W"


# ---------------------------------------------------------------- weighted forgeries


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
        write(name, content)
        assert "problem: the fit has weight " in rejected(capsys)
        write(name, fitted if holder is fitted else proof)
    fitted["weight"] = proof["problem"]["weight"] = "other"
    claims = {
        key: 2.0 * fitted[key] for key in ("total_weight", "weighted_links", "weighted_links_upper_bound")
    }
    for changed in ({}, claims):
        write("fit.json", {**fitted, **changed})
        write("proof.json", proof)
        assert "weight: the schema says that weights are in column 'W', the fit has 'other'" in rejected(
            capsys
        )
        assert rejected(capsys, *CLAIM).startswith("rejected: ")
    for column, message in (("nobody", "weight: neither file has a column 'nobody'"), ("V1", "total_weight")):
        fitted["weight"] = proof["problem"]["weight"] = column
        write("fit.json", fitted)
        write("proof.json", proof)
        assert message in rejected(capsys, *CLAIM)
    fitted["weight"] = proof["problem"]["weight"] = "text"
    write("fit.json", fitted)
    write("proof.json", proof)
    assert main([*CLAIM]) == 2
    assert "the original file, column 'text', row 1" in capsys.readouterr().err


def test_weights_that_are_dropped_from_the_claim(pair, capsys):
    del pair
    fitted, proof = written(), read("proof.json")
    sums = ("total_weight", "weighted_links", "weighted_links_upper_bound")
    del fitted["weight"]
    fitted["tied"] = None  # which has sums of weights, too
    write("fit.json", fitted)
    assert "the fit has weight None, the certificate W" in rejected(capsys)
    del proof["problem"]["weight"]
    write("proof.json", proof)
    assert "the schema says that weights are in column 'W', the fit has none" in rejected(capsys)
    assert "the fit names no column of weights" in rejected(capsys, *CLAIM)
    for key in sums:
        del fitted[key]
    write("fit.json", fitted)
    assert "proof.json, bound" in rejected(capsys, *CLAIM)
    fitted["weight"] = proof["problem"]["weight"] = "W"
    write("proof.json", proof)
    write("fit.json", fitted)
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


def test_missing_codes_of_the_weights_are_those_of_the_schema(pair, capsys):
    original, masked = pair
    written()
    write("schema.json", {"attributes": [{"name": "W", "role": "weight", "missing": ["999"]}]})
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
