"""Files of another kind than their name says are named for what they are, with what to do about it."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import io
import sqlite3
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from cli_runs import contents
from format_cases import WRITTEN, described, of_suffix, sas_file, table

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import formats, read_file
from linkrisk.solver.commands.program import main

TEXT = "a,b\n1,2\n3,4\n"
EXPORT = "export the table as CSV (UTF-8)"


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 50)
    return out.getvalue()


EXCEL = zipped("[Content_Types].xml", "xl/workbook.xml")

KINDS: dict[str, tuple[bytes, str]] = {
    "excel": (EXCEL, "an Excel file, despite its name; name it .xlsx"),
    "excel, cut off": (EXCEL[:40], "an Excel file, despite its name; name it .xlsx"),
    "old excel": (
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(50),
        "an old Excel file, despite its name; save it as .xlsx",
    ),
    "open document": (
        zipped("mimetype", "content.xml"),
        "an OpenDocument file, despite its name; save it as .xlsx",
    ),
    "zip": (zipped("data.csv"), "a ZIP archive, despite its name; unpack it first"),
    "gzip": (gzip.compress(TEXT.encode()), "a gzip file, despite its name; unpack it first"),
    "spss": (b"$FL2@(#) SPSS DATA FILE", "an SPSS file, despite its name; name it .sav"),
    "stata": (b"<stata_dta><header>", "a Stata file, despite its name; name it .dta"),
    "old stata": (b"\x72\x02\x01\x00", "a Stata file, despite its name; name it .dta"),
    "sas": (bytes(12) + b"\xc2\xea\x81\x60", "a SAS file, despite its name; name it .sas7bdat"),
    "transport": (
        b"HEADER RECORD*******LIBRARY HEADER",
        "a SAS transport file, despite its name; name it .xpt",
    ),
    "r": (gzip.compress(b"X\n\0\0\0\3" + bytes(50)), "an R file, despite its name; name it .rds"),
    "r, several objects": (b"RDX3\nX\n" + bytes(50), "an R file, despite its name; name it .rdata"),
    "r as text": (b"RDA3\nA\n3\n", "an R file, despite its name; save it in R without ascii = TRUE"),
    "pdf": (b"%PDF-1.7", f"a PDF file, despite its name; {EXPORT}"),
    "html": (b"\n <!DOCTYPE HTML><html><table>", f"an HTML page, despite its name; {EXPORT}"),
    "xml": (b'\xef\xbb\xbf<?xml version="1.0"?><a/>', f"an XML file, despite its name; {EXPORT}"),
    "json": (b'[\n {"a": 1}]', f"a JSON file, despite its name; {EXPORT}"),
    "utf-32": (TEXT.encode("utf-32"), "UTF-32 text, despite its name; save it as UTF-8"),
}


def message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "suffix", [".csv", ".txt", ".parquet", ".sav", ".dta", ".xlsx", ".xpt", ".rds", ".sas7bdat"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_named_for_something_else(kind: str, suffix: str, tmp_path: Path) -> None:
    content, said = KINDS[kind]
    path = tmp_path / f"release{suffix}"
    path.write_bytes(content)
    if said.endswith(tuple(f"name it {own}" for own in of_suffix(suffix).suffixes)):
        assert message(path).startswith(f"{path} is ")
    else:
        assert message(path) == f"{path} is {said}"


@pytest.mark.parametrize(
    "suffix", [".parquet", ".feather", ".xlsx", ".sav", ".dta", ".xpt", ".rds", ".sas7bdat"]
)
def test_text_named_as_a_binary_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"release{suffix}"
    path.write_text(TEXT)
    assert message(path) == (
        f"{path} is not a readable {of_suffix(suffix).name} file (cut off or damaged?): "
        "it does not begin like one"
    )


def test_a_real_database_named_csv(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    with sqlite3.connect(path) as database:
        database.execute("create table t (a)")
    database.close()
    assert message(path) == f"{path} is an SQLite database, despite its name; {EXPORT}"


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITTEN if suffix not in (".rda", ".asc", ".dat")])
def test_every_file_under_every_other_name(suffix: str, tmp_path: Path) -> None:
    made = tmp_path / f"x{suffix}"
    content = of_suffix(suffix).write(table("whole", "gaps"), made)[made]
    for other in [other for form in formats() for other in form.suffixes]:
        path = tmp_path / f"other{other}"
        if other not in of_suffix(suffix).suffixes and other not in (".rda", ".asc", ".dat"):
            path.write_bytes(content)
            assert str(path) in message(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("x.xls", ".xls files are not supported; save the sheet as .xlsx"),
        ("x.ODS", ".ods files are not supported; save the sheet as .xlsx"),
        ("x.csv.gz", ".gz files are not supported; unpack it first"),
        ("x.cdl", ".cdl files are not supported; a code list belongs to an .rda file; give that"),
        ("x.parquett", "the suffix '.parquett' is not known; did you mean '.parquet'?"),
        ("x.json", "the suffix '.json' is not known"),
        ("x", "a file name without a suffix"),
    ],
)
def test_suffixes_that_are_not_read(name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"x")
    assert message(path).startswith(f"{path}: {said}")


def test_missing_file_folder_and_empty_file(tmp_path: Path) -> None:
    assert message(tmp_path / "no.sav") == f"{tmp_path}/no.sav cannot be read: there is no such file"
    (tmp_path / "folder.csv").mkdir()
    assert message(tmp_path / "folder.csv") == f"{tmp_path}/folder.csv is a folder; give a CSV file"
    (tmp_path / "folder.rda").mkdir()
    assert message(tmp_path / "folder.rda") == f"{tmp_path}/folder.rda is a folder; give an ARGUS file"
    (tmp_path / "x.dta").write_bytes(b"")
    assert message(tmp_path / "x.dta") == f"{tmp_path}/x.dta is empty; it needs a header and records"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.sav"
    path.write_bytes(b"x")

    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    assert message(path) == f"{path} cannot be read: permission denied"


@pytest.mark.parametrize(
    "text", ["PK,b\n1,2\n", "{a},[b]\n1,2\n", "q,rs\n1,2\n", "BZ,h\n1,2\n", "a,b\n1,\u00e9\n"]
)
def test_plain_text_that_begins_alike_is_read(text: str, tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text(text, encoding="utf-8")
    assert len(read_file(path).frame) == 1


# Damaged and cut off files of every format through the command line: one line, exit code 2


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


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".asc", ".dat"])
def test_cut_off_within_a_line(suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    content = written(suffix)
    # The header has four columns, so that a line without two of them is cut off.
    Path(f"whole{suffix}").write_bytes(content[: content.rindex(b"\n", 0, -1) + 3])
    assert "line 4" in refused(capsys, f"whole{suffix}")


@pytest.mark.parametrize("suffix", BINARY)
def test_any_cut_is_refused_and_any_broken_byte_at_most_changes_values(suffix: str) -> None:
    """Nothing but DataError comes out, and a cut file never passes for a shorter one."""
    content = written(suffix)
    path = Path(f"cut{suffix}")
    for part in range(1, 24):
        path.write_bytes(content[: len(content) * part // 24])
        with pytest.raises(DataError, match="cut off"):
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


# SAS files, which are read only


def test_values_labels_letters_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "größe.sas7bdat"
    path.write_bytes(sas_file())
    stored = read_file(path)
    assert {name: described(stored.frame[name]) for name in stored.frame} == {
        "plz": ("text", ["007", None, "012", "ä"]),
        "age": ("mixed", [20.0, 25.5, ".A", None]),
        "day": ("date", [dt.date(1960, 1, 1), dt.date(1960, 1, 2), None, dt.date(1960, 1, 4)]),
    }
    assert (stored.notes("age").label, stored.notes("age").missing) == ("Größe", (".A",))
    assert stored.notes("day").settings == {"sas.format": "DATE9"}
    for part in range(1, 16):
        path.write_bytes(sas_file()[: len(sas_file()) * part // 16])
        with pytest.raises(DataError, match="is not a readable SAS file"):
            read_file(path)
