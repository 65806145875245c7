"""Damaged and cut off files of every format through the command line: one line, exit code 2."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from cli_runs import contents
from format_cases import WRITTEN, of_suffix, table

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.solver.commands.program import main

BINARY = [
    suffix for suffix in WRITTEN if suffix not in (".csv", ".tsv", ".tab", ".txt", ".rda", ".asc", ".dat")
]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(suffix: str) -> bytes:
    """A file of 40 records with labels and text."""
    stored = table("code", "whole", "gaps", "moment")
    rows = pd.concat([stored.frame] * 10, ignore_index=True)
    path = Path(f"whole{suffix}")
    for file, content in of_suffix(suffix).write(type(stored)(rows), path).items():
        file.write_bytes(content)
    return path.read_bytes()


def refused(capsys: pytest.CaptureFixture[str], path: str) -> str:
    """What the command line says of a file; it writes nothing."""
    before = contents()
    arguments = ["mask", "--input", path, "--method", "noise", "--percent", "5", "--output", "out.csv"]
    code = main([*arguments, "--attributes", "whole"])
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert printed.err.startswith(f"error: {path}")
    assert printed.err.count("\n") == 1
    assert contents() == before
    return printed.err


@pytest.mark.parametrize("suffix", BINARY)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_cut_off(suffix: str, share: float, capsys: pytest.CaptureFixture[str]) -> None:
    content = written(suffix)
    Path(f"cut{suffix}").write_bytes(content[: int(len(content) * share) - 1])
    assert "cut off" in refused(capsys, f"cut{suffix}")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".asc", ".dat"])
def test_cut_off_within_a_line(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = written(suffix)
    # The header has four columns, so that a line without two of them is cut off.
    Path(f"whole{suffix}").write_bytes(content[: content.rindex(b"\n", 0, -1) + 3])
    assert "line 4" in refused(capsys, f"whole{suffix}")


@pytest.mark.parametrize(
    "suffix", [".parquet", ".feather", ".sav", ".dta", ".xlsx", ".xpt", ".rds", ".sas7bdat"]
)
def test_another_file_under_this_name(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(f"x{suffix}").write_bytes(b"code,whole\n1,2\n")
    assert "does not begin like one" in refused(capsys, f"x{suffix}")
    Path(f"x{suffix}").write_bytes(b"%PDF-1.7\n")
    assert "is a PDF file, despite its name" in refused(capsys, f"x{suffix}")


def test_another_file_named_csv(capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in BINARY:
        Path("x.csv").write_bytes(written(suffix))
        assert "despite its name; name it ." in refused(capsys, "x.csv")


@pytest.mark.parametrize("suffix", BINARY)
def test_any_cut_is_refused_and_any_broken_byte_at_most_changes_values(suffix: str) -> None:
    """Nothing but DataError comes out, and a cut file never passes for a shorter one."""
    content = written(suffix)
    path = Path(f"cut{suffix}")
    for part in range(1, 24):
        path.write_bytes(content[: len(content) * part // 24])
        with pytest.raises(DataError):
            read_file(path)
        at = len(content) * part // 24 - 1
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        assert "\n" not in said_of(path)


def said_of(path: Path) -> str:
    """What is said of a file; nothing where it is read."""
    try:
        read_file(path)
    except DataError as error:
        return str(error)
    return ""


def test_a_sas_file_that_breaks_off_after_its_mark(capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.sas7bdat").write_bytes(
        bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(300)
    )
    assert "is not a readable SAS file (cut off or damaged?): " in refused(capsys, "x.sas7bdat")
