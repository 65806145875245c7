"""Files of R: data frames as R writes them, and what is refused."""

from __future__ import annotations

import base64
import bz2
import gzip
import lzma
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pyreadr
import pytest
from format_cases import described, there_and_back

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.registry import format_of, read_file
from linkrisk.datasets.microdata.writing import write_table
from linkrisk.datasets.tables.argus.ready_tables import read_argus_table


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


FRAME = pd.DataFrame(
    {
        "whole": [1.0, 2.0, 3.0],
        "gaps": pd.array([1, None, 3], dtype="Int32"),
        "logical": pd.array([True, None, False], dtype="boolean"),
        "text": ["", None, "ü"],
        "factor": pd.Categorical(["low", None, "high"], ["low", "high", "unused"]),
    }
)


def packed_strings(*texts: str) -> bytes:
    return b"".join(b"\0\4\0\x09" + len(text).to_bytes(4, "big") + text.encode() for text in texts)


def of_days(days: list[float], kind: str) -> bytes:
    """A data frame with one column of the class Date or POSIXct, as R serialises it."""
    import struct

    def numbers(code: bytes, values: list[float], form: str) -> bytes:
        return code + len(values).to_bytes(4, "big") + struct.pack(f">{len(values)}{form}", *values)

    def texts(*listed: str) -> bytes:
        return b"\0\0\0\x10" + len(listed).to_bytes(4, "big") + packed_strings(*listed)

    def attribute(name: str, value: bytes) -> bytes:
        return b"\0\0\4\2\0\0\0\1" + packed_strings(name) + value

    end = b"\0\0\0\xfe"
    classes = ("POSIXct", "POSIXt") if kind == "POSIXct" else (kind,)
    column = numbers(b"\0\0\3\x0e", days, "d") + attribute("class", texts(*classes)) + end
    frame = b"\0\0\3\x13\0\0\0\1" + column + attribute("names", texts("when"))
    frame += attribute("row.names", numbers(b"\0\0\0\x0d", [-(2**31), -len(days)], "i"))
    return b"X\n\0\0\0\2\0\4\3\0\0\2\3\0" + frame + attribute("class", texts("data.frame")) + end


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["people.rds", "people.RData"])
def test_a_data_frame_is_read_however_it_is_compressed(name, pack):
    (pyreadr.write_rds if name.endswith("s") else pyreadr.write_rdata)(name, FRAME)
    Path(name).write_bytes(pack(Path(name).read_bytes()))
    stored = read_file(name)
    assert {column: described(stored.frame[column]) for column in stored.frame} == {
        "whole": ("whole", [1, 2, 3]),
        "gaps": ("number", [1.0, None, 3.0]),
        "logical": ("logical", [True, None, False]),
        "text": ("text", ["", None, "ü"]),
        "factor": ("text", ["low", None, "high"]),
    }
    assert list(stored.frame["factor"].cat.categories) == ["low", "high", "unused"]
    assert stored.labels is None


def test_dates_of_r_are_dates():
    Path("x.rds").write_bytes(of_days([0.0, -1.0, float("nan")], "Date"))
    assert described(read_file("x.rds").frame["when"])[0] == "date"
    assert [str(day) for day in read_file("x.rds").frame["when"]] == ["1970-01-01", "1969-12-31", "None"]
    Path("x.rds").write_bytes(of_days([0.0, 1.5], "POSIXct"))
    kind, moments = described(read_file("x.rds").frame["when"])
    assert (kind, moments[0]) == ("moment", "1970-01-01 00:00:00")


def test_names_of_rows_are_labels():
    pyreadr.write_rds("x.rds", pd.DataFrame({"a": [1.5, 2.5]}, index=["Mazda", "Datsun"]))
    stored = read_file("x.rds")
    assert (list(stored.labels), list(stored.frame.index)) == (["Mazda", "Datsun"], [0, 1])


def test_of_several_data_frames_none_is_chosen():
    pyreadr.write_rdata("x.RData", {"people": FRAME, "firms": FRAME})
    with pytest.raises(DataError) as caught:
        read_file("x.RData")
    assert str(caught.value) == (
        'x.RData holds 2 data frames (people, firms); save one in R: saveRDS(NAME, "NAME.rds")'
    )
    # And objects that are no data frame.
    vector = b"X\n\0\0\0\2\0\4\3\0\0\2\3\0\0\0\0\x0e\0\0\0\1\x3f\xf0\0\0\0\0\0\0"
    Path("x.rds").write_bytes(vector)
    with pytest.raises(DataError, match=r"^x\.rds holds no data frame; save one in R: saveRDS"):
        read_file("x.rds")


