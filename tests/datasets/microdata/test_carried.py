"""Labels and missing codes of a masked file: what still holds of those of the original."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.microdata.formats.base import ColumnNotes, StoredFile
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.released_files import carried
from linkrisk.datasets.microdata.values import cells_of

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


def test_columns_that_are_not_masked_keep_all() -> None:
    assert notes_after([5, 6, 7, 8], masked=()) == NOTES


def test_dialect_and_remarks_stay() -> None:
    before = StoredFile(pd.DataFrame({"x": [1]}), remarks=("read so",))
    made = carried(before, pd.DataFrame({"x": [2], "new": [1]}), ["x"])
    assert (made.dialect, made.remarks, dict(made.columns)) == (
        before.dialect,
        ("read so",),
        {"x": ColumnNotes()},
    )


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
