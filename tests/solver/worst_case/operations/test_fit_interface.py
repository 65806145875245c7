"""What `fit` takes, returns, tells on its way and refuses; its result outlives its certificate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runs import PAIR, refuse, run
from fit_runs import KEYS, check, frames

from linkrisk import fit
from linkrisk.solver.certificates.writing.certifiable import CertificateError
from linkrisk.solver.commands.program import main
from linkrisk.solver.linkage.records_table import TABLE_COLUMNS
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.progress import Progress

EXACT_PHASES = {"baselines", "rows", "first attack", "tree", "attack", "hitting sets"}


# ---------------------------------------------------------------- input and output


def test_paths_pandas_and_polars_give_the_same(tmp_path):
    original, masked = frames(5, 12)
    original.to_csv(tmp_path / "original.csv", index=False)
    masked.to_csv(tmp_path / "masked.csv", index=False)
    results = [
        fit(original, masked, aggregator="choquet"),
        fit(pl.from_pandas(original), pl.from_pandas(masked), aggregator="choquet"),
        fit(tmp_path / "original.csv", str(tmp_path / "masked.csv"), aggregator="choquet"),
    ]
    assert len({result.linked for result in results}) == 1
    assert len({result.table.rows for result in results}) == 1
    assert len({json.dumps(result.parameters) for result in results}) == 1


def test_attributes_and_ids_choose_what_is_compared():
    original, masked = frames(6, 10)
    original.insert(0, "person", [f"p{i}" for i in range(10)])
    masked.insert(0, "person", [f"p{i}" for i in range(10)])
    shuffled = masked.sample(frac=0.8, random_state=1)
    result = fit(original, shuffled, id="person", attributes=["C", "A"])
    assert result.records == 8
    assert result.to_dict()["attributes"] == ["C", "A"]
    assert set(result.parameters["weights"]) == {"C", "A"}
    assert [row[0] for row in result.table.rows] == [
        label for label in original["person"] if label in set(shuffled["person"])
    ]


def test_the_json_has_everything_that_the_design_promises():
    files = frames(7, 12)
    strict = check(fit(*files), files)
    assert set(strict) == KEYS
    assert strict["records_table"]["columns"] == list(TABLE_COLUMNS)
    assert (strict["engine"], strict["backend"], strict["margin"]) == ("exact", None, None)
    assert strict["trace"][0][0] >= 0.0
    assert {"rows", "first attack"} <= set(strict["phases"]) <= EXACT_PHASES
    assert strict["versions"]["numpy"] == np.__version__
    share = check(fit(*files, ties="share"), files)
    assert set(share) == KEYS | {"expected_links", "expected_links_upper_bound"}
    choquet = check(fit(*files, aggregator="choquet", k_additive=2), files)
    assert choquet["aggregator_options"] == {"k_additive": 2}
    assert set(choquet["parameters"]) == {"moebius", "measure"}
    assert list(choquet["parameters"]["measure"]) == ["A", "B", "A,B", "C", "A,C", "B,C", "A,B,C"]
    owa = check(fit(*files, aggregator="owa"), files)
    assert list(owa["parameters"]["weights"]) == ["1", "2", "3"]
    model = check(fit(*files, engine="milp"), files)
    assert set(model) == KEYS
    assert (model["engine"], model["backend"], model["margin"]) == ("milp", "highs", 1e-5)
    assert set(model["phases"]) == {"baselines", "rows", "first attack", "build", "solve"}


@pytest.mark.usefixtures("still_time")
@pytest.mark.parametrize(
    ("engine", "phases"),
    [
        ("exact", {"compare", "attack", "branch and cut", "pairs"}),
        ("milp", {"compare", "attack", "build", "solve"}),
    ],
)
def test_progress_is_told(engine, phases):
    seen: list[Progress] = []
    fit(*frames(10, 30), aggregator="choquet", engine=engine, on_progress=seen.append)
    assert seen
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    assert all(p.value <= p.bound for p in seen)
    assert {p.phase for p in seen} <= phases


def test_the_embedded_pair_is_the_default():
    result = fit(time_limit=None)
    assert result.records == 400
    assert result.details["name"] == "wdbc, first 400 records, microaggregated"
    assert (result.linked, result.proven) == (377, True)  # as the big-C engine proves


# ---------------------------------------------------------------- bad requests


@pytest.mark.parametrize("missing", ["original", "masked"])
def test_half_a_pair(missing):
    files = dict(zip(("original", "masked"), frames(0), strict=True))
    del files[missing]
    with pytest.raises(UsageError) as error:
        fit(**files)
    assert str(error.value) == f"the {missing} file is missing: give both original and masked, or neither"


@pytest.mark.parametrize(
    ("limit", "aggregator"), [("LARGEST_SYSTEM", "choquet"), ("LARGEST_UNREDUCED", "mahalanobis")]
)
def test_a_pair_too_large_for_the_model(monkeypatch, limit, aggregator):
    monkeypatch.setattr(f"linkrisk.solver.worst_case.search_state.{limit}", 100)
    with pytest.raises(UsageError) as error:
        fit(*frames(0, 11), aggregator=aggregator, engine="milp")
    assert str(error.value) == (
        "11 records and 11 candidates make 121 comparisons, more than the 100 that the big-C model can hold: "
        "take a sample of the records, fit with engine='exact', or judge given parameters with `evaluate`"
    )


# ---------------------------------------------------------------- certificate kept


OUTPUTS = ["--json", "fit.json", "--report", "fit.html", "--certificate", "proof.json"]
ARGV = ["fit", *PAIR, *OUTPUTS]

FAILURES = {
    "refused": (CertificateError("the moments are out of reach"), "the moments are out of reach"),
    "broken": (ZeroDivisionError("by zero"), "ZeroDivisionError: by zero"),
    "stopped": (KeyboardInterrupt(), "stopped before it was made"),
}


def content() -> dict[str, object]:
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

    monkeypatch.setattr("linkrisk.solver.certificates.writing.build.certify", fail)
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

    monkeypatch.setattr("linkrisk.solver.certificates.writing.build.certify", note)
    fit(*frames(3, 6), certificate=True, **options)
    assert given == [pytest.approx(seconds, abs=1e-3)]


@pytest.mark.usefixtures("survey_folder")
def test_seconds_for_no_certificate(capsys):
    message = "--certificate-time-limit is for --certificate: give that too, or leave it out"
    refuse(capsys, message, "fit", *PAIR, "--certificate-time-limit", "5")


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
