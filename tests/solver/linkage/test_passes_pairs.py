"""Linkage in passes: keys, pairs and levels, by definition."""

from __future__ import annotations

import json

import jellyfish
import numpy as np
import pandas as pd
import pytest
from linker_cases import (
    compare,
    drawn_files,
    level,
    linker,
    pairs_by_definition,
    persons,
    task,
    task_of,
)
from refusals import refusal

from linkrisk.solver.linkage.probabilistic import blocking, passes
from linkrisk.solver.linkage.probabilistic.blocking import Key, Pass, parse_pass
from linkrisk.solver.linkage.probabilistic.decisions import decide
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.run.errors import UsageError

READ = {
    "surname": (Key("surname"),),
    " surname , birth year ": (Key("surname"), Key("birth year")),
    "soundex( surname ),year(born)": (Key("surname", "soundex"), Key("born", "year")),
    "surname[:3],postcode[1:],zip[-2:],a[1:3]": (
        Key("surname", stop=3), Key("postcode", start=1), Key("zip", start=-2), Key("a", start=1, stop=3),
    ),
    "soundex(surname)[:2]": (Key("surname", "soundex", stop=2),),
    '"income, gross",soundex("name (last)")[:1]': (
        Key("income, gross"), Key("name (last)", "soundex", stop=1),
    ),
    '"a ""b"""': (Key('a "b"'),),
}  # fmt: skip


@pytest.mark.parametrize("text", READ)
def test_passes_are_read_and_written(text):
    found = parse_pass(text)
    assert found == Pass(READ[text])
    assert parse_pass(str(found)) == found


@pytest.mark.parametrize(
    ("text", "value", "key"),
    [
        ("x", "Smith", "Smith"),
        ("x[:3]", "Smith", "Smi"),
        ("x[-2:]", "Smith", "th"),
        ("x[3:]", "Smi", ""),
        ("lower(x)[:2]", "SMith", "sm"),
        ("soundex(x)", "O'Brien", jellyfish.soundex("OBrien")),
        ("soundex(x)", "Robert", "R163"),
        ("soundex(x)", "Rupert", "R163"),
        ("soundex(x)", "-12 ", ""),
        ("metaphone(x)", "Thompson", jellyfish.metaphone("Thompson")),
        ("nysiis(x)", "Schmidt", jellyfish.nysiis("Schmidt")),
        ("year(x)", "1975-12-31", "1975"),
        ("year(x)", "1975-12-31 08:00:00", "1975"),
        ("month(x)", "19750131", "1"),
        ("day(x)", "1975-01-09", "9"),
        ("day(x)", "19750109", "9"),
        ("year(x)", "31/12/1975", ""),
        ("year(x)", "197512", ""),
    ],
)
def test_what_a_key_makes_of_a_value(text, value, key):
    assert parse_pass(text).keys[0].of(value) == key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a list of keys: 'nothing' is not one; write keys like"),
        ("a,,b", "'a,,b' is not a list of keys: ',b' is not one; write keys like"),
        ("a,", "'a,' is not a list of keys: 'nothing' is not one; write keys like"),
        ("soundex(a", "'soundex(a' is not a list of keys: 'soundex(a' is not one; write keys like"),
        ("a[3]", "'a[3]' is not a list of keys: 'a[3]' is not one; write keys like"),
        ("a,b,a", "pass 'a,b,a' has the key 'a' twice; leave one out"),
        ("soundx(a)", "unknown function 'soundx' in pass 'soundx(a)'; use one of soundex, metaphone,"),
        ("a[:0]", "the key 'a[:0]' of pass 'a[:0]' keeps no character; write it like a[:3]"),
        ("a[3:2]", "the key 'a[3:2]' of pass 'a[3:2]' keeps no character; write it like a[:3]"),
    ],
)
def test_what_is_no_pass(text, message):
    assert refusal(lambda: parse_pass(text)).startswith(message)


