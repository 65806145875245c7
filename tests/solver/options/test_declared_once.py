"""An option that is added to one operation in one place is on every face of it, and on the page of all."""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from application import COMMANDS, Shown
from cli_runs import PAIR, refuse
from fit_runs import frames

import linkrisk
from linkrisk.datasets.options.kinds import NUMBER
from linkrisk.datasets.options.option import option
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import table, words
from linkrisk.solver.options.operations import OPERATIONS as DECLARED
from linkrisk.solver.options.operations import operation
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.worst_case import (
    CompareCommand,
    CompareOptions,
    EvaluateCommand,
    EvaluateOptions,
    FitCommand,
    FitOptions,
)


@dataclass(frozen=True, kw_only=True)
class Shoes:
    title = "shoes"

    shoe_size: float = option(
        43.0, "size of the shoes; default: {default}", NUMBER, metavar="S", label="Size of shoes", record=True
    )


@dataclass(frozen=True, kw_only=True)
class Fit(FitOptions, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class FitTyped(FitCommand, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class Compare(CompareOptions, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class CompareTyped(CompareCommand, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class Evaluate(EvaluateOptions, Shoes): ...


@dataclass(frozen=True, kw_only=True)
class EvaluateTyped(EvaluateCommand, Shoes): ...


OPERATIONS = {
    "fit": (Fit, FitTyped, {}),
    "compare": (Compare, CompareTyped, {"backends": ["exact"]}),
    "evaluate": (Evaluate, EvaluateTyped, {"parameters": {"parameters": {"weights": {"A": 1.0}}}}),
}
each = pytest.mark.parametrize("name", OPERATIONS)


@pytest.fixture
def function(name, monkeypatch):
    """The function with one more option, and its command."""
    asked, typed, _ = OPERATIONS[name]
    made = taking(asked)(getattr(linkrisk, name).__wrapped__)
    room = "linkage" if name == "evaluate" else "worst_case"
    monkeypatch.setitem(DECLARED, name, f"{__name__}:{typed.__name__}")
    monkeypatch.setattr(f"linkrisk.solver.{room}.operations.{name}.{name}", made)
    return made


@each
def test_functions_take_it(name, function):
    parameter = inspect.signature(function).parameters["shoe_size"]
    assert (parameter.default, parameter.annotation) == (43.0, "float")
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert "\nshoe_size : float\n    Size of the shoes; default: 43.\n" in inspect.getdoc(function)
    asked = OPERATIONS[name][2]
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no 'shoesize': did you mean 'shoe_size'\?"):
        function(**asked, shoesize=1)
    files = [frame[["A"]] for frame in frames(1, 8)] if name == "evaluate" else frames(1, 8)
    assert function(*files, **asked, shoe_size=41.5).to_dict()["shoe_size"] == 41.5


@each
@pytest.mark.usefixtures("survey_folder", "function")
def test_the_command_has_it_in_help_messages_words_json_and_page(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert "\nshoes:\n  --shoe-size S         size of the shoes; default: 43\n" in capsys.readouterr().out
    typed, asked = OPERATIONS[name][1:]
    argv = [name, *PAIR, *words(typed, {"shoe_size": 41.5, "json": "out.json"})]
    assert argv[-2:] == ["--json", "out.json"] or argv[-2:] == ["--shoe-size", "41.5"]
    if name == "evaluate":
        Path("own.json").write_text('{"parameters": {"weights": {"income": 1.0}}}', encoding="utf-8")
        argv += ["--parameters", "own.json", "--attributes", "income"]
    if name == "compare":
        argv += words(typed, asked)
    refuse(capsys, "--shoe-size must be a finite number, not 'big'", *argv[:-2], "--shoe-size", "big")
    assert main(argv) == 0
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["shoe_size"] == 41.5
    assert "| `--shoe-size S` | `shoe_size` | size of the shoes; default: 43 |" in table(typed)


OTHERS = [
    "find_links",
    "link",
    "mask",
    "report",
    "risk",
    "run_protocol",
    "suppress",
    "sweep",
    "unsafe",
    "verify",
]


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_operation_takes_it_as_well(name, capsys, monkeypatch):
    inner = getattr(linkrisk, name).__wrapped__
    command = name.replace("_", "-")
    asked, typed = (
        dataclass(frozen=True, kw_only=True)(type("More", (one, Shoes), {}))
        for one in (inner.__globals__[inner.__annotations__["asked"]], operation(command))
    )
    made = taking(asked)(inner)
    assert inspect.signature(made).parameters["shoe_size"].default == 43.0
    assert "\nshoe_size : float\n    Size of the shoes; default: 43.\n" in inspect.getdoc(made)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no 'shoesize': did you mean 'shoe_size'\?"):
        made(shoesize=1)
    monkeypatch.setattr(f"{__name__}.More", typed, raising=False)
    monkeypatch.setitem(DECLARED, command, f"{__name__}:More")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert re.search(r"\nshoes:\n  --shoe-size S +size of the shoes; default: 43\n", capsys.readouterr().out)
    assert "| `--shoe-size S` | `shoe_size` | size of the shoes; default: 43 |" in table(typed)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_form_of_every_command_asks_for_it(command, tmp_path, monkeypatch):
    pytest.importorskip("nicegui")
    more = dataclass(frozen=True, kw_only=True)(type("More", (operation(command), Shoes), {}))
    monkeypatch.setattr(f"{__name__}.More", more, raising=False)
    monkeypatch.setitem(DECLARED, command, f"{__name__}:More")
    shown = Shown(command, tmp_path)
    field = shown.field("shoe_size")
    assert (field.props["label"], field.value) == ("Size of shoes", 43.0)
    assert "size of the shoes; default: 43" in shown.texts
    if command != "mask":  # whose page shows no command before it is started
        field.set_value(41.5)
        assert "--shoe-size 41.5" in shown.command
        field.set_value(43)
        assert "--shoe-size" not in shown.command


PAGE = Path(__file__).resolve().parents[3] / "docs" / "options.md"


HEAD = """# Options of commands and functions

What each can be asked, on the command line and in Python: made from the declarations
that help and keywords come from.
"""


def page() -> str:
    parts = [HEAD]
    for command, place in DECLARED.items():
        module, _, name = place.partition(":")
        parts.append(f"## `{command}`\n\n{table(getattr(import_module(module), name))}\n")
    return "\n".join(parts)


def test_the_page_of_options_is_as_they_are_declared() -> None:
    """LINKRISK_UPDATE_GOLDEN=1 writes it anew."""
    if os.environ.get("LINKRISK_UPDATE_GOLDEN"):
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()
