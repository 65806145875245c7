"""Files of another kind than their name says are named for what they are, with what to do about it."""

from __future__ import annotations

import gzip
import io
import sqlite3
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.files import read_table

TEXT = "a,b\n1,2\n3,4\n"
SAVE = "save it as CSV (UTF-8)"


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 50)
    return out.getvalue()


EXCEL = zipped("[Content_Types].xml", "xl/workbook.xml")

KINDS: dict[str, tuple[bytes, str]] = {
    "excel": (EXCEL, f"an Excel file, whatever its name says; {SAVE}"),
    "excel, cut off": (EXCEL[:40], f"an Excel file, whatever its name says; {SAVE}"),
    "old excel": (
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(50),
        f"an Excel file, whatever its name says; {SAVE}",
    ),
    "open document": (
        zipped("mimetype", "content.xml"),
        f"an OpenDocument file, whatever its name says; {SAVE}",
    ),
    "zip": (zipped("data.csv"), "a ZIP archive, whatever its name says; unpack it first"),
    "gzip": (gzip.compress(TEXT.encode()), "a gzip file, whatever its name says; unpack it first"),
    "spss": (b"$FL2@(#) SPSS DATA FILE", f"an SPSS file, whatever its name says; {SAVE}"),
    "stata": (b"<stata_dta><header>", f"a Stata file, whatever its name says; {SAVE}"),
    "old stata": (b"\x72\x02\x01\x00", f"a Stata file, whatever its name says; {SAVE}"),
    "utf-16": (TEXT.encode("utf-16"), "UTF-16 text, whatever its name says; save it as UTF-8"),
    "utf-16 without a mark": (
        TEXT.encode("utf-16-le"),
        "UTF-16 text, whatever its name says; save it as UTF-8",
    ),
    "utf-16, other order": (
        TEXT.encode("utf-16-be"),
        "UTF-16 text, whatever its name says; save it as UTF-8",
    ),
    "utf-32": (TEXT.encode("utf-32"), "UTF-32 text, whatever its name says; save it as UTF-8"),
}


def message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_table(path)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_files_named_csv(kind, tmp_path):
    content, said = KINDS[kind]
    path = tmp_path / "release.csv"
    path.write_bytes(content)
    assert message(path) == f"{path} is {said}"


def test_real_parquet_stata_and_sqlite_files_named_csv(tmp_path):
    frame, path = pd.DataFrame({"a": [1, 2], "b": [3, 4]}), tmp_path / "release.csv"
    frame.to_parquet(path)
    assert message(path) == f"{path} is a Parquet file, whatever its name says; name it .parquet"
    frame.to_stata(path)
    assert message(path) == f"{path} is a Stata file, whatever its name says; {SAVE}"
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("create table t (a)")
    database.close()
    assert message(path) == (
        f"{path} is an SQLite database, whatever its name says; export the table as CSV (UTF-8)"
    )


@pytest.mark.parametrize(
    ("suffix", "said"),
    [
        (".xlsx", f"Excel files are not read; {SAVE} under a name that ends in .csv"),
        (".XLS", f"Excel files are not read; {SAVE} under a name that ends in .csv"),
        (".ods", f"OpenDocument files are not read; {SAVE} under a name that ends in .csv"),
        (".sav", f"SPSS files are not read; {SAVE} under a name that ends in .csv"),
        (".dta", f"Stata files are not read; {SAVE} under a name that ends in .csv"),
        (".sas7bdat", f"SAS files are not read; {SAVE} under a name that ends in .csv"),
        (".rds", f"R files are not read; {SAVE} under a name that ends in .csv"),
        (".gz", "compressed files are not read; unpack it first"),
        (".txt", f"text files other than CSV are not read; {SAVE} under a name that ends in .csv"),
    ],
)
def test_files_named_for_what_they_are(suffix, said, tmp_path):
    path = tmp_path / f"release{suffix}"
    path.write_bytes(b"x")
    assert message(path) == f"{path}: {said}"


@pytest.mark.parametrize("text", ["PK,b\n1,2\n", "q,rs\n1,2\n", "BZ,h\n1,2\n", "a,b\n1,\u00e9\n"])
def test_plain_text_that_begins_alike_is_read(text, tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text(text, encoding="utf-8")
    assert len(read_table(path)) == 1
