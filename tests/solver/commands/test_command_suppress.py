"""`suppress` and `unsafe` on the command line and as functions: answers, proofs, audits and refusals."""

from __future__ import annotations

import json
from itertools import combinations, groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_runs import check_golden, check_refusals, check_refused_calls, refuse, run, squeezed
from extras import of_extra
from hypothesis import given, settings
from hypothesis import strategies as st
from key_tasks import ASKED, HOMES, PEOPLE

from linkrisk import suppress, unsafe
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.recoding import GlobalRecoding
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Cancel
from linkrisk.solver.suppression import steering

AGES = "Urk,31\nUrk,32\nUrk,33\nDelft,34\nDelft,35\nDelft,41\nDelft,42\nUrk,47\n"
TENS = "age,ten\n" + "".join(f"{age},{'thirties' if age < 40 else 'forties'}\n" for age in range(31, 50))


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("town.csv").write_text(TOWN, encoding="utf-8")


def fewest(sets, names):
    return next(
        size
        for size in range(len(names) + 1)
        for some in combinations(names, size)
        if all(set(some) & set(each) for each in sets)
    )


WRITTEN = """a,b,c,province
x,9,TRUE,7
x,,TRUE,
x,9.0,FALSE,8.0
y,10,TRUE,NA
x,9,TRUE,7
"""


def test_what_stays_is_written_letter_by_letter(capsys):
    Path("in.csv").write_text(WRITTEN, encoding="utf-8")
    asked = ("suppress", "--input", "in.csv", "--output", "out.csv", "--keys", "a,b,c", "--k", "2")
    run(capsys, *asked, "--ghost", "a=province", "--priority", "a=1,b=2,c=3")
    assert Path("out.csv").read_text(encoding="utf-8").splitlines() == [
        *("a,b,c,province", "x,9,TRUE,7", ",,,", "x,9.0,,8.0", ",,TRUE,", "x,9,TRUE,7"),
    ]


def test_what_is_printed_and_written(capsys):
    check_golden("suppress", run(capsys, *ASKED, "--k", "2", "--output", "safe.csv", "--json", "found.json"))
    assert Path("safe.csv").read_text(encoding="utf-8").splitlines() == [
        "id,town,sex,trade",
        "1,,f,smith",
        *PEOPLE.splitlines()[2:8],
        "8,,,nurse",
    ]
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["cells"], found["bound"], found["status"], found["recounted"]) == (3, 3.0, "optimal", 0)
    assert found["keys"] == ["town", "sex", "trade"]
    assert found["missing"] == "own-category"
    assert found["suppressed"] == {"town": 2, "sex": 1, "trade": 0}


LIMIT = st.integers(1, 4)


@settings(max_examples=15)
@given(
    rows=st.lists(st.tuples(*[st.sampled_from("xy")] * 3), min_size=1, max_size=9),
    threshold=st.one_of(LIMIT, st.fixed_dictionaries({1: LIMIT, 2: LIMIT, 3: LIMIT})),
)
def test_no_fewer_values_will_do(rows, threshold):
    """By the definition; thresholds by dimension are those of parts of tables, too."""
    frame, names = pd.DataFrame(rows, columns=list("abc")), list("abc")
    for asked in ({"dimension": 3}, {"tables": [names]}):
        result = suppress(frame, keys=names, threshold=threshold, **asked)
        assert result.proven
        assert result.recounted == 0
        kept, needed = result.table.notna(), 0
        for at, row in frame.iterrows():
            sets = [
                part
                for size in (1, 2, 3)
                for part in combinations(names, size)
                if (frame[list(part)] == row[list(part)]).all(axis=1).sum()
                <= (threshold if isinstance(threshold, int) else threshold[size])
            ]
            needed += fewest(sets, names)
            assert not any(kept.loc[at, list(part)].all() for part in sets)
        assert result.cells == result.bound == needed
        assert (result.table == frame)[kept].fillna(value=True).all(axis=None)


def test_costs_say_which_values_go():
    keys = ["town", "sex", "trade"]
    frame = pd.read_csv("people.csv")
    spared = suppress(frame, keys=keys, k=2, cost="priority", priorities={"town": 5.0})
    assert spared.suppressed["town"] == 0
    assert (spared.cells, spared.cost, spared.bound) == (3, 3.0, 3.0)
    untouched = suppress(frame, keys=keys, k=2, untouched=["sex"])
    assert untouched.suppressed["sex"] == 0
    by_entropy = suppress(frame, keys=keys, k=2, cost="entropy")
    share = np.array([5, 3]) / 8
    entropy = -(share * np.log2(share)).sum()
    # Towns 5 to 3, sexes 5 to 3, trades 5 to 3: all cost the same.
    assert by_entropy.cost == pytest.approx(3 * round(entropy, 3), abs=1e-9)  # in thousandths