def test_the_same_table_is_the_same_file_and_its_factors_come_back():
    stored = StoredFile(FRAME.assign(factor=FRAME["factor"].cat.as_ordered()))
    assert format_of("x.rds").loses(stored) == ("the order of categories is lost (column factor)",)
    back = there_and_back(stored, Path("x.rds")).frame
    assert list(back["factor"].cat.categories) == ["low", "high", "unused"]
    write_table(FRAME, "y.rds")
    write_table(FRAME, "z.rds")
    assert Path("y.rds").read_bytes() == Path("z.rds").read_bytes()


# Two programs have files called .rda: data of R, and metadata of ARGUS. What is in one says which it is


BINARY = b"RDX3\nX\n\x00\x00\x00\x03\x00\x04\x03\x01" + b"\0" * 80
FORMS = {
    "gzip": gzip.compress(BINARY),
    "bzip2": bz2.compress(BINARY),
    "xz": lzma.compress(BINARY),
    "binary": BINARY,
    "text": b"RDA3\nA\n3\n262401\n",
}
ARGUS = "   <SEPARATOR> ;\nregion 2\n   <RECODEABLE>\nincome 5\n   <NUMERIC>\n"


@pytest.mark.parametrize("form", FORMS)
def test_data_of_r_is_named_as_such(form):
    """Also where no file of ARGUS lies beside it, whose lack was complained of."""
    Path("people.rda").write_bytes(FORMS[form])
    message = r"people.rda is data of R, not metadata of ARGUS; name it \.RData"
    with pytest.raises(DataError, match=message):
        read_file("people.rda")
    Path("people.asc").write_text("N;5\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_file("people.asc")
    Path("people.tab").write_text("N;5\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_argus_table("people.tab")


@pytest.mark.parametrize("name", ["people.RData", "people.rds"])
def test_metadata_of_argus_is_named_as_such(name):
    Path(name).write_text(ARGUS, encoding="utf-8")
    with pytest.raises(DataError, match=rf"{name} is metadata of ARGUS, not data of R: name it \.rda"):
        read_file(name)
    Path(name).write_bytes(FORMS["gzip"])
    with pytest.raises(DataError, match=f"{name} is not a readable R file .cut off or damaged.*: "):
        read_file(name)


# A data frame with a labelled column and an ordered factor, as `saveRDS(..., version = 2)` of R writes it.
LABELLED_IN_R = (
    "H4sIAAAAAAAAA2VP2w3CMAx00wBqJRASe3QFGIAB+DWN+xWIlFY8/hiZCRrcBEs0+MN3iX138qkGAAVaKVAl03IX36A2E+7fEOsAUppnUIC"
    "GinFh8UyWyfbnszhyG9lpnZx4EHGmXFq6ke2/UiXSh5BnntRa7PP1lfOGPBnx7LAdnE/pc/UVL/QXhkJcWi9DdkltcMCm8yzODCvv7o2Yxj"
    "tf3EII45T+Aeif121UAQAA"
)


def test_what_is_not_read_is_said():
    Path("x.rds").write_bytes(base64.b64decode(LABELLED_IN_R))
    assert read_file("x.rds").remarks == (
        "labels are not read from files of R: save it as .sav or .dta, or give a schema",
        "ordered factors are read without their order: give a schema",
    )
    write_table(FRAME, "y.rds")
    assert read_file("y.rds").remarks == ()


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("name", ["x.rds", "x.RData"])
def test_r_reads_what_is_written(name):
    """Missing numbers are NA there, not NaN; factors have their levels."""
    write_table(FRAME, name)
    load = 'd <- readRDS("x.rds")' if name.endswith("s") else 'load("x.RData"); d <- data'
    said = 'cat(d$gaps, is.nan(d$gaps), d$logical, d$text, "/", as.character(d$factor), levels(d$factor))'
    done = subprocess.run(["Rscript", "-e", f"{load}; {said}"], capture_output=True, text=True, check=True)
    assert done.stdout == "1 NA 3 FALSE FALSE FALSE TRUE NA FALSE  NA ü / low NA high low high unused"
