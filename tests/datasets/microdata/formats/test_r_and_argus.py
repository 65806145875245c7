"""Two programs have files called .rda: data of R, and metadata of ARGUS. What is in one says which it is."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.tables.argus.ready_tables import read_argus_table

BINARY = b"RDX3\nX\n\x00\x00\x00\x03\x00\x04\x03\x01" + b"\0" * 80
FORMS = {
    "gzip": gzip.compress(BINARY),
    "bzip2": bz2.compress(BINARY),
    "xz": lzma.compress(BINARY),
    "binary": BINARY,
    "text": b"RDA3\nA\n3\n262401\n",
}
ARGUS = "   <SEPARATOR> ;\nregion 2\n   <RECODEABLE>\nincome 5\n   <NUMERIC>\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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


def test_metadata_of_argus_is_read():
    Path("people.rda").write_text(ARGUS, encoding="utf-8")
    Path("people.asc").write_text("N;5\nS;7\n", encoding="utf-8")
    assert list(read_file("people.rda").frame["region"]) == ["N", "S"]