def test_weights_are_counted_instead_of_records():
    frame = pd.DataFrame({"a": ["x", "y", "y"], "w": [9.0, 1.0, 1.0]})
    result = suppress(frame, keys=["a"], dimension=1, threshold=2, weight="w")
    assert result.table["a"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize("missing", ["own-category", "matches-anything", "alpha=0.5", "safe"])
def test_missing_values_of_the_input(missing):
    frame = pd.DataFrame({"a": ["x", "x", None, "y"], "b": ["u", "u", "u", None]})
    result = suppress(frame, dimension=2, missing=missing)
    assert result.recounted == 0
    assert result.details["missing"] == missing
    kept = {"own-category": 4, "matches-anything": 6, "alpha=0.5": 6, "safe": 5}
    assert int(result.table.notna().sum().sum()) == kept[missing]


def test_what_has_no_time_keeps_an_answer_and_a_bound():
    chance = np.random.default_rng(1)
    frame = pd.DataFrame(chance.integers(0, 3, (300, 8)), columns=list("abcdefgh")).astype(str)
    cancel = Cancel()
    cancel.cancel()
    stopped, whole = suppress(frame, k=3, cancel=cancel), suppress(frame, k=3)
    assert stopped.recounted == 0
    assert stopped.bound <= whole.cost <= stopped.cost
    assert whole.proven
    assert stopped.status == "interrupted"
    assert stopped.limit == "user"


def test_too_many_rows_to_compare_are_not_counted_again(monkeypatch):
    monkeypatch.setattr(steering, "DIFFERENT_ROWS", 1)
    frame = pd.DataFrame({"a": ["x", "x", None, "y"]})
    assert suppress(frame, k=2, missing="matches-anything").recounted is None


def test_bad_requests(capsys):
    Path("made").mkdir()
    asked = [
        ["--dimension", "4"],
        ["--levels", "zip=1"],
        ["--cost", "one", "--priority", "sex=2"],
        ["--priority", "sex=-1"],
        ["--household", "id"],
        ["--weight", "mass"],
        ["--shuffle"],
        *(["--k", "2", "--write-recodings", name] for name in ("made", "none")),
    ]
    unsafe = ["unsafe", "--input", "people.csv", "--hierarchy", "town"]
    check_refusals(capsys, "suppress", [*([*ASKED, *one] for one in asked), unsafe])


def test_bad_tables():
    def refused(asked):
        of = {"keys": ["street", "sex", "age"], "k": 2, "household": "home", "household_keys": ["street"]}
        columns = {name: asked[name] for name in ("street", "home", "w", "relation") if name in asked}
        suppress(HOMES.assign(**columns), **of | {name: asked[name] for name in asked.keys() - columns})

    homes = [
        {"street": list("abbbbbc")},
        {"home": [1, None, 2, 2, 3, 3, 4]},
        {"w": [1, 1, 1, 0, 1, 1, 1], "weight": "w"},
        {"untouched": ["street", "sex", "age"]},
        {"untouched": ["home"]},
        {"relation": [1, 2, 2, 3, 2, 1, 1], "head": "relation=1"},
        {"relation": [1, 2, 1, 3, 1, 1, 1], "head": "relation=1"},
        {"head": "relation"},
        {"head": "role=1"},
    ]
    check_refused_calls("households", refused, homes)


def test_a_ghost_loses_its_value_with_its_key_variable(capsys):
    frame = pd.read_csv("people.csv").assign(province=lambda one: one["town"].map({"Urk": "F", "Delft": "H"}))
    frame.to_csv("provinces.csv", index=False)
    asked = ["--keys", "town,sex,trade", "--k", "2", "--ghost", "town=province", "--output", "safe.csv"]
    said = run(capsys, "suppress", "--input", "provinces.csv", *asked)
    assert "ghosts      province with town" in said
    written = pd.read_csv("safe.csv")
    assert written["town"].isna().sum() == 2
    assert (written["town"].isna() == written["province"].isna()).all()
    kept = written["province"].notna()
    assert (written["province"] == frame["province"])[kept].all()


def test_what_ghosts_and_thresholds_cannot_be():
    def refused(asked):
        suppress("people.csv", **{"keys": ["town", "sex"], "k": 2, **asked})

    check_refused_calls(
        "ghosts",
        refused,
        [
            *({"ghosts": {"zip": ["id"]}}, {"ghosts": {"town": ["sex"]}}, {"ghosts": {"town": ["zip"]}}),
            *({"head": "sex=f"}, {"ghosts": {"town": ["id"]}, "problem": "joint"}),
            {"k": None, "levels": {"town": 1}, "threshold": {2: 1}},
        ],
    )


def test_a_table_has_a_threshold_of_its_own(capsys):
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 2], "b": [1, 1, 1, 2, 2]})
    result = suppress(frame, tables={("a",): 2, ("b",): None})
    assert {one.variables: one.threshold for one in result.checked} == {("a",): 2, ("b",): 1.0}
    assert result.suppressed == {"a": 2, "b": 0}
    frame.to_csv("ab.csv", index=False)
    found = ["suppress", "--input", "ab.csv", "--json", "found.json"]
    run(capsys, *found, "--table", "a=2", "--table", "b")
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["suppressed"] == {"a": 2, "b": 0}
    run(capsys, *found, "--dimension", "2", "--threshold", "1=2,2=1")
    tables = json.loads(Path("found.json").read_text(encoding="utf-8"))["tables"]
    assert {tuple(one["variables"]): one["threshold"] for one in tables} == {
        ("a",): 2,
        ("b",): 2,
        ("a", "b"): 1,
    }


