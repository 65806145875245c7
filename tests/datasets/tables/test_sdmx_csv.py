"""SDMX-CSV: published examples are read, tables come back, nothing that is suppressed is written."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_tables import CODES, flat_table

from linkrisk import open_table
from linkrisk.datasets.tables.reading import cells_of
from linkrisk.datasets.tables.sdmx_csv import internal_sdmx, published_sdmx

# As Eurostat's census is laid out in the field guides of the two versions; men and women sum to T.
CENSUS_1 = """DATAFLOW,FREQ,MARSTA,AGE,SEX,UNIT,GEO,TIME_PERIOD,OBS_VALUE,TIME_FORMAT,OBS_STATUS
ESTAT:CENS_91SMSTA(1.0),A,TOTAL,Y25-29,F,PER,FR,1991,2162398,P1Y,
ESTAT:CENS_91SMSTA(1.0),A,TOTAL,Y25-29,M,PER,FR,1991,2147582,P1Y,
ESTAT:CENS_91SMSTA(1.0),A,TOTAL,Y25-29,T,PER,FR,1991,4309980,P1Y,
"""
CENSUS_2 = CENSUS_1.replace("DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION").replace(
    "ESTAT:CENS_91SMSTA(1.0)", "dataflow,ESTAT:CENS_91SMSTA(1.0),I"
)
CENSUS_NAMED = """DATAFLOW;SEX:Sex;TIME_PERIOD:Time;OBS_VALUE:Persons;CONF_STATUS:Confidentiality status
ESTAT:CENS_91SMSTA(1.0): Census;F: Women;1991;2162398;C: Confidential
ESTAT:CENS_91SMSTA(1.0): Census;M: Men;1991;2147582;D: Secondary confidentiality
ESTAT:CENS_91SMSTA(1.0): Census;T: Both;1991;4309980;F: Free
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", [CENSUS_1, CENSUS_2, "\ufeff" + CENSUS_2.replace("\n", "\r\n")])
def test_a_published_example(text):
    """One code is no sum; attributes behind the value are no dimensions."""
    Path("census.csv").write_text(text, encoding="utf-8", newline="")
    table = open_table("census.csv", totals={"SEX": "T"})
    assert table.by == ("FREQ", "MARSTA", "AGE", "SEX", "UNIT", "GEO", "TIME_PERIOD")
    assert table.cells["value"].tolist() == [2162398, 2147582, 4309980]
    assert table.relations["cell"].tolist() == [2, 0, 1]
    assert table.dataflow == "ESTAT:CENS_91SMSTA(1.0)"


def test_names_beside_identifiers_are_labels_and_statuses_are_read():
    Path("census.csv").write_text(CENSUS_NAMED, encoding="utf-8")
    table = open_table("census.csv", totals={"SEX": "T"})
    assert table.labels == {
        "SEX": {"label": "Sex", "codes": {"F": "Women", "M": "Men", "T": "Both"}},
        "TIME_PERIOD": {"label": "Time", "codes": {}},
    }
    assert table.status.tolist() == ["u", "m", "s"]
    assert table.numbers["lower_protection"].tolist() == [432479.6, 0, 0]


@pytest.mark.parametrize(
    ("code", "status"),
    [("F", "s"), ("", "s"), ("D", "m"), ("S", "m"), *((code, "u") for code in "CAOTGMNE")],
)
def test_every_status_of_the_code_list(code, status):
    lines = [f"DATAFLOW,A,OBS_VALUE,CONF_STATUS\nX:Y(1.0),_T,30,F\nX:Y(1.0),a,10,{code}\nX:Y(1.0),b,20,F\n"]
    Path("cells.csv").write_text("".join(lines), encoding="utf-8")
    assert open_table("cells.csv").status.tolist() == ["s", status, "s"]


def test_points_in_time_are_not_summed():
    lines = ["DATAFLOW,A,TIME_PERIOD,OBS_VALUE"]
    lines += [f"X:Y(1.0),{code},{year},{10 * year}" for year in (2023, 2024) for code in ("_T", "a")]
    Path("cells.csv").write_text("\n".join(lines), encoding="utf-8")
    table = open_table("cells.csv")
    assert len(table) == 4
    assert sorted(table.relations["cell"]) == [0, 1, 2, 3]
    assert table.relation.max() == 1


@given(
    st.lists(CODES, min_size=1, max_size=3),
    st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=9),
    st.sampled_from(["x.sdmx.csv", "x.sdmx1.csv"]),
    st.randoms(use_true_random=False),
)
def test_all_values_come_back_and_suppressed_ones_are_nowhere(codes, values, name, chance):
    table = flat_table(dict(zip(["A", "B_1", "C"], codes, strict=False)), values)
    path = Path(name)
    path.write_bytes(internal_sdmx(table, path)[path])
    read = cells_of(path)
    assert read.frame["value"].astype(float).tolist() == [v + 0.0 for v in table.numbers["value"].tolist()]
    for at, one in enumerate(table.by):
        expected = ["_T" if code == "Total" else code for code in table.codes[one]]
        assert read.frame[one].tolist() == (table.codes[one].tolist() if "_T" in codes[at] else expected)
    gone = np.array([chance.random() < 0.5 for _ in range(len(table))])
    rows = list(csv.DictReader(published_sdmx(table, gone, path)[path].decode().splitlines()))
    for row, secret in zip(rows, gone, strict=True):
        assert (row["OBS_VALUE"] == "") == secret
        assert (row["OBS_STATUS"], row["CONF_STATUS"]) == (("Q", "C") if secret else ("A", "F"))
