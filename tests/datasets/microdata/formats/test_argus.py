"""Fixed-width and separated files with metadata of ARGUS, small ones and those that come with mu-ARGUS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from format_cases import described, there_and_back

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus import Argus, typed_cells
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import read_file
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.values import cells_of

METADATA = """hh 1 3 "998" "999"
   <HOUSE_ID>
weight 4 5
   <NUMERIC>
   <DECIMALS> 2
   <WEIGHT>
town 10 2 "X"
   <RECODABLE>
   <IDLEVEL> 1
   <TRUNCABLE>
   <SUPPRESSPRIORITY> 50
   <CODELIST> "C:\\argus\\TOWN.CDL"
job 12 3
   <RECODEABLE>
   <HOUSEHOLD>
"""
DATA = "  122.50  1007\n  1 3.00  X012\n 12 1.25 10   \n"
CODES = ' 1,Wheaton\n10,"Green, ham"\n\n'


def write(folder: Path, metadata: str = METADATA, data: str = DATA, codes: str | None = CODES) -> Path:
    (folder / "hh.rda").write_text(metadata)
    (folder / "HH.ASC").write_text(data)
    if codes is not None:
        (folder / "town.cdl").write_text(codes)
    return folder / "hh.rda"


def message(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(path.parent), "DIR")


@pytest.mark.parametrize("name", ["hh.rda", "HH.ASC"])
def test_either_file_is_given_whatever_its_capital_letters(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    stored = read_file(tmp_path / name)
    assert stored.remarks == ()
    assert {name: described(stored.frame[name]) for name in stored.frame} == {
        "hh": ("whole", [1, 1, 12]),
        "weight": ("number", [22.5, 3.0, 1.25]),
        "town": ("text", ["1", "X", "10"]),
        "job": ("text", ["007", "012", None]),
    }
    assert stored.notes("hh").missing == ("998", "999")
    assert "argus.household_id" in stored.notes("hh").settings
    assert stored.notes("weight").measure == "numeric"
    assert stored.notes("weight").of_format("argus") == {
        "length": "5", "numeric": "", "decimals": "2", "weight": ""
    }  # fmt: skip
    town = stored.notes("town")
    assert town.value_labels == {"1": "Wheaton", "10": "Green, ham"}
    assert (town.missing, town.measure) == (("X",), "nominal")
    assert (town.settings["argus.idlevel"], town.settings["argus.suppressweight"]) == ("1", "50")
    assert "argus.household" in stored.notes("job").settings


def test_separated_files_with_names_in_front_and_text_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '<SEPARATOR> ","\n<NAMESINFRONT>\nREGION 4 9999 9998\n  <RECODABLE>\nWEIGHT 6\n  <NUMERIC>\n',
        "REGION,WEIGHT\n36,118.30\n36, 2.5\n",
    )
    stored = read_file(path)
    assert stored.frame.to_dict("list") == {"REGION": [36, 36], "WEIGHT": [118.3, 2.5]}
    assert stored.notes("REGION").missing == ("9999", "9998")
    assert read_file(path, text_columns=["REGION"]).frame["REGION"].to_list() == ["36", "36"]
    back = there_and_back(stored, tmp_path / "back.rda")
    assert (tmp_path / "back.ASC").read_text() == "REGION,WEIGHT\n36,118.3\n36,2.5\n"
    assert back.frame.equals(stored.frame)
    assert back.columns == {
        **stored.columns,
        "WEIGHT": ColumnNotes(
            measure="numeric", settings={"argus.length": "6", "argus.numeric": "", "argus.decimals": "1"}
        ),
    }


def test_what_is_written_back(tmp_path: Path) -> None:
    stored = read_file(write(tmp_path))
    assert Argus().loses(stored) == ()
    back = there_and_back(stored, tmp_path / "out.rda")
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.ASC", "out.rda", "out_town.cdl"]
    assert (tmp_path / "out.ASC").read_text() == "  122.50 1007\n  1 3.00 X012\n 12 1.2510   \n"
    assert (tmp_path / "out.rda").read_text() == (
        'hh 1 3 "998" "999"\n  <HOUSE_ID>\nweight 4 5\n  <NUMERIC>\n  <DECIMALS> 2\n  <WEIGHT>\n'
        'town 9 2 "X"\n  <RECODABLE>\n  <CODELIST> "out_town.cdl"\n  <IDLEVEL> 1\n  <TRUNCABLE>\n'
        "  <SUPPRESSWEIGHT> 50\njob 11 3\n  <RECODABLE>\n  <HOUSEHOLD>\n"
    )
    assert back.frame.equals(stored.frame)
    assert {name: back.notes(name).missing for name in back.frame} == {
        name: stored.notes(name).missing for name in stored.frame
    }
    assert back.notes("town").value_labels == stored.notes("town").value_labels


def test_masked_values_get_the_places_and_decimals_they_need(tmp_path: Path) -> None:
    notes = ColumnNotes(
        measure="numeric", settings={"argus.length": "3", "argus.numeric": "", "argus.decimals": "0"}
    )
    stored = StoredFile(pd.DataFrame({"x": [123456.75, -0.5, np.nan]}), columns={"x": notes})
    back = there_and_back(stored, tmp_path / "x.asc")
    assert (tmp_path / "x.asc").read_text() == "123456.75\n    -0.50\n         \n"
    assert described(back.frame["x"]) == described(stored.frame["x"])
    assert back.notes("x").settings == {"argus.length": "9", "argus.numeric": "", "argus.decimals": "2"}


def test_what_argus_cannot_hold_is_said() -> None:
    notes = ColumnNotes("label", {}, ("7", "8", "9"), "ordinal")
    stored = StoredFile(
        pd.DataFrame({"x": [1, 2], "t": ["12", "13"], "b": [" a", "b"], "r": [1, 2]}),
        columns={"x": notes, "r": ColumnNotes(missing=(MissingRange(1, 2),))},
    )
    assert Argus().loses(stored) == (
        "variable labels are lost (column x)",
        "that a column is ordinal is lost (column x)",
        "some declared missing codes are lost; ARGUS takes two, and no ranges (columns x, r)",
        "text that looks like numbers comes back as such (column t)",
        "blanks around text are lost (column b)",
    )


PLACES = "the variable 'x' needs its start and length as numbers from 1"
TWO = '<SEPARATOR> ";"\nx 2\ny 2\n'


@pytest.mark.parametrize(
    ("metadata", "data", "said"),
    [
        ("x 1 2\n", "12\n3\n", "DIR/HH.ASC, line 2: 1 characters where the variables need 2; the file is cut "
         "off, or its .rda describes another one"),
        ("x 1 2\ny 2 2\n", "123\n", "DIR/hh.rda: the variables 'x' and 'y' overlap; fix their positions"),
        ("x 1 2\nx 3 2\n", "1234\n", "DIR/hh.rda, line 2: the variable 'x' is described twice"),
        ("x\n", "12\n", f"DIR/hh.rda, line 1: {PLACES}"),
        ("<SEPARATOR>\n", "12\n", 'DIR/hh.rda, line 1: <SEPARATOR> needs one character, such as ";"'),
        ("<SPSS>\nx 1 2\n", "1\n", "DIR/hh.rda, line 1: <SPSS> describes an SPSS file; give the .sav file "
         "itself"),
        ("x 1 2\n <DECIMALS> two\n", "12\n", "DIR/hh.rda, line 2: <DECIMALS> of 'x' needs a number"),
        ("\n", "12\n", "DIR/hh.rda is not an ARGUS metadata file: it describes no variable"),
        ("x 1 2\n <NUMERIC>\n", "12\n1a\n",
         "DIR/HH.ASC, column 'x', row 2: '1a' is not a number, though the column is <NUMERIC>"),
        (TWO, "1;2\n3\n", "DIR/HH.ASC, line 2: 1 cells where its .rda has 2 variables"),
        (TWO, '1;2\n3;"4\n', "DIR/HH.ASC, line 2: unexpected end of data; fix its quotes"),
    ],
)  # fmt: skip
def test_unusable_files_say_what_where_and_how_to_fix(metadata, data, said, tmp_path):
    assert message(write(tmp_path, metadata, data)) == said


def test_files_that_are_not_beside_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.rda").write_text(METADATA)
    assert message(tmp_path / "a.rda") == ("DIR/a.rda: its data file is missing; put a.asc or a.dat into DIR")
    (tmp_path / "b.dat").write_text(DATA)
    assert message(tmp_path / "b.dat") == ("DIR/b.dat: its metadata file is missing; put b.rda into DIR")


def test_code_lists_that_are_not_there_and_unknown_words_are_said(tmp_path: Path) -> None:
    path = write(tmp_path, METADATA + "  <ORDINAL> 1\n", codes=None)
    stored = read_file(path)
    assert stored.notes("town").value_labels == {}
    assert [remark.replace(str(tmp_path), "DIR") for remark in stored.remarks] == [
        "DIR/hh.rda: unknown keywords ignored: <ORDINAL>",
        "DIR/hh.rda: the code list C:\\argus\\TOWN.CDL of town is not in the same folder; its value labels "
        "are missing",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("1 23\n4 56\n", ()),
        ("1 23 \n4x56  \n", ("from position 2 to 2",)),
        ("1 23 \n4 56 7\n", ("from position 5 on",)),
    ],
)
def test_positions_without_a_variable_are_said(data: str, said: tuple[str, ...], tmp_path: Path) -> None:
    stored = read_file(write(tmp_path, "y 3 2\nx 1 1\n", data))
    assert stored.frame.to_dict("list") == {"y": [23, 56], "x": [1, 4]}
    assert [remark.replace(str(tmp_path), "DIR") for remark in stored.remarks] == [
        f"DIR/HH.ASC: the text {where} is ignored: its .rda has no variable there" for where in said
    ]


@pytest.mark.parametrize(
    ("cells", "numeric", "expected"),
    [
        (["007", " 12", "   "], False, ["007", "12", None]),
        (["007", " 12", "   "], True, [7.0, 12.0, None]),
        ([".50", "-1.", "1e2"], False, [0.5, -1.0, 100.0]),
        (["  1", "  2", "  3"], False, [1, 2, 3]),
        (["999999999999999999", "1".rjust(18), "-5".rjust(18)], True, [999999999999999999, 1, -5]),
        (["9" * 19, "1".rjust(19), "2".rjust(19)], True, [1e19, 1.0, 2.0]),
        (["\u0661\u0662", " 1", " 2"], False, ["\u0661\u0662", "1", "2"]),
    ],
)
def test_cells_are_numbers_only_where_nothing_is_lost(cells, numeric, expected):
    made = typed_cells(pyarrow.array(cells), numeric=numeric, text=False, where="here")
    assert cells_of(made) == expected
    assert [type(cell) for cell in cells_of(made)] == [type(cell) for cell in expected]


def test_letters_beyond_ascii_take_one_place(tmp_path: Path) -> None:
    frame = pd.DataFrame({"ort": ["Köln", "Ulm"], "x": [1, 2]})
    notes = {"ort": ColumnNotes(value_labels={"Köln": "Stadt Köln"})}
    back = there_and_back(StoredFile(frame, columns=notes), tmp_path / "x.asc")
    assert back.frame.to_dict("list") == frame.to_dict("list")
    assert back.notes("ort").value_labels == {"Köln": "Stadt Köln"}
    assert "Köln".encode("cp1252") in (tmp_path / "x.asc").read_bytes()
    there_and_back(StoredFile(frame.assign(ort=["日本", "é"])), tmp_path / "x.asc")
    assert read_file(tmp_path / "x.rda").frame["ort"].to_list() == ["日本", "é"]
