"""`fit --engine`, `--certificate` and `verify` on the command line: who proves what, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import PAIR, contents, refuse, run

from linkrisk import fit
from linkrisk.solver.commands.program import main
from linkrisk.solver.run.errors import UsageError

pytestmark = pytest.mark.usefixtures("survey_folder")

FIT = ["fit", *PAIR]
PROOF = ["--json", "fit.json", "--certificate", "proof.json"]
VERIFY = ["verify", "fit.json", "--certificate", "proof.json", *PAIR]
FAMILIES = {
    "weighted-mean": "weighted mean",
    "owa": "ordered weighted average",
    "choquet": "Choquet integral",
    "mahalanobis": "Mahalanobis-type form",
}


def read(name: str) -> dict[str, object]:
    content: dict[str, object] = json.loads(Path(name).read_text(encoding="utf-8"))
    return content


# Which engine


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ("exact", None, None)),
        (["--engine", "exact"], ("exact", None, None)),
        (["--engine", "milp"], ("milp", "highs", 1e-5)),
        (["--backend", "scipy"], ("milp", "scipy", 1e-5)),
        (["--margin", "1e-4"], ("milp", "highs", 1e-4)),
        (["--big-c", "100"], ("milp", "highs", 1e-5)),
        (["--engine", "milp", "--backend", "scipy"], ("milp", "scipy", 1e-5)),
    ],
)
def test_options_of_a_model_choose_the_engine_of_models(options, expected, capsys):
    run(capsys, *FIT, *options, "--json", "fit.json")
    result = read("fit.json")
    assert (result["engine"], result["backend"], result["margin"]) == expected


@pytest.mark.parametrize("option", [["--backend", "highs"], ["--margin", "1e-5"], ["--big-c", "10"]])
def test_the_exact_engine_takes_no_option_of_a_model(option, capsys):
    """The files are not read: they do not exist."""
    message = f"{option[0]} is not for the engine exact: leave that out, or use the engine milp"
    argv = ["fit", "--original", "no.csv", "--masked", "no.csv", "--engine", "exact", *option]
    refuse(capsys, message, *argv)


# Certificates


@pytest.mark.parametrize("aggregator", FAMILIES)
def test_a_fresh_fit_is_verified(aggregator, capsys):
    run(capsys, *FIT, "--aggregator", aggregator, *PROOF)
    linked, bound = (read("fit.json")[key] for key in ("linked", "linked_upper_bound"))
    assert linked == bound
    lines = run(capsys, *VERIFY).splitlines()
    family = FAMILIES[aggregator]
    kind = "signed" if aggregator == "mahalanobis" else "squared"
    assert lines[:3] == [
        "of original.csv and, masked, masked.csv:",
        f"proved: no {family} links more than {bound} of 30 records (original-to-masked, ties strict, "
        f"records aligned row by row), by {kind} differences of age, income, hours, each file in units of "
        "its own mean and deviation",
        f"proved: the parameters of the fit link {linked}",
    ]


def test_a_fit_that_claims_one_record_less_is_not_what_was_proved(capsys):
    run(capsys, *FIT, *PROOF)
    changed = read("fit.json")
    changed["linked_upper_bound"] = int(str(changed["linked_upper_bound"])) - 1
    Path("fit.json").write_text(json.dumps(changed), encoding="utf-8")
    assert main(VERIFY) == 1
    assert capsys.readouterr().err.startswith("rejected: ")


def test_a_run_without_time_is_certified_for_what_it_knows(capsys):
    run(capsys, *FIT, "--time-limit", "1e-9", *PROOF)
    result = read("fit.json")
    assert (result["status"], result["limit"]) == ("feasible", "time")
    printed = run(capsys, *VERIFY)
    assert f"links more than {result['linked_upper_bound']} of 30 records" in printed


def test_the_python_function_gives_the_same_certificate(capsys):
    run(capsys, *FIT, *PROOF)
    result = fit("original.csv", "masked.csv", certificate=True)
    assert result.certificate == read("proof.json")
    assert fit("original.csv", "masked.csv").certificate is None


@pytest.mark.parametrize("options", [["--engine", "milp"], ["--backend", "scipy"], ["--big-c", "10"]])
def test_the_engine_of_models_has_no_certificate(options, capsys):
    message = "the engine milp gives no proof that could be checked: use --engine exact"
    argv = ["fit", "--original", "no.csv", "--masked", "no.csv", *options, *PROOF]
    refuse(capsys, message, *argv)


def test_a_model_file_has_no_certificate(capsys):
    message = "--write-model stops before there is a result: leave --certificate out, or run twice"
    refuse(capsys, message, *FIT, "--write-model", "m.lp", "--certificate", "proof.json")


def test_the_python_function_refuses_a_certificate_of_a_model():
    with pytest.raises(UsageError) as error:
        fit("no.csv", "no.csv", engine="milp", certificate=True)
    assert str(error.value) == "the engine milp gives no proof that could be checked: use engine='exact'"


def test_a_certificate_names_a_file_of_its_own(capsys):
    message = "--json and --certificate both name out.json: give each a different file"
    refuse(capsys, message, *FIT, "--json", "out.json", "--certificate", "out.json")


# Memory


def test_memory_that_runs_out_leaves_an_interval_and_its_certificate(capsys):
    printed = run(capsys, *FIT, "--memory-limit", "1", *PROOF)
    assert "not proven: memory ran out; a larger --memory-limit" in printed
    result = read("fit.json")
    assert (result["status"], result["limit"]) == ("feasible", "memory")
    assert f"links more than {result['linked_upper_bound']} of 30" in run(capsys, *VERIFY)


def test_nothing_is_left_beside_the_files_that_were_asked_for(capsys):
    before = set(contents())
    run(capsys, *FIT, *PROOF)
    assert set(contents()) - before == {"fit.json", "proof.json"}
