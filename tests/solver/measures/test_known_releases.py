"""Releases with known answers: no verdict is below an attack that a few lines of pandas make.

Each attack links every original record to a released one by what anybody sees; lots decide among equals. The
share that it links rightly is what the verdict must not be below, whatever it looks at.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from measure_runs import by_lot, scaled
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from linkrisk import fit, link, risk, verify
from linkrisk.solver.report.outside import FINDINGS

QUICK = {"measures": "worst-case,simple-attacks", "aggregator": "weighted-mean,owa", "time_limit": None}


def people(records=60, seed=5):
    random = np.random.default_rng(seed)
    return pd.DataFrame(random.normal(size=(records, 3)).round(3), columns=["wage", "hours", "age"])


def attacked(original, masked, attack, **options):
    """What is found, whose verdict is not below the attack."""
    found = risk(original, masked, **{**QUICK, **options})
    assert found.verdict.low >= attack - 1e-9
    return found


def test_a_k_anonymous_file_is_guessed_among_equals():
    """Nobody is alone in the release, and who guesses in the nearest group is right in one of k cases."""
    original = people()
    groups = original["wage"].rank(method="first").sub(1).floordiv(5)
    masked = original.groupby(groups).transform("mean")
    assert masked.value_counts().min() >= 5
    attack = by_lot(cdist(scaled(original), scaled(masked)))
    assert attack > 0.05
    found = attacked(original, masked, attack).verdict
    assert found.answer == "above"
    assert "(0.0 % without)" in found.sentence
    strict = attacked(original, masked, attack, ties="strict").verdict
    assert strict.high >= found.high - 1e-9


def test_an_unmasked_file_of_which_little_was_counted():
    """What few records say of all is an estimate from below, too, and enough for red."""
    original = people(400)
    found = risk(
        original, original.copy(), aggregator="weighted-mean", measures="worst-case", sample=20, samples=2,
        time_limit=None, work_limit=0.02,
    )  # fmt: skip
    counted = found.worst.worst.details["sampling"]["counted"]
    assert counted["all"] or counted["linked_lower_limit"] <= 400
    assert found.verdict.answer == "above"


def correlated(seed, records=80):
    """Two attributes that go together, and noise along them: only a distance that knows it finds anybody."""
    random = np.random.default_rng(seed)
    common, own = random.normal(size=records), random.normal(size=records)
    original = pd.DataFrame({"a": common + 0.05 * own, "b": common - 0.05 * own})
    shift = 2.0 * random.normal(size=records)
    return original, original.add(shift, axis=0)


def test_the_classical_mahalanobis_distance_belongs_to_the_verdict():
    """Along the common direction nothing is left; across it all is, and only a quadratic form sees it."""
    original, masked = correlated(3)
    inverse = np.linalg.inv(np.cov(scaled(masked).T, ddof=0))
    attack = by_lot(cdist(scaled(original), scaled(masked), "mahalanobis", VI=inverse))
    found = risk(original, masked, aggregator="owa", measures="worst-case", tolerated=0.3, time_limit=None)
    assert attack > found.worst.interval[1] / len(original)
    assert found.verdict.low >= attack - 0.02  # the classical form pools both files
    assert "classical Mahalanobis" in found.verdict.sentence
    assert found.verdict.answer == ("above" if found.verdict.low > 0.3 else "below")


def test_one_to_one_matching_belongs_to_the_verdict():
    original = people(60, seed=11)[["wage", "hours"]]
    masked = original + 0.15 * people(60, seed=9)[["wage", "hours"]]
    rows, columns = linear_sum_assignment(cdist(scaled(original), scaled(masked), "sqeuclidean"))
    attack = float((rows == columns).mean())
    found = attacked(original, masked, attack)
    assert attack > found.worst.interval[1] / 60, "the case is one where matching finds more"
    assert "equal weights, one to one" in found.verdict.sentence


def test_weights_are_counted_in_persons_everywhere():
    weight = np.random.default_rng(4).integers(20, 900, 50) + 0.25
    original = people(50, seed=4)
    masked = original + 0.5 * people(50, seed=6)
    distances = cdist(scaled(original), scaled(masked))
    rows, columns = linear_sum_assignment(distances**2)
    right = distances.argmin(axis=1) == np.arange(50)
    attack, matched = (float(weight[one].sum() / weight.sum()) for one in (right, rows == columns))
    schema = {"attributes": [{"name": "weight", "role": "weight"}]}
    options = {"schema": schema, "measures": "simple-attacks,held-out", "aggregator": "weighted-mean"}
    frames = original.assign(weight=weight), masked.assign(weight=weight)
    found = attacked(*frames, max(attack, matched), attributes=list(original), **options)
    shares = {one.key: one.value for one in found["simple-attacks"].findings}
    assert shares["equal_weights"] == pytest.approx(attack)
    assert shares["matched_equal_weights"] == pytest.approx(matched)
    assert found.verdict.low >= max(rate.held_out for rate in found["held-out"].rates) - 1e-9
    assert found.verdict.weighted
    assert "of the weighted records" in found.verdict.sentence
    assert "." not in str(found).split("stand for")[1].split("of")[0], "no part of a person"


def regions(records=200):
    """Recoded to a first digit, then changed by chance for some records; amounts with much noise."""
    random = np.random.default_rng(13)
    original = pd.DataFrame(
        {
            "region": random.choice([f"{a}{b}" for a in "12345678" for b in "123"], records),
            "sex": random.choice(["f", "m"], records),
            "amount": random.normal(size=records).round(2),
        }
    )
    cut = original["region"].str[:1] + "*"
    changed = np.where(random.random(records) < 0.1, random.permutation(cut), cut)
    masked = original.assign(region=changed, amount=original["amount"] + 0.4 * random.normal(size=records))
    return original, masked, original.assign(region=cut)


def equal_then_nearest(known, masked):
    """Most equal categories first, and among these the nearest amount."""
    unequal = sum(known[name].to_numpy()[:, None] != masked[name].to_numpy() for name in ("region", "sex"))
    apart = np.abs(scaled(known[["amount"]]) - scaled(masked[["amount"]]).T)
    return by_lot(2.0 * unequal + apart)


def test_a_recoding_that_was_changed_by_chance_is_known_all_the_same():
    original, masked, known = regions()
    attack = equal_then_nearest(known, masked)
    nominal = ["region", "sex"]
    assert attack > 0.05
    found = attacked(original, masked, attack, tolerated=attack - 0.01, nominal=nominal)
    assert found.verdict.answer == "above"
    claimed = fit(
        original, masked, aggregator="weighted-mean", nominal=nominal, certificate=True, work_limit=3
    )
    assert claimed.details["recodings"][0]["steps"]
    assert verify(claimed, original, masked)


@pytest.mark.parametrize("method", ["dbrl", "prl"])
@pytest.mark.parametrize("changed", [False, True])
def test_every_linker_knows_recodings_that_the_files_show(method, changed):
    """What it links is what it links of files whose original has the codes of the release.

    Where chance has changed codes, two records of a category may be no majority.
    """
    original, masked, known = regions()
    if not changed:
        masked = masked.assign(region=known["region"])
    asked = {"method": method, "nominal": ["region", "sex"]}
    found, plain = link(original, masked, **asked), link(known, masked, **asked)
    assert found.linked == plain.linked if not changed else found.linked >= 0.9 * plain.linked
    assert plain.linked > 30
    assert "recoded" in " ".join(found.details["notes"])


@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_that_was_bent_or_turned_is_no_protection(turned):
    """Amounts in cubes, or counted downwards, with noise: who is high and who is low can still be seen."""
    random = np.random.default_rng(17)
    original = pd.DataFrame(random.lognormal(10.0, 0.7, size=(100, 2)).round(0), columns=["wage", "rent"])
    noisy = original * np.exp(0.12 * random.normal(size=(100, 2)))
    masked = 1e5 - noisy if turned else (noisy / 1000.0) ** 3
    ranks = [frame.rank(pct=True).to_numpy() for frame in (original, -masked if turned else masked)]
    attack, squares = (by_lot(cdist(*ranks, metric)) for metric in ("cityblock", "sqeuclidean"))
    assert attack > 0.2
    # Its own are sums of squares, not of absolute differences.
    found = attacked(original, masked, attack - 0.05, tolerated=0.15)
    assert found.verdict.answer == "above"
    shares = {one.key: one.value for one in found["simple-attacks"].findings}
    assert shares["ranks"] == pytest.approx(squares, abs=0.03)  # no lots among other ties


def test_units_of_the_original_are_an_attack_as_well():
    """A few amounts were multiplied by a thousand: the standard deviation of the release tells nobody."""
    random = np.random.default_rng(23)
    original = pd.DataFrame(random.normal(100.0, 10.0, size=(80, 2)).round(2), columns=["wage", "rent"])
    masked = original + 0.1 * random.normal(size=(80, 2))
    masked.loc[:3] *= 50.0
    attack = by_lot(cdist(*(frame / original.std(ddof=0) for frame in (original, masked)), "sqeuclidean"))
    found = attacked(original, masked, attack)
    assert attack > found.worst.interval[0] / 80 + 0.1


def test_who_lives_with_whom_tells_records():
    """Noise on a person is averaged out over a household, whatever number it has in the release."""
    random = np.random.default_rng(11)
    home = np.repeat(np.arange(80), 3)
    original = pd.DataFrame(random.normal(size=(240, 2)).round(3), columns=["wage", "hours"])
    masked = (original + random.normal(size=(240, 2)) * 0.9).round(3)
    means = (one.groupby(home).transform("mean") for one in (original, masked))
    with_means = [
        np.hstack([scaled(one), scaled(mean)]) for one, mean in zip((original, masked), means, strict=True)
    ]
    attack, alone = by_lot(cdist(*with_means)), by_lot(cdist(scaled(original), scaled(masked)))
    assert attack > 2 * alone
    numbers = random.permutation(80)[home]
    known = {"attributes": ["wage", "hours"], "row_by_row": True, "tolerated": alone + 0.02}
    first, second = original.assign(household=home + 1), masked.assign(household=numbers)
    found = attacked(first, second, attack, **known)
    assert found.verdict.answer == "above"
    assert "households" in found.verdict.sentence
    taken = {one.key: one.words for one in found.measures["simple-attacks"].attacks}
    told = {key: words for key, words in FINDINGS["simple-attacks"].items() if key != "record_order"}
    assert taken == told  # which readers outside are told, too
    odd = {"wage": "household, 0"}  # a column of the name that means of households have inside
    known["attributes"] = ["household, 0", "hours"]
    again = attacked(*(frame.rename(columns=odd) for frame in (first, second)), attack, **known)
    assert again.verdict.low == pytest.approx(found.verdict.low)
    apart = risk(first, masked, **{**QUICK, **known, "attributes": ["wage", "hours"]})
    assert not any("households" in one.key for one in apart.verdict.findings)


def test_what_is_released_beside_a_shuffled_column_keeps_a_verdict_from_green():
    """Only a worthless column is compared; the nearest of another one, under any name, finds most records."""
    random = np.random.default_rng(21)
    original = people(120).assign(income=random.lognormal(10.0, 0.6, 120).round(2))
    compared = original[["wage"]].sample(frac=1.0, random_state=2).to_numpy()
    masked = original[["wage"]].assign(wage=compared + 0.001 * random.normal(size=(120, 1)))
    income, more = original["income"], 100.0 * original["hours"]
    for name, values in {"earnings": income.round(-2), "V17": income, "total": income + more}.items():
        found = risk(original, masked.assign(**{name: values}), attributes=["wage"], **QUICK).verdict
        assert by_lot(np.abs(income.to_numpy()[:, None] - values.to_numpy()[None])) > 0.3
        assert (found.high < 0.05, found.answer) == (True, "open")
        assert name in found.sentence
