"""Every declared option refuses what it cannot be, on every face that has it, in one line that names it.

Unknown choices, words that are no numbers, numbers out of range, values of a wrong type: the cases are made
of the declarations. What depends on two options, or on what is in a file, is tested where it is decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import pytest
from application import COMMANDS, Shown
from cli_runs import refuse

import linkrisk
from linkrisk import DataError, UsageError, run_protocol
from linkrisk.datasets.options import typed as readers
from linkrisk.datasets.options.kinds import NAME, OPEN, WORDS, YES_NO, Range, pairs
from linkrisk.datasets.options.option import COMMAND, PROTOCOL, Option, option, options_of
from linkrisk.solver.app.steps import fields_of
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.options.command_line import flag_of, words
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

BEHIND_FILES = {("mask", "seed"), ("run-protocol", "undo")}
"""Words that commands read when they have seen whether their files can be written."""


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
    needed = {one.name: 1 if one.kind.within else anything(one) for one in known.values() if one.required}
    values = {need: 1 if known[need].kind.within else anything(known[need]) for need in known[name].needs}
    return {**needed, **values, name: value}


def offered(one: Option) -> list[str]:
    return [*one.names, *(name for name in one.named if name not in one.names)]


def anything(one: Option) -> str:
    """Some word that an option takes."""
    return one.names[0] if one.choices else "1" if one.kind.metavar in ("N", "P") else "x"


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


def line(command: str, *more: str, **values: object) -> list[str]:
    """A command with these values, and anything for what has to be given."""
    known = options_of(TYPED[command], COMMAND)
    needed = {name: anything(one) for name, one in known.items() if one.required}
    argv = words(TYPED[command], {**needed, **values})
    if command == "sweep" and "original" not in values:
        argv += ["--original", "x.csv"]
    return [*command.split(), *argv, *more]


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (command, one.name)
        for command, typed in TYPED.items()
        for one in chosen(typed, COMMAND)
        if one.kind.chosen is not None
    ],
)
def test_a_command_refuses_it_by_its_flag(command: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = options_of(TYPED[command], COMMAND)[key]
    argv = line(command, *([] if one.bare else [flag_of(one)]), "§")
    said = f"unknown {flag_of(one)} '§': choose one of {', '.join(offered(one))}"
    refuse(capsys, said, *argv)


# What is no number, no pair, no answer


def no_values(one: Option) -> dict[str, str]:
    """Words that the option does not take, and what is said of each after its name."""
    kind = one.kind
    if kind.parse is YES_NO.parse:
        return {"maybe": " must be yes or no, not 'maybe'"}
    if kind.typed is readers.whole:
        return {word: f" must be a whole number, not '{word}'" for word in ("two", "1.5", "")}
    if kind.typed in (readers.number, readers.limit, readers.threshold):
        return {word: f" must be a finite number, not '{word}'" for word in ("big", "nan", "inf", "2 %")}
    if kind.field == "pairs":
        part = (
            " must be a whole number" if kind.parse and one.name == "levels" else " must be a finite number"
        )
        return {"§": ": '§' is no pair; write NAME=NUMBER, separated by commas", "A=x": f"{part}, not 'x'"}
    if kind.repeated and "A=" in kind.metavar and kind.together is not list:
        pair = one.name == "ghosts"
        form = "no pair; write NAME=NUMBER, separated by commas" if pair else f"none; write {kind.metavar}"
        return {"§": f": '§' is {form}"}
    return {}


SPELLED = [
    (command, name)
    for command, typed in TYPED.items()
    for name, one in options_of(typed, COMMAND).items()
    if not one.choices and no_values(one) and (command, name) not in BEHIND_FILES
]


@pytest.mark.parametrize(("command", "key"), SPELLED)
def test_a_command_refuses_a_word_that_is_no_value(
    command: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = options_of(TYPED[command], COMMAND)[key]
    for word, said in no_values(one).items():
        refuse(capsys, f"{flag_of(one)}{said}", *line(command, f"{flag_of(one)}={word}"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_form_refuses_it_by_the_label_of_its_field(command: str, tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    shown = Shown(command, tmp_path)
    for name, one in fields_of(command).items():
        if one.kind.field not in ("text", "pairs") or name not in shown.marks or command == "mask":
            continue
        for word, said in no_values(one).items():
            before = shown.field(name).value
            shown.field(name).set_value(word)
            assert f"'{one.label}'{said}." in shown.texts, (name, word)
            assert shown.command == "It is shown when nothing is missing."
            shown.field(name).set_value(before)


# What is out of range, or of a wrong type


def beyond(within: Range) -> list[float]:
    """Numbers just outside of a range."""
    ends = [within.least - 1, within.most + 1, within.above, within.below]
    return [end for end in ends if isfinite(end)]


def ranged(known: Mapping[str, Option]) -> list[str]:
    """Options that take numbers only; others are checked by what knows the other values."""
    types = {name: {part.strip() for part in one.annotation.split("|")} for name, one in known.items()}
    numbers = {"int", "float", "str", "None"}
    return [name for name, one in known.items() if one.kind.within and types[name] <= numbers]


@pytest.mark.parametrize(
    ("command", "key"),
    [(command, key) for command, typed in TYPED.items() for key in ranged(options_of(typed, COMMAND))],
)
def test_a_command_refuses_a_number_out_of_range(
    command: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any file is read."""
    one = options_of(TYPED[command], COMMAND)[key]
    assert one.kind.within is not None
    for number in beyond(one.kind.within):
        name = one.name if one.bare else flag_of(one)
        said = f"{name} must be {one.kind.within}, not {number:.15g}"
        refuse(capsys, said, *line(command, *([str(number)] if one.bare else [f"{name}={number}"])))


