"""Recodings that two files show: which are inferred, and what is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.pairs.recodings import NumberRecoding

RECORDS = 300


def amounts(seed: int = 1) -> pd.DataFrame:
    """Amounts that are all different, ages, and regions of few codes."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "amount": np.round(generator.lognormal(8, 1, RECORDS), 2),
            "second": np.round(generator.lognormal(7, 1, RECORDS), 2),
            "age": generator.integers(18, 90, RECORDS),
            "region": generator.choice(["11", "12", "21", "22", "31"], RECORDS),
            "code": [f"{number:05d}" for number in generator.integers(1000, 99999, RECORDS)],
        }
    )


def pair_of(original: pd.DataFrame, masked: pd.DataFrame, **options: object) -> FilePair:
    options.setdefault("nominal", [name for name in ("region", "code") if name in original])
    return make_file_pair(original, masked, **options)


def inferred(pair: FilePair) -> set[str]:
    return {*pair.recoded, *(name for name, one in pair.categorical.items() if one.masking == "inferred")}


def midpoints(values: pd.Series) -> pd.Series:
    edges = np.array([0, 1000, 2000, 5000, 20000, 1e9])
    middles = np.array([500, 1500, 3500, 12500, 30000])
    return pd.Series(middles[np.searchsorted(edges, values, side="right") - 1])


def test_numbers_that_became_texts_are_a_recoding_without_any_option():
    frame = amounts()[["age", "amount"]]
    released = frame.assign(age=[f"{10 * (age // 10)}-{10 * (age // 10) + 9}" for age in frame["age"]])
    pair = make_file_pair(frame, released)
    assert inferred(pair) == {"age"}
    assert pair.not_comparable == ()
    # Where the original has the texts, the numbers are a mistake as before.
    with pytest.raises(DataError, match="is not a number, and masked has numbers there"):
        make_file_pair(released, frame)


@pytest.mark.parametrize(("level", "after"), [("year", "1980"), ("quarter", "1980-Q1"), ("month", "1980-03")])
def test_levels_of_dates_are_a_masking_that_is_known(level, after):
    frame = pd.DataFrame({"born": ["1980-03-17", "1980-03-17", "1981-11-30"], "x": [1.0, 5.0, 9.0]})
    method = f"recode level={level} attributes=born"
    released = masking_method(method).apply(frame)
    assert released["born"][0] == after
    for masking in ([method], [f"recode level={level}"], ["none", method]):
        pair = make_file_pair(frame, released, masking=masking)
        assert pair.recoded["born"].attribute == "born"
        at = pair.attributes.index("born")
        np.testing.assert_array_equal(pair.compared_values[:, at], pair.masked_values[:, at])


def test_a_level_that_the_files_contradict_hides_nothing():
    days = pd.to_datetime("1980-01-01") + pd.to_timedelta(np.arange(RECORDS) * 7 % 900, unit="D")
    frame = pd.DataFrame({"born": days.strftime("%Y-%m-%d"), "x": amounts()["amount"]})
    released = masking_method("recode level=month attributes=born").apply(frame)
    shown = make_file_pair(frame, released)
    told = make_file_pair(frame, released, masking=["recode level=year attributes=born"])
    assert told.recoded == shown.recoded


