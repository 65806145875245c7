"""Signs of numbers that are said and not found out, for text files and text in workbooks."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.number_text import reading, reading_options
from linkrisk.datasets.microdata.formats.registry import read_file, writable_format
from linkrisk.datasets.microdata.numeric import numeric_matrix
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.errors import spelled_by
from linkrisk.solver.commands.program import main
from linkrisk.solver.options.command_line import flag


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
        ("a;b\n1,234;7\n22;8\n", (",", None), {"a": [1.234, 22.0], "b": [7, 8]}),
        ("a;b\n12 000;\n1 000 000;8\n", (None, "blank"), {"a": [12000, 1000000], "b": [None, 8.0]}),
        ("a;b\n12'000,5;NA\n7;8\n", (",", "'"), {"a": [12000.5, 7.0], "b": [None, 8.0]}),
        ('a,b\n007,"1,5"\n008,"2,5"\n', (",", None), {"a": ["007", "008"], "b": [1.5, 2.5]}),
        ('a,b\n1.5,"1,5"\n2.5,"x"\n', (",", None), {"a": ["1.5", "2.5"], "b": ["1,5", "x"]}),
    ],
)
def test_text_files(
    tmp_path: Path, text: str, signs: tuple[str | None, str | None], expected: dict[str, list[Any]]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with reading(*signs):
        stored = read_file(path)
    assert cells(stored.frame) == expected
    write_all(writable_format(path).write(stored, path))
    with reading(signs[0]):
        assert cells(read_file(path).frame) == expected


def test_text_in_workbooks(tmp_path: Path) -> None:
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
    assert cells(found.frame) == {
        "share": [94.71, 5.29],
        "amount": [1234.5, 7.0],
        "plz": ["0870", "4011"],
        "n": [1, 2],
    }
    assert not found.remarks


@pytest.mark.parametrize(
    ("signs", "message"),
    [
        (("x", None), "decimal is 'x'; give '.' or ','"),
        ((None, "x"), "thousands is 'x'; give '.', ',', \"'\" or blank"),
        ((",", ","), "decimal and thousands are both ','; give two signs"),
    ],
)
def test_signs_that_cannot_be(signs: tuple[str | None, str | None], message: str) -> None:
    with pytest.raises(DataError) as caught, reading(*signs):
        pass
    assert str(caught.value) == message


def test_among_decimal_commas_the_cell_that_is_no_number_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f'{at},"{at},5"' if at != 7 else '7,"many"' for at in range(30))
    path.write_text(f"a,share\n{rows}\n", encoding="utf-8")
    masking = ["mask", "--input", str(path), "--method", "noise percent=10 attributes=share"]
    assert main([*masking, "--output", str(tmp_path / "m.csv")]) == 2
    assert "column 'share', row 8: 'many' is not a number" in capsys.readouterr().err


def test_every_command_takes_them_and_the_error_names_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        (["94,71", "12"], "--decimal ,"),
        (["94,71", "12.5"], ""),
        (["1 234", "12 000 000,5"], "--decimal , --thousands blank"),
        (["1,234.5", "2"], "--thousands ,"),
        (["1'234.5", "2"], '--thousands "\'"'),
        (["x", "1,5"], ""),
        (["1.5", "2"], ""),
    ],
)
def test_the_cure_that_is_offered_works(tmp_path: Path, cells: list[str], options: str) -> None:
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
