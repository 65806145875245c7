"""Categorical attributes: by definition, by brute force, verified; recodings that the files show."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import brute_force as plain
import brute_optimum
import categorical_cases as mixed
import numpy as np
import pandas as pd
import pytest
from aggregator_cases import BY_LABEL
from cli_runs import PAIR, flat, run
from fit_runs import steered
from pairwise import pairwise

from linkrisk import WorstCaseLinkage, evaluate, fit, risk, verify
from linkrisk.formulations.linkage.distances import Differences
from linkrisk.solver.certificates.checking.verify import demand_fit
from linkrisk.solver.certificates.checking.verify import verify as verify_files
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.inputs.reading import make_problem
from linkrisk.solver.linkage.baselines import euclidean_form, mahalanobis_form
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.linkage.matching import assigned_blocks, distance_matrix
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.errors import UsageError

LABELS = ("weighted-mean", "owa", "choquet", "2-additive", "3-additive", "mahalanobis-absolute")
DIRECTIONS = ("original-to-masked", "masked-to-original")
each_case = pytest.mark.parametrize("case", [BY_LABEL[label] for label in LABELS], ids=LABELS)


def problem_of(case, files, **more):
    return make_problem(*files, ProblemOptions(aggregator=case.name, **{**case.options, **more}))


@each_case
@pytest.mark.parametrize("seed", range(4))
def test_links_ranks_and_distances_by_definition(case, seed):
    ties, direction, aware = ("strict", "share")[seed % 2], DIRECTIONS[seed // 2], seed in (1, 2)
    files = mixed.frames(seed, 16, numeric=seed % 3)
    problem = problem_of(case, files, **mixed.options(aware, ties=ties, direction=direction))
    reference = mixed.reference(*files, direction, share=ties == "share", aware=aware, reachable_only=False)
    aggregator, evaluator = problem.aggregator, Evaluator(problem.pair, 1)
    possible = np.array([reference.possible[b][reference.partner[b]] for b in range(16)])
    assert np.array_equal(problem.pair.reachable, possible)
    points = [aggregator.equal(), *aggregator.domain.sample(4, np.random.default_rng(seed))]
    for theta in points:
        form = aggregator.form(theta)
        made = evaluator.rank(form)
        assert np.array_equal(made.linked, evaluator.count(form).linked)
        assert not np.isnan(np.concatenate([made.distance, made.nearest_other, made.margin])).any()
        wanted = plain.outcome(
            reference, case.define(aggregator, aggregator.decode(theta)), aggregator.differences.value
        )
        for block in range(16):
            if not possible[block]:
                assert (made.linked[block], made.distance[block]) == (False, np.inf)
                assert made.rank[block] == 1 + len(reference.rivals(block))
                continue
            assert made.linked[block] == wanted.linked[block]
            assert made.rank[block] == wanted.rank[block]
            assert made.ties[block] == wanted.ties[block]
            assert made.distance[block] == pytest.approx(wanted.distance[block], rel=1e-9, abs=1e-12)
            assert made.nearest_other[block] == pytest.approx(
                wanted.nearest_other[block], rel=1e-9, abs=1e-12
            )


@pairwise(
    case=[BY_LABEL[label] for label in LABELS], direction=DIRECTIONS, aware=[False, True], seed=[40, 41]
)
def test_a_proven_result_is_the_exact_optimum_and_is_verified(case, direction, aware, seed):
    files = mixed.frames(seed, 7, numeric=1)
    options = mixed.options(aware, aggregator=case.name, direction=direction, ties="strict", **case.options)
    reference = mixed.reference(*files, direction, aware=aware)
    best = brute_optimum.optimum(reference, case.family(3))
    assert best == pytest.approx(brute_optimum.optimum(reference, case.family(3), 1e-4))
    result = fit(*files, engine="exact", time_limit=None, certificate=True, **options)
    assert result.status == "optimal"
    assert result.linked == best
    content = json.loads(result.to_json())
    assert evaluate(*files, parameters=content).linked == best
    problem = make_problem(*files, ProblemOptions(**options))
    certificate = json.loads(json.dumps(result.certificate))
    verdict = verify_files(content, certificate, problem.files, ("fit", "certificate"))
    demand_fit(content, verdict, "fit")
    assert (verdict.linked, verdict.bound_count) == (best, best)


def certified(aware=True):
    files = mixed.frames(5, 30)
    options = mixed.options(aware, time_limit=None, certificate=True)
    result = fit(*files, **options)
    problem = make_problem(*files, ProblemOptions(**mixed.options(aware)))
    return json.loads(result.to_json()), json.loads(json.dumps(result.certificate)), problem


def test_a_certificate_of_impossible_partners_is_checked():
    content, certificate, problem = certified()
    assert 0 < (~problem.pair.reachable).sum() < 30
    names = ("fit", "certificate")
    verdict = verify_files(content, certificate, problem.files, names)
    assert verdict.linked == content["linked"]
    lost = certificate["proof"]["lost"]
    impossible = np.flatnonzero(~problem.pair.reachable).tolist()
    assert [[block, block] for block in impossible] == [item for item in lost if item[0] == item[1]]

    def rejected(change, what):
        fitted, written = copy.deepcopy(content), copy.deepcopy(certificate)
        change(written, fitted)
        with pytest.raises(RejectedError) as caught:
            verify_files(fitted, written, problem.files, names)
        assert what in str(caught.value)

    other = int(np.flatnonzero(problem.pair.reachable)[0])
    rejected(
        lambda written, _: written["proof"]["lost"].append([other, other]),
        f"candidate {other} is not a rival of block {other}",
    )
    rejected(
        lambda written, _: written["problem"]["schema"]["attributes"][1]["categories"].__setitem__(-1, "new"),
        "the fit and the certificate have different",
    )

    def silent(written, _):
        del written["problem"]["masking"], written["problem"]["recodings"]

    rejected(silent, "the fit and the certificate have different possible")

    def swap(written, fitted):
        for part in (fitted, written["problem"]):
            part["schema"]["attributes"][0]["categories"].reverse()

    rejected(swap, "problem, schema: the files are read with other categories")

    def forget(written, fitted):
        for part in (fitted, written["problem"]):
            del part["masking"], part["recodings"]

    rejected(forget, "fit, records_table: row ")


@pytest.mark.parametrize("label", ["weighted-mean", "choquet", "mahalanobis-absolute"])
@pytest.mark.parametrize("aware", [pytest.param(False, marks=pytest.mark.slow), True])
def test_growing_rows_find_the_same_optimum(label, aware):
    case = BY_LABEL[label]
    files = mixed.frames(8, 40)
    options = mixed.options(aware, aggregator=case.name, time_limit=None, **case.options)
    whole = fit(*files, **options)
    grown = fit(*files, **options, steering=steered(most_reduced=0, most_unreduced=0))
    assert whole.proven
    assert grown.proven
    assert whole.linked == grown.linked
    milp = fit(*files, engine="milp", **options)
    assert milp.linked <= whole.linked <= milp.linked_upper_bound


def test_a_known_masking_method_never_costs_links_of_possible_partners():
    """Each rival that it rules out can only help; partners that it rules out are never linked."""
    files = mixed.frames(9, 60)
    open_eyes, blind = (
        make_problem(*files, ProblemOptions(**mixed.options(aware))) for aware in (True, False)
    )
    reachable = open_eyes.pair.reachable
    for theta in blind.aggregator.domain.sample(20, np.random.default_rng(0)):
        form = blind.aggregator.form(theta)
        seen = Evaluator(open_eyes.pair, 1).count(form).linked
        assert (seen >= (Evaluator(blind.pair, 1).count(form).linked & reachable)).all()
        assert not seen[~reachable].any()


def test_one_to_one_assignment_uses_no_impossible_pair_for_a_link():
    files = mixed.frames(11, 40)
    problem = make_problem(*files, ProblemOptions(**mixed.options(True)))
    form = problem.aggregator.form(problem.aggregator.equal())
    matrix = distance_matrix(problem.pair, form)
    assert np.isinf(matrix).any()
    assert np.array_equal(np.isfinite(matrix), problem.pair.possible(np.arange(40)[:, None], np.arange(40)))
    assert assigned_blocks(problem.pair, form).sum() <= problem.pair.reachable.sum()


def test_baselines_with_categories():
    files = mixed.frames(12, 80, numeric=2)
    pair = make_problem(*files, ProblemOptions(**mixed.options(False))).pair
    assert euclidean_form(pair).parameters.tolist() == [0.25] * 4
    matrix = mahalanobis_form(pair).parameters
    c = pair.partner_distances(Differences.SIGNED)
    scale = np.trace(matrix)
    inverse = np.zeros((4, 4))
    inverse[0, 0], inverse[1, 1] = 1 / (c[:, 0] ** 2).mean(), 1 / (c[:, 1] ** 2).mean()
    inverse[2:, 2:] = np.linalg.inv(c[:, 2:].T @ c[:, 2:] / len(c))
    np.testing.assert_allclose(matrix, inverse / np.trace(inverse) * scale, rtol=1e-9, atol=1e-12)
    classical = make_problem(*(frame[["x0", "x1"]] for frame in files), ProblemOptions()).pair
    alone = mahalanobis_form(classical).parameters
    np.testing.assert_allclose(matrix[2:, 2:] / alone, np.full((2, 2), matrix[2, 2] / alone[0, 0]))


def test_signed_differences_are_refused_and_absolute_ones_are_the_default():
    files = mixed.frames(13)
    result = fit(*files, aggregator="mahalanobis", time_limit=None, **mixed.options(False))
    assert result.to_dict()["differences"] == "absolute"
    with pytest.raises(Exception, match="differences of categories have no sign") as caught:
        fit(*files, aggregator="mahalanobis", differences="signed", **mixed.options(False))
    assert str(caught.value) == (
        "differences of categories have no sign: use differences='absolute', or leave categorical "
        "attributes out"
    )


def test_parameters_are_applied_to_a_file_with_other_nominal_categories():
    files = mixed.frames(14, 30)
    content = json.loads(fit(*files, time_limit=None, **mixed.options(False)).to_json())
    others = tuple(frame.assign(town=[f"new {name}" for name in frame["town"]]) for frame in files)
    assert evaluate(*others, parameters=content).linked == content["linked"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in zip(("original.csv", "masked.csv"), mixed.frames(5, 30), strict=True):
        frame.to_csv(name, index=False)
    Path("schema.json").write_text(json.dumps(mixed.SCHEMA))


KNOWN = [word for method in mixed.MASKING for word in ("--masking", method)]


@pytest.mark.usefixtures("folder")
def test_from_the_command_line_to_a_verified_result(capsys):
    written = ["--json", "fit.json", "--certificate", "proof.json", "--report", "fit.html"]
    printed = run(capsys, "fit", *PAIR, "--schema", "schema.json", *KNOWN, *written)
    content = json.loads(Path("fit.json").read_text())
    assert content["schema"]["attributes"][0]["categories"] == list(mixed.SIZES)
    assert content["masking"] == list(mixed.MASKING)
    assert f"re-identified in the worst case  {content['linked']} of 30" in printed
    page = Path("fit.html").read_text()
    assert "size (ordinal), town (nominal)" in page
    assert "; ".join(mixed.MASKING) in page
    counted = run(capsys, "evaluate", *PAIR, "--parameters", "fit.json", "--one-to-one")
    assert f"re-identified {content['linked']} of 30" in flat(counted)
    verified = run(capsys, "verify", "fit.json", "--certificate", "proof.json", *PAIR)
    assert verified.splitlines()[1].startswith("assuming, which verify cannot check: size was masked by ")
    told = f"proved under this assumption: no weighted mean links more than {content['linked']} of 30"
    assert verified.splitlines()[2].startswith(told)
    blind = run(capsys, "evaluate", *PAIR, "--parameters", "fit.json", "--nominal", "size,town")
    assert blind != counted


# ---------------------------------------------------------------- inferred recodings


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