def test_levels_are_written_as_recoding_files(capsys):
    Path("ages.csv").write_text("town,age\n" + AGES, encoding="utf-8")
    Path("tens.csv").write_text(TENS, encoding="utf-8")
    Path("made").mkdir()
    options = ["--problem", "joint", "--k", "2", "--keys", "town,age", "--hierarchy", "age=tens.csv"]
    files = ["--write-recodings", "made", "--output", "safe.csv"]
    run(capsys, "suppress", "--input", "ages.csv", *options, *files)
    assert Path("made/age.grc").read_text(encoding="utf-8") == "thirties: 31-35\nforties: 41-42, 47\n"
    run(
        capsys, "mask", "--input", "ages.csv", "--method", "recode file=age=made/age.grc", "--output", "r.csv"
    )
    assert set(pd.read_csv("r.csv")["age"]) == {"thirties", "forties"}


def test_levels_of_variables(capsys):
    assert "a combination with a missing value is safe" in run(
        capsys, *ASKED, "--levels", "town=1,sex=2,trade=3"
    )


NAMES = "Nachname,id,age,town\nAbel,1,31,Urk\nBos,2,31,Urk\nCohen,3,40,Delft\nDal,4,41,Delft\n"


def test_names_are_left_out_or_said(capsys):
    """A schema says which columns are direct identifiers; others are recognised."""
    of_extra("pyreadstat")
    Path("named.csv").write_text(NAMES, encoding="utf-8")
    Path("named.toml").write_text(
        '[[attributes]]\nname = "Nachname"\nrole = "identifier"\n', encoding="utf-8"
    )
    asked = ["suppress", "--input", "named.csv", "--keys", "age,town", "--k", "2", "--output", "safe.csv"]
    said = run(capsys, *asked, "--report", "in.html", "--external-report", "out.html")
    assert "\n names Nachname: left in, and name the records; --drop leaves them out\n" in squeezed(said)
    assert "Nachname" in pd.read_csv("safe.csv")
    assert "The file that is written names the records, as it has Nachname" in Path("in.html").read_text()
    assert "The file names the records: it has 1 direct identifier." in Path("out.html").read_text()
    said = run(capsys, *asked, "--schema", "named.toml", "--protocol", "steps.toml", "--json", "done.json")
    assert "dropped     Nachname\n" in said
    assert "names " not in said
    assert list(pd.read_csv("safe.csv")) == ["id", "age", "town"]
    kept = run(capsys, *asked, "--schema", "named.toml", "--drop", "none", "--protocol", "all.toml")
    assert " names Nachname: left in" in squeezed(kept)
    run(capsys, "run-protocol", "all.toml", "--output", "again.csv")
    assert Path("again.csv").read_text() == Path("safe.csv").read_text()
    assert list(suppress("named.csv", keys=["age"], k=2, drop=["id", "Nachname"]).table) == ["age", "town"]
    message = "age is masked by suppression: leave it out of --drop"
    refuse(capsys, message, *asked, "--drop", "age")


