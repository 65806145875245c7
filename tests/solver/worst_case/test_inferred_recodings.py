"""Recodings that the files show are known to the intruder: fits, certificates, other files, the estimator."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from cli_runs import run

from linkrisk import WorstCaseLinkage, compare, evaluate, fit, risk, verify
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError

RECORDS = 120
OPTIONS = {"nominal": ["postcode", "sex", "status"], "time_limit": 20}


def released(seed: int = 5, postcode: str = "prefix") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Postcodes of five digits of which one is released, and amounts among which values were swapped."""
    generator = np.random.default_rng(seed)
    original = pd.DataFrame(
        {
            "postcode": [f"{number:05d}" for number in generator.integers(1000, 99999, RECORDS)],
            "sex": generator.choice(["m", "w"], RECORDS),
            "status": generator.choice(["single", "married", "widowed"], RECORDS),
            "amount": np.round(generator.lognormal(8, 0.6, RECORDS), 2),
        }
    )
    masked = original.assign(amount=np.round(original["amount"] * generator.uniform(0.5, 2.0, RECORDS), 2))
    if postcode == "prefix":
        return original, masked.assign(postcode=original["postcode"].str[:1])
    # A code for each record, whatever its postcode is: no map of values.
    twice = original.assign(postcode=np.repeat(original["postcode"].to_numpy()[::2], 2))
    return twice, masked.assign(postcode=[f"r{row % 2}" for row in range(RECORDS)])


def attack(original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame, by: str) -> int:
    """Count records whose partner alone is nearest by one column among those that agree in all others."""
    others = [name for name in original if name != by]
    linked = 0
    for row in range(len(original)):
        agree = np.flatnonzero((masked[others] == recoded[others].iloc[row]).all(axis=1))
        away = (masked[by].iloc[agree] - original[by].iloc[row]).abs()
        linked += row in agree and int((away <= away.loc[row]).sum()) == 1
    return linked


@pytest.mark.parametrize("aggregator", ["weighted-mean", "choquet"])
def test_no_fit_is_below_the_plain_attack_and_its_certificate_holds(aggregator):
    original, masked = released()
    found = fit(original, masked, aggregator=aggregator, certificate=True, **OPTIONS)
    least = attack(original, masked, original.assign(postcode=original["postcode"].str[:1]), "amount")
    assert found.linked >= least > 20
    assert found.proven
    content = found.to_dict()
    assert content["masking"] == ["inferred"]
    (recoding,) = content["recodings"]
    assert (recoding["attribute"], recoding["masking"]) == ("postcode", "inferred")
    names = next(one for one in content["schema"]["attributes"] if one["name"] == "postcode")["categories"]
    for place, becomes in enumerate(recoding["becomes"]):
        assert becomes == -1 if len(names[place]) == 1 else names[becomes] == names[place][0]
    given = fit(
        original, masked, aggregator=aggregator, masking=["recode digits=4 attributes=postcode"], **OPTIONS
    )
    assert given.linked == found.linked
    checked = verify(found, original, masked)
    assert checked, checked.rejected
    assert checked.to_dict()["proved"]["assumed_masking"] == ["inferred"]


