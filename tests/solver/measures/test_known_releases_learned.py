"""Releases whose attack has to learn how they were made: no verdict is below a few lines of pandas.

As in `test_known_releases.py`: the verdict must not be below the share that a plain attack links rightly.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from measure_runs import by_lot, scaled
from scipy.spatial.distance import cdist

from linkrisk import risk

N = 150
QUICK = {"measures": "simple-attacks", "aggregator": "weighted-mean", "time_limit": None, "row_by_row": True}


def amounts(seed=3):
    random = np.random.default_rng(seed)
    wage = random.lognormal(10.0, 0.6, N).round(0)
    rent = (0.2 * wage * np.exp(0.4 * random.normal(size=N))).round(0)
    return random, pd.DataFrame({"wage": wage, "rent": rent})


def people(seed=2):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], N),
            "age": random.integers(15, 90, N),
            "region": random.choice([f"{a}{b}" for a in "123" for b in "123456"], N),
            "school": random.choice(["low", "mid", "high"], N, p=[0.3, 0.5, 0.2]),
        }
    )
    return random, frame


def verdict(original, masked, attack, **options):
    """The verdict, which is not below the attack, but for two records that learned weights may cost."""
    least = attack - 2.0 / N - 1e-9
    found = risk(original, masked, tolerated=least, **{**QUICK, **options}).verdict
    assert found.low > least
    assert found.answer == "above"
    return found


def unequal(known, masked, names, gap=0.0):
    """How many values differ; one that is missing in the release counts as `gap`."""
    total = np.zeros((len(known), len(masked)))
    for name in names:
        differ = known[name].to_numpy()[:, None] != masked[name].to_numpy()[None]
        total += np.where(masked[name].isna().to_numpy()[None], gap, differ)
    return total


def test_two_columns_that_were_exchanged():
    random, original = amounts()
    masked = pd.DataFrame({"wage": original["rent"] + 300 * random.normal(size=N), "rent": original["wage"]})
    known = original.rename(columns={"wage": "rent", "rent": "wage"})[["wage", "rent"]]
    attack = by_lot(cdist(scaled(known), scaled(masked)))
    assert attack > 0.6
    assert "likelihood ratios, most known" in verdict(original, masked, attack).sentence


@pytest.mark.parametrize("number", [False, True])
def test_agreements_of_a_file_half_of_which_is_missing(number):
    """Who counts what agrees forgives gaps and nothing else; a rare value counts more."""
    random, original = people()
    original["age"] = original["age"] if number else original["age"].astype(str)
    masked = original.astype({"age": "float64"} if number else {})
    for name in masked:
        masked[name] = masked[name].where(random.random(N) > 0.5)
    names, rare = list(original), 0.0
    for name in names:
        shares = np.log(original[name].map(original[name].value_counts(normalize=True)).to_numpy())
        rare += shares[:, None] * (original[name].to_numpy()[:, None] == masked[name].to_numpy()[None])
    differ = 100 * unequal(original, masked, names)
    counted, weighed = by_lot(differ + unequal(original, masked, names, 1.0)), by_lot(differ + rare.round(6))
    assert weighed > 0.3
    nominal = [name for name in names if not (number and name == "age")]
    verdict(original, masked, max(counted, weighed), nominal=nominal)


def test_gaps_in_codes_that_were_recoded_and_changed_by_chance():
    random, original = people()
    wage = pd.Series(random.lognormal(10.0, 0.6, N))
    region = original["region"].str[:1] + "-"
    decade = (original["age"] // 10).astype(str) + "0s"
    masked = original.assign(
        region=region.where(random.random(N) > 0.15, random.permutation(region)),
        age=decade.where(random.random(N) > 0.3),
        wage=wage * np.exp(0.4 * random.normal(size=N)),
    )
    known = original.assign(region=region, age=decade)
    apart = np.abs(np.log(wage.to_numpy())[:, None] - np.log(masked["wage"].to_numpy())[None])
    attack = by_lot(unequal(known, masked, ["sex", "school", "region", "age"], 0.3) + apart)
    first = original.assign(age=original["age"].astype(str), wage=wage)
    assert attack > 0.3
    verdict(first, masked, attack, nominal=["sex", "school", "region", "age"])


def test_what_several_releases_add_by_chance_is_averaged_out():
    random, original = amounts()
    releases = [original * np.exp(0.4 * random.normal(size=(N, 2))) for _ in range(6)]
    middle = sum(np.log(each) for each in releases)
    attack = by_lot(cdist(scaled(np.log(original)), scaled(middle)))
    alone = by_lot(cdist(scaled(np.log(original)), scaled(np.log(releases[-1]))))
    assert attack > 1.3 * alone
    plain = by_lot(cdist(scaled(original), scaled(sum(releases))))
    verdict(original, releases, max(plain, attack), measures="simple-attacks,releases", work_limit=0.01)


@pytest.mark.parametrize("waves", [False, True])
def test_a_factor_that_all_amounts_of_a_record_have_in_common(waves):
    """Ratios are what they were, of rent and wage or of two waves."""
    random, original = amounts()
    if waves:
        original["rent"] = (original["wage"] * np.exp(0.1 * random.normal(size=N))).round(0)
    masked = original.mul(np.exp(0.5 * random.normal(size=N)), axis=0)
    ratios = [(each["rent"] / each["wage"]).to_numpy()[:, None] for each in (original, masked)]
    attack = by_lot(cdist(*ratios))
    assert attack > 0.9
    verdict(original, masked, attack)


def test_dates_of_a_record_that_were_shifted_together():
    """How long somebody stayed is what it was, as is the sex; then the nearest day."""
    random = np.random.default_rng(9)
    came = pd.Timestamp("2025-01-01") + pd.to_timedelta(random.integers(0, 365, N), unit="D")
    stayed = pd.to_timedelta(random.integers(1, 90, N), unit="D")
    shift = pd.to_timedelta(random.integers(-60, 60, N), unit="D")
    sex = random.choice(["f", "m"], N)

    def dated(first):
        return pd.DataFrame(
            {"came": first.strftime("%Y-%m-%d"), "left": (first + stayed).strftime("%Y-%m-%d"), "sex": sex}
        )

    days = [(first - came.min()).days.to_numpy()[:, None].astype(float) for first in (came, came + shift)]
    same = (stayed.days.to_numpy()[:, None] == stayed.days.to_numpy()) & (sex[:, None] == sex)
    attack = by_lot(cdist(*days) + 1000.0 * ~same)
    assert attack > 0.8
    verdict(dated(came), dated(came + shift), attack, nominal=["sex"])


def test_places_that_were_turned():
    random = np.random.default_rng(4)
    original = pd.DataFrame(random.random((N, 2)), columns=["x", "y"])
    turn = np.array([[np.cos(0.6), np.sin(0.6)], [-np.sin(0.6), np.cos(0.6)]])
    masked = pd.DataFrame(original.to_numpy() @ turn + 0.02 * random.normal(size=(N, 2)), columns=["x", "y"])
    attack = by_lot(cdist(original.to_numpy() @ turn, masked))
    assert attack > 0.6
    verdict(original, masked, attack)


@pytest.mark.parametrize("power", [2, 1], ids=["body mass index", "ratio"])
def test_a_column_that_was_derived_from_those_that_were_masked(power):
    random = np.random.default_rng(8)
    sizes = random.normal(170, 10, N).round(0), random.normal(75, 14, N).round(0)
    original = pd.DataFrame(dict(zip(("height", "weight"), sizes, strict=True)))
    derived = (original["weight"] / (original["height"] / 100) ** power).round(2)
    masked = pd.DataFrame({name: random.permutation(original[name]) for name in original})
    attack = by_lot(cdist(derived.to_numpy()[:, None], derived.to_numpy()[:, None]))
    assert attack > 0.5
    verdict(original, masked.assign(derived=derived), attack, attributes=list(original))


def test_other_units_for_some_records():
    """Amounts of one region in thousands: who sees the region knows it."""
    random, original = amounts()
    original.insert(0, "region", random.choice(["1", "2", "3"], N))
    unit = np.where(original["region"] == "2", 0.001, 1.0)[:, None]
    noisy = original[["wage", "rent"]] * np.exp(0.1 * random.normal(size=(N, 2)))
    masked = pd.concat([original["region"], noisy * unit], axis=1)
    same = original["region"].to_numpy()[:, None] == original["region"].to_numpy()
    attack = by_lot(cdist(np.log(original[["wage", "rent"]]), np.log(noisy)) + 100.0 * ~same)
    assert attack > 0.4
    verdict(original, masked, attack, nominal=["region"])


def test_a_file_that_is_sorted_by_what_was_shuffled():
    """Whoever sorts what he knows has everybody's place; of rows side by side, too."""
    random, original = amounts()
    original = original.assign(id=np.arange(N))
    shuffled = {name: random.permutation(original[name]) for name in ("wage", "rent")}
    place = np.argsort(original["wage"].to_numpy(), kind="stable")
    masked = original.assign(**shuffled).iloc[place].reset_index(drop=True)
    assert (masked["id"] == original["id"].to_numpy()[place]).all()
    ways = {"id": "id", "row_by_row": False}, {"attributes": ["wage", "rent"]}
    for options, first in zip(ways, (original, original.iloc[place]), strict=True):
        found = verdict(first, masked, 0.9, **options)
        assert "the order of the records" in found.sentence
    unsorted = risk(original, masked.sample(frac=1.0, random_state=1), **{**QUICK, **ways[0]})
    assert not any("order" in one.key for one in unsorted.verdict.findings)


def test_attacks_that_learn_go_both_ways_and_count_weights():
    random, original = amounts()
    masked = original.mul(np.exp(0.5 * random.normal(size=N)), axis=0).assign(weight=2.0)
    schema = {"attributes": [{"name": "weight", "role": "weight"}]}
    first = original.assign(weight=np.arange(1.0, N + 1.0))
    found = risk(first, masked, schema=schema, direction="masked-to-original", **QUICK)
    shares = {one.key: one.share for one in found["simple-attacks"].attacks}
    assert shares["likelihood"] > 0.9
