"""Recoding by files of mu-ARGUS and by digits, and trees of codes: cases by hand, round trips, bad files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.microdata.recoding_files import RecodingFile, codes_become

# As those that come with mu-ARGUS.
AGE = "1: -20\n2: 21-30\n3: 31-40, 50\n6: 61-\n\n<MISSING> 8 9\n<CODELIST>    Age.cdl\n"
TREE = "Nr\n@1\n@2\nZd\n@Ze\n@@10\n@@11\n@12\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("age.grc").write_text(AGE, encoding="utf-8")
    Path("region.hrc").write_text(TREE, encoding="utf-8")


def test_codes_become_others_by_the_lines_of_a_file():
    frame = pd.DataFrame({"age": [18, 20, 21, 30, 50, 61, 70, None], "sex": list("mfmfmfmf")})
    method = masking_method("recode file=age=age.grc")
    masked = method.apply(frame)
    assert masked["age"].tolist()[:7] in ([1, 1, 2, 2, 3, 6, 6], list("1122366"))
    assert masked["age"].isna().tolist() == [False] * 7 + [True]
    assert masked["sex"].equals(frame["sex"])
    assert method.describe(frame) == "recoding by files of age"
    file = RecodingFile.read("age", "age.grc")
    assert (file.missing, file.labels) == (("8", "9"), "Age.cdl")
    assert file.becomes(["5"]) == ["1"]


def test_missing_codes_stay_and_letters_are_compared_as_such():
    Path("a.grc").write_text("low: a-c\nhigh: d-, A\n<missing> x9, 9\n", encoding="utf-8")
    file = RecodingFile.read("a", "a.grc")
    assert file.becomes(["a", "b", "d", "zz", "A", "9"]) == ["low", "low", "high", "high", "high", "9"]


codes = st.integers(0, 40)
ranges = st.one_of(
    codes.map(str),
    st.tuples(codes, codes).map(lambda two: f"{min(two)}-{max(two)}"),
    codes.map(lambda one: f"-{one}"),
    codes.map(lambda one: f"{one}-"),
)


@given(rows=st.lists(st.lists(ranges, min_size=1, max_size=3), min_size=1, max_size=4))
def test_what_is_written_is_read_as_it_was(rows: list[list[str]]):
    text = "".join(f"{at}: {', '.join(row)}\n" for at, row in enumerate(rows))
    Path("any.grc").write_text(text, encoding="utf-8")
    file = RecodingFile.read("a", "any.grc")
    Path("again.grc").write_text(file.text(), encoding="utf-8")
    again = RecodingFile.read("a", "again.grc")
    assert again.lines == file.lines
    for code in map(str, range(42)):
        inside = [str(at) for at, row in enumerate(rows) if any(_takes(item, int(code)) for item in row)]
        if len(inside) == 1:
            assert file.becomes([code]) == inside
        else:
            with pytest.raises(DataError, match="already" if inside else "no line takes the code"):
                file.becomes([code])


def _takes(item, code):
    low, dash, high = item.partition("-")
    return (not low or int(low) <= code) and (not high or code <= int(high)) if dash else int(low) == code


def test_a_tree_is_a_hierarchy():
    hierarchy = Hierarchy.read("region", "region.hrc")
    assert hierarchy.levels == (
        ("1", "2", "10", "11", "12"),
        ("1", "2", "Ze", "Ze", "12"),
        ("Nr", "Nr", "Zd", "Zd", "Zd"),
        ("*",) * 5,
    )
    frame = pd.DataFrame({"region": ["1", "10", "12"]})
    method = masking_method("global-recoding hierarchy=region=region.hrc level=2")
    assert method.apply(frame)["region"].tolist() == ["Nr", "Zd", "Zd"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("x.hrc", "", "x.hrc has no code; write one on each line"),
        ("x.hrc", "A\n@B\n@@@C\n", "x.hrc, line 3: 'C' is 2 levels below the line before"),
        ("x.hrc", "A\n@\n", "x.hrc, line 2: there is no code behind '@'; write one"),
        ("x.hrc", "A\n@B\n@@A\n", "x.hrc, line 3: 'A' is below itself, which makes a loop"),
        ("x.hrc", "A\n@1\nB\n@1\n", "x.hrc, line 4: '1' stands in line 2 already; a code has one place in"),
        ("h.csv", "a,b\n1,\n", "h.csv, column 'b', row 1: missing value"),
        ("h.csv", "1,x\n2\n", "h.csv, line 2: 1 cell where the header has 2; fix or delete the line"),
    ],
)
def test_trees_that_are_none(file, text, message):
    Path(file).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Hierarchy.read("x", file)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.grc recodes nothing; write a line for each new code"),
        ("1 2, 3\n", "x.grc, line 1: '1 2, 3' recodes nothing; write it like 3: 31-40, 99, 61-"),
        ("\n1: -\n", "x.grc, line 2: '-' has neither end; write it like 31-40, -20 or 61-"),
        ("1: 9-8\n", "x.grc, line 1: '9-8' ends before it begins; turn it round"),
        ("1: 1-5\n2: 6-7\n3: 5-\n", "x.grc, line 3: the code '5' is in line 1 already; take it out of one"),
        ("1: 1-4\n", "x.grc: no line takes the code '5' of 'x'; add it to one, or to <MISSING>"),
    ],
)
def test_recoding_files_that_do_not_fit(text, message):
    Path("x.grc").write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        masking_method("recode file=x=x.grc").apply(pd.DataFrame({"x": ["5"]}))
    assert message in str(caught.value)


AGES = "1: -9\n2: 10 - 19\n3: 20-29\n4: 30-\n"


def test_ranges_of_numbers_are_compared_as_numbers():
    """9.5 became 4 and 19.9 became 1: they were compared by letters."""
    Path("age.grc").write_text(AGES, encoding="utf-8")
    method = masking_method("recode file=age=age.grc")
    ages = [0.0, 10.0, 20.0, 29.0, 30.0, 100.0, -1.0]
    assert method.apply(pd.DataFrame({"age": ages}))["age"].to_list() == [1, 2, 3, 3, 4, 4, 1]
    for between in (9.5, 19.9, 29.5):
        with pytest.raises(DataError) as caught:
            method.apply(pd.DataFrame({"age": [*ages, between]}))
        assert str(caught.value) == (
            f"age.grc: no line takes the code '{between}' of 'age'; add it to one, or to <MISSING>; for "
            "numbers with decimals give breaks, as in breaks=0,10,20"
        )
    with pytest.raises(DataError, match="no line takes the code 'old' of 'age'"):
        method.apply(pd.DataFrame({"age": ["5", "old"]}))


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=5, unique=True).map(sorted),
    st.lists(st.floats(0, 200, allow_nan=False), min_size=1, max_size=8),
)
def test_breaks_make_half_open_intervals(breaks, above):
    values = [breaks[0] + each for each in above]
    text = ",".join(map(str, breaks))
    made = masking_method(f"recode breaks={text} attributes=x").apply(pd.DataFrame({"x": values}))["x"]
    assert made.to_list() == [max(each for each in breaks if each <= value) for value in values]


@pytest.mark.parametrize(
    ("content", "levels"),
    [
        ("31,30s,*\n32,30s,*\n99,90s,*\n", (("31", "32", "99"), ("30s", "30s", "90s"), ("*", "*", "*"))),
        ("1,low\n2,high\n", (("1", "2"), ("low", "high"))),
        ("a,*,*\nb,x,*\n", (("a", "b"), ("*", "x"), ("*", "*"))),
        ("code,group\na,low\nb,high\n", (("a", "b"), ("low", "high"))),
        ("x,low\na,low\nb,high\n", (("a", "b"), ("low", "high"))),  # the name of the attribute is a header
    ],
)
def test_a_hierarchy_needs_no_header(content, levels):
    Path("h.csv").write_text(content, encoding="utf-8")
    assert Hierarchy.read("x", "h.csv").levels == levels


@pytest.mark.parametrize(
    "content",
    ["Berlin,east\nMunich,south\nBonn,west\n", "Berlin,east\nMunich,south\nUlm,south\n", "a,b\nc,d\n"],
)
def test_a_first_line_that_may_be_both_is_not_lost(content):
    Path("h.csv").write_text(content, encoding="utf-8")
    first = content.split("\n", maxsplit=1)[0]
    with pytest.raises(DataError) as caught:
        Hierarchy.read("town", "h.csv")
    assert str(caught.value) == (
        f"h.csv, line 1: {first} may be a header or a category with its groups; begin the file with a header "
        "whose first name is town"
    )
    Path("h.csv").write_text(f"Town,region\n{content}", encoding="utf-8")
    assert len(Hierarchy.read("town", "h.csv").levels[0]) == content.count("\n")


def test_what_was_taken_for_a_header_is_said_where_a_category_is_lacking():
    Path("h.csv").write_text("a,low\n1,high\n2,high\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        masking_method("global-recoding hierarchy=x=h.csv level=1").apply(pd.DataFrame({"x": ["a", "1"]}))
    assert str(caught.value).endswith("; the first line of its file was taken for a header: a,low")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recode", "recode: give one of file, digits, breaks and level: how to recode"),
        ("recode digits=1 file=age=age.grc", "give one of file, digits, breaks and level"),
        ("recode breaks=1,1 attributes=age", "breaks must ascend, as in 0,10,20"),
        ("recode breaks=0,10 labels=a attributes=age", "there are 1 labels for 2 breaks"),
        ("recode breaks=2,3 attributes=age", "'age' has 1, which is below the first break, 2: put a lower"),
        ("recode breaks=0 attributes=sex", "'sex' has 'f', which is no number: breaks are for numbers"),
        ("recode file=age=age.grc file=age=age.grc", "an attribute has two recoding files"),
        ("recode file=age", "'age' is no recoding file; write ATTRIBUTE=FILE"),
        ("recode file=age=none.grc", "none.grc cannot be read"),
        ("recode digits=1 attributes=sex", "the code 'f' of 'sex' has 1 characters, of which 1 are to be"),
        ("recode file=age=age.grc attributes=sex", "'sex' has no recoding file; give one with"),
    ],
)
def test_what_cannot_be_asked(text, message):
    with pytest.raises(DataError) as caught:
        masking_method(text).apply(pd.DataFrame({"age": [1], "sex": ["f"]}))
    assert message in str(caught.value)


@given(st.dictionaries(st.integers(0, 40), st.sampled_from(["a", "b", "30-39"]), min_size=1))
def test_what_became_of_codes_makes_it_of_them_again(becomes):
    before = pd.DataFrame({"x": list(becomes), "y": range(len(becomes))})
    after = pd.DataFrame({"x": list(becomes.values()), "y": 0})
    found = codes_become(before, after, ["x"])["x"]
    Path("made.grc").write_text(RecodingFile.of("x", found).text(), encoding="utf-8")
    file = RecodingFile.read("x", "made.grc")
    assert file.becomes([str(code) for code in becomes]) == list(becomes.values())


def test_codes_that_became_several_have_no_file():
    before = pd.DataFrame({"x": ["a", "a", "b", None], "y": ["a", "b", "a", "c"]})
    after = pd.DataFrame({"x": ["1", "2", "2", "2"], "y": ["1", None, "1", "3"]})
    assert codes_become(before, after, ["x", "y"]) == {"y": {"a": "1", "c": "3"}}


@given(
    st.dictionaries(
        st.sampled_from(["1", "01", "2", "02", "3", "003", "x y"]), st.sampled_from("ab"), min_size=1
    )
)
def test_codes_with_and_without_zeros_are_told_apart(becomes):
    Path("made.grc").write_text(RecodingFile.of("x", becomes).text(), encoding="utf-8")
    assert RecodingFile.read("x", "made.grc").becomes(list(becomes)) == list(becomes.values())


@pytest.mark.parametrize("code", ["a,b", "1-2", "x:y", " ", "<M>", "Y ", " y", "a\nb", "a\u2028b"])
def test_codes_that_a_file_cannot_hold(code):
    with pytest.raises(DataError, match="cannot stand in a recoding file"):
        RecodingFile.of("x", {code: "1"})