RECODED = {
    "rounding": ("amount", lambda column: (column / 1000).round() * 1000),
    "truncation": ("amount", lambda column: column // 500 * 500),
    "intervals": ("amount", midpoints),
    "top": ("amount", lambda column: column.clip(upper=column.quantile(0.9))),
    "bottom and top": ("age", lambda column: column.clip(25, 75)),
    "intervals of ages": ("age", lambda column: column // 10),
    "descending": ("age", lambda column: 9 - column // 10),
    "codes without an order": ("age", lambda column: column * 7 % 5),
    "digits": ("code", lambda column: column.str[:1]),
    "digits and stars": ("code", lambda column: column.str[:2] + "***"),
    "groups": (
        "region",
        lambda column: column.map(dict(zip(["11", "12", "21", "22", "31"], "AABBB", strict=True))),
    ),
    "groups that lend their names": ("region", lambda column: column.replace({"12": "11", "22": "21"})),
    "other names": ("region", lambda column: "R" + column),
}


@pytest.mark.parametrize("way", RECODED)
def test_each_value_goes_to_one_value(way):
    name, recode = RECODED[way]
    original = amounts()
    masked = original.assign(**{name: recode(original[name])})
    pair = pair_of(original, masked)
    assert inferred(pair) == {name}
    assert pair.not_comparable == ()
    if name in pair.recoded:  # the intruder has the values of the release
        at = pair.attributes.index(name)
        assert np.array_equal(pair.compared_values[:, at], pair.masked_values[:, at])
        assert np.array_equal(pair.original_values[:, at], original[name])
    else:
        attribute = pair.categorical[name]
        places = [attribute.categories.index(code) for code in masked[name]]
        before = [attribute.categories.index(code) for code in original[name]]
        assert attribute.possible[before, places].all()
        assert (attribute.possible[before].sum(axis=1) == 1).all()
    left = pair_of(original, masked, masking=["none"])
    assert inferred(left) == set()
    assert np.array_equal(left.compared_values, left.original_values)


CHANCE = [
    "noise percent=1",
    "noise percent=30",
    "rank-swapping percent=5",
    "microaggregation k=3 groups=amount,second",
    "microaggregation k=10 groups=amount,second",
    "microaggregation k=5 groups=amount,age",
    "pram change=0.1 attributes=region",
]


@pytest.mark.parametrize("method", CHANCE)
@pytest.mark.parametrize("seed", range(2))
def test_chance_is_no_recoding(method, seed):
    original = amounts(seed)
    masked = masking_method(method).apply(original, seed)
    assert inferred(pair_of(original, masked)) == set()


@pytest.mark.parametrize("seed", range(6))
def test_noise_that_is_written_in_whole_numbers_is_no_recoding(seed):
    generator, original = np.random.default_rng(1000 + seed), amounts(seed)
    noisy = (original["amount"] + generator.normal(0, 500, RECORDS)).round(-1)
    assert inferred(pair_of(original, original.assign(amount=noisy))) == set()


def test_one_changed_value_is_no_evidence():
    original = amounts()
    masked = original.assign(region=original["region"].where(original.index != 7, "11"))
    assert original["region"][7] != "11"
    assert inferred(pair_of(original, masked)) == set()
    rare = original.assign(region=original["region"].where(original.index != 7, "99"))
    assert inferred(pair_of(rare, masked)) == set()  # its only record: by chance as well


def test_what_is_missing_is_nothing_against_a_recoding():
    original = amounts()
    rounded = (original["amount"] / 1000).round() * 1000
    rounded[::7] = np.nan
    known = original.assign(amount=original["amount"].where(original.index % 5 > 0))
    pair = pair_of(known, original.assign(amount=rounded))
    assert inferred(pair) == {"amount"}
    assert np.isnan(pair.compared_values[0, 0])


def test_a_method_that_is_given_comes_first():
    original = amounts()
    masked = original.assign(code=original["code"].str[:1], region="x")
    masked.loc[::2, "region"] = "y"
    pair = pair_of(original, masked, masking=["recode digits=4 attributes=code"])
    assert pair.categorical["code"].masking == "recode digits=4 attributes=code"
    assert pair.not_comparable == ("region",)
    assert pair.notes[-1] == (
        "region cannot be compared: no category of the original is in the masked file, and no recoding "
        "shows; say with masking how it was masked, or leave it out with attributes"
    )


def test_the_order_of_an_ordinal_attribute_is_that_of_the_schema():
    names = ("low", "mid", "high", "top")
    generator = np.random.default_rng(3)
    original = pd.DataFrame({"size": generator.choice(names, RECORDS), "x": generator.normal(size=RECORDS)})
    masked = original.assign(size=original["size"].replace({"top": "high"}))
    schema = Schema((Attribute("size", scale=Scale.ORDINAL, categories=names), Attribute("x")))
    pair = make_file_pair(original, masked, schema=schema)
    assert inferred(pair) == {"size"}
    assert np.argwhere(pair.categorical["size"].possible).tolist() == [[0, 0], [1, 1], [2, 2], [3, 2]]


def test_values_between_steps_become_what_the_step_below_becomes():
    steps = NumberRecoding("x", ((1.0, None), (5.0, 5.5), (7.0, 9.0)))
    given = np.array([0.0, 4.9, 5.0, 6.9, 7.0, 100.0, np.nan])
    assert np.array_equal(steps.apply(given), [0.0, 4.9, 5.5, 5.5, 9.0, 9.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_recoding_that_chance_has_changed_is_known_for_most(missing):
    """Cut to the first digit, then swapped among a tenth of the records: no map, but not much less."""
    original, draw = amounts(), np.random.default_rng(3)
    cut = original["region"].str[:1] + "x"
    swapped = cut.where(draw.random(RECORDS) > 0.1, draw.permutation(cut))
    masked = original.assign(region=swapped.where(draw.random(RECORDS) >= missing))
    pair = pair_of(original, masked, attributes=["region"], nominal=["region"])
    assert pair.not_comparable == ()
    categories = [*pair.categorical["region"].categories, None]
    compared = [categories[int(code)] for code in pair.compared_values[:, 0]]
    assert compared == cut.tolist()
    assert "changed for some records" in " ".join(pair.notes)
    without = pair_of(original, masked, attributes=["region"], nominal=["region"], masking=["none"])
    assert without.not_comparable == ("region",)


def test_new_codes_that_go_with_nothing_are_no_recoding():
    original = amounts()
    shuffled = original["region"].map("r{0}".format).sample(frac=1.0, random_state=1).to_numpy()
    masked = original.assign(region=shuffled)
    pair = pair_of(original, masked, attributes=["region"], nominal=["region"])
    assert pair.not_comparable == ("region",)
    assert not pair.recoded
