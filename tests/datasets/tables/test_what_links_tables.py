"""What links tables: totals called by other names, columns that some lack, and nothing at all."""

from __future__ import annotations

import pandas as pd
import pytest

from linkrisk import audit_table, link_tables, open_table, suppress_table
from linkrisk.datasets.errors import DataError

SIDES = {"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]}


def regions(total="T"):
    """A table by region, with a sensitive one."""
    frame = pd.DataFrame({"region": [total, "N", "S"], "value": [10, 4, 6], "status": ["s", "u", "m"]})
    frame = frame.assign(lower_protection=[0, 1, 0], upper_protection=[0, 1, 0], upper_bound=20)
    return open_table(frame, totals={"region": total})


def ages(total="T", **more):
    """The same records by age."""
    frame = pd.DataFrame({"age": [total, "young", "old"], "value": [10, 3, 7], "status": ["s", "m", "m"]})
    return open_table(frame.assign(upper_bound=20), **more or {"totals": {"age": total}})


def both(total="T"):
    """By region and age; what it shows gives the north away."""
    rows = [
        (region, age, value)
        for region, values in (("N", (4, 1, 3)), ("S", (6, 2, 4)), (total, (10, 3, 7)))
        for age, value in zip((total, "young", "old"), values, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["region", "age", "value"]).assign(status="s")
    return open_table(frame, totals={"region": total, "age": total})


def test_totals_are_those_of_the_codes():
    """Whatever they are called, where relations follow from codes: nobody has to say it again."""
    linked = link_tables([regions(), ages()])
    assert len(linked) == 5
    assert set(map(tuple, linked.codes.to_numpy())) >= {("T", "T"), ("N", "T"), ("T", "old")}
    assert suppress_table(linked).protected
    given = link_tables([regions(), ages()], totals={"region": "T", "age": "T"})
    assert given.codes.equals(linked.codes)


def test_a_release_whose_totals_have_another_name_is_known():
    """An audit that took it for other cells would find the north protected."""
    found = audit_table(regions(), also=[both()])
    assert not found.protected
    assert len(found.cells) == 9


def test_a_total_may_be_a_part_elsewhere():
    """The table of a county stands below the one of the country, also beside one without regions."""
    county = pd.DataFrame({"region": ["N", "n1", "n2"], "value": [4, 1, 3], "status": "s"})
    linked = link_tables([regions(), open_table(county, totals={"region": "N"}), ages()])
    assert set(map(tuple, linked.codes.to_numpy())) == {
        *[(region, "T") for region in ("T", "N", "S", "n1", "n2")],
        *[("T", age) for age in ("young", "old")],
    }


def test_tables_that_nothing_links():
    """They would be protected as if the other one were not published."""
    alone = pd.DataFrame({"region": ["X", "Y"], "value": [1, 2], "status": "s"})
    message = r"shares no cell with the other tables, so nothing links them: "
    stands = "it has no column 'age' and stands at its total, but no 'age' is 'Total': say what that total is"
    with pytest.raises(DataError, match=f"{message}{stands}"):
        link_tables([regions(), ages(relations=pd.DataFrame(SIDES))])
    with pytest.raises(DataError, match=f"{message}{stands}"):
        audit_table(regions(), also=[ages(relations=pd.DataFrame(SIDES))])
    other = r"no cell of it has the codes of another one \(region=T, \.\.\.\)"
    with pytest.raises(DataError, match=f"{message}{other}"):
        link_tables([regions(), open_table(alone, pd.DataFrame(SIDES).iloc[:0])])
    named = link_tables([regions(), ages(relations=pd.DataFrame(SIDES))], totals={"age": "T"})
    assert len(named) == 5
