"""Delimited text: what is detected and said, codes that stay text, the one line on files that are refused."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from extras import of_extra
from format_cases import described, there_and_back
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect, dialect_for
from linkrisk.datasets.microdata.formats.number_text import reading, reading_options
from linkrisk.datasets.microdata.formats.registry import format_of, read_file, read_table, writable_format
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.values import without_blanks
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.errors import spelled_by
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import flag


def _csv(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "in.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _message(path: Path, **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read_table(path, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(str(path), path.name)


NO_NAME = "has no name in the header; name it"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "in.csv is empty; it needs a header and records"),
        ("a,b\n", "in.csv has no records, only column names"),
        ("\n1,2\n", "in.csv, line 1: empty line instead of the column names; delete it"),
        ("a,b\n1,2\n3\n", "in.csv, line 3: 1 cell where the header has 2; fix or delete the line"),
        ("a,b\n1,2,3\n", "in.csv, line 2: 3 cells where the header has 2; fix or delete the line"),
        ("a,b\n1,2\n\n3,4\n", "in.csv, line 3: empty line; delete it"),
        ("a\n1\n \n2\n", "in.csv, line 3: empty line; delete it"),
        ("a,b\n1,2\n  \n3,4\n", "in.csv, line 3: empty line; delete it"),
        ("a,b,a\n1,2,3\n", "in.csv: the column name 'a' is twice in the header; rename one"),
        (",a\n0,1\n", f"in.csv: column 1 {NO_NAME} (an index written along with the table can be named and "
         "given as id) or delete it"),
        ("a,b,\n0,1,\n", f"in.csv: column 3 {NO_NAME} (does each line end with a separator?) or delete it"),
        ("sep=;\r\na;b\n1;2\n", "in.csv, line 1: 'sep=;' is for Excel alone; delete the line"),
        (b"a,b\n1,\x00\n", "in.csv, line 2: a NUL byte; this is not a text file, save it as UTF-8 CSV"),
        ('a,b\n1,"x\n', "in.csv, line 2: not valid CSV: unexpected end of data; fix its quotes"),
    ],
)  # fmt: skip
def test_unusable_csv_says_what_where_and_how_to_fix(tmp_path, content, message):
    assert _message(_csv(tmp_path, content)) == message


def test_byte_order_mark_quotes_blank_end_and_windows_line_ends(tmp_path: Path) -> None:
    path = _csv(tmp_path, b'\xef\xbb\xbfa,"b c"\r\n1,"x,\r\ny"\r\n2,z\r\n\r\n\r\n')
    frame = read_table(path)
    assert frame["a"].to_list() == [1, 2]
    assert [text.replace("\r", "") for text in frame["b c"]] == ["x,\ny", "z"]


HIGH = "',' as decimal sign, UTF-16, high byte first, without a byte order mark"


@pytest.mark.parametrize(
    ("content", "columns", "remarks"),
    [
        (b"a,b\n1,2.5\n", {"a": [1], "b": [2.5]}, ()),
        (b"a;b\n1;2,5\n", {"a": [1], "b": [2.5]}, "';' between columns, ',' as decimal sign"),
        (b"a;b\n1;2.5\n", {"a": [1], "b": [2.5]}, "';' between columns"),
        (b"a\tb\n1\t2\n", {"a": [1], "b": [2]}, "tabs between columns"),
        (b"a|b\n1|2,5\n", {"a": [1], "b": [2.5]}, "'|' between columns, ',' as decimal sign"),
        (b'a;"b,c"\n1;2\n', {"a": [1], "b,c": [2]}, "';' between columns"),
        (b"a;x,b\nc;d,e\n", {"a;x": ["c;d"], "b": ["e"]}, ()),
        (b'"a,b"|"c;d"\n1,5|2;x\n', {"a,b": [1.5], "c;d": ["2;x"]}, None),
        (b'a,b\n1,"2,5"\n', {"a": [1], "b": ["2,5"]}, ()),
        (b"a,b\n1,caf\xe9\n", {"a": [1], "b": ["caf\u00e9"]}, "Windows-1252"),
        (b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n", {"a": [1], "b": ["\u00e9"]}, "UTF-8 with a byte order mark"),
        ("a,b\n1,\u00e9\n".encode("utf-16"), {"a": [1], "b": ["\u00e9"]}, "UTF-16"),
        ("a;b\n1;2,5\n".encode("utf-16-be"), {"a": [1], "b": [2.5]}, f"';' between columns, {HIGH}"),
        (b"a;b\n 1;\n;2,5\n", {"a": [1.0, None], "b": [None, 2.5]}, None),
        (b"a\tb\n \t5\n", {"a": [None], "b": [5]}, None),
    ],
)
def test_what_is_detected_is_said(tmp_path, content, columns, remarks):
    stored = read_file(_csv(tmp_path, content))
    assert {name: described(stored.frame[name])[1] for name in stored.frame.columns} == columns
    assert remarks is None or stored.remarks == ((f"read with {remarks}",) if remarks else ())


def test_decimal_commas_that_may_separate_thousands_stay_text_and_it_is_said(tmp_path: Path) -> None:
    path = _csv(tmp_path, "a;b\n1,234;x\n5,678;y\n")
    stored = read_file(path)
    assert stored.frame["a"].to_list() == ["1,234", "5,678"]
    assert stored.remarks[1] == (
        "column a: kept as text, because ',' may be a decimal sign or separate thousands; say which "
        "with decimal=',' or thousands=','"
    )
    surely = read_file(_csv(tmp_path, "a;b\n1,234;0,5\n5,678;1\n"))
    assert surely.frame["a"].to_list() == [1.234, 5.678]
    both = read_file(_csv(tmp_path, "a;b\n1,5;1.5\n"))
    assert described(both.frame["a"]) == ("text", ["1,5"])
    assert both.frame["b"].to_list() == [1.5]
    assert "kept as text" in both.remarks[1]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1.234,5", "17,2", "3"], True),
        (["1.234.567", "890"], True),
        (["1 234", "-12"], True),
        (["+1\u202f234,25", "0,5"], True),
        (["1.234,5", "unknown"], False),
        (["192.168.1.20", "10.0.0.1"], False),
        (["12.03.2024", "1.234,5"], False),
    ],
)
def test_numbers_with_separated_thousands_stay_text_and_it_is_said(tmp_path, cells, said):
    stored = read_file(
        _csv(tmp_path, "a;b\n" + "".join(f"{cell};{place}\n" for place, cell in enumerate(cells)))
    )
    assert stored.frame["a"].to_list() == cells
    remark = "column a: kept as text, because thousands are separated; say how with thousands and decimal"
    assert (remark in stored.remarks) is said


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_codes_of_the_first_column_stay_what_they_are_whatever_ends_a_line(end: str, tmp_path: Path) -> None:
    frame = read_table(_csv(tmp_path, end.join(["x,y", "12,1", "007,2", ""])))
    assert frame.to_dict("list") == {"x": ["12", "007"], "y": [1, 2]}


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (("007", "12"), True),
        (("00.5", "1"), True),
        (("+5", "6"), True),
        (("1234567890123456", "1"), True),
        (("123456789012345", "1"), False),
        (("0", "0.5"), False),
        (("1e05", "2"), False),
        (("0.30000000000000004", "1"), False),
        (("NA", "007"), True),
    ],
)
def test_codes_stay_what_they_are(tmp_path: Path, cells: tuple[str, str], kept: bool) -> None:
    frame = read_table(_csv(tmp_path, "x,y\n" + "".join(f"{cell},1\n" for cell in cells)))
    if kept:
        assert described(frame["x"]) == ("text", [None if cell == "NA" else cell for cell in cells])
    else:
        assert frame["x"].to_list() == [float(cell) for cell in cells]
    assert frame["y"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("suffix", "to", "delimiter"),
    [(".csv", ".csv", "|"), (".csv", ".tsv", "\t"), (".tsv", ".csv", ";"), (".txt", ".csv", "|")],
)
def test_a_file_is_written_as_it_was_unless_its_new_suffix_says_otherwise(suffix, to, delimiter):
    dialect = DelimitedDialect("\t" if suffix == ".tsv" else "|", "cp1252", ",", "\r\n", suffix)
    made = dialect_for(dialect, Path(f"x{to}"))
    assert (made.delimiter, made.encoding, made.decimal, made.line_end) == (delimiter, "cp1252", ",", "\r\n")


def test_letters_that_an_encoding_lacks_are_said_and_written_all_the_same(tmp_path: Path) -> None:
    stored = read_file(_csv(tmp_path, b"a;b\n1;\xe4\n"))
    assert format_of("x.csv").loses(stored) == ()
    changed = StoredFile(stored.frame.assign(b=["\u65e5"]), dialect=stored.dialect)
    assert format_of("x.csv").loses(changed) == (
        "Windows-1252 cannot hold all characters of the table; the file is written as UTF-8",
    )
    assert there_and_back(changed, tmp_path / "y.csv").frame["b"].to_list() == ["\u65e5"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NA", "text such as 'NA' comes back as a missing value (column t)"),
        ("12", "text that looks like numbers or True and False comes back as such (column t)"),
        ("True", "text that looks like numbers or True and False comes back as such (column t)"),
        ("", "empty text becomes a missing value (column t)"),
    ],
)
def test_text_that_comes_back_as_something_else_is_said(text: str, said: str) -> None:
    assert format_of("x.csv").loses(StoredFile(pd.DataFrame({"t": [text]}))) == (said,)


NAMES = st.text(st.characters(codec="cp1252", exclude_categories=["Cc", "Cf"]), min_size=1, max_size=6)
TEXTS = st.text(st.characters(codec="cp1252", exclude_categories=["Cc"], include_characters="\n"), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COLUMN = st.one_of(
    st.tuples(st.just("text"), st.lists(TEXTS, min_size=3, max_size=3)),
    st.tuples(st.just("number"), st.lists(NUMBERS, min_size=3, max_size=3)),
    st.tuples(st.just("whole"), st.lists(st.integers(-(10**14), 10**14), min_size=3, max_size=3)),
)
DIALECTS = st.builds(
    DelimitedDialect,
    st.sampled_from([";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from([".", ","]),
    st.sampled_from(["\n", "\r\n"]),
)


SEPARATED = st.text('a1.,;|" \t\n', min_size=1, max_size=6)


@given(
    columns=st.dictionaries(
        (NAMES | SEPARATED).filter(lambda name: name.strip() == name), COLUMN, min_size=2, max_size=4
    ),
    dialect=DIALECTS | st.just(DelimitedDialect()),
)
@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_any_table_in_any_dialect_comes_back(tmp_path_factory, columns, dialect):
    """Also where `read` has to find out the dialect; all that it may not keep has been said before.

    Blanks around a cell are no part of it.
    """
    frame = pd.DataFrame({name: values for name, (_, values) in columns.items()})
    stored = StoredFile(frame, dialect=dialect)
    path = tmp_path_factory.mktemp("any") / "t.csv"
    path.write_bytes(format_of(path).write(stored, path)[path])
    texts = [name for name, (kind, _) in columns.items() if kind == "text"]
    stored_back = read_file(path, text_columns=texts)
    assume(not any("kept as text" in remark for remark in stored_back.remarks))
    back = without_blanks(stored_back.frame)
    assert list(back.columns) == list(columns)
    said = format_of(path).loses(stored)
    plain = read_table(path)
    for name, (kind, values) in columns.items():
        if kind == "text":
            assert described(back[name])[1] == [str(value).strip() or None for value in values]
        else:
            assert back[name].astype(float).to_list() == [float(value) for value in values]  # type: ignore[arg-type]
        if not said:
            assert described(plain[name])[1] == described(back[name])[1]


# Signs of numbers that are said and not found out, for text files and text in workbooks


def cells(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): [None if pd.isna(cell) else cell for cell in frame[name]] for name in frame.columns}


@pytest.mark.parametrize(
    ("text", "signs", "expected"),
    [
        ('a,b\n1,"94,71"\n2,"5,0"\n', (",", None), {"a": [1, 2], "b": [94.71, 5.0]}),
        ("a;b\n1.234,5;x\n2,25;y\n", (",", "."), {"a": [1234.5, 2.25], "b": ["x", "y"]}),
        ("a;b\n1.234;7\n22;8\n", (",", "."), {"a": [1234, 22], "b": [7, 8]}),
        ("a;b\n1.234;7\n2.5;8\n", (".", None), {"a": [1.234, 2.5], "b": [7, 8]}),
        ("a;b\n1,234;7\n22;8\n", (None, ","), {"a": [1234, 22], "b": [7, 8]}),
        ("a;b\n12 000;\n1 000 000;8\n", (None, "blank"), {"a": [12000, 1000000], "b": [None, 8.0]}),
        ("a;b\n12'000,5;NA\n7;8\n", (",", "'"), {"a": [12000.5, 7.0], "b": [None, 8.0]}),
        ('a,b\n007,"1,5"\n008,"2,5"\n', (",", None), {"a": ["007", "008"], "b": [1.5, 2.5]}),
        ('a,b\n1.5,"1,5"\n2.5,"x"\n', (",", None), {"a": ["1.5", "2.5"], "b": ["1,5", "x"]}),
    ],
)
def test_text_files(tmp_path, text, signs, expected):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with reading(*signs):
        stored = read_file(path)
    assert cells(stored.frame) == expected
    write_all(writable_format(path).write(stored, path))
    with reading(signs[0]):
        assert cells(read_file(path).frame) == expected


def test_text_in_workbooks(tmp_path: Path) -> None:
    openpyxl = of_extra("openpyxl")
    book = openpyxl.Workbook()
    for row in (("share", "amount", "plz", "n"), ("94,71", "1.234,50", "0870", 1), ("5,29", 7, "4011", 2)):
        book.active.append(row)
    path = tmp_path / "t.xlsx"
    book.save(path)
    assert read_file(path).remarks == (
        "column share: text such as '94,71' is kept as text; decimal=',' reads numbers",
        "column amount: text such as '1.234,50' is kept as text; decimal=',' thousands='.' reads numbers",
    )
    with reading(",", "."):
        found = read_file(path)
    assert list(cells(found.frame).values()) == [[94.71, 5.29], [1234.5, 7.0], ["0870", "4011"], [1, 2]]
    assert not found.remarks


@pytest.mark.parametrize(
    ("signs", "message"),
    [
        ((None, "x"), "thousands is 'x'; give '.', ',', \"'\" or blank"),
        ((",", ","), "decimal and thousands are both ','; give two signs"),
    ],
)
def test_signs_that_cannot_be(signs: tuple[str | None, str | None], message: str) -> None:
    with pytest.raises(DataError) as caught, reading(*signs):
        pass
    assert str(caught.value) == message


def test_among_decimal_commas_the_cell_that_is_no_number_is_named(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = "\n".join(f'{at},"{at},5"' if at != 7 else '7,"many"' for at in range(30))
    path.write_text(f"a,share\n{rows}\n", encoding="utf-8")
    masking = ["mask", "--input", str(path), "--method", "noise percent=10 attributes=share"]
    assert main([*masking, "--output", str(tmp_path / "m.csv")]) == 2
    assert "column 'share', row 8: 'many' is not a number" in capsys.readouterr().err


def test_every_command_takes_them_and_the_error_names_them(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = "\n".join(f'{at},"{at * 7 % 40},5"' for at in range(30))
    path.write_text(f"a,share\n{rows}\n", encoding="utf-8")
    masking = ["mask", "--input", str(path), "--method", "noise percent=10 attributes=share"]
    assert main([*masking, "--output", str(tmp_path / "m.csv")]) == 2
    assert capsys.readouterr().err.endswith(
        "column 'share', row 1: '0,5' is not a number; fix it or choose other --attributes; --decimal , "
        "reads it as a number\n"
    )
    assert main([*masking, "--output", str(tmp_path / "m.csv"), "--decimal", ","]) == 0
    capsys.readouterr()
    assert main(["describe", str(tmp_path / "m.csv"), "--decimal", ","]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["share", "key", "numeric"] in [line[:3] for line in lines]


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (["94,71", "12,5", "1.100,25"], "--decimal , --thousands ."),
        (["94,71", "12.5"], ""),
        (["1 234", "12 000 000,5"], "--decimal , --thousands blank"),
        (["1,234.5", "2"], "--thousands ,"),
        (["1'234.5", "2"], '--thousands "\'"'),
        (["x", "1,5"], ""),
    ],
)
def test_the_cure_that_is_offered_works(tmp_path: Path, cells: list[str], options: str) -> None:
    of_extra("openpyxl")
    path = tmp_path / "t.xlsx"
    write_all(writable_format(path).write(StoredFile(pd.DataFrame({"a": cells})), path))
    with spelled_by(flag):
        assert reading_options(pd.Series(cells)) == options
        hints = " ".join(read_file(path).remarks)
    assert (f"column a: text such as {cells[0]!r} is kept as text; {options} reads numbers" in hints) == bool(
        options
    )
    words = shlex.split(options)
    given = dict(zip(words[::2], words[1::2], strict=True))
    with reading(given.get("--decimal"), given.get("--thousands")):
        column = read_file(path).frame["a"]
    assert pd.api.types.is_numeric_dtype(column.dtype) == bool(options)
    if not options:
        return
    # The decimal sign alone is not the cure, and whoever has given it is not told to.
    assert mask_error(path, "a") == (None if options == "--decimal ," else options)


def mask_error(path: Path, name: str) -> str | None:
    """The options that are offered where the decimal comma is said; None where it is enough."""
    with reading(","):
        frame = read_file(path).frame
    try:
        with spelled_by(flag):
            numeric_matrix(frame, [name], "t")
    except DataError as error:
        return str(error).rsplit("; ", 1)[1].removesuffix(" reads it as a number")
    return None
