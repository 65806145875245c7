"""Labels and missing codes of a masked file: what still holds of those of the original."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk import mask, suppress
from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.formats.registry import read_file, writable_format
from linkrisk.datasets.microdata.formats.sas import TransportDialect
from linkrisk.datasets.microdata.formats.spss import SpssDialect
from linkrisk.datasets.microdata.formats.stata import StataDialect
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.released_files import carried
from linkrisk.datasets.microdata.values import cells_of
from linkrisk.datasets.microdata.writing import write_all

LABEL = "age group"
LABELS = {"1": "young", "2": "old", "9": "refused"}
NOTES = ColumnNotes(LABEL, LABELS, ("9", MissingRange(-3, -1)), "ordinal")


def notes_after(after: list[object], masked: tuple[str, ...] = ("x",)) -> ColumnNotes:
    before = StoredFile(
        pd.DataFrame({"x": [1, 2, 9, 1], "y": [1, 2, 3, 4]}), columns={"x": NOTES, "y": NOTES}
    )
    made = carried(before, before.frame.assign(x=after), masked)
    assert made.notes("y") == NOTES
    assert list(made.frame.columns) == ["x", "y"]
    return made.notes("x")


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([2, 1, 9, 1], NOTES),
        ([2.0, 1.0, np.nan, 1.0], NOTES),
        ([1.25, 2.5, 9.0, 1.0], ColumnNotes(LABEL, {"9": "refused"}, NOTES.missing, "ordinal")),
        (["1-2", "1-2", "9", "1-2"], ColumnNotes(LABEL, {"9": "refused"}, ("9",), "nominal")),
        (["a", "b", "c", "a"], ColumnNotes(LABEL, measure="nominal")),
    ],
    ids=["swapped", "suppressed", "noise", "recoded", "renamed"],
)
def test_what_still_holds(after: list[object], expected: ColumnNotes) -> None:
    assert notes_after(after) == expected


def test_numbers_beside_letters_are_numbers_again() -> None:
    labels = {"1": "yes", "2": "no", ".a": "refused"}
    notes = {"x": ColumnNotes("", labels, (".a",))}
    before = StoredFile(pd.DataFrame({"x": pd.Series([1.0, 2.0, ".a", None], dtype=object)}), columns=notes)
    made = carried(before, pd.DataFrame({"x": ["2", ".a", "1", None]}), ["x"])
    assert cells_of(made.frame["x"]) == [2.0, ".a", 1.0, None]
    assert made.notes("x") == notes["x"]
    # Where there are new codes, all of them are text, as the method has made them.
    recoded = carried(before, pd.DataFrame({"x": ["1-2", ".a", "1-2", None]}), ["x"])
    assert cells_of(recoded.frame["x"]) == ["1-2", ".a", "1-2", None]


# What a masked file says of its columns names nobody whom masking has taken out


TOWNS = ["Aa"] * 6 + ["ZZTOP"]
TRADES = ["baker"] * 3 + ["smith"] * 3 + ["ASTRONAUT"]
TITLE, DOCUMENT = "REGISTER OF TOWN ZZTOP", "MADE FROM THE ASTRONAUT FILE"
LOST = (b"ZZTOP", b"ASTRONAUT")


def people() -> pd.DataFrame:
    frame = pd.DataFrame({"town": TOWNS, "trade": TRADES, "income": range(7)})
    frame["trade"] = frame["trade"].astype(pd.CategoricalDtype(["baker", "ASTRONAUT", "smith"], ordered=True))
    frame["town"] = frame["town"].astype("category")
    frame.attrs = {"source": TITLE}
    return frame


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_category_that_was_suppressed_leaves_the_dictionary(tmp_path: Path, suffix: str) -> None:
    before = tmp_path / f"people.{suffix}"
    getattr(people(), f"to_{suffix}")(before)
    safe, masked = tmp_path / f"safe.{suffix}", tmp_path / f"masked.{suffix}"
    suppress(before, keys=["town", "trade"], k=3, problem="recount").write(safe)
    mask(before, "local-suppression k=3 attributes=town,trade").write(masked)
    for path in (safe, masked):
        assert not [word for word in LOST if word in path.read_bytes()]
        after = read_file(path).frame["trade"]
        assert list(after.cat.categories) == [trade for trade in ("baker", "smith") if trade in set(after)]
        assert after.cat.ordered


def test_a_frame_in_memory_has_no_more_than_a_file() -> None:
    made = mask(people(), "local-suppression k=3 attributes=town,trade").table
    assert list(made["trade"].cat.categories) == ["baker", "smith"]
    assert list(made["town"].cat.categories) == ["Aa"]
    assert made.attrs == {}
    assert list(people()["trade"].cat.categories) == ["baker", "ASTRONAUT", "smith"]


def labelled(dialect: object) -> StoredFile:
    labels = {"1": "baker", "2": "smith", "3": "ASTRONAUT", "4": "never here", "9": "refused"}
    notes = ColumnNotes("trade", labels, ("9",))
    frame = pd.DataFrame({"trade": [1.0, 1, 1, 2, 2, 2, 3], "income": [1.0, 2, 3, 4, 5, 6, 7]})
    return StoredFile(frame, columns={"trade": notes}, dialect=dialect)  # type: ignore[arg-type]


def test_a_label_without_a_record_goes_whether_its_code_was_there_before_or_not() -> None:
    """Who compares with the questionnaire would see the one that is lacking."""
    stored = labelled(SpssDialect())
    after = stored.frame.assign(trade=stored.frame["trade"].where(stored.frame["trade"] != 3))
    kept = carried(stored, after, ["trade"]).notes("trade")
    assert kept.value_labels == {"1": "baker", "2": "smith", "9": "refused"}
    assert carried(stored, after, []).notes("trade") == stored.notes("trade")


@pytest.mark.parametrize(
    ("suffix", "dialect"),
    [
        ("sav", SpssDialect(TITLE, (DOCUMENT,))),
        ("dta", StataDialect(label=TITLE)),
        ("xpt", TransportDialect(label=TITLE)),
    ],
)
def test_title_and_documents_of_a_file_stay_behind_and_that_is_said(tmp_path, suffix, dialect):
    before, after = tmp_path / f"people.{suffix}", tmp_path / f"masked.{suffix}"
    write_all(writable_format(before).write(labelled(dialect), before))
    assert TITLE[:8].encode() in before.read_bytes()
    result = mask(before, "noise percent=50 attributes=income", seed=1)
    result.write(after)
    assert not [word for word in (TITLE, DOCUMENT) if word.encode() in after.read_bytes()]
    assert (
        "title and documents of the file are not carried over: they speak of the original"
        in result.losses(after)
    )
