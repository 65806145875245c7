"""Options as fields of dataclasses: groups and their order, texts, and words that are read as written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.options import kinds
from linkrisk.datasets.options.option import (
    COMMAND,
    PYTHON,
    again,
    declared,
    given_of,
    keywords,
    option,
    options_of,
    part,
    recorded_of,
)


@dataclass(frozen=True)
class Where:
    title = "where"

    place: str | None = option(None, "where, {choices}; default: {default}", kinds.NAME, choices=("a", "b"))


@dataclass(frozen=True, kw_only=True)
class When:
    title = "when"

    hour: float = option(12.0, "{unit} of the day, as {minute} says", kinds.NUMBER, record=True)
    minute: int = option(0, "minutes", kinds.WHOLE, faces=frozenset({PYTHON}))
    late: bool = option(False, "after {hour}", kinds.SWITCH, after="letter")


@dataclass(frozen=True, kw_only=True)
class Meeting(Where, When):
    words: ClassVar[dict[str, str]] = {"unit": "hour"}

    place: str | None = again(Where, "place", "b")
    who: str = field(metadata=declared("who comes", kinds.TEXT))


@dataclass(frozen=True, kw_only=True)
class Letter(Meeting):
    title = "output"

    letter: str | None = option(None, "a file", kinds.WRITTEN, faces=frozenset({COMMAND}))


def test_groups_come_in_the_order_of_the_bases_and_what_is_declared_again_stays_there() -> None:
    assert {name: one.group for name, one in options_of(Letter).items()} == {
        "place": "where", "hour": "when", "minute": "when", "who": "", "letter": "output", "late": "when",
    }  # fmt: skip
    assert list(options_of(Letter, PYTHON)) == ["place", "hour", "minute", "late", "who"]
    assert list(options_of(Letter, COMMAND)) == ["place", "hour", "who", "letter", "late"]


def test_texts_have_their_words_choices_and_other_options() -> None:
    known = options_of(Meeting)
    assert known["place"].filled(known["place"].help, {}) == "where, a, b; default: b"
    assert known["hour"].filled(known["hour"].help, {"minute": "--minute"}) == (
        "hour of the day, as --minute says"
    )
    assert options_of(Where)["place"].filled("{choices}: {default}", {}, "``{}``") == "``a``, ``b``: "
    assert [one.required for one in known.values()] == [False, False, False, False, True]


def test_what_is_taken_of_a_request() -> None:
    asked = Letter(place="a", hour=7.5, who="all", letter="l.txt")
    assert part(When, asked, late=True) == When(hour=7.5, late=True)
    assert keywords(Meeting, asked, late=True) == {
        "place": "a", "hour": 7.5, "minute": 0, "late": True, "who": "all",
    }  # fmt: skip
    assert recorded_of(asked) == {"hour": 7.5}
    assert given_of(asked, When) == {"hour": 7.5}
    assert given_of(Letter(place="b", who="all"), Where) == {}


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.lists(st.text("abc ,\"'=", min_size=1).filter(lambda name: name.strip() == name), min_size=1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_written_is_read_as_it_was(data: st.DataObject) -> None:
    kind, value = data.draw(
        st.sampled_from(
            [
                (kinds.WHOLE, st.integers()),
                (kinds.NUMBER, NUMBERS),
                (kinds.LIMIT, st.none() | NUMBERS),
                (kinds.SIZE, st.none() | st.integers()),
                (kinds.NAMES, NAMES),
                (kinds.TEXT, st.text()),
            ]
        )
    )
    assert kind.parse is not None
    drawn = data.draw(value)
    assert kind.parse(kind.spell(drawn)) == drawn
