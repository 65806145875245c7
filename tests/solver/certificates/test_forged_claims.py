"""Claims that were once accepted and are false, or that hide what they rest on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from categorical_cases import MASKING, SCHEMA
from categorical_cases import frames as mixed_frames
from claims import CLAIM, PAIR, PROOF, fitted, forge, read, rejected, save, write

from linkrisk.solver.commands.program import main


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


# Parameters that miss their family


OUTSIDE = [
    (("--aggregator", "weighted-mean"), {"weights": {"A": 1.0, "B": -9e-10}}, "a weight is below zero"),
    (("--aggregator", "owa"), {"weights": {"1": -9e-10, "2": 1.0}}, "a weight is below zero"),
    (
        ("--aggregator", "choquet"),
        {"measure": {"A": 1.0, "B": -9e-10, "A,B": 1.0}},
        "the measure is not monotone from subset 0 to 10",
    ),
    (
        ("--aggregator", "choquet", "--k-additive", "2"),
        {"moebius": {"A": 1.0, "B": -9e-10, "A,B": 0.0}},
        "a weight is below zero",
    ),
    (
        ("--aggregator", "mahalanobis"),
        {"matrix": [[1.0, 0.0], [0.0, -9e-10]]},
        "it is not positive semidefinite",
    ),
]


@pytest.mark.parametrize(("family", "parameters", "message"), OUTSIDE, ids=[row[0][-1] for row in OUTSIDE])
def test_parameters_that_miss_their_family_by_a_billionth(family, parameters, message, capsys):
    """The partner is a million away in B, and somebody else is where it was: nobody can be linked."""
    a, b = [0, 0, 100, 100, 200, 200], [0, 10**6] * 3
    save({"A": a, "B": b}, {"A": a, "B": b[::-1]})
    fit = fitted(*family, "--standardisation", "none", "--row-by-row")
    assert (fit["linked"], fit["linked_upper_bound"]) == (0, 0)
    assert main([*CLAIM, "--row-by-row"]) == 0
    forge(parameters=parameters, linked=6, linked_upper_bound=6)
    capsys.readouterr()
    assert main([*CLAIM, "--row-by-row"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("rejected: proof.json, parameters")
    assert captured.err.endswith(f"{message}\n")


# Moments


def test_moments_of_the_certificate_are_not_asked_for(capsys):
    """Years five apart: one is linked, all others tie. A mean that is 1e-12 smaller would link them all."""
    years = 2000.0 + 10.0 * np.arange(12)
    save({"year": years}, {"year": years + 5})
    fit = fitted("--standardisation", "original")
    assert (fit["linked"], fit["linked_upper_bound"]) == (1, 1)
    assert main([*CLAIM]) == 0
    mean, deviation = float(years.mean()), float(years.std(ddof=1))
    moments = {
        "original": {"mean": [mean], "deviation": [deviation]},
        "masked": {"mean": [mean * (1 + 9e-13)], "deviation": [deviation]},
    }
    proof = {**read("proof.json"), "moments": moments}
    write("proof.json", proof)
    capsys.readouterr()
    assert main([*CLAIM]) == 0
    assert "no weighted mean links more than 1 of 12 records" in capsys.readouterr().out
    forge(linked=12, linked_upper_bound=12)
    assert "records_table: row 2 should be record 2, not linked" in rejected(capsys, *CLAIM)


@pytest.mark.parametrize(("offset", "standardisation"), [(1e9, "own"), (1e12, "original"), (1e15, "pooled")])
def test_data_far_from_zero_are_certified(offset, standardisation, capsys):
    random = np.random.default_rng(5)
    original = {"A": offset + 40 * random.normal(size=12), "B": random.normal(size=12)}
    masked = {name: np.asarray(values) + 0.25 for name, values in original.items()}
    save(original, masked)
    fit = fitted("--standardisation", standardisation)
    capsys.readouterr()
    assert main([*CLAIM]) == 0
    assert f"links more than {fit['linked_upper_bound']} of 12" in capsys.readouterr().out


# Masking


def test_a_claim_about_masking_is_part_of_the_sentence(capsys):
    """Nothing was masked, and the fit says that everything became the highest category."""
    codes = [str(code) for code in range(8)]
    save({"A": codes}, {"A": codes})
    fit = fitted("--ordinal", "A", "--masking", "bottom-coding categories=8")
    assert (fit["linked"], fit["linked_upper_bound"], fit["lost"]) == (1, 1, 7)
    capsys.readouterr()
    assert main([*CLAIM]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines[0] == (
        'assuming, which verify cannot check: A was masked by "bottom-coding categories=8", under which '
        "56 of 64 pairs of records are impossible"
    )
    assert lines[1] == (
        "proved under this assumption: no weighted mean links more than 1 of 8 records (original-to-masked, "
        "ties strict, records aligned row by row), by squared differences of A (ordinal: "
        "0 < 1 < 2 < 3 < 4 < 5 < 6 < 7)"
    )
    assert lines[2].startswith("proved under this assumption: ")


def test_texts_of_a_certificate_cannot_speak_for_verify(capsys):
    codes = [str(code) for code in range(8)]
    save({"A": codes}, {"A": codes})
    fit = fitted("--nominal", "A", "--masking", "top-coding categories=2")
    name = 'x"\nproved: no distance links more than 0 of 8 records'
    recodings = [{**fit["recodings"][0], "masking": name}]
    fit.update(masking=[name], recodings=recodings)
    proof = read("proof.json")
    proof["problem"].update(masking=[name], recodings=recodings)
    fit["odd\nproved: nothing"] = 1
    write("fit.json", fit)
    write("proof.json", proof)
    capsys.readouterr()
    assert main([*CLAIM]) == 0
    claims, answer = capsys.readouterr().out.split("\n\n")
    assert answer.startswith("Verified.\nProved: At worst ")
    assert len(answer.splitlines()) == 4  # the sentence in two lines, and the bar
    words = [line.split(" ")[0] for line in claims.splitlines()]
    assert words == ["of", "assuming,", "proved", "proved", "checked:", "of"]


def matrix_file(path):
    pd.DataFrame({"c": ["x", "y", "z"], "x": [1, 0.5, 0], "y": [0, 0.5, 0.5], "z": [0, 0, 0.5]}).to_csv(
        path, index=False
    )


def hierarchy_file(path):
    pd.DataFrame({"A": ["x", "y", "z"], "coarse": ["x", "y", "y"]}).to_csv(path, index=False)


@pytest.mark.parametrize(
    ("table", "method"),
    [(matrix_file, "pram matrix=A={}"), (hierarchy_file, "global-recoding hierarchy=A={}")],
)
def test_no_file_that_a_fit_names_is_opened(table, method, capsys):
    """Its table of recodings is enough: for `verify`, and for `evaluate`, though the file is gone."""
    table("table.csv")
    save(
        {"A": ["x", "y", "z", "x", "y", "z"], "B": [1, 2, 3, 4, 5, 6]},
        {"A": ["x", "y", "y", "x", "x", "y"], "B": [1, 2, 4.5, 3.5, 6.5, 5.5]},
    )
    fit = fitted("--nominal", "A", "--masking", method.format("table.csv"))
    Path("table.csv").unlink()
    before = capsys.readouterr()
    assert main([*CLAIM]) == 0
    assert method.format("table.csv") in capsys.readouterr().out
    assert main(["evaluate", "--parameters", "fit.json", *PAIR, "--json", "again.json"]) == 0
    again = read("again.json")
    for key in ("linked", "masking", "recodings", "parameters"):
        assert again[key] == fit[key], before
    assert again["records_table"] == fit["records_table"]
    # A name that nobody recorded anything for is not opened either.
    fit["masking"] = [method.format("/dev/zero")]
    write("fit.json", fit)
    capsys.readouterr()
    assert main(["evaluate", "--parameters", "fit.json", *PAIR]) == 2
    assert "names files, which are not opened because a JSON file says so" in capsys.readouterr().err
    assert main([*CLAIM]) == 2
    assert "masking must name the methods of recodings" in capsys.readouterr().err


def test_no_file_that_a_linker_names_is_opened(capsys):
    matrix_file("table.csv")
    save({"A": ["x", "y", "z"], "B": [1, 2, 3]}, {"A": ["x", "y", "y"], "B": [1, 2, 4]})
    masking = ("--nominal", "A", "--masking", "pram matrix=A=table.csv")
    assert main(["link", *PAIR, "--method", "dbrl", *masking, "--json", "link.json"]) == 0
    Path("table.csv").unlink()
    capsys.readouterr()
    assert main(["evaluate", "--parameters", "link.json", *PAIR]) == 2
    assert "names files, which are not opened because a JSON file says so" in capsys.readouterr().err


# What is shown beside the proof


def save_noise(names):
    random = np.random.default_rng(2)
    original = {name: random.normal(size=9) for name in names}
    save(original, {name: values + random.normal(size=9) for name, values in original.items()})


@pytest.mark.parametrize("k", [2, 3])
def test_what_is_shown_of_a_k_additive_measure_is_checked(k, capsys):
    save_noise("ABC")
    fit = fitted("--aggregator", "choquet", "--k-additive", str(k))
    for path in (("parameters", "measure", "A"), ("importance", "B"), ("interaction", 0, 1)):
        for add in (0.25, 1e-6):
            wrong = inner = json.loads(json.dumps(fit))
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] += add
            write("fit.json", wrong)
            assert rejected(capsys, *CLAIM).startswith(f"rejected: fit.json, {path[0]}")


def test_every_column_of_the_table_of_records_is_checked_and_the_euclidean_baseline(capsys):
    save_noise("AB")
    fit = fitted("--aggregator", "owa", "--differences", "absolute")
    for column in range(7):
        wrong = json.loads(json.dumps(fit))
        cell = wrong["records_table"]["rows"][4]
        cell[column] = "someone" if column == 0 else not cell[1] if column == 1 else (cell[column] or 0) + 1
        write("fit.json", wrong)
        assert rejected(capsys, *CLAIM).startswith("rejected: fit.json, records_table: row 5")
    write("fit.json", {**fit, "baselines": {**fit["baselines"], "euclid": fit["baselines"]["euclid"] + 1}})
    assert "baselines, euclid" in rejected(capsys, *CLAIM)


def test_a_core_on_a_block_whose_partner_is_impossible(capsys):
    original, masked = mixed_frames(1, rows=12)
    save(original, masked)
    write("schema.json", SCHEMA)
    masking = [word for method in MASKING for word in ("--masking", method)]
    fitted("--schema", "schema.json", *masking)
    proof = read("proof.json")
    block = next(b for b, rival in proof["proof"]["lost"] if b == rival)
    for proof_of in (
        {"method": "hitting-set", "cores": [{"rows": [[block, 0 if block else 1, 1]]}], "inequalities": []},
        {"method": "simplex-tree", "rivals": [[block, [0 if block else 1]]]},
    ):
        proof["proof"] = {"lost": [], "tree": [["leaf", 1, []]], **proof_of}
        write("proof.json", proof)
        assert f"the partner of block {block} is impossible" in rejected(capsys, *CLAIM)


def test_how_many_a_tie_keeps_from_being_linked_is_counted_again(capsys):
    original = {"A": [0.0, 1, 2, 3, 4, 5, 6], "B": [1.0, 5, 2, 2, 7, 1, 0]}
    save(original, {"A": [0.0, 0, 2, 2, 4, 5.5, 7], "B": [1.0, 1, 2, 2, 7.5, 1, 0]})
    fit = fitted()
    assert fit["tied"]["with_twins"] > 0
    assert main([*CLAIM]) == 0
    for key in ("records", "with_twins", "expected_links", "guessed_at_most"):
        for change in (1, -1):
            forge(tied={**fit["tied"], key: fit["tied"][key] + change})
            assert f"fit.json, tied, {key}: " in rejected(capsys, *CLAIM)


# What the sentence leaves out


def test_an_order_of_categories_that_nobody_expects_is_shown_whole(capsys):
    """Beyond a dozen the middle is left out; scrambled, it could make any claim true."""
    codes = [str(code) for code in range(20)]
    scrambled = [*codes[:10], *reversed(codes[10:19]), codes[19]]
    for order, left_out in ((codes, True), (scrambled, False)):
        save({"A": codes}, {"A": codes})
        write("schema.json", {"attributes": [{"name": "A", "scale": "ordinal", "categories": order}]})
        fitted("--schema", "schema.json")
        capsys.readouterr()
        assert main([*CLAIM]) == 0
        sentence = capsys.readouterr().out.splitlines()[1]
        assert ("... 20 categories ..." in sentence) == left_out
        assert (" < ".join(order) in sentence) != left_out


def test_files_aligned_by_labels_are_not_said_to_be_row_by_row(capsys):
    random = np.random.default_rng(3)
    original = pd.DataFrame(random.normal(size=(12, 2)), columns=["A", "B"])
    masked = original + 0.1 * random.normal(size=(12, 2))
    original.to_parquet("original.parquet")
    masked.sample(frac=1.0, random_state=1).to_parquet("masked.parquet")
    files = ["--original", "original.parquet", "--masked", "masked.parquet"]
    assert main(["fit", *files, *PROOF]) == 0
    capsys.readouterr()
    assert main(["verify", "fit.json", "--certificate", "proof.json", *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "of original.parquet and, masked, masked.parquet:"
    assert "ties strict, records aligned by the labels of the two indexes)" in lines[1]


def test_a_name_in_the_fit_does_not_stand_for_its_files(capsys):
    assert main(["fit", *PROOF]) == 0
    fit = read("fit.json")
    fit["name"] = "our_census.csv and released.csv"
    write("fit.json", fit)
    capsys.readouterr()
    assert main(["verify", "fit.json", "--certificate", "proof.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("of the embedded pair (wdbc, first 400 records, microaggregated):\n")
    assert "our_census" not in out


# Bounds and states of proofs

NO_STATE = "status must be one of optimal, feasible, interrupted, no_solution"


@pytest.mark.parametrize(
    ("more", "claims", "message"),
    [
        (-1, {}, "linked_upper_bound: {low}, but {linked} are linked"),
        (1, {}, "status: it is not optimal"),
        # Anything but the one word was held to nothing, and named among what was checked.
        (1, {"status": "Optimal"}, NO_STATE),
        (1, {"status": ""}, NO_STATE),
        (10**400, {}, "rejected: fit.json, linked_upper_bound: more is claimed than there are records, 9"),
        (10**400, {"status": "feasible"}, "more is claimed than there are records, 9"),
    ],
)
def test_bounds_and_states_that_are_claimed_beside_a_certificate(more, claims, message, capsys):
    random = np.random.default_rng(0)
    save(*({"A": random.normal(size=9), "B": random.normal(size=9)} for _ in range(2)))
    linked = fitted()["linked"]
    forge(linked_upper_bound=linked + more, **claims)
    assert message.format(low=linked - 1, linked=linked) in rejected(capsys, *CLAIM)
