"""`verify`, as a command and as a function: what it says of a fit, its certificate and two files."""

from __future__ import annotations

import json
import math
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from aggregator_cases import BY_LABEL
from certified import certified
from certified import frames as small_frames
from fit_runs import frames

from linkrisk import fit, verify
from linkrisk.solver.certificates.writing.build import ProvenSearch, certify
from linkrisk.solver.commands.program import main
from linkrisk.solver.engines.base import Proof
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.search_state import problem_system

PAIR = ("--original", "original.csv", "--masked", "masked.csv")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def written(label="weighted-mean", **options):
    made = certified(BY_LABEL[label], seed=3, **options)
    for name, frame in zip(("original", "masked"), small_frames(3), strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    Path("fit.json").write_text(json.dumps(made.fitted), encoding="utf-8")
    Path("proof.json").write_text(json.dumps(made.certificate), encoding="utf-8")
    return made


def many(count, word):
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def proves(*extra):
    return main(["verify", "fit.json", "--certificate", "proof.json", *extra])


@pytest.mark.parametrize(
    ("label", "family"),
    [
        ("weighted-mean", "weighted mean"),
        ("owa", "ordered weighted average"),
        ("3-additive", "3-additive Choquet integral"),
        ("mahalanobis", "Mahalanobis-type form"),
    ],
)
def test_what_is_proved(capsys, label, family):
    made = written(label)
    assert proves(*PAIR) == 0
    out = re.sub(r"\d+\.\d s", "0.0 s", capsys.readouterr().out)
    lost, cores = len(made.certificate["proof"]["lost"]), len(made.certificate["proof"]["cores"])
    claims, answer = out.split("\n\n")
    assert answer.startswith("Verified.\nProved: At worst ")
    assert f"{claims}\n" == (
        "of original.csv and, masked, masked.csv:\n"
        f"proved: no {family} links more than {made.optimum:.0f} of 7 records (masked-to-original, ties "
        f"strict, records aligned row by row), by {made.fitted['differences']} differences of V1, V2, V3, "
        "each file in units of its own mean and deviation\n"
        f"proved: the parameters of the fit link {made.fitted['linked']}\n"
        f"checked: {many(lost, 'record')} out of reach, {many(cores, 'core')}, a hitting-set tree of 1 leaf; "
        "0.0 s\n"
        "of fit.json: checked records, candidates, linked, linked_upper_bound, status, lost, parameters, "
        "importance, interaction, records_table, tied, alignment, baselines (euclid); not checked limit, "
        "name, engine, backend, margin, tie_breaking, baselines (others), best_known, notes, "
        "certificate, seconds, phases, model, trace, seed, threads, time_limit, command, linkrisk, versions\n"
    )


def test_expected_links_and_a_simplex_tree(capsys):
    made = written(ties="share", method="simplex-tree")
    assert proves(*PAIR) == 0
    out = capsys.readouterr().out
    links = made.fitted["expected_links"]
    assert f"proved: expected links {links:g}, at most {made.optimum:g}\n" in out
    assert "a simplex tree of" in out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("proof.json", "{", "proof.json is not valid JSON; give the file that `fit --certificate` wrote"),
        ("proof.json", "[]", "proof.json does not hold a JSON object"),
        ("proof.json", '{"format": "x", "version": 1}', "proof.json is not a certificate of version 3"),
        ("proof.json", "{}", "proof.json has no 'format'"),
        ("fit.json", "{}", "fit.json is nothing that can be verified: give what `fit --json`, "),
        ("fit.json", '{"format": "linkrisk-fit", "version": 1}', "fit.json has no 'aggregator'"),
        ("fit.json", '{"aggregator": NaN}', "fit.json cannot be used: NaN is not a JSON number; give"),
        ("fit.json", '{"a": 1e400}', "fit.json cannot be used: the number 1e400 is too large; give"),
        ("fit.json", '{"a": 1, "b": 2, "a": 1}', 'fit.json cannot be used: the key "a" is twice in'),
        ("proof.json", f'{{"a": {"9" * 5000}}}', "proof.json cannot be used: a number has 5000 digits;"),
        ("proof.json", "[" * 100_000 + "]" * 100_000, "proof.json is not valid JSON; give"),
        (
            "fit.json",
            '{"format": "linkrisk-fit", "version": 1, "aggregator": "\\ud800"}',
            "fit.json, aggregator holds an unpaired surrogate",
        ),
        ("fit.json", '{"a": "\n\u0000"}', "fit.json is not valid JSON; give"),
    ],
)
def test_files_that_are_malformed(capsys, name, content, message):
    written()
    Path(name).write_text(content, encoding="utf-8")
    assert proves(*PAIR) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: {message}")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--original", "original.csv"), "the masked file is missing"),
        ((*PAIR, "--attributes", "V1,V2"), "--attributes: fit.json is about V1,V2,V3; leave the option out"),
        ((*PAIR, "--id", "ID"), "original.csv has no column 'ID'"),
        ((), "fit.json is about V1,V2,V3, which the embedded pair does not have: give the files of the fit"),
    ],
)
def test_files_that_do_not_fit(capsys, extra, message):
    written()
    assert proves(*extra) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_the_attributes_may_be_repeated():
    written()
    assert proves(*PAIR, "--attributes", "V1,V2,V3", "--drop-constant") == 0


