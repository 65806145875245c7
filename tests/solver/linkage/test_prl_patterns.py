"""Agreement patterns against comparing pair by pair, and shares of files that give what the files give."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linker_cases import as_dict, ordinal, patterns_by_definition, task_of
from refusals import refusal

from linkrisk.solver.linkage import linker as linker_module
from linkrisk.solver.linkage.probabilistic import all_pairs, comparisons, patterns
from linkrisk.solver.linkage.probabilistic.all_pairs import CodedPairs, ComparedFiles
from linkrisk.solver.linkage.probabilistic.comparisons import USUAL, Comparison, Measure, parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.probabilistic.patterns import (
    agreement_patterns,
    as_counts,
    joint_table,
    worth_counting_jointly,
)
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Deferred

NAMES = ["anna", "anne", "hannah", "bob", "bobby", "robert", "martha", "marhta", "", "dwayne", "duane"]
HOWS = {
    "name": (
        "equal",
        "jaro-winkler:0.9",
        "jaro-winkler:0.95,0.8,0.6",
        "levenshtein:0.8,0.5",
        "jaro-winkler:0.9..0.5",
    ),
    "town": ("equal", "levenshtein:1,0.7..0.2"),
    "age": ("equal", "within:0", "within:2,5", "within:1..4", "within:0,1,2,3,4,5"),
}


@st.composite
def frames(draw):
    size = draw(st.integers(1, 9))
    columns = {
        "name": st.sampled_from([*NAMES, None]),
        "town": st.sampled_from(["york", "new york", "cork", None]),
        "age": st.sampled_from([20.0, 21.0, 22.5, 25.0, 40.0, np.nan]),
    }
    cells = {name: draw(st.lists(values, min_size=size, max_size=size)) for name, values in columns.items()}
    frame = pd.DataFrame({name: pd.Series(cells[name], dtype=object) for name in ("name", "town")})
    return frame.assign(age=np.array(cells["age"], dtype=np.float64))


def compared(task, comparisons, keys=()):
    return ComparedFiles.of(task, dict(zip(task.query_attributes, comparisons, strict=True)), keys)


def counted(task, comparisons, keys=(), threads=1):
    files = compared(task, comparisons, keys)
    return agreement_patterns(files.coded, files.blocks, threads)


@settings(max_examples=45, deadline=None)
@given(frames(), frames(), st.tuples(*(st.sampled_from(HOWS[name]) for name in ("name", "town", "age"))))
def test_patterns_are_those_of_comparing_every_pair(queries, candidates, hows):
    comparisons = [parse_comparison(f"x={how}")[1] for how in hows]
    task = task_of(queries, candidates)
    if any(frame[name].isna().all() for frame in (queries, candidates) for name in HOWS):
        with pytest.raises(UsageError, match="has no value of attribute"):
            counted(task, comparisons)
        return
    made = counted(task, comparisons)
    assert as_dict(made) == patterns_by_definition(task, comparisons)
    assert made.pairs == len(queries) * len(candidates)


@settings(max_examples=30, deadline=None)
@given(
    frames(),
    frames(),
    *(st.sampled_from(HOWS["age"]) for _ in range(2)),
    st.sampled_from(["equal", "within:3"]),
)
def test_joint_counts_are_those_of_comparing_every_pair(queries, candidates, age, years, town):
    place = {"york": 0.0, "new york": 3.0, "cork": 7.5}
    queries, candidates = (
        frame.assign(years=frame["age"][::-1].to_numpy(), town=frame["town"].map(place).astype(float))
        for frame in (queries, candidates)
    )
    hows = ("equal", town if "equal" in (age, years) else "equal", age, years)
    task, ways = task_of(queries, candidates), [parse_comparison(f"x={how}")[1] for how in hows]
    if not any(frame[name].isna().all() for frame in (queries, candidates) for name in frame):
        files = compared(task, ways)
        made = as_counts(joint_table(files.columns, files.comparisons, files.kinds), 4)
        assert as_dict(made) == patterns_by_definition(task, ways)


def counted_alike(kind, first, second, hows, keys=()):
    columns = [pd.DataFrame({"x": pd.Series(values).astype(kind)}) for values in (first, second)]
    return [as_dict(counted(task_of(*columns), [how], keys=keys)) for how in hows]


@pytest.mark.parametrize("kind", ["string", "category", "object", "float64", "Int64", "Float64"])
def test_columns_of_every_kind(kind):
    if kind in ("string", "category", "object"):
        files = ["a", "b", None, "c"], ["b", "b", "d", None]
        hows = [Comparison(), Comparison(Measure.LEVENSHTEIN, (1.0,))]
    else:
        files = [1, 2, None, 3], [2, 2, 4, None]
        hows = [Comparison(), Comparison(Measure.WITHIN, (0.5,)), Comparison(Measure.DEVIATIONS, (0.1,))]
    assert counted_alike(kind, *files, hows) == [{(2,): 2, (1,): 7, (0,): 7}] * len(hows)
    assert counted_alike(kind, *files, hows[:1], keys=["x"]) == [{(2,): 2}]


def test_values_of_two_kinds_are_compared_as_text():
    codes = pd.DataFrame({"code": [4223.0, 2.5]}), pd.DataFrame({"code": [4232, 25]})
    made = counted(task_of(*codes), [Comparison(Measure.LEVENSHTEIN, (0.6, 0.5))])
    assert as_dict(made) == {(3,): 1, (2,): 1, (1,): 2}  # 2.5 and 25; 4223 and 4232
    task = task_of(pd.DataFrame({"code": ["7", "x"]}), pd.DataFrame({"code": [7.0, 8.0]}))
    assert as_dict(counted(task, [Comparison()])) == {(2,): 1, (1,): 3}
    assert counted(task, [Comparison()], keys=["code"]).pairs == 1


def test_large_files_are_counted_jointly_and_the_others_pair_by_pair(monkeypatch):
    chance = np.random.default_rng(2)

    def files(records, *hows):
        frame = pd.DataFrame(chance.normal(size=(records, 3)).round(6), columns=list("abc"))
        made = ComparedFiles.of(task_of(frame, frame), dict(parse_comparison(how) for how in hows), ())
        return made, worth_counting_jointly(made.columns, made.comparisons, made.kinds)

    assert not files(500, "a=equal", "b=within:1", "c=within:1")[1]
    assert not files(20_000, "a=within:1", "b=within:1", "c=within:1")[1]
    large, worth = files(60_000, "a=equal", "b=deviations:0.1", "c=equal")
    assert worth
    monkeypatch.setattr(all_pairs, "patterns_by", None)  # nobody looks at pairs
    assert large.patterns().pairs == 60_000**2


@settings(max_examples=30, deadline=None)
@given(frames(), frames(), st.sampled_from([("town",), ("age",), ("town", "age"), ("name", "town", "age")]))
def test_only_pairs_with_an_equal_key_are_compared(queries, candidates, keys):
    comparisons = [parse_comparison("name=jaro-winkler:0.9,0.7")[1]]
    task = task_of(queries, candidates, attributes=["name"])

    def allowed(query, candidate):
        return any(pd.notna(query[key]) and query[key] == candidate[key] for key in keys)

    if queries["name"].isna().all() or candidates["name"].isna().all():
        return
    assert as_dict(counted(task, comparisons, keys)) == patterns_by_definition(task, comparisons, allowed)


def test_deviation_and_range_are_those_of_both_files_and_categories_differ_by_their_places():
    queries, candidates = pd.DataFrame({"x": [0.0, 10.0]}), pd.DataFrame({"x": [4.0, np.nan, 6.0]})
    known = np.array([0.0, 10.0, 4.0, 6.0])
    for text, unit in (("x=deviations:0.5,1..2", known.std()), ("x=range:0.5,1..2", 10.0)):
        (found,) = compared(task_of(queries, candidates), [parse_comparison(text)[1]]).comparisons
        assert (*found.thresholds, found.disagreement) == pytest.approx((0.5 * unit, unit, 2 * unit))
    constant = task_of(pd.DataFrame({"x": [3.0, 3.0]}), pd.DataFrame({"x": [3.0]}))
    assert as_dict(counted(constant, [USUAL[constant.schema["x"].scale]])) == {(3,): 2}
    frame = pd.DataFrame({"size": ["small", "large", "medium"]})
    task = task_of(frame, frame, scales=ordinal("size", "small", "medium", "large"))
    assert as_dict(counted(task, [Comparison(Measure.WITHIN, (0.0, 1.0))])) == {(3,): 3, (2,): 4, (1,): 2}
    # Differences that only rounding makes too large agree.
    queries, candidates = pd.DataFrame({"x": [0.4, 0.1, 1e6]}), pd.DataFrame({"x": [0.3, 0.3, 1e6 + 0.1]})
    made = counted(task_of(queries, candidates), [Comparison(Measure.WITHIN, (0.1,))])
    assert as_dict(made) == {(2,): 3, (1,): 6}


def test_threads_and_the_order_of_records_do_not_matter():
    chance = np.random.default_rng(0)
    frame = pd.DataFrame(chance.integers(0, 4, size=(700, 6)).astype(float), columns=list("abcdef"))
    other = frame.sample(frac=0.8, random_state=1).mask(chance.random((560, 6)) < 0.1)
    ways = [Comparison(Measure.WITHIN, (0.0, 1.0))] * 6
    made, again = (counted(task_of(frame, other), ways, threads=threads) for threads in (1, 5))
    assert (again.patterns == made.patterns).all()
    assert (again.counts == made.counts).all()
    moved = (each.sample(frac=1.0, random_state=2) for each in (frame, other))
    assert as_dict(counted(task_of(*moved), ways)) == as_dict(made)


def test_twenty_one_attributes_and_thousands_of_patterns(monkeypatch):
    """More patterns than the first hash table holds, and every bit of a pattern in use."""
    chance = np.random.default_rng(0)
    names = [f"x{k}" for k in range(21)]
    first, second = (
        pd.DataFrame(chance.integers(0, 2, size=(records, 21)).astype(float), columns=names)
        for records in (120, 130)
    )
    second = second.mask(chance.random(second.shape) < 0.05)
    made = counted(task_of(first, second), [Comparison()] * 21)
    a, b = first.to_numpy()[:, None], second.to_numpy()[None]
    levels = np.where(np.isnan(a) | np.isnan(b), 0, 1 + (a == b)).reshape(-1, 21)
    distinct, counts = np.unique(levels, axis=0, return_counts=True)
    assert len(distinct) > 8192
    assert as_dict(made) == dict(zip(map(tuple, distinct.tolist()), counts.tolist(), strict=True))
    with pytest.raises(UsageError, match="at most 21 attributes, not 22"):
        counted(task_of(first.assign(y=1.0), second.assign(y=1.0)), [Comparison()] * 22)
    monkeypatch.setattr(patterns, "LARGEST_TABLE", 1 << 12)
    with pytest.raises(UsageError, match="more than 2,048 agreement patterns: compare fewer"):
        counted(task_of(first, first), [Comparison()] * 21, threads=2)
    monkeypatch.setattr(comparisons, "MOST_SIMILAR", 3)
    texts = np.array(["aa", "ab", "ac"])
    with pytest.raises(UsageError, match=r"'levenshtein:0.5' finds more than 3 pairs .* higher similarity"):
        comparisons.similar_texts(texts, texts, Comparison(Measure.LEVENSHTEIN, (0.5,)))


@pytest.mark.parametrize(
    ("measure", "first", "second", "value"),
    [
        # Winkler 1990 and later reports of the Census Bureau.
        (Measure.JARO_WINKLER, "MARTHA", "MARHTA", 0.9611),
        (Measure.JARO_WINKLER, "DWAYNE", "DUANE", 0.84),
        (Measure.JARO_WINKLER, "DIXON", "DICKSONX", 0.8133),
        (Measure.LEVENSHTEIN, "kitten", "sitting", 1 - 3 / 7),
    ],
)
def test_similarities_are_the_published_ones(measure, first, second, value):
    number, slot, found = comparisons.similar_texts(
        np.array([first]), np.array(["", second]), Comparison(measure, (0.5,))
    )
    assert number.tolist() == [1]
    assert slot.tolist() == [1]
    assert found[0] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    "text",
    ["a=equal", "a=within:2", "a=deviations:0.1,0.5", "a=range:0.1..0.3", "a=b=jaro-winkler:0.92,0.8..0.7"],
)
def test_comparisons_are_read_and_written(text):
    attribute, comparison = parse_comparison(text)
    assert f"{attribute}={comparison.describe()}" == text
    assert Comparison.from_dict(comparison.to_dict()) == comparison
    assert comparison.levels == 1 + max(1, len(comparison.thresholds))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("surname", "'surname' does not say which attribute to compare and how"),
        ("a=soundex", "unknown comparison 'soundex' in 'a=soundex'; use one of equal, within"),
        ("a=equal:1", "comparison 'equal' has no thresholds"),
        ("a=within", "comparison 'within' has 0 thresholds; give 1 to 6, as in within:1,5"),
        ("a=within:1,2,3,4,5,6,7", "has 7 thresholds"),
        ("a=within:x", "a threshold in 'a=within:x' is not a number"),
        ("a=within:-1", "must be finite and not negative"),
        ("a=within:2,1", "must be ascending differences, full agreement first"),
        ("a=jaro-winkler:0.8,0.9", "must be descending similarities, full agreement first"),
        ("a=jaro-winkler:92", "has a threshold above 1; similarities are from 0 to 1"),
        ("a=levenshtein:0.5,0", "threshold 0, which every pair of texts reaches"),
    ],
)
def test_bad_comparisons_are_refused_in_one_line(text, message):
    assert message in refusal(lambda: parse_comparison(text))


GIVEN = ["anna", "anne", "hannah", "bob", "bobby", "robert", "martha", "marhta", "dwayne", "duane"]
COMPARE = ("name=jaro-winkler:0.9,0.8..0.6", "town=equal", "age=within:1,3..8", "height=deviations:0.2..1")


def people(seed, many, missing=0.1):
    chance = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "name": chance.choice(GIVEN, many),
            "town": chance.choice(["york", "cork", "leeds"], many),
            "age": chance.integers(18, 60, many).astype(float),
            "height": chance.normal(170, 10, many),
        }
    )
    return frame.mask(chance.random(frame.shape) < missing)


def learned_by_keys(keys=(), many=(70, 90), missing=0.1):
    task = task_of(people(1, many[0], missing), people(2, many[1], missing))
    how = tuple(parse_comparison(text) for text in COMPARE)
    return Probabilistic(compare=how, blocking=keys, match_share=0.02).learn(task)


LEARNED = {keys: learned_by_keys(keys) for keys in [(), ("town",), ("town", "age")]}


@settings(max_examples=30, deadline=None)
@given(st.data())
@pytest.mark.parametrize("keys", [(), ("town",), ("town", "age")])
def test_scores_of_a_share_are_those_of_the_files(keys, data):
    own = LEARNED[keys]
    rows = np.array(data.draw(st.lists(st.integers(0, 69), min_size=1, unique=True)))
    candidates = np.array(sorted(data.draw(st.sets(st.integers(0, 89), min_size=1))))
    share = own.share(rows, candidates)
    sent = pickle.loads(pickle.dumps(share))
    assert isinstance(sent, Deferred)
    assert isinstance(sent.made(), CodedPairs)
    expected = own.scores(rows)[:, candidates]
    for ready in (share.made(), sent.made()):
        assert ready.shape == expected.shape
        assert (ready.scores(np.arange(rows.size)) == expected).all()


def test_what_is_sent_is_about_nobody_else():
    own = learned_by_keys(("town", "age"), (70, 4_000))
    small, whole = pickle.dumps(own.share(np.arange(3), np.arange(5))), pickle.dumps(own.codes)
    assert len(whole) > 50 * len(small)
    coded, blocks, weights = own.share(np.arange(3), np.arange(5)).made().codes
    assert coded.query_code.shape == (3, 4)
    assert coded.candidate_slot.shape == (4, 5)
    assert coded.slot_value.size <= 4 * (5 + 1)
    assert coded.query_value.size <= 4 * 3
    assert blocks.member.size <= 2 * 5
    assert weights.segment.size == coded.start.size == coded.segment_first[-1]


def test_shares_make_up_all_pairs(monkeypatch):
    monkeypatch.setattr(linker_module, "_CODES", 40)
    for queries, candidates, many in [(1, 1, 1), (700, 95, 3), (513, 10, 1), (10_000, 11, 2)]:
        seen = np.zeros((queries, candidates), dtype=int)
        for rows, columns in linker_module.shared_out(queries, candidates, 4, many):
            assert columns.stop - columns.start <= 10
            seen[rows, columns] += 1
        assert (seen == 1).all()
