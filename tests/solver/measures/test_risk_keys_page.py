"""The page of key variables shows what the command prints today."""

from __future__ import annotations

import re
from pathlib import Path

from linkrisk.solver.commands.program import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "risk-keys.md"


def test_the_worked_example_is_true(tmp_path, monkeypatch, capsys):
    """Up to the worst case above it, which is a search, and the seconds below."""
    section = PAGE.read_text(encoding="utf-8").split("## A worked example")[1].split("\n## ")[0]
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (declared,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    command, shown = re.findall(r"```\n\$ python -m solver ([^\n]+)\n(.*?)```", section, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(script, "risk-keys.md", "exec"), {})
    (tmp_path / "keys.toml").write_text(declared, encoding="utf-8")
    assert main([*command.split(), "--aggregator", "weighted-mean", "--time-limit", "none"]) == 0
    printed = capsys.readouterr().out
    start, end = "Uniqueness on the key variables", "\nseed 0"
    assert start in shown
    assert shown[shown.index(start) : shown.index(end)] == printed[printed.index(start) : printed.index(end)]
