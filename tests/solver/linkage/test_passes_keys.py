"""Keys of passes: what they are read from, what they make of a value, and every text that is none."""

from __future__ import annotations

import jellyfish
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.solver.linkage.probabilistic.keys import FUNCTIONS, Key, Pass, parse_pass

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


def test_functions_are_those_of_the_page():
    assert list(FUNCTIONS) == ["soundex", "metaphone", "nysiis", "lower", "year", "month", "day"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a list of keys: 'nothing' is not one; write keys like"),
        ("a,,b", "'a,,b' is not a list of keys: ',b' is not one; write keys like"),
        ("a,", "'a,' is not a list of keys: 'nothing' is not one; write keys like"),
        ("soundex(a", "'soundex(a' is not a list of keys: 'soundex(a' is not one; write keys like"),
        ("a[3]", "'a[3]' is not a list of keys: 'a[3]' is not one; write keys like"),
        ("a,b,a", "pass 'a,b,a' has the key 'a' twice; leave one out"),
        (
            "soundx(a)",
            "unknown function 'soundx' in pass 'soundx(a)'; use one of soundex, metaphone, nysiis, lower, "
            "year, month, day",
        ),
        ("a[:0]", "the key 'a[:0]' of pass 'a[:0]' keeps no character; write it like a[:3]"),
        ("a[3:2]", "the key 'a[3:2]' of pass 'a[3:2]' keeps no character; write it like a[:3]"),
    ],
)
def test_what_is_no_pass(text, message):
    with pytest.raises(DataError) as error:
        parse_pass(text)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
