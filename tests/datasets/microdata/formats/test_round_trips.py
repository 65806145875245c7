"""What every format brings back: values of every kind, labels, missing codes, the order of columns."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from format_cases import BIG, COLUMNS, LABELLED, RANGED, WRITTEN, described, of_suffix, table, there_and_back

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import format_of, read_file
from linkrisk.datasets.microdata.formats.sas import TransportDialect
from linkrisk.datasets.microdata.formats.stata import StataDialect
from linkrisk.datasets.microdata.missing import MissingRange, is_declared_missing
from linkrisk.datasets.microdata.writing import write_table

TEXT = (".csv", ".tsv", ".tab", ".txt")
ARROW = (".parquet", ".pq", ".feather", ".arrow")
SPSS = (".sav", ".zsav")
R = (".rds", ".rdata")
ARGUS = (".rda", ".asc", ".dat")

BIG_AS_TEXT = ("text", [str(BIG), "1", "2", str(-BIG)])
DAYS = ("text", ["2020-02-29", "1850-01-01", None, "2000-01-01"])
MOMENTS = ("text", ["2020-01-01 12:00:05", "1999-12-31 00:00:00", None, "2000-01-01 00:00:00"])
ONES = ("whole", [1, 0, 1, 1])
NO_EMPTY = ("text", [None, None, "a", "b"])

CHANGED: dict[str, dict[tuple[str, ...], tuple[str, list[object]]]] = {
    "big": {(*TEXT, ".xlsx", *SPSS, ".dta", ".xpt", *R, *ARGUS): BIG_AS_TEXT},
    "logical": {(*SPSS, ".dta", ".xpt", *ARGUS): ONES},
    "day": {(*TEXT, *R, *ARGUS): DAYS},
    "moment": {(*TEXT, *R, *ARGUS): MOMENTS},
    "blank": {(*TEXT, ".xlsx", ".dta", ".xpt", *ARGUS): NO_EMPTY, SPSS: ("text", ["", "", "a", "b"])},
}
"""What becomes of columns that a format cannot hold."""

SAID = {
    "big": "whole numbers beyond 2^53 become text (column big)",
    "logical": "True and False become 1 and 0 (column logical)",
    "day": "dates and times become text (column day)",
    "moment": "dates and times become text (column moment)",
    "blank": "empty text becomes a missing value (column blank)",
}


def changed(name: str, suffix: str) -> tuple[str, list[object]] | None:
    found = [to for suffixes, to in CHANGED.get(name, {}).items() if suffix in suffixes]
    return found[0] if found else None


def for_format(stored: StoredFile, suffix: str) -> StoredFile:
    """ARGUS has no tabs in its data."""
    if suffix not in ARGUS or "letters" not in stored.frame:
        return stored
    frame = stored.frame.assign(letters=stored.frame["letters"].str.replace("\t", "!"))
    return StoredFile(frame, columns=stored.columns)


@pytest.mark.parametrize("suffix", WRITTEN)
@pytest.mark.parametrize("name", COLUMNS)
def test_values_come_back_or_their_change_is_said_before(name: str, suffix: str, tmp_path: Path) -> None:
    stored = for_format(table(name, "whole"), suffix)
    back = there_and_back(stored, tmp_path / f"täble{suffix}")
    expected = changed(name, suffix)
    assert described(back.frame[name]) == (expected or described(stored.frame[name]))
    assert list(back.frame.columns) == list(stored.frame.columns)
    said = of_suffix(suffix).loses(stored)
    if expected is None:
        assert said == ()
    elif name == "big" and suffix in TEXT:
        # It is read as text because of its digits, and written again as it was.
        assert said == ()
    elif name == "blank" and suffix in SPSS:
        assert said == ("missing text becomes empty text (column blank)",)
    else:
        assert said == (SAID[name],)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_all_columns_in_their_order_with_names_beyond_ascii(suffix: str, tmp_path: Path) -> None:
    names = dict(zip(COLUMNS, ["z_1", "a_2", *list(COLUMNS)[2:]], strict=True))
    if suffix != ".xpt":
        names["whole"] = "größe"
    stored = for_format(table(), suffix)
    stored = StoredFile(stored.frame.rename(columns=names))
    back = there_and_back(stored, tmp_path / f"x{suffix}")
    assert list(back.frame.columns) == list(names.values())
    assert back.labels is None
    assert len(back.frame) == 4
    again = there_and_back(back, tmp_path / f"again{suffix}")
    assert {name: described(again.frame[name]) for name in again.frame} == {
        name: described(back.frame[name]) for name in back.frame
    }
    assert again.columns == back.columns
    assert again.dialect == back.dialect


def told(stored: StoredFile, name: str) -> tuple[object, ...]:
    notes = stored.notes(name)
    return notes.label, dict(notes.value_labels), notes.missing, notes.measure


@pytest.mark.parametrize("suffix", [*ARROW, *SPSS])
def test_all_notes_come_back(suffix: str, tmp_path: Path) -> None:
    text = ColumnNotes("Schlüssel", {"007": "Bond", "080": "ß"}, ("12",), "nominal")
    stored = table("whole", "gaps", "code", "number", whole=LABELLED, gaps=RANGED, code=text)
    assert of_suffix(suffix).loses(stored) == ()
    back = there_and_back(stored, tmp_path / f"x{suffix}")
    for name in ("whole", "gaps", "code"):
        assert told(back, name) == told(stored, name)
    assert told(back, "number") == ("", {}, (), None)
    assert described(back.frame["gaps"]) == described(stored.frame["gaps"])


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".xpt", ".xlsx", ".parquet", ".csv", ".rds"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_moments_counted_in_any_unit(unit: str, suffix: str, tmp_path: Path) -> None:
    moments = COLUMNS["moment"].astype(f"datetime64[{unit}]")
    stored = StoredFile(pd.DataFrame({"x": [1, 2, 3, 4], "d": moments}))
    back = there_and_back(stored, tmp_path / f"x{suffix}")
    assert pd.to_datetime(back.frame["d"]).tolist()[:2] == moments.tolist()[:2]
    assert back.frame["d"].isna().tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("low", "high", "missing"),
    [(-np.inf, np.inf, [True, True]), (2, 1, [False, False]), (1, 1, [True, False])],
)
def test_ranges_of_all_numbers_and_of_none(low, high, missing, tmp_path):
    path = tmp_path / "x.sav"
    ranges = {"x": [{"lo": low, "hi": high}]}
    pyreadstat.write_sav(pd.DataFrame({"x": [1.0, 2.0]}), str(path), missing_ranges=ranges)
    stored = read_file(path)
    assert is_declared_missing(stored.frame["x"], stored.notes("x").missing).tolist() == missing


def test_open_ranges_and_display_of_spss(tmp_path: Path) -> None:
    notes = ColumnNotes(
        missing=(MissingRange(-np.inf, -1), "99"), settings={"spss.format": "F10.3", "spss.width": "12"}
    )
    back = there_and_back(table("number", number=notes), tmp_path / "x.sav")
    assert back.notes("number") == there_and_back(back, tmp_path / "y.zsav").notes("number") == notes


def test_missing_text_of_spss_is_told_apart_from_empty_text(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["x", None, "y"], "b": ["x", "", "y"]})
    back = there_and_back(StoredFile(frame), tmp_path / "x.sav").frame
    assert described(back["a"]) == ("text", ["x", None, "y"])
    assert described(back["b"]) == ("text", ["x", "", "y"])


def test_more_missing_codes_than_spss_takes_are_said() -> None:
    stored = table("whole", whole=ColumnNotes(missing=("1", "2", "3", "40")))
    assert of_suffix(".sav").loses(stored) == (
        "some declared missing codes are lost; SPSS takes three, or a range and one (column whole)",
    )


def test_letters_for_missing_numbers_of_stata(tmp_path: Path) -> None:
    notes = ColumnNotes("Einkommen", {"1": "eins", ".a": "verweigert"}, (".a", ".z"))
    frame = pd.DataFrame({"x": pd.Series([1.0, ".a", None, ".z"], dtype=object), "y": [1, 2, 3, 4]})
    stored = StoredFile(frame, columns={"x": notes})
    assert of_suffix(".dta").loses(stored) == ()
    back = there_and_back(stored, tmp_path / "x.dta")
    assert [None if cell != cell else cell for cell in back.frame["x"]] == [1.0, ".a", None, ".z"]
    assert told(back, "x") == (*told(stored, "x")[:3], None)


@pytest.mark.parametrize("version", [8, 12, 13, 14])
def test_files_of_old_stata_keep_their_version(version: int, tmp_path: Path) -> None:
    stored = StoredFile(pd.DataFrame({"x": [1, 2], "t": ["a", "b"]}), dialect=StataDialect(version))
    back = there_and_back(stored, tmp_path / "x.dta")
    assert back.dialect == StataDialect(version)
    assert back.frame.equals(stored.frame)
    beyond = StoredFile(stored.frame.assign(t=["ä", "b"]), dialect=back.dialect)
    assert there_and_back(beyond, tmp_path / "y.dta").frame["t"].to_list() == ["ä", "b"]


def test_an_old_stata_file_cut_off_within_its_labels_says_so(tmp_path: Path) -> None:
    labels = ColumnNotes(value_labels={"1": "one"})
    path = tmp_path / "x.dta"
    frame = pd.DataFrame({"x": [1, 2]})
    whole = there_and_back(StoredFile(frame, columns={"x": labels}, dialect=StataDialect(12)), path)
    assert (whole.notes("x").value_labels, whole.remarks) == ({"1": "one"}, ())
    path.write_bytes(path.read_bytes()[:-5])
    assert read_file(path).remarks == (
        "value labels are named but not in the file; it may be cut off (column x)",
    )


def test_letters_of_an_old_spss_file_are_those_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    there_and_back(StoredFile(pd.DataFrame({"ort": ["Köln", "Ulm"]})), path)
    path.write_bytes(path.read_bytes().replace("ö".encode(), b"\xf6 "))
    stored = read_file(path)
    assert stored.frame["ort"].to_list() == ["Kö ln", "Ulm"]
    assert stored.remarks == ("read with Windows-1252",)


def test_labels_that_stata_cannot_hold_are_said(tmp_path: Path) -> None:
    text = ColumnNotes(value_labels={"007": "Bond"}, missing=("12",))
    stored = table("code", "whole", code=text, whole=ColumnNotes("x" * 100))
    assert of_suffix(".dta").loses(stored) == (
        "declared missing codes are lost; in Stata they are .a to .z (column code)",
        "value labels of text, or of numbers that are not whole, are lost (column code)",
        "variable labels are cut at 80 characters (column whole)",
    )
    back = there_and_back(stored, tmp_path / "x.dta")
    assert told(back, "code") == ("", {}, (), None)
    assert back.notes("whole").label == "x" * 80


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_formats_without_notes_say_so(suffix: str, tmp_path: Path) -> None:
    stored = table("whole", whole=LABELLED)
    assert of_suffix(suffix).loses(stored) == (
        "variable labels are lost (column whole)",
        "value labels are lost (column whole)",
        "declared missing codes are lost (column whole)",
        "levels of measurement are lost (column whole)",
    )
    assert there_and_back(stored, tmp_path / f"x{suffix}").columns == {}


NAMES = [(".sav", "a b"), (".dta", "1a"), (".xpt", "größe"), (".rda", "a b"), (".sav", "x" * 70)]
NUMBERS = [(".dta", 1e308), (".xpt", 1e80), (".xpt", 1e-80)]


@pytest.mark.parametrize(
    ("suffix", "columns", "message"),
    [
        *((one, {"fine": [1], name: [1]}, f"name {name!r} is not allowed; in") for one, name in NAMES),
        *((one, {"a": [1], "A": [1]}, "differ in more than upper and lower") for one in (".sav", ".xpt")),
        *((suffix, {"x": [1.0, value]}, "column 'x' has numbers beyond") for suffix, value in NUMBERS),
        *((suffix, {"x": ["a\0b", "c"]}, "NUL character") for suffix in (".sav", ".dta", ".xpt", ".rds")),
    ],
)
def test_what_a_format_does_not_take(suffix, columns, message, tmp_path):
    with pytest.raises(DataError) as caught:
        of_suffix(suffix).write(StoredFile(pd.DataFrame(columns)), tmp_path / f"x{suffix}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sas_files_are_not_written() -> None:
    with pytest.raises(DataError) as caught:
        of_suffix(".sas7bdat").write(table(), Path("x.sas7bdat"))
    assert str(caught.value) == (
        "x.sas7bdat: no free library writes .sas7bdat files; write .xpt, which SAS reads, or .csv"
    )


@pytest.mark.parametrize("suffix", ARROW)
def test_whole_numbers_with_gaps_beyond_doubles(suffix: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"x": pd.array([BIG, None, 3], dtype="Int64"), "y": pd.array([2**64 - 1, None, 3], dtype="UInt64")}
    )
    path = tmp_path / f"x{suffix}"
    back = there_and_back(StoredFile(frame), path).frame
    assert [back["x"][0], back["y"][0]] == [BIG, 2**64 - 1]
    import pyarrow
    from pyarrow import feather, parquet

    # As other programs write it, without a word on the types of pandas.
    bare = pyarrow.table({"x": pyarrow.array([BIG, None, 3])})
    (parquet.write_table if suffix in (".parquet", ".pq") else feather.write_feather)(bare, path)
    assert cells(read_file(path).frame["x"]) == [BIG, None, 3]


def cells(column: pd.Series) -> list[object]:
    return described(column)[1]


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_index_with_a_name_is_a_column(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index(["x", "y"], name="id")).to_parquet(path)
    assert list(read_file(path).frame.columns) == ["id", "a"]
    pd.DataFrame({"a": [1.0, 2.0]}, index=pd.Index([5, 6])).to_parquet(path)
    stored = read_file(path)
    assert list(stored.frame.index) == [0, 1]
    assert list(stored.labels) == [5, 6]


@pytest.mark.parametrize("version", [5, 8])
def test_display_formats_of_sas_stay_where_they_suit_the_values(version: int, tmp_path: Path) -> None:
    formats = {
        "code": "$TOWN", "whole": "SEXFMT", "gaps": "COMMA12.2", "number": "DATE9", "letters": "8.2",
        "day": "MMDDYY10", "moment": "DATETIME20", "logical": "ANSWERS_OF_ALL",
    }  # fmt: skip
    notes = {name: ColumnNotes(settings={"sas.format": text}) for name, text in formats.items()}
    stored = replace(table(*formats, **notes), dialect=TransportDialect(version))
    back = there_and_back(stored, tmp_path / "x.xpt")
    kept = {name: back.notes(name).settings.get("sas.format") for name in formats}
    # A date format would make dates of numbers, and old files have names of eight letters.
    assert kept == formats | {
        "number": None, "letters": None, "logical": "ANSWERS_OF_ALL" if version == 8 else None
    }  # fmt: skip
    assert described(back.frame["number"]) == described(COLUMNS["number"])
    assert described(back.frame["day"]) == described(COLUMNS["day"])


def test_the_largest_numbers_of_stata_are_written_back(tmp_path):
    """What Stata calls maxdouble is a number; the next one up is its missing value."""
    largest = float.fromhex("0x1.fffffffffffffp+1022")
    frame = pd.DataFrame({"amount": [largest, -largest, 1.5]})
    write_table(frame, tmp_path / "large.dta")
    pd.testing.assert_frame_equal(read_file(tmp_path / "large.dta").frame, frame)
    with pytest.raises(DataError, match=r"numbers beyond 8\.98847e\+307, which Stata"):
        write_table(pd.DataFrame({"amount": [2.0**1023, 1.5]}), tmp_path / "larger.dta")


@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_files_of_stata_lose_the_moment_at_which_they_were_written(version, tmp_path):
    """But not their label, though it may look like one."""
    label, path = "01 Jan 1999 00:00", tmp_path / "x.dta"
    stored = StoredFile(pd.DataFrame({"a": [1, 2]}), dialect=StataDialect(version=version, label=label))
    path.write_bytes(format_of(path).write(stored, path)[path])
    moments = re.findall(rb"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d", path.read_bytes()[:400])
    assert moments == [label.encode(), b"01 Jan 1960 00:00"]
    assert read_file(path).frame["a"].tolist() == [1, 2]
