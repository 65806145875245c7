"""Even files are read in blocks, with the table, dialect and remarks of files that are read at once."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats import delimited, delimited_rows, delimited_types
from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.formats.number_text import MISSING_MARKS, is_code
from linkrisk.datasets.microdata.formats.registry import DELIMITED

WHOLE = st.integers(-(10**15) + 1, 10**15 - 1).map(str)
PLAIN = st.one_of(
    WHOLE,
    st.just(""),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["0", "-0", "0.5", ".5", "-.5", "1.", "1e5", "1E-7", "4e-324", "1.7976931348623157e308"]),
)
ODD = st.sampled_from(
    [
        *("007", "-07", "+1", "1e", "-", ".", "1.2.3", "1-2", "1e400", "1e-400", "--1", "e", "1e+5"),
        *(
            "1234567890123456",
            "-1234567890123456",
            "0.12345678901234567",
            "12345678901234567.5",
            "999999999999999",
        ),
        *("NA", " 1", "1 ", "x", '"1"', "nan", "inf", "True", "1,5", "\u0661"),
        *(
            ",5",
            "1,",
            "1,234",
            "+1,5",
            '""',
            '" 1"',
            '"a""b"',
            '"x\ny"',
            "0x1F",
            "w" * 70,
            "9007199254740993.0",
        ),
    ]
)


def _uncertain(_: Path) -> None:
    raise delimited_rows.UncertainError


def both(path: Path, monkeypatch: pytest.MonkeyPatch, kept: tuple[str, ...] = ()) -> tuple[object, object]:
    """What is read in batches by NumPy if it can be, and what is read as a whole, cell by cell."""
    with monkeypatch.context() as patch:
        patch.setattr(delimited, "opening", _uncertain)
        patch.setattr(delimited_types, "_FEW", 10**9)
        whole = read(path, kept)
        patch.undo()
        patch.setattr(delimited_types, "_FEW", 0)
        return read(path, kept), whole


def read(path: Path, kept: tuple[str, ...]) -> StoredFile | str:
    try:
        return DELIMITED.read(path, text_columns=kept)
    except DataError as error:
        return str(error)


def check_same(found: object, expected: object) -> None:
    if isinstance(expected, str):
        assert found == expected
        return
    assert isinstance(found, StoredFile)
    assert isinstance(expected, StoredFile)
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_exact=True)
    for name in expected.frame:
        if expected.frame[name].dtype == np.float64:
            bits = [table.frame[name].to_numpy().view(np.int64) for table in (found, expected)]
            known = expected.frame[name].notna().to_numpy()
            assert (bits[0][known] == bits[1][known]).all()
    assert (found.dialect, found.remarks) == (expected.dialect, expected.remarks)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Files whose columns hold whole numbers, any plain ones, or odd cells, too."""
    columns = draw(st.integers(1, 3))
    kinds = [draw(st.sampled_from([WHOLE, WHOLE | st.just(""), PLAIN, PLAIN | ODD])) for _ in range(columns)]
    rows = [[draw(kind) for kind in kinds] for _ in range(draw(st.integers(0, 6)))]
    delimiter, end = draw(st.sampled_from(",;\t|")), draw(st.sampled_from(["\n", "\r\n"]))
    lines = [delimiter.join(row) for row in [["a", "b c", "ü"][:columns], *rows]]
    last = draw(st.sampled_from(["", end, end * 2]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "cp1252"]))
    return (end.join(lines) + last).encode(encoding, "replace")


@settings(max_examples=100)
@given(content=texts(), kept=st.sampled_from([(), ("a",), ("b c", "other")]))
def test_the_same_as_read_whole(tmp_path_factory: pytest.TempPathFactory, content: bytes, kept) -> None:
    path = tmp_path_factory.mktemp("files") / "x.csv"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited_rows, "BLOCK", 16)
        patch.setattr(delimited_types, "_MOST_TEXTS", 2)
        check_same(*both(path, patch, kept))


def reference(path: Path) -> pd.DataFrame:
    """What pandas reads, which knows no codes: columns that have one are text."""
    how = {"na_values": ["", *MISSING_MARKS], "keep_default_na": False, "skip_blank_lines": False}
    text = path.read_text("utf-8-sig").rstrip("\r\n") + "\n"
    delimiter = DELIMITED.read(path).dialect.delimiter  # type: ignore[attr-defined]
    cells = pd.read_csv(io.StringIO(text), sep=delimiter, dtype="str", **how)  # type: ignore[call-overload]
    codes = [name for name in cells if any(map(is_code, cells[name].dropna()))]
    found = pd.read_csv(io.StringIO(text), sep=delimiter, dtype=dict.fromkeys(codes, "str"), **how)  # type: ignore[call-overload]
    return pd.DataFrame(found)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(columns=st.lists(st.lists(PLAIN, min_size=5, max_size=5), min_size=2, max_size=3))
def test_plain_numbers_are_those_of_pandas(tmp_path_factory, columns):
    path = tmp_path_factory.mktemp("files") / "x.csv"
    rows = [["a", "b", "c"][: len(columns)], *zip(*columns, strict=True)]
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    found, expected = DELIMITED.read(path).frame, reference(path)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3\n",
        "a,b\n1,2\n\n3,4\n",
        "a,a\n1,2\n",
        "a,\n1,2\n",
        "a,b\n",
        "a,b\n1,2\r3,4\n",
        "sep=,\na,b\n1,2\n",
    ],
)
def test_odd_files(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content.encode())
    check_same(*both(path, monkeypatch))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), (";", ",")])
def test_a_mixed_file_is_never_in_memory_as_text(
    encoding: str, delimiter: str, decimal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited_rows, "BLOCK", 20_000)
    monkeypatch.setattr(delimited_rows, "HEAD", 25_000)
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "amount": random.lognormal(8, 1, 20_000).round(2),
            "word": random.choice(["Köln", "Ulm", "Bad Aibling"], 20_000),
            "code": [f"0{one}" for one in random.integers(0, 999, 20_000)],
            "gaps": np.where(random.random(20_000) < 0.1, np.nan, random.normal(size=20_000)),
        }
    )
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False, sep=delimiter, decimal=decimal, encoding=encoding)
    DELIMITED.read(path)  # what is imported and kept once does not count
    tracemalloc.start()
    stored = DELIMITED.read(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pd.testing.assert_frame_equal(stored.frame, frame)
    assert stored.dialect == DelimitedDialect(delimiter, encoding, decimal)
    assert max(held, peak) < 3 * path.stat().st_size


def test_a_file_is_never_in_memory_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited_rows, "BLOCK", 20_000)
    monkeypatch.setattr(delimited_rows, "HEAD", 25_000)
    numbers = np.random.default_rng(2).normal(size=(20_000, 4))
    frame = pd.DataFrame(numbers, columns=list("abcd")).assign(a=np.arange(20_000), b=np.arange(20_000) // 7)
    frame.loc[19_999, "b"] = np.nan
    path = tmp_path / "x.csv"
    frame.to_csv(path, index=False)
    DELIMITED.read(path)  # what is imported and kept once does not count
    tracemalloc.start()
    found = DELIMITED.read(path).frame
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pd.testing.assert_frame_equal(found, frame)
    assert peak < 1.5 * frame.size * 8
    assert peak < path.stat().st_size
