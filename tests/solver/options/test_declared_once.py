"""An option that is added to one operation in one place is on every face of it, and on the page of all."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
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
from linkrisk.solver.options.worst_case import FitCommand, FitOptions


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


@pytest.mark.usefixtures("survey_folder")
def test_an_option_is_in_the_function_the_command_and_what_they_say(monkeypatch, capsys):
    made = taking(Fit)(linkrisk.fit.__wrapped__)
    parameter = inspect.signature(made).parameters["shoe_size"]
    assert (parameter.default, parameter.annotation) == (43.0, "float")
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert made(*frames(1, 8), shoe_size=41.5).to_dict()["shoe_size"] == 41.5
    monkeypatch.setitem(DECLARED, "fit", f"{__name__}:FitTyped")
    monkeypatch.setattr("linkrisk.solver.worst_case.operations.fit.fit", made)
    argv = ["fit", *PAIR, *words(FitTyped, {"shoe_size": 41.5, "json": "out.json"})]
    refuse(capsys, "--shoe-size must be a finite number, not 'big'", *argv[:-2], "--shoe-size", "big")
    assert main(argv) == 0
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["shoe_size"] == 41.5


NAMES = [name for name in linkrisk.__all__ if hasattr(getattr(linkrisk, name), "__wrapped__")]


def with_shoes(asked):
    return dataclass(frozen=True, kw_only=True)(type("More", (asked, Shoes), {}))


@pytest.mark.parametrize("name", NAMES)
def test_every_function_takes_it(name):
    inner = getattr(linkrisk, name).__wrapped__
    made = taking(with_shoes(inner.__globals__[inner.__annotations__["asked"]]))(inner)
    assert inspect.signature(made).parameters["shoe_size"].default == 43.0
    assert "\nshoe_size : float\n    Size of the shoes; default: 43.\n" in inspect.getdoc(made)
    with pytest.raises(TypeError, match=rf"{name}\(\) takes no 'shoesize': did you mean 'shoe_size'\?"):
        made(shoesize=1)


@pytest.mark.parametrize("command", DECLARED)
def test_every_command_has_it(command, capsys, monkeypatch):
    more = with_shoes(operation(command))
    monkeypatch.setattr(f"{__name__}.More", more, raising=False)
    monkeypatch.setitem(DECLARED, command, f"{__name__}:More")
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert re.search(r"\nshoes:\n  --shoe-size S +size of the shoes; default: 43\n", capsys.readouterr().out)
    assert "| `--shoe-size S` | `shoe_size` | size of the shoes; default: 43 |" in table(more)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_form_of_every_command_asks_for_it(command, tmp_path, monkeypatch):
    pytest.importorskip("nicegui")
    more = with_shoes(operation(command))
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
