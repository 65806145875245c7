"""`--certificate` of `fit` and `report`, and `verify` of them: who proves what, and what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from cli_runs import PAIR, check_refusals, contents, run
from extras import of_extra

from linkrisk import fit, verify
from linkrisk.solver.commands.program import main

pytestmark = pytest.mark.usefixtures("survey_folder")

FIT = ["fit", *PAIR]
PROOF = ["--json", "fit.json", "--certificate", "proof.json"]


def test_nothing_is_left_beside_the_files_that_were_asked_for(capsys):
    before = set(contents())
    run(capsys, *FIT, *PROOF)
    assert set(contents()) - before == {"fit.json", "proof.json"}


TWO = ("weighted-mean", "owa")
VERIFY = ["verify", "proofs.json", *PAIR]


def entry(family: str) -> dict[str, object]:
    result = fit("original.csv", "masked.csv", aggregator=family, certificate=True)
    return {"aggregator": family, "fit": result.to_dict(), "certificate": result.certificate}


@pytest.fixture
def bundle():
    made = {"format": "linkrisk-certificates", "certificates": [entry(family) for family in TWO]}
    return json.loads(json.dumps(made))


def keep_bundle(content: object) -> None:
    Path("proofs.json").write_text(json.dumps(content), encoding="utf-8")


def test_what_a_report_writes_is_verified(capsys):
    of_extra("altair")
    made = ["--aggregator", "owa", "--measures", "uniqueness", "--json", "r.json"]
    run(capsys, "report", *PAIR, *made, "--certificate", "proofs.json")
    printed = run(capsys, *VERIFY)
    assert printed.startswith("of original.csv and, masked, masked.csv:\nproved: no ordered weighted average")
    assert printed.endswith("verified: 1 of 1 family\n")


def test_every_family_is_verified(bundle, capsys):
    keep_bundle(bundle)
    lines = run(capsys, *VERIFY).splitlines()
    assert sum(line.startswith("proved: no ") for line in lines) == len(TWO)
    for family in TWO:
        assert any(line.startswith(f"of proofs.json: {family}: checked records") for line in lines)
    assert lines[-1] == "verified: 2 of 2 families"


def test_the_function_says_the_same(bundle):
    found = verify(bundle, "original.csv", "masked.csv")
    assert found
    assert found.rejected is None
    assert tuple(found.parts) == TWO
    for kept in bundle["certificates"]:
        result = found.parts[kept["aggregator"]]
        assert (result.linked, result.linked_upper_bound) == (
            kept["fit"]["linked"],
            kept["fit"]["linked_upper_bound"],
        )
    assert json.loads(found.to_json())["certificates"]["owa"]["verified"]
    assert "owa: VerificationResult(verified" in repr(found)


def test_one_forged_family_is_found_beside_the_others(bundle, capsys):
    forged = bundle["certificates"][1]
    forged["fit"]["linked_upper_bound"] -= 1
    keep_bundle(bundle)
    assert main(VERIFY) == 1
    caught = capsys.readouterr()
    assert caught.err.startswith("rejected: owa: ")
    assert caught.out.endswith("verified: 1 of 2 families\n")
    found = verify("proofs.json", "original.csv", "masked.csv")
    assert not found
    assert str(found.rejected).startswith("owa: ")
    assert [name for name, one in found.parts.items() if not one] == ["owa"]
    assert not json.loads(found.to_json())["verified"]


def without(key):
    def change(content):
        del content["certificates"][0][key]

    return change


def empty(content):
    content["certificates"] = []


def twice(content):
    content["certificates"].append(copy.deepcopy(content["certificates"][0]))


def nameless(content):
    content["certificates"][1]["fit"]["aggregator"] = 3


def test_a_bundle_that_was_not_written_so(bundle, capsys):
    def refused():
        for change in (without("fit"), empty, twice, nameless):
            changed = copy.deepcopy(bundle)
            change(changed)
            keep_bundle(changed)
            yield change.__name__, VERIFY
        keep_bundle(bundle)
        yield [*VERIFY, "--attributes", "age"]
        unread = ["fit", "--original", "no.csv", "--masked", "no.csv", *PROOF]
        yield from ([*unread, *more] for more in (["--engine", "milp"], ["--backend", "scipy"]))

    check_refusals(capsys, "certificates", refused())
