"""`verify` as a function: a fit, its certificate and the two files."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest
from fit_runs import frames

from linkrisk import fit, verify
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.result import FitResult


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
        (
            result,
            {"certificate": {}},
            "the certificate has no 'format': it was not written by this version",
        ),
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


def test_several_families_have_no_certificate():
    files = frames(3, 8)
    with pytest.raises(UsageError, match="the fit is about several families, and a certificate about one"):
        verify(fit(*files, aggregator="all"), *files, certificate={})