def proof_of(result, problem):
    system = problem_system(problem)
    content = certify(
        problem.files,
        problem.describe(),
        ProvenSearch(None, system, result.linked_upper_bound, Proof("simplex-tree")),
        result.parameters,
        result.linked,
        math.inf,
    )
    Path("fit.json").write_text(result.to_json(), encoding="utf-8")
    Path("proof.json").write_text(json.dumps(content), encoding="utf-8")


def test_the_embedded_pair_needs_no_files(capsys):
    chosen = {"attributes": ["texture_mean", "symmetry_mean"]}
    result = fit(engine="exact", time_limit=None, **chosen)
    proof_of(result, make_problem(options=ProblemOptions(**chosen)))
    assert proves() == 0
    named = "of the embedded pair (wdbc, first 400 records, microaggregated):\n"
    line = (
        f"{named}proved: no weighted mean links more than {result.linked} of 400 records (original-to-masked"
    )
    assert capsys.readouterr().out.startswith(line)


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_records_by_id_some_without_a_partner(direction, capsys):
    original, masked = small_frames(5, rows=9)
    original.insert(0, "ID", [f"r{k}" for k in range(9)])
    masked.insert(0, "ID", original["ID"])
    masked.drop(index=[2]).sample(frac=1.0, random_state=1).to_csv("masked.csv", index=False)
    original.drop(index=[7]).to_csv("original.csv", index=False)
    options = {"id": "ID", "direction": direction}
    result = fit("original.csv", "masked.csv", engine="exact", time_limit=None, **options)
    proof_of(result, make_problem("original.csv", "masked.csv", ProblemOptions(**options)))
    assert proves(*PAIR, "--id", "ID") == 0
    assert f"no weighted mean links more than {result.linked} of 7 records" in capsys.readouterr().out


# ---------------------------------------------------------------- verifying


@pytest.fixture(scope="module")
def fitted():
    files = frames(3, 12)
    return fit(*files, aggregator="choquet", certificate=True, time_limit=None), files


def test_a_result_is_verified(fitted):
    result, files = fitted
    found = verify(result, *files)
    assert found
    assert (found.verified, found.rejected) == (True, None)
    assert (found.linked, found.linked_upper_bound) == (result.linked, result.linked_upper_bound)
    assert repr(found) == (
        f"VerificationResult(verified: {result.linked} of 12 linked, at most {result.linked_upper_bound})"
    )
    content = json.loads(found.to_json())
    assert content == found.to_dict()
    assert content["proved"]["aggregator"] == "choquet"
    assert content["proved"]["attributes"] == ["A", "B", "C"]
    with pytest.raises(FrozenInstanceError):
        found.verified = False


def test_dictionaries_and_files_are_the_same(fitted, tmp_path):
    result, files = fitted
    fit_json, proof_json = tmp_path / "fit.json", tmp_path / "proof.json"
    fit_json.write_text(result.to_json(), encoding="utf-8")
    proof_json.write_text(json.dumps(result.certificate), encoding="utf-8")
    expected = verify(result, *files).to_dict()["proved"]
    for given, certificate in ((result.to_dict(), result.certificate), (fit_json, str(proof_json))):
        assert verify(given, *files, certificate=certificate).to_dict()["proved"] == expected


def test_a_claim_that_does_not_hold_is_an_answer(fitted):
    result, files = fitted
    bolder = {**result.to_dict(), "linked_upper_bound": result.linked_upper_bound - 1}
    found = verify(bolder, *files, certificate=result.certificate)
    assert not found
    assert found.linked_upper_bound == result.linked_upper_bound
    assert found.rejected.startswith("the fit, linked_upper_bound: ")
    assert f"rejected: {found.rejected}" in repr(found)


def test_other_files_are_rejected_altogether(fitted):
    result, files = fitted
    found = verify(result, files[0], files[1].iloc[::-1].reset_index(drop=True), row_by_row=True)
    assert not found
    assert found.verdict is found.linked is found.linked_upper_bound is None
    assert json.loads(found.to_json())["proved"] is None
    assert repr(found) == f"VerificationResult(rejected: {found.rejected})"


def test_what_cannot_be_read(fitted):
    result, files = fitted
    missing = "there is no certificate: give with certificate the one that `fit` made in the same run"
    for given, options, message in (
        (FitResult.of(replace(result.worst, certificate=None)), {}, missing),
        (result.to_dict(), {}, missing),
        (3, {"certificate": {}}, "the fit is a int; give a result, a dictionary or a file name"),
        (result, {"certificate": {}}, "the certificate has no 'format': it was not written by this version"),
        (
            {"seconds": float("nan")},
            {"certificate": {}},
            "the fit cannot be written as JSON: Out of range float values are not JSON compliant",
        ),
        (result, {"attributes": ["A"]}, "attributes: the fit is about A,B,C; leave the option out"),
    ):
        with pytest.raises(UsageError) as error:
            verify(given, *files, **options)
        assert str(error.value).startswith(message)
