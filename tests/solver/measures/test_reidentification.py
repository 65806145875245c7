"""The measure: limits beside attacks, what is left out, edges, both directions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from fit_runs import frames
from measure_runs import task_of
from small_files import NAMES, survey

from linkrisk import fit, risk
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.solver.linkage.registry import LINKERS as LINKERS_BY_NAME
from linkrisk.solver.measures import reidentification
from linkrisk.solver.measures.known_masking import unknown
from linkrisk.solver.measures.linker_attacks import linker_task, trained_by
from linkrisk.solver.measures.posteriors import attackers
from linkrisk.solver.measures.reidentification import ProbabilityOfReidentification
from linkrisk.solver.measures.task import MeasureChoices
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError

NOISE = "noise percent=40"
LINKERS = ("prl", "owa-linker", "sugeno", "pca", "zscore", "bayes")
WITHOUT_LEARNING = ("classical-mahalanobis", *LINKERS)


def files_of(text=NOISE, records=30):
    original = pd.DataFrame(survey(records), columns=list(NAMES))
    return original, masking_method(text).apply(original, seed=4)


def found_by(files, *texts, **options):
    options = {"aggregator": "weighted-mean", "time_limit": None, **options}
    return risk(*files, measures="reidentification", masking=list(texts), **options)


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    with pytest.MonkeyPatch.context() as patch:
        for name, sweeps in (("BURNING", 100), ("CHOOSING", 200), ("COUNTING", 300)):
            patch.setattr(reidentification, name, sweeps)
        yield


@pytest.fixture(scope="module")
def noisy():
    return found_by(files_of(), NOISE, aggregator="weighted-mean,mahalanobis")


def test_no_attack_expects_more_than_the_limit(noisy):
    found = noisy["reidentification"]
    learned = ("equal-weights", "weighted-mean", "mahalanobis")
    assert {attack.name for attack in found.attacks} == {*learned, *WITHOUT_LEARNING}
    assert found.without == ()
    for attack in found.attacks:
        assert attack.expected <= found.one_record + 1e-12
        assert 0.0 <= attack.compatible <= attack.compatible + attack.undecided <= 1.0
        assert attack.claimed <= 1.0
    assert found.one_record_low < found.one_record < found.one_record_high
    assert found.all_records.low <= found.all_records.expected <= found.all_records.high
    result = fit(*files_of(), aggregator="weighted-mean", time_limit=None)
    attack = next(each for each in found.attacks if each.name == "weighted-mean")
    assert attack.linked == result.linked / 30 == pytest.approx(attack.right)
    assert attack.most == result.linked_upper_bound / 30


def test_table_json_and_words(noisy):
    found = noisy["reidentification"]
    table = found.to_frame()
    assert table["probability"].mean() == pytest.approx(found.one_record)
    assert (table["partner"] <= table["probability"]).all()
    assert table["compatible, bayes"].eq(1.0).mean() == pytest.approx(found.attacks[-1].compatible)
    assert json.loads(noisy.to_json())["masking"] == [NOISE]
    assert "whatever his attack" in repr(found)
    keys = [finding.key for finding in found.findings]
    assert keys[:2] == ["limit_one_record", "limit_all_records"]
    assert len(set(keys)) == len(keys) == 2 + 2 * 3 + 2 * (1 + len(WITHOUT_LEARNING))
    assert found.surest.probability == table["probability"].max()


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_microaggregation_gives_one_of_each_group(direction):
    text = "microaggregation k=3"
    found = found_by(files_of(text), text, direction=direction)["reidentification"]
    shares = [found.one_record, found.one_record_right, found.all_records.expected]
    assert shares == pytest.approx([len(files_of(text)[1].drop_duplicates()) / 30] * 3)
    assert found.all_records.sweeps == 0


def test_files_that_were_not_changed_are_certain():
    original, _ = files_of()
    text = "pram change=0 attributes=hours"
    found = found_by((original, original.copy()), text, nominal=["hours"])["reidentification"]
    assert [found.one_record, found.all_records.expected, found.one_record_right] == pytest.approx([1.0] * 3)
    for attack in found.attacks:
        assert [attack.compatible, attack.right] == pytest.approx([1.0, 1.0])


def test_compatible_where_the_truth_is_certain_means_that_the_partner_is_most_probable():
    """Every record has an image of its own, so that a compatible attack is one that finds it."""
    original = pd.DataFrame(survey(24), columns=list(NAMES))
    masked = original.assign(hours=original["hours"] + 3.0 * np.arange(24))
    masked["hours"] = masked["hours"].sample(frac=1.0, random_state=1).to_numpy()
    original["hours"] = masked["hours"].to_numpy()
    masked["income"] = original["income"].sample(frac=1.0, random_state=2).to_numpy()
    text = "rank-swapping percent=100 attributes=income"
    found = found_by((original, masked), text)["reidentification"]
    assert found.one_record == pytest.approx(1.0)
    beliefs = [each.beliefs.probability for each in attackers(task_of((original, masked)), Clock(None))]
    for attack, probability in zip(found.attacks, beliefs, strict=True):
        # Of several most probable candidates, as classes of numbers make them, the partner may be any.
        best = np.diag(probability) >= probability.max(axis=1) - 1e-6
        assert attack.compatible == pytest.approx(best.mean())
        assert attack.right <= attack.compatible + 1e-12


def test_a_sample_of_the_original_file():
    original, masked = files_of()
    original["id"] = masked["id"] = np.arange(30)
    masked = masked.sample(20, random_state=0)
    options = {"id": "id"}
    found = found_by((original, masked), NOISE, **options)["reidentification"]
    assert (found.records, found.candidates) == (20, 20)
    assert 0.0 < found.all_records.expected <= 1.0
    # The other way round there are masked records of which nothing is known.
    part = original.drop(index=[3, 4])
    found = found_by((part, masked), NOISE, **options)["reidentification"]
    assert found.all_records is None
    assert "some masked records have no original record here" in found.notes[-1]


def test_attributes_of_unknown_masking_are_left_out():
    found = found_by(files_of(), f"{NOISE} attributes=age,income")["reidentification"]
    assert found.left_out == ("hours",)
    assert all(attack.expected is None and attack.compatible is None for attack in found.attacks)
    assert found.notes[0].startswith("re-identification: the masking of hours is not known")
    assert " by age, income" in found.paragraph


def test_sampling_weights_count():
    original, masked = files_of()
    original["w"] = np.where(np.arange(30) < 29, 1e-6, 1.0)
    schema = {"attributes": [{"name": "w", "role": "weight"}]}
    found = found_by((original, masked), NOISE, schema=schema)["reidentification"]
    assert found.one_record == pytest.approx(found.to_frame()["probability"].iloc[-1], abs=1e-4)


def test_time_that_runs_out_leaves_records_undecided():
    choices = MeasureChoices(masked_by=((NOISE, masking_method(NOISE)),))
    task = task_of(frames(3, 40, noise=0.4), choices=choices)
    clock = Clock(1e-9)
    found = ProbabilityOfReidentification().take(task, clock)
    assert [attack.name for attack in found.attacks] == ["equal-weights"]
    names = "classical-mahalanobis, weighted-mean, prl, owa-linker, sugeno, pca, zscore, bayes"
    assert found.notes[-1] == f"re-identification: no probabilities of {names}: no time was left for them"
    assert found.all_records.sweeps == 200
    assert found.attacks[0].undecided > 0.0


def test_probabilities_of_linkers_are_powers_of_their_scores():
    """Against the scores of `link` itself, at the rate that was fitted; the rate is the likeliest."""
    task = task_of(files_of())
    found = {each.name: each.beliefs for each in attackers(task, Clock(None))}
    assert tuple(found) == ("equal-weights", "classical-mahalanobis", "weighted-mean", *LINKERS)
    given, truth = linker_task(task)
    trained = trained_by(given, truth)
    assert not set(trained.query_attributes) & set(trained.candidate_attributes)
    for name in LINKERS:
        kind = LINKERS_BY_NAME[name.removesuffix("-linker")]
        scores = kind().learn(trained if kind.learns_from_training else given).scores(np.arange(30))
        away, likelihood = scores - scores.max(axis=1, keepdims=True), []
        for times in (1.0, 0.5, 0.9, 1.1, 2.0):
            chances = np.exp(found[name].rate * times * away)
            chances /= chances.sum(axis=1, keepdims=True)
            likelihood.append(np.log(chances[np.arange(30), truth.partner]).sum())
            assert times != 1.0 or found[name].probability == pytest.approx(chances)
        assert likelihood[0] >= max(likelihood) - 1e-4


def test_the_classical_distance_is_the_inverse_of_the_products_of_differences():
    original, masked = files_of()
    found = {each.name: each.beliefs for each in attackers(task_of((original, masked)), Clock(None))}
    x, y = (((side - side.mean()) / side.std(ddof=0)).to_numpy() for side in (original, masked))
    matrix = np.linalg.inv((x - y).T @ (x - y) / len(x))
    apart = x[:, None] - y
    distance = np.einsum("ijk,kl,ijl->ij", apart, matrix, apart)
    nearest = found["classical-mahalanobis"].probability.argmax(axis=1)
    assert nearest.tolist() == distance.argmin(axis=1).tolist()


def test_linkers_that_do_not_take_the_files_say_so():
    original = pd.DataFrame({"town": list("abcabc" * 3), "age": np.arange(18.0)})
    text = "pram change=0.2 attributes=town"
    files = original, masking_method(text).apply(original, seed=1)
    found = found_by(files, text, nominal=["town"])["reidentification"]
    assert {each.name for each in found.without} == {"owa-linker", "sugeno", "pca", "zscore"}
    assert [each.name for each in found.attacks][-2:] == ["prl", "bayes"]
    (said,) = [note for note in found.notes if "no probabilities of" in note]
    assert said.startswith("re-identification: no probabilities of owa-linker, sugeno, pca, zscore: ")
    assert "\n" not in said


def test_what_is_lacking_or_wrong_is_said_before_anything_is_searched():
    files = files_of()
    assert found_by(files).not_measured == {"reidentification": unknown()}
    reason = found_by(files, "microaggregation k=2").not_measured["reidentification"]
    assert reason.startswith("the masking that is given cannot have made record ")
    with pytest.raises(Exception, match="there is no masking method 'nois'; did you mean 'noise'"):
        found_by(files, "nois percent=15")
    with pytest.raises(UsageError, match="masking is the text 'noise percent=40'; give a list of methods"):
        risk(*files, measures="reidentification", masking=NOISE)