PASSES = {
    "one": (["surname", "town"],),
    "phonetic": (["soundex(surname)", "year(born)"], ["surname[:3]", "town"]),
    "three": (["age"], ["name[-1:]", "month(born)"], ["town", "name"]),
}


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
@pytest.mark.parametrize("name", PASSES)
def test_pairs_are_those_of_a_double_loop(name, at_once, monkeypatch):
    monkeypatch.setattr(blocking, "PAIRS_AT_ONCE", at_once)
    own = task(40, seed=3)
    learned = linker(*map(",".join, PASSES[name])).learn(own)
    found = learned.files.compared.pairs
    expected = pairs_by_definition(PASSES[name], own.queries, own.candidates)
    pairs = zip(found.query.tolist(), found.candidate.tolist(), strict=True)
    assert dict(zip(pairs, found.first_pass.tolist(), strict=True)) == expected
    assert found.query.size == learned.parameters["compared_pairs"] == len(expected)
    assert (np.diff(found.query) >= 0).all()
    alone = [len(pairs_by_definition([one], own.queries, own.candidates)) for one in PASSES[name]]
    assert list(learned.files.joined.pairs) == alone


def test_levels_and_weights_are_those_of_each_pair():
    own = task(40, seed=5)
    learned = linker("town", "surname[:1]", frequency_weights=False).learn(own)
    compared, hows = learned.files.compared, learned.files.comparisons
    patterns = compared.counts.patterns[compared.pattern]
    pairs, scores = compared.pairs, learned.scores(np.arange(40))
    for query, candidate, pattern in zip(pairs.query, pairs.candidate, patterns, strict=True):
        a, b = own.queries.iloc[query], own.candidates.iloc[candidate]
        names = zip(learned.files.attributes, hows, strict=True)
        expected = [level(how, a[name], b[name]) for name, how in names]
        assert pattern.tolist() == expected
        weight = sum(own[at - 1] for own, at in zip(learned.level_weights, expected, strict=True) if at)
        assert scores[query, candidate] == pytest.approx(weight, abs=1e-9)
    assert np.isfinite(scores).sum() == compared.counts.counts.sum() == len(patterns)


WAYS = compare("surname=jaro-winkler:0.92,0.8", "age=within:1,3", "name=levenshtein:0.8")


def of_persons(*more):
    first, second = (each.assign(one=1.0) for each in persons(60, seed=6))
    return task_of(first, second, ("surname", "name", "town", "age", *more))


@pytest.mark.parametrize("settings", [{}, {"fixed_u": True, "prior": 0.0}])
def test_a_pass_that_compares_all_pairs_learns_what_all_pairs_teach(settings):
    own = of_persons("born")
    whole = Probabilistic(compare=WAYS, **settings).learn(own)
    passes = linker("one", compare=WAYS, **settings).learn(own)
    assert passes.scores(np.arange(60)) == pytest.approx(whole.scores(np.arange(60)), abs=1e-8)
    assert passes.p == pytest.approx(whole.p)
    for a, b in zip(passes.parameters["attributes"], whole.parameters["attributes"], strict=True):
        assert (a["m"], a["u"]) == (pytest.approx(b["m"]), pytest.approx(b["u"]))


def test_keys_do_not_make_agreement_on_them_common():
    """Learned from blocked pairs alone, u of the key would be near 1: here it is that of all pairs."""
    first, second, m, u = drawn_files(2000, 3, (40, 30, 50, 20), (0.05, 0.1, 0.05, 0.1))
    equal = compare(*(f"x{k}=equal" for k in range(4)))
    found = linker("x0,x1", "x2,x3", compare=equal).learn(task_of(first, second))
    for k, row in enumerate(found.parameters["attributes"]):
        assert row["u"][-1] == pytest.approx(u[k], abs=0.003)
        assert row["m"][-1] == pytest.approx(m[k], abs=0.04)
    place = found.scored_pairs.place(np.arange(2000), np.arange(2000))
    assert found.parameters["expected_matches"] == pytest.approx((place >= 0).sum(), rel=0.05)


def test_random_pairs_tell_what_all_pairs_would(monkeypatch):
    own = task(300, seed=7)
    exact = linker("surname,town").learn(own)
    monkeypatch.setattr(passes, "RANDOM_PAIRS", 40_000)
    drawn, again = (linker("surname,town").learn(own) for _ in range(2))
    for a, b, c in zip(*(one.parameters["attributes"] for one in (exact, drawn, again)), strict=True):
        assert b["u"] == c["u"]
        assert b["u"] == pytest.approx(a["u"], abs=2e-3 if a["attribute"] == "town" else 0.01)


