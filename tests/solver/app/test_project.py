"""A project folder: names of files, what lies inside, who has it open, what is shown of a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest
from application import opened, small_pair
from hypothesis import given
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.roles import Role
from linkrisk.datasets.microdata.schema import Attribute, Schema
from linkrisk.datasets.microdata.schema_files import write_schema
from linkrisk.solver.app import looking
from linkrisk.solver.app.pages.data import _Columns
from linkrisk.solver.app.project import Project, alive, safe_name, table_part
from linkrisk.solver.app.runs import Queue
from linkrisk.solver.run.errors import UsageError


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("a.csv", "a.csv"),
        ("../../etc/passwd.csv", "passwd.csv"),
        ("C:\\Users\\me\\a b.CSV", "a b.CSV"),
        ("<script>alert(1)</script>.csv", "script_.csv"),
        (".hidden.csv", "hidden.csv"),
        ("--output.csv", "output.csv"),
        ("a\x00\n;`$(id)`.csv", "a_____(id)_.csv"),
        ("", "file"),
        ("..", "file"),
        ("Erhebung Äpfel.sav", "Erhebung Äpfel.sav"),
        ("a" * 300 + ".csv", "a" * 117 + ".csv"),
        ("調" * 300 + ".csv", "調" * 39 + ".csv"),
    ],
)
def test_names_are_made_safe(given_name: str, name: str) -> None:
    assert safe_name(given_name) == name


@given(st.text(max_size=300))
def test_no_name_leads_elsewhere(text: str) -> None:
    name = safe_name(text)
    assert 0 < len(name) <= 130
    assert Path(name).name == name
    assert name[0] not in ".-"
    assert name.isprintable()


CLIMBING = ("../x", "/etc/passwd", "data/../../x", "data/link", "data/deep/a")


@pytest.mark.parametrize("name", [*CLIMBING, ".linkrisk/server.json", "\x00", "a" * 5000])
def test_paths_that_climb_are_refused(tmp_path: Path, name: str) -> None:
    project = opened(tmp_path / "project")
    (tmp_path / "x").write_text("secret")
    (project.folder / "data" / "link").symlink_to(tmp_path / "x")
    (project.folder / "data" / "deep").symlink_to(tmp_path)
    with pytest.raises(UsageError, match=r"^this is no file of the project$"):
        project.inside(name)


def test_files_of_a_project(tmp_path: Path) -> None:
    small_pair(tmp_path)
    (tmp_path / "extra.parquet").write_bytes(b"")
    (tmp_path / "data" / "notes.pdf").write_bytes(b"")
    (tmp_path / "data" / "original.schema.toml").write_text("attributes = []")
    outside = tmp_path.parent / f"{tmp_path.name}-outside.csv"
    outside.write_text("a\n1\n")
    (tmp_path / "data" / "linked.csv").symlink_to(outside)
    project = opened(tmp_path)
    (tmp_path / "runs" / "0001-mask").mkdir()
    (tmp_path / "runs" / "0001-mask" / "original-masked.csv").write_text("a\n1\n")
    files = ["data/masked.csv", "data/original.csv", "extra.parquet", "runs/0001-mask/original-masked.csv"]
    assert project.data_files == files
    assert project.schemas == ["data/original.schema.toml"] == [project.schema_of("data/original.csv")]


def test_files_that_only_tables_are_made_of(tmp_path: Path) -> None:
    project, data = opened(tmp_path), tmp_path / "data"
    parts = {
        "records.asc": "",  # with metadata beside it, and text of the same name, too
        "records.rda": "",
        "records.tab": "",
        "plain.tab": "",
        "ready.TAB": "tables",
        "ready.rda": "metadata",
        "ready.jj": "tables",
        "region.hrc": "trees",
        "known.hst": "apriori",
        "proof.json.gz": "certificates",
    }
    for name in parts:
        (data / name).write_bytes(b"")
    for name, part in parts.items():
        assert table_part(data / name) == part, name
    for part in set(parts.values()) - {""}:
        expected = sorted(f"data/{name}" for name, one in parts.items() if one == part)
        assert project.for_tables(part) == expected
    assert project.data_files == sorted(f"data/{name}" for name, part in parts.items() if not part)
    assert project.readable == sorted(f"data/{name}" for name in parts)


def test_what_runs_leave_for_later_ones(tmp_path: Path) -> None:
    project = opened(tmp_path)
    for run in ("0001-tables", "0002-tables"):
        (tmp_path / "runs" / run).mkdir()
        left = ("table-internal.csv", "table-internal.jj", "table-rules.json", "certificate.json")
        for name in (*left, "report.html"):
            (tmp_path / "runs" / run / name).write_text("")
    for name in ("proof.json", "proof.json.gz", "a.schema.json", "my-rules.json"):
        (tmp_path / "data" / name).write_text("")
    kept = [f"runs/{run}/table-internal.jj" for run in ("0002-tables", "0001-tables")]
    assert project.left("table-internal", (".jj",)) == kept
    made = [f"runs/{run}/certificate.json" for run in ("0002-tables", "0001-tables")]
    assert project.offered("result") == ["data/proof.json", "data/proof.json.gz", *made]
    rules = [f"runs/{run}/table-rules.json" for run in ("0002-tables", "0001-tables")]
    assert project.offered("made") == ["data/my-rules.json", *rules]
    assert {*kept, *made, *rules, "data/proof.json"} < set(project.readable)
    assert project.data_files == []


def test_a_given_file_takes_no_place_of_another_and_is_of_a_kind_that_is_read(tmp_path: Path) -> None:
    project = opened(tmp_path)
    for name, other in (("a.csv", "a-2.csv"), ("a.json.gz", "a-2.json.gz")):
        first = project.new_data(name)
        first.write_text("a\n")
        assert project.new_data(name).name == other
        assert first.parent == project.folder / "data"
    message = r"^tool\.exe is of no kind that is read; use one of \.csv, .*\.hrc.*\.json\)$"
    with pytest.raises(UsageError, match=message):
        project.new_data("tool.exe")


def test_a_folder_is_open_once(tmp_path: Path) -> None:
    project = Project.opened(tmp_path)
    message = (
        rf"^the project folder {tmp_path} is open in another linkrisk app \(process {os.getpid()}\): use that"
    )
    with pytest.raises(UsageError, match=message):
        Project.opened(tmp_path)
    project.release()
    Project.opened(tmp_path).release()
    # A claim of a process that is gone does not count.
    claim = {"pid": os.getpid(), "created": psutil.Process().create_time() - 100.0}
    assert alive({"pid": os.getpid(), "created": psutil.Process().create_time()})
    for gone in (claim, {"pid": 2**22 + 1, "created": 0.0}):
        assert not alive(gone)
        (tmp_path / ".linkrisk" / "server.json").write_text(json.dumps(gone))
        Project.opened(tmp_path).release()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"^cannot use the project folder .*file: .*; choose another one$"):
        Project.opened(tmp_path / "file")


def test_how_numbers_are_written_is_said_once_for_all_commands(tmp_path: Path) -> None:
    project = opened(tmp_path)
    assert project.reading == []
    project.say_signs(decimal=",", thousands="blank")
    assert project.reading == ["--decimal", ",", "--thousands", "blank"]
    queue = Queue(project)
    run = queue.add("mask", "a masking", [["mask", "--input", "data/a.csv"]], run=queue.folder("mask"))
    assert run.lines == ["python -m solver mask --input data/a.csv --decimal , --thousands blank"]
    with pytest.raises(DataError, match="both"):
        project.say_signs(thousands=",")
    project.say_signs(thousands="")
    assert project.signs == {"decimal": ","}


def test_files_are_looked_at_with_the_signs_of_the_project(tmp_path: Path) -> None:
    file, found = tmp_path / "a.csv", tmp_path / "found.json"
    file.write_text("x;y\n1,250;a\n2,500;b\n3,125;b\n", encoding="utf-8")
    for signs, highest in (({"decimal": ","}, 3.125), ({"thousands": ","}, 3125.0)):
        looking.main(str(file), str(found), json.dumps(signs))
        assert json.loads(found.read_text())["columns"][0]["highest"] == highest


@pytest.mark.parametrize("role", [Role.HOUSEHOLD, Role.RECORD_ID, Role.IDENTIFIER])
def test_roles_of_a_schema_hide_values_as_guessed_ones_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    project, homes = opened(tmp_path), [7001, 7002, 7001, 7003, 7002, 7003]
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"dwelling_group": homes, "age": range(6)}).to_csv("data/people.csv", index=False)
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