def test_nothing_is_proven_of_columns_that_cannot_be_compared(tmp_path, capsys):
    original, masked = released()
    found = fit(original, masked, masking=["none"], **OPTIONS)
    content = found.to_dict()
    assert content["not_comparable"] == ["postcode"]
    assert (content["masking"], content["recodings"]) == (["none"], [])
    assert not found.proven
    assert "at most" in repr(found)
    for name, frame in (("o", original), ("m", masked)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = ["--original", str(tmp_path / "o.csv"), "--masked", str(tmp_path / "m.csv")]
    nominal = ["--nominal", "postcode,sex,status"]
    printed = run(capsys, "fit", *files, *nominal, "--masking", "none", "--time-limit", "20")
    assert "proven: no other" not in printed
    assert "not proven: postcode cannot be compared, as no category is in both files" in " ".join(
        printed.split()
    )
    printed = run(capsys, "fit", *files, *nominal, "--time-limit", "20")
    assert "proven: no other parameters re-identify more" in printed
    assert "note: column postcode is recoded: each value of the original has become one other" in printed


def test_a_code_of_records_is_no_recoding_and_nothing_is_proven_of_it():
    original, masked = released(postcode="records")
    found = fit(original, masked, aggregator=["weighted-mean", "owa"], **OPTIONS)
    assert not found.proven
    assert found.to_dict()["not_comparable"] == ["postcode"]
    assert found.to_dict()["proven"] is False


def test_amounts_are_compared_in_the_intervals_of_the_release():
    generator = np.random.default_rng(2)
    original = pd.DataFrame(
        {
            "amount": np.round(generator.lognormal(8, 1, RECORDS), 2),
            "age": generator.integers(18, 90, RECORDS),
            "size": generator.normal(size=RECORDS),
        }
    )
    masked = original.assign(
        amount=original["amount"] // 2000 * 2000,
        age=original["age"] // 20,
        size=original["size"] + generator.normal(0, 0.3, RECORDS),
    )
    recoded = original.assign(amount=masked["amount"], age=masked["age"])
    least = attack(original, masked, recoded, "size")
    found = fit(original, masked, certificate=True, time_limit=20)
    blind = fit(original, masked, masking=["none"], time_limit=20)
    assert found.linked >= least > 40
    assert blind.linked < found.linked
    assert "not_comparable" not in blind.to_dict()
    assert [one["attribute"] for one in found.to_dict()["recodings"]] == ["amount", "age"]
    checked = verify(found, original, masked)
    assert checked, checked.rejected
    forged = copy.deepcopy(found.to_dict())
    forged["recodings"][1]["steps"][1][1] = 77.0
    verdict = verify(forged, original, masked, certificate=found.certificate)
    assert "the fit and the certificate have different steps" in verdict.rejected
    both = copy.deepcopy(found.certificate)
    both["recodings" if "recodings" in both else "problem"] = (
        forged["recodings"] if "recodings" in both else {**both["problem"], "recodings": forged["recodings"]}
    )
    assert not verify(forged, original, masked, certificate=both)
    for steps in ([], [[1.0]], [[2.0, None], [1.0, None]], [["a", 1.0]], [[1.0, "b"]]):
        forged["recodings"][1]["steps"] = steps
        with pytest.raises(UsageError, match=r"recodings\[1\]: .*age"):
            verify(forged, original, masked, certificate=found.certificate)


def test_other_records_are_compared_by_the_recodings_that_they_show():
    original, masked = released()
    found = fit(original, masked, **OPTIONS)
    others = released(9)
    applied = evaluate(*others, parameters=found.to_dict(), nominal=OPTIONS["nominal"])
    assert applied.to_dict()["masking"] == ["inferred"]
    assert "masking" not in fit(original, original.assign(amount=masked["amount"]), **OPTIONS).to_dict()


def test_the_estimator_knows_the_recoding_of_numbers_that_it_has_learned():
    generator = np.random.default_rng(4)
    original = generator.normal(size=(80, 2)) * 10
    masked = np.stack([np.floor(original[:, 0] / 4), original[:, 1] + generator.normal(0, 1, 80)], axis=1)
    model = WorstCaseLinkage(time_limit=10).fit(original, masked)
    assert model.score(original, masked) == model.linked_ / 80
    assert (model.predict(original, masked) == np.arange(80)).sum() == model.linked_


def test_every_command_compares_alike():
    original, masked = released()
    expected = fit(original, masked, **OPTIONS).linked
    rows = compare(original, masked, **OPTIONS, backends=["exact"])
    assert {row["linked"] for row in rows.to_dict()["backends"]} == {expected}
    measured = risk(original, masked, **OPTIONS, aggregator="weighted-mean", measures="worst-case")
    assert measured.to_dict()["worst_case"]["families"][0]["linked"] == expected
    problem = make_problem(original, masked, ProblemOptions(nominal=OPTIONS["nominal"]))
    assert problem.describe()["masking"] == ["inferred"]


def test_no_verdict_is_green_while_a_column_cannot_be_compared():
    original, masked = released()
    asked = {**OPTIONS, "aggregator": "weighted-mean", "measures": "worst-case", "tolerated": 1.0}
    blind = risk(original, masked, masking=["none"], **asked).to_dict()
    assert blind["verdict"]["answer"] == "open"
    found = {one["key"]: one for one in blind["verdict"]["findings"]}
    assert found["not_comparable"]["about"] == ["postcode"] or found["not_comparable"]["about"] == (
        "postcode",
    )
    assert found["not_comparable"]["sentence"] == (
        "postcode cannot be compared, as no category is in both files and no recoding is known; who knows it "
        "may re-identify more"
    )
    known = risk(original, masked, **asked).to_dict()
    assert known["verdict"]["answer"] == "below"
    assert "not_comparable" not in {one["key"] for one in known["verdict"]["findings"]}
