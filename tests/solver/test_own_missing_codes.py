"""Codes that a file itself declares missing: values for nobody, in every command, and kept by masking."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from linkrisk import fit, link, mask
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.solver.certificates.operations.verify import verify

NOTE = "values with a code that the file itself declares missing count as missing: income, status"
STEPS = ["noise percent=10 attributes=age,income", "pram change=0.9 attributes=status"]


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """An SPSS file in which -1 is no income and 9 no status; and the same with these left empty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"age": rng.integers(20, 70, 60), "income": rng.integers(300, 3000, 60)}, dtype=float
    )
    table["status"] = rng.integers(1, 5, 60).astype(float)
    table.loc[[3, 9], "income"], table.loc[[5, 7, 20], "status"] = -1.0, 9.0
    codes = {"income": [-1], "status": [9]}
    pyreadstat.write_sav(table, "o.sav", missing_ranges=codes, variable_measure={"status": "nominal"})
    return table


def known(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        income=table["income"].where(table["income"] != -1.0),
        status=table["status"].where(table["status"] != 9.0),
    )


def test_masking_keeps_them(survey: pd.DataFrame) -> None:
    mask("o.sav", STEPS, seed=3).write("m.sav")
    masked, meta = pyreadstat.read_sav("m.sav", user_missing=True)
    assert meta.missing_ranges == {"income": [{"lo": -1.0, "hi": -1.0}], "status": [{"lo": 9.0, "hi": 9.0}]}
    for name, code in (("income", -1.0), ("status", 9.0)):
        assert (masked[name] == code).equals(survey[name] == code)
    expected = mask(known(survey), STEPS, seed=3).table
    pd.testing.assert_frame_equal(known(masked), expected, check_dtype=False)


def test_they_are_compared_as_missing_values(survey: pd.DataFrame) -> None:
    """In the masked file too, though nothing there says what they are."""
    masked = mask("o.sav", STEPS, seed=3).table
    result = fit("o.sav", masked, nominal=["status"], certificate=True)
    same = fit(known(survey), known(masked), nominal=["status"])
    assert (result.interval, result.parameters) == (same.interval, same.parameters)
    assert f"o.sav: {NOTE}" in result.details["notes"]
    assert verify(result, "o.sav", masked).linked == result.linked
    found = link("o.sav", masked, method="prl", nominal=["status"])
    assert found.to_dict()["notes"].count(f"o.sav: {NOTE}") == 1
    assert found.linked == link(known(survey), known(masked), method="prl", nominal=["status"]).linked


def test_a_column_of_numbers_with_declared_text_is_masked() -> None:
    """Once taken for text and left as it was."""
    values = [str(value) for value in range(30)]
    values[4] = "?"
    schema = {"attributes": [{"name": "a", "missing": ["?"]}]}
    found = mask(
        pd.DataFrame({"a": values}), RankSwapping(percent=20, schema=Schema.from_dict(schema)), seed=1
    )
    assert found.masked == ("a",)
    assert found.table["a"][4] == "?"
    assert sum(found.table["a"].astype(str) != pd.Series(values)) > 10


def test_a_word_among_numbers_is_named_and_does_not_leave_the_column_as_it_is() -> None:
    frame = pd.DataFrame({"a": ["1", "2", "three", "4"], "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(
        DataError, match=r"column 'a', row 3: 'three' is not a number; fix it or choose other"
    ):
        mask(frame, "noise percent=10")