def test_a_rare_value_weighs_more():
    own = task(80, seed=8)
    plain = linker("town").learn(own).scored_pairs
    found = linker("town", frequency_weights=True).learn(own).scored_pairs
    rare = {}
    for name in ("surname", "name", "town"):
        first, second = (frame[name].value_counts(normalize=True) for frame in (own.queries, own.candidates))
        common = [value for value in first.index if value in second.index]
        chance = sum(first[value] * second[value] for value in common)
        rare[name] = {value: np.log2(chance / max(first[value], second[value])) for value in common}
    pairs = found.query, found.candidate, found.score, plain.score
    for query, candidate, score, before in zip(*pairs, strict=True):
        a, b = own.queries.iloc[query], own.candidates.iloc[candidate]
        extra = sum(rare[name][a[name]] for name in rare if pd.notna(a[name]) and a[name] == b[name])
        assert score == pytest.approx(before + extra, abs=1e-9)
    assert rare["surname"]["tailor"] > rare["surname"]["smith"]


def test_parameters_that_went_through_json_link_alike():
    own = task(60, seed=9)
    for settings in ({}, {"frequency_weights": True, "linked_leave": True}):
        learned = linker("soundex(surname),town", "age", **settings).learn(own)
        restored = Probabilistic.restored(json.loads(json.dumps(learned.parameters)), own)
        assert (restored.scored_pairs.score == learned.scored_pairs.score).all()
        assert (decide(restored, "greedy").linked == decide(learned, "greedy").linked).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocking": ("town",)}, "passes and blocking both say which pairs are compared; give one of them"),
        (
            {"compare": compare("age=within:1,3..6")},
            "passes give every level of agreement one weight: leave out '..6' of the comparison of 'age'",
        ),
        (
            {"clerical_band": (0.5, 0.9), "false_link_rate": 0.1, "false_non_link_rate": 0.1},
            "thresholds come from a clerical band or from two error rates; give one of them",
        ),
        (
            {"clerical_band": (0.9, 0.5)},
            "the clerical band is 0.9,0.5; give two match probabilities between 0 and 1, the lower one first",
        ),
        *(
            (
                {"passes": (), name: (0.5, 0.9) if name == "clerical_band" else True},
                f"{name} is about passes: give passes too, or leave it out",
            )
            for name in ("linked_leave", "frequency_weights", "clerical_band")
        ),
        (
            {"passes": (parse_pass("town,age"), parse_pass("town, age"))},
            "the pass 'town,age' is given twice; leave one out",
        ),
        (
            {"passes": tuple(parse_pass(f"x{k}") for k in range(101))},
            "there are 101 passes; give at most 100",
        ),
    ],
)
def test_bad_settings(settings, message):
    assert refusal(lambda: Probabilistic(**{"passes": (parse_pass("town"),), **settings})) == message


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        (["town,zip"], "pass 'town,zip': 'zip' is not a column of the file of queries; both files need it"),
        (["year(town)"], "pass 'year(town)': no record of the file of queries has a value of 'year(town)';"),
        (["surname,name,born,age,town[3:]", "born,age"], "no pair of records agrees on all keys of 'surname"),
    ],
)
def test_keys_that_cannot_be_used(passes, message):
    own = task(20, seed=11)
    own = task_of(own.queries, own.candidates.assign(age=own.candidates["age"] + 100), own.query_attributes)
    assert refusal(lambda: linker(*passes).learn(own)).startswith(message)


def test_a_hopeless_pass_is_refused_with_its_number(monkeypatch):
    monkeypatch.setattr(blocking, "MOST_PAIRS", 1000)
    first = pd.DataFrame({"town": ["york"] * 60, "name": [f"n{at % 20}" for at in range(60)]})
    own = task_of(first, first)
    assert refusal(lambda: linker("name", "town", compare=()).learn(own)) == (
        "pass 'town' compares 3,600 of 3,600 pairs after 180 of the passes before it; all passes together "
        "may compare 1,000: add a key to it, or use a finer one"
    )
    with pytest.raises(UsageError, match=r"^pass 'town' compares 3,600 of 3,600 pairs; all passes together"):
        linker("town", compare=()).learn(own)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passes": ["soundx(town)"]}, "unknown function"),
        ({"frequency_weights": None, "thresholds": None}, ""),
        ({"thresholds": {"link": "x", "non_link": 1}}, ""),
        ({"thresholds": {"link": 1.0}}, "'non_link' is"),
    ],
)
def test_parameters_that_are_none(change, message):
    own = task(20, seed=12)
    parameters = linker("town").learn(own).parameters | change
    begins = f"these are not parameters of linkage in passes: {message}"
    assert refusal(lambda: Probabilistic.restored(parameters, own)).startswith(begins)
