"""Targeted record swapping: who is rare, who is swapped with whom, and what stays as it was."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.record_swapping import RecordSwapping

PLACES = ("land", "town")


def made(seed, homes=60, towns=6):
    """Persons in households; towns 0, 1 | 2, 3 | ... make up lands."""
    generator = np.random.default_rng(seed)
    home = np.repeat(np.arange(homes) * 7 + 3, generator.integers(1, 4, homes))
    town = dict(zip(np.unique(home), generator.integers(0, towns, homes), strict=True))
    kind = dict(zip(np.unique(home), generator.integers(0, 2, homes), strict=True))
    frame = pd.DataFrame({"home": home, "kind": [kind[one] for one in home]})
    frame["town"] = [town[one] for one in home]
    frame["land"] = frame["town"] // 2
    frame["age"] = generator.integers(0, 5, len(frame))
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def method(**more):
    return RecordSwapping(
        **{"household": "home", "hierarchy": PLACES, "risk": ("age",), "percent": 20.0, **more}
    )


def by_home(frame, *names):
    return frame.drop_duplicates("home").set_index("home")[list(names)]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 6), percent=st.sampled_from([1.0, 20.0, 100.0]))
def test_what_stays_as_it_was(seed, k, percent):
    frame = made(seed)
    swapping = method(k=k, percent=percent, similar=(("kind",),))
    after = swapping.apply(frame, seed)
    assert after.drop(columns=list(PLACES)).equals(frame.drop(columns=list(PLACES)))
    assert after.dtypes.equals(frame.dtypes)
    assert after.equals(swapping.apply(frame, seed))
    assert (after.groupby("home")[list(PLACES)].nunique() == 1).all(axis=None)  # members stay together
    for table in (frame, after):
        table["size"] = table.groupby("home")["home"].transform("size")
    # As many households of every kind and size as before are in every place.
    before, now = (
        Counter(by_home(one, *PLACES, "size", "kind").itertuples(index=False)) for one in (frame, after)
    )
    assert before == now


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 6))
def test_who_has_to_be_swapped(seed, k):
    """Fewer than k persons of an age in a land: another land. In a town only: another town."""
    frame = made(seed)
    swaps = method(k=k, percent=0.001).swaps(frame, seed)
    first = frame.drop_duplicates("home").reset_index(drop=True)
    rare = {}
    for level, names in enumerate((["land"], ["land", "town"])):
        many = frame.groupby([*names, "age"])["home"].transform("size")
        for home in frame["home"][many < k]:
            rare.setdefault(home, level)
    assert swaps.at_risk.tolist() == [home in rare for home in first["home"]]
    size = frame.groupby("home").size()
    for at, other in enumerate(swaps.partner):
        assert swaps.partner[other] == at
        home, partner = first["home"][at], first["home"][other]
        assert size[home] == size[partner]
        if at != other:  # one of the two had to go, across its level
            levels = [rare[one] for one in (home, partner) if one in rare]
            assert levels
            assert first[PLACES[min(levels)]][at] != first[PLACES[min(levels)]][other]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_who_stays_had_no_donor(seed):
    frame = made(seed, homes=30)
    swaps = method(k=4, percent=0.001).swaps(frame, seed)
    first = frame.drop_duplicates("home").reset_index(drop=True)
    size = frame.groupby("home").size()
    stays = swaps.partner == np.arange(len(first))
    assert swaps.stayed == int((stays & swaps.at_risk).sum())
    for one in np.flatnonzero(stays & swaps.at_risk):
        for other in np.flatnonzero(stays):  # whoever is left could have been its donor
            same = size[first["home"][one]] == size[first["home"][other]]
            assert not same or first["land"][one] == first["land"][other]


@pytest.mark.parametrize("percent", [5.0, 10.0, 30.0])
def test_the_share_that_is_swapped(percent):
    frame = made(1, homes=2000)
    swaps = method(k=1, percent=percent).swaps(frame, 3)
    moved = (swaps.partner != np.arange(2000)).mean()
    assert not swaps.at_risk.any()
    assert moved == pytest.approx(percent / 100, abs=0.002)


def test_the_rarest_are_drawn_most():
    """Of two ages, one of ten persons and one of thousands, the first are nearly all swapped."""
    frame = made(2, homes=1000)
    frame["age"] = 0
    frame.loc[frame["home"].isin(frame["home"].unique()[:12]), "age"] = 1
    swaps = method(k=1, percent=10.0, risk=("age",)).swaps(frame, 5)
    first = frame.drop_duplicates("home").reset_index(drop=True)
    moved = swaps.partner != np.arange(len(first))
    assert moved[first["age"] == 1].mean() > 5 * moved[first["age"] == 0].mean()


def test_a_further_profile_is_tried_where_the_first_has_no_donor():
    frame = pd.DataFrame({"home": [1, 2, 3], "land": [0, 1, 1], "kind": [7, 8, 8], "age": [1, 2, 2]})
    one = method(hierarchy=("land",), similar=(("kind",),), k=2, percent=0.001)
    assert one.swaps(frame, 1).stayed == 1
    two = method(hierarchy=("land",), similar=(("kind",), ("land",)), k=2, percent=0.001)
    assert two.swaps(frame, 1).stayed == 1  # the same land is never another one
    frame["any"] = 0
    three = method(hierarchy=("land",), similar=(("kind",), ("any",)), k=2, percent=0.001)
    assert three.swaps(frame, 1).stayed == 0


def test_what_moves_with_the_place():
    frame = made(4)
    frame["code"] = frame["town"] * 100
    after = method(carry=("code",)).apply(frame, 1)
    assert (after["code"] == after["town"] * 100).all()
    assert not after["code"].equals(frame["code"])


HOMES = pd.DataFrame({"home": [1, 1, 2], "land": [0, 0, 1], "town": [0, 0, 2], "kind": 1, "age": [1, 2, 3]})


@pytest.mark.parametrize(
    ("change", "settings_", "message"),
    [
        ({"home": [1, None, 2]}, {}, "the table, column 'home', row 2: no household number; give it one"),
        ({"town": [0, 1, 2]}, {}, "the table, row 2: household 1 has several values of 'town'; correct them"),
        ({"kind": [1, 2, 1]}, {"similar": (("kind",),)}, "row 2: household 1 has several values of 'kind'"),
        ({}, {"risk": ("agee",)}, "the table has no column 'agee'"),
        ({}, {"risk": ()}, "name the places with hierarchy, and with risk what"),
        ({}, {"hierarchy": ("land", "home")}, "twice"),
    ],
)
def test_tables_that_cannot_be_swapped(change, settings_, message):
    with pytest.raises(DataError, match=message):
        method(**settings_).apply(HOMES.assign(**change), 1)


def test_the_same_file_on_every_machine():
    """Its digest, so that a seed that was kept makes the same file in years."""
    made_ = method(k=3, percent=20.0, similar=(("kind",),)).apply(made(11, homes=300), 12)
    digest = hashlib.sha256(made_.to_csv(index=False).encode()).hexdigest()
    assert digest == "f957a8343c560aff21b3f052ac712f814bd074126b86adc3a27ac80bb89f7aba"