@pytest.mark.parametrize(
    ("name", "key"),
    [(name, key) for name in FUNCTIONS for key in ranged(options_of(asked_by(name), "python"))],
)
def test_a_function_refuses_it_and_what_is_no_number(name: str, key: str) -> None:
    operation = asked_by(name)
    values, within = given(operation, key, None), options_of(operation)[key].kind.within
    assert within is not None
    parts = [1.5] if within.whole else []
    huge = [10**400] if isfinite(within.most) else []  # larger than any double
    for value in ["x", True, nan, inf, *huge, *parts, *beyond(within)]:
        with pytest.raises(UsageError) as error:
            getattr(linkrisk, name)(**values | {key: value})
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        assert str(error.value) == f"{key} must be {within}, not {shown}"
        assert error.value.option == key


def test_most_options_are_looked_at() -> None:
    assert len(PYTHON) > 40
    assert {name for name, _ in PYTHON} > {"fit", "risk", "link", "suppress", "make_table", "adjust_table"}
    assert set(ELSEWHERE) < set(PYTHON)
    assert len(SPELLED) > 100
    assert {name for _, name in SPELLED} > {"seed", "time_limit", "base", "levels", "totals", "counts"}
    known = [options_of(typed) for typed in TYPED.values()]
    ends = {
        key for options in known for key in ranged(options) if beyond(options[key].kind.within or Range())
    }
    assert ends > {"seed", "time_limit", "work_limit", "memory_limit", "margin", "workers", "confidence"}


# Files that are written


WRITTEN = [
    (command, name)
    for command, typed in TYPED.items()
    for name, one in options_of(typed, COMMAND).items()
    if one.kind.written
]
SUFFIXES = {
    "write_model": ".lp",
    "codebook": ".xml",
    "output": ".csv",
    "table": ".csv",
    "links": ".csv",
    "clerical": ".csv",
}


@pytest.mark.parametrize(("command", "key"), WRITTEN)
def test_a_command_refuses_to_write_where_it_cannot_and_over_what_it_reads(
    command: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any file is read; whatever another option names is an input."""
    one = options_of(TYPED[command], COMMAND)[key]
    target = f"here{SUFFIXES.get(key, '.json')}"

    def values(path: str, name: str) -> dict[str, object]:
        more: dict[str, object] = {"output": "out.csv"} if command == "mask" else {}
        return {**more, name: [path] if known[name].kind.repeated else path}

    known = options_of(TYPED[command], COMMAND)
    said = f"cannot write {flag_of(one)} no/{target}: the folder no does not exist; create it first"
    refuse(capsys, said, *line(command, **values(f"no/{target}", key)))
    reads = (each for each in known.values() if each.kind.metavar == "FILE" and not each.kind.written)
    read = next((each for each in reads if not each.bare), None)
    if read is not None and command != "mask":  # which says so in other words
        Path(target).write_text("x\n", encoding="utf-8")
        said = f"{flag_of(one)} {target} would overwrite the {flag_of(read)} file: give another name"
        refuse(capsys, said, *line(command, **values(target, key) | values(target, read.name)))


# Values of a step, which has types


TYPES = {
    readers.text: "a text in quotes",
    readers.texts: 'a text in quotes, or a list of them, ["...", "..."]',
    readers.columns: 'a text in quotes, or a list of them, ["...", "..."]',
    readers.tables: 'a text in quotes, or a list of them, ["...", "..."]',
    readers.whole: "a whole number",
    readers.number: "a number",
    readers.threshold: "a number",
    readers.flag: "true or false",
    readers.limit: 'a number of seconds, or "none"',
}
"""What a list of a number is not; other readers are those of tables of values by name."""


@pytest.mark.parametrize(
    ("command", "key"),
    [(name, key) for name in ("mask", "suppress") for key in options_of(TYPED[name], PROTOCOL)],
)
def test_a_step_of_a_protocol_refuses_a_value_of_another_type(command: str, key: str) -> None:
    said = TYPES.get(options_of(TYPED[command])[key].kind.typed, "a table, { name = ... }")
    step = f'[[step]]\ncommand = "{command}"\n{key} = [1]\n'
    Path("steps.toml").write_text(f'[input]\nfile = "no.csv"\n{step}', encoding="utf-8")
    with pytest.raises(DataError) as error:
        run_protocol("steps.toml", "safe.csv")
    assert str(error.value) == f"steps.toml, step 1: {key} must be {said}, not [1]"


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
