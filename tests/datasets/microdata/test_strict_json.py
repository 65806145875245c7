"""JSON that has one meaning is read as it is; what has none, or two, is refused."""

from __future__ import annotations

import json

import pytest

from linkrisk.datasets.microdata.strict_json import AmbiguousError, parse


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, 2.5, -1e300, true, null], "b": {"a": "ü"}}', "[]", '"NaN"', "0", '[{"a": 1}, {"a": 2}]'],
)
def test_what_json_is(text):
    assert parse(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 1}', 'the key "a" is twice in an object'),
        ('[{"b": {"a": 1, "c": 2, "a": 3}}]', 'the key "a" is twice in an object'),
        ('{"a": 1, "\\u0061": 2}', 'the key "a" is twice in an object'),
        ("[NaN]", "NaN is not a JSON number"),
        ("Infinity", "Infinity is not a JSON number"),
        ("-Infinity", "-Infinity is not a JSON number"),
        ("1e999", "the number 1e999 is too large"),
        ("9" * 3000, "a number has 3000 digits"),
    ],
)
def test_what_is_ambiguous(text, message):
    with pytest.raises(AmbiguousError) as caught:
        parse(text.encode())
    assert str(caught.value) == message


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b"\xef\xbb\xbf{}"])
def test_what_is_no_json(content):
    with pytest.raises(ValueError, match=r"column|decode|BOM"):
        parse(content)
