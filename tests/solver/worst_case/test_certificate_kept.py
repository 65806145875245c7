"""A fit outlives its certificate: it is printed and written first, and kept whatever becomes of the proof."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import frames

from linkrisk import fit
from linkrisk.solver.certificates.writing.certifiable import CertificateError
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError

OUTPUTS = ["--json", "fit.json", "--report", "fit.html", "--certificate", "proof.json"]
ARGV = ["fit", *PAIR, *OUTPUTS]

FAILURES = {
    "refused": (CertificateError("the moments are out of reach"), "the moments are out of reach"),
    "broken": (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    "stopped": (KeyboardInterrupt(), "stopped before it was made"),
}


def content() -> dict[str, object]:
    """What the JSON says now."""
    result: dict[str, object] = json.loads(Path("fit.json").read_text(encoding="utf-8"))
    return result


@pytest.mark.usefixtures("survey_folder")
@pytest.mark.parametrize("failure", FAILURES)
def test_a_certificate_that_cannot_be_made_is_a_note_on_a_result_that_is_kept(failure, monkeypatch, capsys):
    error, reason = FAILURES[failure]
    seen = []

    def fail(*_: object, **__: object) -> None:
        seen.append((content(), Path("fit.html").exists(), capsys.readouterr().out))
        raise error

    monkeypatch.setattr("linkrisk.solver.worst_case.single_fit.certify", fail)
    assert main(ARGV) == 0
    # Before it was tried, the answer had been printed and written, and said that there was none yet.
    (before, page, printed), after = seen[0], capsys.readouterr()
    assert page
    assert "re-identified in the worst case" in printed
    assert before["certificate"] == {"made": False, "reason": "it was asked for, and not made yet"}
    assert after.err == f"note: there is no certificate: {reason}; the fit above is kept\n"
    assert content()["certificate"] == {"made": False, "reason": reason}
    assert content()["linked"] == before["linked"]
    assert f"there is no certificate: {reason}" in Path("fit.html").read_text(encoding="utf-8")
    assert not Path("proof.json").exists()


@pytest.mark.usefixtures("survey_folder")
def test_the_json_says_whether_there_is_a_certificate(capsys):
    run(capsys, *ARGV)
    assert content()["certificate"] == {"made": True, "reason": None}
    assert Path("proof.json").exists()
    run(capsys, "fit", *PAIR, "--json", "fit.json")
    assert content()["certificate"] is None


def test_the_python_function_returns_its_result_and_says_why(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise CertificateError("no luck")

    files = frames(1, 8)
    alone = fit(*files)
    monkeypatch.setattr("linkrisk.solver.worst_case.single_fit.certify", fail)
    result = fit(*files, certificate=True)
    assert result.certificate is None
    assert result.linked == alone.linked
    assert result.details["notes"][-1] == "there is no certificate: no luck"
    assert result.details["certificate"] == {"made": False, "reason": "no luck"}


@pytest.mark.parametrize("shift", [1e9, 1e13])
def test_data_whose_mean_is_far_away_keep_their_fit(shift):
    """Standardised values lose their digits there; the certificate used to fail after the search."""
    random = np.random.default_rng(2)
    original = random.normal(size=(12, 2))
    files = [
        pd.DataFrame(values + shift, columns=["A", "B"])
        for values in (original, original + 0.3 * random.normal(size=(12, 2)))
    ]
    result = fit(*files, certificate=True, time_limit=10.0)
    assert 0 <= result.linked <= result.linked_upper_bound
    said = result.details["certificate"]
    assert said["made"] == (result.certificate is not None)
    assert (said["reason"] is None) == said["made"]


@pytest.mark.usefixtures("survey_folder")
def test_what_verify_does_not_know_is_said_before_the_search(monkeypatch, capsys):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the search has begun")

    monkeypatch.setattr(
        "linkrisk.solver.worst_case.single_fit.why_not_certifiable", lambda _: "verify does not know it"
    )
    monkeypatch.setattr("linkrisk.solver.worst_case.single_fit.search_whole", never)
    message = "no certificate is possible, verify does not know it: leave the certificate out"
    refuse(capsys, message, *ARGV)
    with pytest.raises(UsageError) as error:
        fit("original.csv", "masked.csv", certificate=True)
    assert str(error.value) == message


# Its own seconds


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 120.0),
        ({"time_limit": 5.0}, 5.0),
        ({"time_limit": None}, 60.0),
        ({"time_limit": 5.0, "certificate_time_limit": 2.5}, 2.5),
    ],
)
@pytest.mark.usefixtures("still_time")
def test_the_certificate_has_what_is_left_of_the_time_limit(options, seconds, monkeypatch):
    given = []

    def note(*arguments: object, reached: object, parts: object) -> dict[str, object]:
        del reached, parts
        given.append(arguments[-1])
        return {"bound": {"unit": 1, "linked_weight": 0}}

    monkeypatch.setattr("linkrisk.solver.worst_case.single_fit.certify", note)
    fit(*frames(3, 6), certificate=True, **options)
    assert given == [pytest.approx(seconds, abs=1e-3)]


@pytest.mark.usefixtures("survey_folder")
def test_seconds_that_are_none(capsys):
    message = "--certificate-time-limit is for --certificate: give that too, or leave it out"
    refuse(capsys, message, "fit", *PAIR, "--certificate-time-limit", "5")
    message = "the time limit of the certificate must be a positive number of seconds, not 0"
    refuse(capsys, message, *ARGV, "--certificate-time-limit", "0")
    with pytest.raises(UsageError, match="time limit of the certificate must be a positive number"):
        fit(certificate=True, certificate_time_limit=-1.0)


@pytest.mark.usefixtures("survey_folder")
def test_without_time_it_proves_less_and_says_so_and_still_holds(capsys):
    """Not one record is proven to be lost: everybody might be linked, which is true."""
    run(capsys, *ARGV)
    assert not any("the certificate proves" in note for note in content()["notes"])
    assert content()["status"] == "optimal"
    assert main([*ARGV, "--certificate-time-limit", "1e-9"]) == 0
    note = content()["notes"][-1]
    assert note == (
        "the certificate proves in its time that at most 30 are linked, and no more is claimed; the search "
        "came to 23"
    )
    told = capsys.readouterr()
    assert told.err.endswith(f"note: {note}\n")
    assert "proven:" not in told.out
    assert note in Path("fit.html").read_text(encoding="utf-8")
    proof = json.loads(Path("proof.json").read_text("utf-8"))
    assert proof["proof"] == {"lost": [], "method": "lost"}
    assert proof["bound"]["linked_weight"] == proof["records"] == content()["linked_upper_bound"]
    assert content()["status"] == "feasible"
    argv = ["verify", "fit.json", "--certificate", "proof.json", *PAIR]
    assert main(argv) == 0, "what the fit claims is what its certificate proves"
    assert f"no weighted mean links more than {proof['records']} of " in capsys.readouterr().out
