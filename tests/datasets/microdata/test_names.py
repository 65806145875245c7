"""Lists of names as text: read like a CSV row, and written so that they are read back."""

from __future__ import annotations

import argparse
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.names import parse_names, parse_pair, shown_name, shown_names, shown_pair
from linkrisk.solver.options.command_line import add_options, asked_of, flag
from linkrisk.solver.options.data import Dropped


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("age", ("age",)),
        (" age , income ", ("age", "income")),
        ('"income, gross",age', ("income, gross", "age")),
        ('age , "income, gross" ', ("age", "income, gross")),
        ('" age",x', (" age", "x")),
        ('"say ""x""",b', ('say "x"', "b")),
        ('5" pipe,b', ('5" pipe', "b")),
        ("two words,b", ("two words", "b")),
    ],
)
def test_what_is_read(text, names):
    assert parse_names(text) == names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x\ny", r"$'x\ny'"),
        ("a,b\t", r"$'a\u002cb\t'"),
        ("it's\r\\", r"$'it\'s\r\\'"),
        ("\u202eturned", r"$'\u202eturned'"),
        ("$'plain'", "\"$'plain'\""),
    ],
)
def test_names_that_break_lines_are_shown_in_one(name, shown):
    assert shown_name(name) == shown
    assert parse_names(f"{shown},b") == (name, "b")
    assert parse_pair(f"{shown}=tree.csv") == (name, "tree.csv")


ODD = [
    ["plain"], ["two words", "b"], ["a,b", "it's"], ['say "x"', '"x"'], ["x\ny"], ["x\ny, z", "b"], ["\n"],
    [" x "], ["a=b", "c"], ["none"], ["none", "b"], ["$HOME `ls`; #!"], ["$'x'"], ["-x"], ["--json=y", "\t"],
]  # fmt: skip


@pytest.mark.parametrize("names", ODD, ids=repr)
def test_a_shell_reads_the_list_that_is_offered(names):
    """Messages offer options with names: pasted, the command gets these names."""
    words = flag("drop", names)
    assert words.isprintable()
    found = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    parser = argparse.ArgumentParser()
    add_options(parser, Dropped)
    given = asked_of(Dropped, parser.parse_args(found.stdout.decode("utf-8").split("\0")[:-1])).drop
    assert given == names
    assert all(parse_pair(shown_pair(name, "tree.csv")) == (name, "tree.csv") for name in names)


EMPTY = "has an empty attribute name; write names separated by single commas"
QUOTES = "is not a list of names; write names separated by commas, one with a comma in double quotes"


@pytest.mark.parametrize(
    ("texts", "said"),
    [(["", "a,,b", "a,", ",a", " ", '"",a'], EMPTY), (['"a', 'a, "b', '"a"b,c', '"a" "b"'], QUOTES)],
)
def test_lists_that_are_none(texts, said):
    for text in texts:
        with pytest.raises(DataError) as caught:
            parse_names(text)
        assert str(caught.value) == f"{text!r} {said}"


@settings(max_examples=40)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5))
def test_what_is_shown_can_be_read(names):
    assert parse_names(shown_names(names)) == tuple(names)
    assert parse_pair(shown_pair(names[0], "tree.csv")) == (names[0], "tree.csv")
