"""The page of a file shows no value of a column that identifies somebody, by guess or by its schema."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from application import opened

from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.schema_files import write_schema
from linkrisk.solver.app import looking
from linkrisk.solver.app.pages.data import _Columns

HOMES = [7001, 7002, 7001, 7003, 7002, 7003]


@pytest.mark.parametrize("role", [Role.HOUSEHOLD, Role.RECORD_ID, Role.IDENTIFIER])
def test_roles_of_a_schema_hide_as_guessed_ones_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    project = opened(tmp_path)
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"dwelling_group": HOMES, "age": range(6)}).to_csv("data/people.csv", index=False)
    looking.main("data/people.csv", "found.json")
    found = json.loads(Path("found.json").read_text())
    state = SimpleNamespace(project=project)
    guessed = _Columns(state, "data/people.csv", found)  # type: ignore[arg-type]
    assert any("700" in cell for row in guessed.shown_rows() for cell in row)
    write_schema(Schema((Attribute("dwelling_group", role),)), Path("data/people.schema.toml"))
    declared = _Columns(state, "data/people.csv", found)  # type: ignore[arg-type]
    assert declared.hides("dwelling_group")
    assert not declared.hides("age")
    assert [row[0] for row in declared.shown_rows()] == [looking.HIDDEN] * 6
    assert [row[1] for row in declared.shown_rows()] == [str(age) for age in range(6)]
