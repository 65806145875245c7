"""The pages of the linkers: what their commands and Python examples print is what they show."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from linkrisk.solver.commands.program import main

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMAND = "python -m solver"
LINES = r"((?:(?!```).*\n)+)"
EXAMPLE = re.compile(rf"^```python\n{LINES}```\n+```\n{LINES}```$", re.MULTILINE)
SHOWN = re.compile(rf"^```\n\$ ({COMMAND} link .*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ("linkers", "probabilistic", "representatives", "bayesian", "categorical")


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def run_python(source: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "example", "exec"), {"__name__": "example"})
    return out.getvalue()


def run_command(line: str) -> None:
    assert main(shlex.split(line.removeprefix(COMMAND))) == 0


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch, capsys):
    """The files that `linkers.md` makes first, by its own words."""
    monkeypatch.chdir(tmp_path)
    text = page("linkers").split("## To try it")[1].split("## What is compared")[0]
    run_python(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1])
    run_command(re.search(rf"^{COMMAND} mask .*$", text, re.MULTILINE)[0])
    registers = page("probabilistic").split("### An example")[1]
    run_python(re.search(r"```python\n(.*?)```", registers, re.DOTALL)[1])
    run_python(re.search(r"```python\n([^`]*unnumbered.csv[^`]*)```", registers)[1])
    capsys.readouterr()


@pytest.mark.parametrize("name", PAGES)
def test_commands_print_what_is_shown(name, capsys):
    found = SHOWN.findall(page(name))
    assert found
    for command, shown in found:
        run_command(command)
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize("name", ["linkers", "probabilistic", "representatives", "bayesian"])
def test_python_prints_what_is_shown(name):
    found = EXAMPLE.findall(page(name))
    assert found
    for source, shown in found:
        assert run_python(source) == shown


def test_the_linker_of_the_page_works():
    """The code under "How to add a linker", as it stands there."""
    source = page("linkers").split("## How to add a linker")[1].split("```python\n")[1].split("```")[0]
    printed = run_python(
        "from linkrisk import link\n"
        "from linkrisk.solver.linkage.linker import LearnedLinker, Linker\n"
        + source
        + "print(link('means.csv', 'masked.csv', method=Euclid()).linked)\n"
    )
    assert int(printed) > 5  # one by chance
