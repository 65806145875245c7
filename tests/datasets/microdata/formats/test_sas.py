"""SAS files, which are read only."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from format_cases import described, sas_file, there_and_back

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.registry import read_file


def test_values_labels_letters_and_dates(tmp_path: Path) -> None:
    path = tmp_path / "größe.sas7bdat"
    path.write_bytes(sas_file())
    stored = read_file(path)
    assert {name: described(stored.frame[name]) for name in stored.frame} == {
        "plz": ("text", ["007", None, "012", "ä"]),
        "age": ("mixed", [20.0, 25.5, ".A", None]),
        "day": ("date", [dt.date(1960, 1, 1), dt.date(1960, 1, 2), None, dt.date(1960, 1, 4)]),
    }
    assert (stored.notes("age").label, stored.notes("age").missing) == ("Größe", (".A",))
    assert stored.notes("day").settings == {"sas.format": "DATE9"}


def test_it_goes_into_other_formats(tmp_path: Path) -> None:
    path = tmp_path / "x.sas7bdat"
    path.write_bytes(sas_file())
    stored = read_file(path)
    for suffix in (".parquet", ".sav", ".xpt"):
        back = there_and_back(stored, tmp_path / f"x{suffix}")
        assert described(back.frame["plz"]) == described(stored.frame["plz"])
        assert described(back.frame["day"]) == described(stored.frame["day"])
        assert back.notes("age").label == "Größe"


@pytest.mark.parametrize("part", range(1, 16))
def test_cut_off(part: int, tmp_path: Path) -> None:
    content = sas_file()
    path = tmp_path / "x.sas7bdat"
    path.write_bytes(content[: len(content) * part // 16])
    with pytest.raises(DataError, match="is not a readable SAS file"):
        read_file(path)