def with_constants():
    rows = [
        f"{line},{'country,kind of house' if not at else 'NL,7'}"
        for at, line in enumerate(PEOPLE.splitlines())
    ]
    Path("same.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("command", ["suppress", "unsafe"])
def test_what_is_the_same_for_all_is_said_to_be_no_key(capsys, command):
    with_constants()
    said = run(capsys, command, "--input", "same.csv", "--k", "2", "--json", "found.json")
    assert "3 key variables" in said
    line = "note: country, kind of house: the same for all records, and not key variables unless named"
    assert f"{line} as such" in said.splitlines()
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["constant"] == [
        "country",
        "kind of house",
    ]
    assert "the same for all" not in run(capsys, command, "--input", "people.csv", "--k", "2")
    assert "the same for all" not in run(
        capsys, command, "--input", "same.csv", "--k", "2", "--keys", "town,country"
    )


NAMED = {
    "priorities": {"cost": "priority", "priorities": {"country": 2}},
    "tables": {"tables": [["town", "country"]]},
    "ghosts": {"ghosts": {"country": ["id"]}},
    "hierarchy of the schema": {"problem": "joint", "schema": "schema.json"},
}


@pytest.mark.parametrize("asked", NAMED.values(), ids=NAMED)
def test_what_is_the_same_for_all_is_a_key_where_it_is_named_as_one(asked):
    with_constants()
    Path("country.csv").write_text("country,all\nNL,Europe\n", encoding="utf-8")
    declared = {"attributes": [{"name": "country", "hierarchy": "country.csv"}]}
    Path("schema.json").write_text(json.dumps(declared), encoding="utf-8")
    k = {} if {"levels", "tables"} & asked.keys() else {"k": 2}
    result = suppress("same.csv", **k, **asked)
    assert "country" in result.details["keys"]
    assert result.details["constant"] == ["kind of house"]
    assert result.suppressed["country"] == 0 or result.details["problem"] == "joint"


def test_variables_of_a_household_go_from_all_members():
    asked = {"keys": ["street", "sex", "age"], "tables": [["street"]]}
    alone = suppress(HOMES, **asked)
    assert alone.table["street"].isna().tolist() == [False] * 6 + [True]
    rare = suppress(HOMES, **asked, threshold=2, household="home", household_keys=["street"])
    assert rare.table["street"].isna().tolist() == [True, True] + [False] * 4 + [True]
    # Of one member something has to go; taking the street would cost the other member's as well.
    mixed = HOMES.assign(sex=["f", "m", "f", "m", "f", "f", "f"])
    together = suppress(
        mixed, keys=["street", "sex"], tables=[["street", "sex"]], household="home", household_keys=["street"]
    )
    assert together.proven
    lost = together.table.groupby(mixed["home"])["street"].agg(lambda one: one.isna().nunique())
    assert (lost == 1).all()


def test_whole_households_come_in_another_order_with_other_numbers(capsys):
    homes = HOMES.assign(id=range(101, 108), home=["h7", "h7", "h2", "h2", "h9", "h9", "h1"])
    homes.to_csv("homes.csv", index=False)
    asked = {"keys": ["street", "sex", "age"], "k": 2, "household": "home", "household_keys": ["street"]}
    result = suppress("homes.csv", **asked)
    seen, mixed = set(), False
    for seed in range(6):
        result.write("safe.csv", shuffle=True, seed=seed)
        written = pd.read_csv("safe.csv")
        seen.add(tuple(written["home"]))
        order = written["id"].tolist()
        assert sorted(order) == list(range(101, 108))
        assert [one for one, _ in groupby(written["home"])] == list(dict.fromkeys(written["home"]))
        mixed = mixed or order.index(102) < order.index(101)  # members of one household
        expected = result.table.set_index("id").loc[order].reset_index()
        pd.testing.assert_frame_equal(written[list(expected)], expected, check_dtype=False)
    assert len(seen) > 1
    assert mixed
    result.write("safe.csv", shuffle=True, renumber=["id", "home"])
    written = pd.read_csv("safe.csv")
    assert written["id"].tolist() == list(range(1, 8))
    assert written["home"].drop_duplicates().tolist() == [1, 2, 3, 4]
    run(capsys, *ASKED, "--k", "2", "--output", "other.csv", "--shuffle", "--renumber", "id")
    assert pd.read_csv("other.csv")["id"].tolist() == list(range(1, 9))


def test_what_cannot_be_renumbered():
    result = suppress("people.csv", keys=["town"], k=2)
    with pytest.raises(UsageError, match="'town' is a key variable"):
        result.write("safe.csv", renumber=["town"])
    with pytest.raises(DataError, match="there is no column 'ids'; there are id, town"):
        result.write("safe.csv", renumber=["ids"])
    frame = pd.DataFrame({"id": [1, None], "a": [1, 1]})
    with pytest.raises(DataError, match="column 'id' has no value in row 2"):
        suppress(frame, keys=["a"], k=2).write("safe.csv", renumber=["id"])
    assert not Path("safe.csv").exists()


def test_every_household_has_a_head():
    frame = HOMES.assign(relation=[1, 2, 1, 3, 2, 1, 1])
    asked = {"keys": ["street", "sex"], "k": 2, "household": "home", "household_keys": ["street"]}
    with_head = suppress(frame, head="relation=1", **asked)
    assert with_head.table.equals(suppress(frame, **asked).table)
    assert with_head.details["head"] == "relation=1"


TOWN = "town,province,country\nUrk,Flevoland,NL\nDelft,Holland,NL\n"


def test_what_is_unsafe_is_printed_and_written(capsys):
    recode = "global-recoding hierarchy=town=town.csv level=2"
    options = ["--k", "2", "--recode", recode, "--hierarchy", "town=town.csv", "--json", "found.json"]
    said = run(capsys, "unsafe", "--input", "people.csv", *options)
    check_golden("unsafe", said)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["before"]["minimal"] == 4
    assert found["after"]["minimal"] == 1
    assert [(one["level"], one["lost"], one["minimal"]) for one in found["levels"]] == [
        (0, 0.0, 4), (1, 0.0, 4), (2, 1.0, 1),
    ]  # fmt: skip


def test_a_trial_counts_what_the_recoded_file_has():
    frame = pd.read_csv("people.csv")
    hierarchy = Hierarchy.read("town", "town.csv")
    asked = {"keys": ["town", "sex", "trade"], "k": 2}
    method = GlobalRecoding(hierarchy=(hierarchy,), level=2)
    tried = unsafe(frame, recode=[method], hierarchies=[hierarchy], **asked)
    real = unsafe(method.apply(frame), **asked)
    assert tried.after == real.before
    assert tried.levels[2].minimal == real.before.minimal
    assert tried.levels[2].records == real.before.records
    assert tried.before == unsafe(frame, **asked).before
    assert list(tried.to_frame().columns) == ["variable", "category", "before", "after"]
    assert tried.recoded == ("global recoding to level 2 of town",)


def test_it_agrees_with_suppress():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.integers(0, 4, (200, 4)), columns=list("abcd"))
    for asked in ({"k": 3}, {"dimension": 2, "threshold": 9}, {"levels": {"a": 1, "b": 2, "c": 2}}):
        counted, taken = unsafe(frame, **asked), suppress(frame, **asked)
        assert counted.before.minimal == taken.minimal
        assert counted.before.records == taken.unsafe
        assert counted.before.combinations == taken.unsafe_combinations
        assert counted.checked == taken.checked


