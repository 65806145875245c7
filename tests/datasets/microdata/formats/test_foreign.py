"""Files of another kind than their name says are named for what they are, with what to do about it."""

from __future__ import annotations

import errno
import gzip
import io
import sqlite3
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from format_cases import WRITTEN, of_suffix, table

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import FORMATS, read_file

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
    for other in [other for form in FORMATS for other in form.suffixes]:
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


def test_an_unknown_suffix_lists_what_there_is(tmp_path: Path) -> None:
    assert message(tmp_path / "x.json").endswith(
        "; use one of .csv, .tsv, .tab, .txt, .parquet, .pq, .feather, .arrow, .xlsx, .sav, .zsav, .dta, "
        ".sas7bdat, .xpt, .rds, .rdata, .rda, .asc, .dat"
    )


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


def test_pandas_writes_stata_files_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.dta"
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_stata(path, write_index=False)
    assert read_file(path).frame.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
