"""Every choice is checked where it is declared: a value that there is not is refused on every face."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refuse

import linkrisk
from linkrisk import UsageError
from linkrisk.datasets.options.kinds import NAME, OPEN, WORDS, pairs
from linkrisk.datasets.options.option import COMMAND, Option, option, options_of
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.options.command_line import flag_of
from linkrisk.solver.options.operations import OPERATIONS
from linkrisk.solver.options.taking import taking

FUNCTIONS = [name for name in linkrisk.__all__ if hasattr(getattr(linkrisk, name), "__wrapped__")]
ELSEWHERE = {
    ("mask", "method"): "a masking method with its parameters, read as one (`masking_method`)",
    ("sweep", "methods"): "masking methods with ranges, read as such",
    ("risk", "releases"): "or which records of releases belong together: 1+2,3",
    ("report", "releases"): "or which records of releases belong together: 1+2,3",
    ("find_links", "method"): "a linker that lists no links is refused as such",
}
"""Texts that say more than choices, by function and option."""


def asked_by(name: str) -> type[Any]:
    inner = getattr(linkrisk, name).__wrapped__
    return inner.__globals__[inner.__annotations__["asked"]]  # type: ignore[no-any-return]


def chosen(operation: type[Any], face: str) -> Iterator[Option]:
    return (one for one in options_of(operation, face).values() if one.choices)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


PYTHON = [(name, one.name) for name in FUNCTIONS for one in chosen(asked_by(name), "python")]


def given(operation: type[Any], name: str, value: object) -> dict[str, object]:
    """Keywords that have a value, and anything for what has to be given."""
    known = options_of(operation, "python")
    needed = {one.name: anything(one) for one in known.values() if one.required}
    return {**needed, **dict.fromkeys(known[name].needs, "x"), name: value}


def offered(one: Option) -> list[str]:
    return [*one.names, *(name for name in one.named if name not in one.names)]


def anything(one: Option) -> str:
    """Some word that an option takes."""
    return one.names[0] if one.choices else "1" if one.kind.metavar in ("N", "P") else "x"


def test_most_functions_have_choices() -> None:
    assert len(PYTHON) > 40
    assert {name for name, _ in PYTHON} > {"fit", "risk", "link", "suppress", "make_table", "adjust_table"}
    assert set(ELSEWHERE) < set(PYTHON)


@pytest.mark.parametrize(("name", "key"), [each for each in PYTHON if each not in ELSEWHERE])
def test_a_function_refuses_what_is_no_choice(name: str, key: str) -> None:
    """With the option, and all that there are; an option of several names refuses each."""
    operation = asked_by(name)
    one = options_of(operation)[key]
    several = one.kind is WORDS or "Sequence" in one.annotation
    for value in ["§", *([["§"], f"{one.names[0]},§", [one.names[0], "§"]] if several else [])]:
        with pytest.raises(UsageError) as error:
            getattr(linkrisk, name)(**given(operation, key, value))
        assert str(error.value) == f"unknown {key} '§': choose one of {', '.join(offered(one))}"
        assert error.value.option == key
        assert set(one.names) <= set(one.offered)
    for choice in one.offered:
        check_asked(operation(**given(operation, key, choice)))


TYPED = {
    command: getattr(import_module(place.partition(":")[0]), place.partition(":")[2])
    for command, place in OPERATIONS.items()
}
LINES = [
    (command, one.name)
    for command, typed in TYPED.items()
    for one in chosen(typed, COMMAND)
    if one.kind.chosen is not None
]


@pytest.mark.parametrize(("command", "key"), LINES)
def test_a_command_refuses_it_by_its_flag(command: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = options_of(TYPED[command], COMMAND)
    one = known[key]
    argv = [*command.split(), *([] if one.bare else [flag_of(one)]), "§"]
    for other in known.values():
        if other.required and other is not one:
            argv += [flag_of(other)] if not other.bare else []
            argv.append(anything(other))
    if command == "sweep":
        argv += ["--original", "x.csv"]
    said = f"unknown {flag_of(one)} '§': choose one of {', '.join(offered(one))}"
    refuse(capsys, said, *argv)


def test_what_says_more_than_choices_is_refused_by_what_reads_it() -> None:
    with pytest.raises(ValueError, match="there is no masking method 'nose'; did you mean 'noise'"):
        linkrisk.mask("x.csv", "nose percent=5")
    with pytest.raises(UsageError, match="dbrl is judged by the true links"):
        linkrisk.find_links("x.csv", "y.csv", method="dbrl")


@dataclass(frozen=True, kw_only=True)
class Colours:
    paint: str = option("red", "{choices}", NAME, choices=("red", "blue"))
    each: Mapping[str, str] | None = option(None, "{choices}", pairs("A=COLOUR"), choices=("red", "blue"))
    free: str = option("red", "{choices}", OPEN, choices=("red", "blue"))


@taking(Colours)
def painted(asked: Colours) -> Colours:
    return asked


def test_a_declared_choice_needs_no_check_by_hand() -> None:
    assert painted(paint="blue", each={"A": "red"}, free="of 5").free == "of 5"
    for keywords, said in (
        ({"paint": "blu"}, "unknown paint 'blu': did you mean 'blue'?"),
        ({"paint": ["red"]}, "unknown paint ['red']: "),
        ({"paint": None}, "unknown paint None: choose one of red, blue"),
        ({"each": {"A": "red", "B": "§"}}, "unknown each '§': choose one of red, blue"),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            painted(**keywords)