def test_missing_values_and_weights():
    frame = pd.DataFrame({"a": ["x", "x", None, "y"], "w": [1.0, 1.0, 5.0, 9.0]})
    own = unsafe(frame, keys=["a"], dimension=1, threshold=2, missing="own-category", weight="w")
    assert own.before.by_category == {"a": {"x": 2}}
    lone = unsafe(frame, keys=["a"], k=2)
    assert lone.before.by_category == {"a": {"y": 1}}  # a missing value alone tells nothing


def test_a_category_may_be_called_missing():
    frame = pd.DataFrame({"a": ["missing", None, "x", "x"], "b": [1.0, 1.0, 2.5, None]})
    found = unsafe(frame, k=2).before
    assert found.by_category["a"] == {"missing": 1, "(missing)": 1, "x": 1}
    assert found.by_category["b"] == {"1": 1, "2.5": 1, "missing": 1}
    assert all(sum(by.values()) == found.by_variable[name] for name, by in found.by_category.items())


def test_what_cannot_be_asked():
    asked = [{"recode": ["noise percent=5"]}, {"hierarchies": [Hierarchy("job", (("a",), ("b",)))]}]
    check_refused_calls("unsafe", lambda one: unsafe("people.csv", **one), asked)


def test_a_code_such_as_na_is_a_category(tmp_path):
    """As of all that is compared as categories: the only one from Namibia is not taken for unknown."""
    rows = ["NA,m,1", "DE,m,NA", "DE,m,1", ",m,1", ",m,1"]
    (tmp_path / "people.csv").write_text("\n".join(["country,sex,code", *rows]) + "\n", encoding="utf-8")
    found = unsafe(tmp_path / "people.csv", keys=["country", "sex"], k=2).before
    assert (found.by_category["country"], found.records) == ({"NA": 1}, 1)
    result = suppress(tmp_path / "people.csv", keys=["country", "sex"], k=2)
    assert result.suppressed["country"] == 1
