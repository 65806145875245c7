"""Releases that tell by places, ids and households: no verdict is below a few lines of pandas, nor green.

As in `test_known_releases.py`. Amounts are exchanged at random, or noisy, so that no distance finds many.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from measure_runs import by_lot

from linkrisk import risk
from linkrisk.datasets.pairs.file_pair import make_file_pair

N = 160
NAMES = ["age", "wage", "rent"]
QUICK = {"measures": "simple-attacks", "aggregator": "weighted-mean", "time_limit": None, "work_limit": 0.01}


def people(seed=1, records=N):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": random.permutation(records) + 1000,
            "name": [f"name {at}" for at in random.permutation(records)],
            "region": random.choice([f"{at:02d}" for at in range(1, 17)], records),
            "sex": random.choice(["f", "m"], records),
            "age": random.integers(16, 90, records).astype(float),
            "wage": random.lognormal(10.0, 0.6, records).round(0),
            "rent": random.lognormal(7.0, 0.5, records).round(0),
        }
    )
    return random, frame


def exchanged(random, original, *besides):
    """Ids and amounts at random, with some other columns, in the order of the original."""
    return original[["id", *besides]].assign(**{name: random.permutation(original[name]) for name in NAMES})


def by_place(known, released):
    """The share that is right of who puts his list beside the release."""
    return float((known["id"].to_numpy() == released["id"].to_numpy()).mean())


def verdict(original, released, attack, **options):
    """The verdict, which is not below the attack, but for two records that learned weights may cost."""
    options = {"attributes": NAMES, "id": "id", **QUICK, **options}
    found = risk(original, released.reset_index(drop=True), **options).verdict
    assert found.low >= attack - 2.0 / N
    assert found.answer != "below"
    return found


SORTED = {
    "as it was": ([], True),
    "backwards": ([], False),
    "by a name that was taken out": (["name"], True),
    "by region, which was taken out, and then as it was": (["region"], True),
    "by region, sex and age, which was exchanged": (["region", "sex", "age"], True),
    "by wages from high to low": (["wage"], False),
}


@pytest.mark.parametrize("way", SORTED)
def test_places_of_a_release_in_an_order_that_somebody_has(way):
    random, original = people()
    columns, up = SORTED[way]
    known = original.sort_values(columns, kind="stable", ascending=up) if columns else original
    known = known if up or columns else known.iloc[::-1]
    released = exchanged(random, original).set_index("id").loc[known["id"]].reset_index()
    attack = by_place(known, released)
    assert attack == 1.0
    if way in ("as it was", "by region, which was taken out, and then as it was"):
        found = verdict(original, released, attack, measures="worst-case")
        assert "(the order of the records)" in found.sentence
        (one,) = (each for each in found.findings if each.key == "order_kept")
        assert (one.severity, one.low) == ("red", 1.0)
        assert "`mask` with shuffle=True" in one.sentence
    left = left_in(original, released).order
    assert left is not None
    assert left.right.sum() >= 0.98 * N


def test_places_within_a_region_that_was_released():
    """Sorted by what everybody sees, and within that as it was."""
    random, original = people()
    released = exchanged(random, original, "region").sort_values("region", kind="stable")
    assert by_place(original.sort_values("region", kind="stable"), released) == 1.0
    mixed = released.sample(frac=1.0, random_state=1).sort_values("region", kind="stable")
    orders = [left_in(original, each).order for each in (released, mixed)]
    assert orders[0] is not None
    assert (orders[0].right.sum(), orders[1]) == (N, None)


def left_in(original, released, **options):
    released = released.reset_index(drop=True)
    options = options or {"id": "id"}
    return make_file_pair(original, released, **{"attributes": NAMES, **options}).left_in


@pytest.mark.parametrize("way", ["sample", "pieces", "moved a little", "within households"])
def test_an_order_that_is_not_whole_keeps_a_verdict_from_green(way):
    """Half of the records in their order, pieces of the file, a few rows moved, members of households."""
    random, original = people(2)
    released = exchanged(random, original)
    place, size = np.arange(N), {"pieces": 20, "within households": 4}.get(way)
    if way == "sample":
        released = released.sample(frac=0.5, random_state=3).sort_index()
    elif way == "moved a little":
        released = released.iloc[np.argsort(place + 5.0 * random.normal(size=N))]
    else:
        released = released.iloc[np.lexsort((place, random.permutation(N)[place // size]))]
    order = left_in(original, released).order
    assert order is not None
    assert order.as_original
    if way == "sample":  # who knows most of them knows between whom the others stand
        chance = by_place(original.iloc[:: N // len(released)][: len(released)], released)
        said = verdict(original, released, chance)
        assert any(one.key == "attack_record_order" and one.low > 0.3 for one in said.findings)


@pytest.mark.parametrize("seed", range(6))
def test_a_release_in_an_order_of_its_own_tells_nothing(seed):
    random, original = people(seed, records=int(np.random.default_rng(seed).choice([12, 40, 400])))
    released = exchanged(random, original, "region").sample(frac=1.0, random_state=seed)
    first, last = random.integers(1, 17, len(released)), random.permutation(len(released))
    released["code"] = [f"{a:02d}-{b:05d}" for a, b in zip(first, last, strict=True)]
    by = [["wage"], ["region", "age"], ["id"], [], [], []][seed]
    found = left_in(original, released.sort_values(by) if by else released)
    assert (found.order, tuple(found.masked)) == (None, ())
    beside = original.assign(wage=random.permutation(original["wage"]))
    beside = left_in(original, beside, attributes=["wage"], row_by_row=True)
    assert beside.order is None  # of rows side by side the order of a release cannot be seen


def codes(random, original, kind):
    """New ids of which a part is a column of the original, what it is, and what the part says."""
    number = pd.Series(random.permutation(N)).astype(str).str.zfill(6)
    decade = (original["age"] // 10).astype(int)
    born = (110 - original["age"]).astype(int) % 100
    region, parity = original["region"], 2 * random.integers(0, 5, N) + (original["sex"] == "m")
    return {
        "region first": (region + "-" + number, region),
        "region in digits": ((region + number).astype(int), region),
        "region last": (number + region, region),
        "region between": ("AT/" + number.str[:3] + "/" + region + "/" + number, region),
        "age in decades": (number + "x" + decade.astype(str), decade),
        "year of birth": (born.astype(str).str.zfill(2) + number, born),
        "sex by parity": (number + parity.astype(str), original["sex"]),
    }[kind]


@pytest.mark.parametrize("kind", ["region first", "region in digits", "region last", "region between",
                                  "age in decades", "year of birth", "sex by parity"])  # fmt: skip
def test_ids_that_have_a_column_of_the_original_inside(kind):
    """Whoever sees the region in an id looks for the nearest amounts of that region."""
    random, original = people(3)
    noise = np.exp(0.5 * random.normal(size=(N, 3)))
    code, inside = codes(random, original, kind)
    released = original[["id"]].assign(code=code, **(original[NAMES] * noise))
    left = left_in(original, released, row_by_row=True)
    (one,) = (each for each in left.masked if each.column == "code")
    assert one.original == {"a": "age", "y": "age", "s": "sex", "r": "region"}[kind[0]]
    if kind in ("region first", "year of birth"):
        logs = [np.log(each[NAMES]).to_numpy() for each in (original, released)]
        apart = (np.abs(logs[0][:, None] - logs[1][None]) ** 2).sum(axis=2)
        differ = inside.to_numpy()[:, None] != inside.to_numpy()
        attack = by_lot(apart + 100.0 * differ)
        assert attack > 1.8 * by_lot(apart)
        found = verdict(original, released.sample(frac=1.0, random_state=1), attack)
        assert any(one.key == "masked_not_compared" and "code" in one.sentence for one in found.findings)


def test_what_an_id_says_that_the_release_shows_besides_is_no_news():
    random, original = people(3)
    code, _ = codes(random, original, "region first")
    released = exchanged(random, original, "region").assign(code=code)
    left = left_in(original, released, row_by_row=True)
    assert not left.masked


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_the_one_who_is_left_of_a_household(direction):
    random, original = people(4)
    original["household"] = np.arange(N) // 4
    released = original[["id", *NAMES]].copy()
    first = np.arange(0, N, 4)
    released.loc[first, NAMES] = released.loc[random.permutation(first), NAMES].to_numpy()
    released["household"] = random.permutation(900)[original["household"]]
    both = original.merge(released, on=NAMES, suffixes=("", "_there"))
    home = both.groupby("household")["household_there"].agg(lambda each: each.mode()[0])
    there = released.groupby("household")["id"].agg(list)
    right = 0
    for mine, theirs in home.items():
        members = original[original["household"] == mine]
        seen = released[released["household"] == theirs]
        sure = members.merge(seen, on=NAMES, suffixes=("", "_there"))
        right += int((sure["id"] == sure["id_there"]).sum())
        left = [one for one in there[theirs] if one not in set(sure["id_there"])]
        rest = [one for one in members["id"] if one not in set(sure["id"])]
        right += int(len(left) == len(rest) == 1 and left == rest)
    attack = right / N
    assert attack > 0.95
    shuffled = released.sample(frac=1.0, random_state=1)
    found = verdict(original, shuffled, attack, direction=direction)
    assert "likelihood ratios, whole households" in found.sentence


def test_households_that_say_nothing():
    random, original = people(5)
    original["household"] = np.arange(N) // 4
    released = exchanged(random, original)
    released["household"] = random.permutation(900)[original["household"]]
    released = released.sample(frac=1.0, random_state=1).reset_index(drop=True)
    found = risk(original, released, attributes=NAMES, id="id", **QUICK)["simple-attacks"]
    shares = {one.key: one.share for one in found.attacks}
    assert shares["household_members"] < 0.08
