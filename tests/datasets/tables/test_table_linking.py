"""Tables linked in their common cells."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from linkrisk import audit_table, link_tables, make_table, make_tables, open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.solver.run.errors import UsageError

DATA = os.environ.get("LINKRISK_DATA")

RNG = np.random.default_rng(17)
FIRMS = pd.DataFrame(
    {
        "region": RNG.choice(["N1", "N2", "S1", "S2", "S3"], 80),
        "size": RNG.choice(["big", "mid", "small"], 80),
        "branch": RNG.choice(["01", "02", "05"], 80),
        "turnover": RNG.integers(1, 500, 80),
    }
)
COUNTY = "code,parent\nN,Total\nN1,N\nN2,N\nS,Total\nS1,S\nS2,S\nS3,S\n"
ZONE = "code,parent\ncentral,Total\nN1,central\nS1,central\nremote,Total\nN2,remote\nS2,remote\nS3,remote\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("county.csv").write_text(COUNTY, encoding="utf-8")
    Path("zone.csv").write_text(ZONE, encoding="utf-8")
    Path("county.hrc").write_text("N\n@N1\n@N2\nS \n@ S1\n@S2\n@S3\n", encoding="utf-8")
    levels = "part,region\nN,N1\nN,N2\nS,S1\nS,S2\nS,S3\n"
    Path("levels.csv").write_text(levels, encoding="utf-8")


def made(by, trees, **more):
    return make_table(FIRMS, by, response="turnover", rules=["p=20"], hierarchies=trees, **more)


def relations(table):
    codes = ["/".join(row) for row in table.codes.itertuples(index=False)]
    found: dict[int, set[tuple[str, float]]] = {}
    for one, cell, factor in zip(table.relation, table.cell, table.coefficient, strict=True):
        found.setdefault(int(one), set()).add((codes[cell], float(factor)))
    return {frozenset(each) for each in found.values()}


def frames():
    frame = pd.read_csv("county.csv")
    polars = pytest.importorskip("polars")
    return frame, polars.from_pandas(frame), pd.read_csv("levels.csv")


@pytest.mark.parametrize("which", [0, 1, 2])
def test_hierarchies_may_be_frames(which):
    expected = made(["region"], {"region": "county.csv"})
    assert made(["region"], {"region": frames()[which]}).cells.equals(expected.cells)
    both = made(["region"], {"region": [frames()[which], "zone.csv"]})
    assert both.cells.equals(made(["region"], {"region": ["county.csv", "zone.csv"]}).cells)


def test_codes_of_frames_may_be_numbers():
    data = pd.DataFrame({"age": [1, 2, 2, 3], "x": [5, 6, 7, 8]})
    tree = pd.DataFrame({"code": [9, 1, 2, 3], "parent": ["Total", 9, 9, "Total"]})
    cells = make_table(data, ["age"], response="x", rules=["p=1"], hierarchies={"age": tree}).cells
    values = {"Total": 26, "9": 18, "1": 5, "2": 13, "3": 8}
    assert dict(zip(cells["age"], cells["value"], strict=True)) == values
    twice = pd.DataFrame({"code": [1, "1"], "parent": "Total"})
    with pytest.raises(DataError, match="the hierarchy of 'age', row 2: the code '1' stands twice"):
        make_table(data, ["age"], response="x", rules=["p=1"], hierarchies={"age": twice})


@pytest.mark.parametrize("file", ["county.csv", "county.hrc", "levels.csv"])
def test_relations_follow_from_codes(file):
    whole = made(["region", "size"], {"region": "county.csv"}).stored()
    cells = whole.cells.drop(columns="respondents").sample(frac=1, random_state=1).reset_index(drop=True)
    table = open_table(cells, hierarchies={"region": file})
    assert table.by == ("region", "size")
    assert relations(table) == relations(whole)
    assert suppress_table(table).pattern.cost == suppress_table(whole).pattern.cost


def test_a_hierarchy_as_a_tree_and_as_linked_tables():
    """Of a tree: one table of the parts, and one of the codes below each of them."""
    whole = made(["region", "size"], {"region": "county.csv"}).stored()
    region = whole.cells["region"]
    parts = whole.cells[region.isin(["Total", "N", "S"])].drop(columns="respondents")
    below = whole.cells[~region.isin(["Total"])].drop(columns="respondents")
    north = below[below["region"].str.startswith("N")].reset_index(drop=True)
    south = below[below["region"].str.startswith("S")].reset_index(drop=True)
    tables = [
        open_table(parts.reset_index(drop=True)),
        open_table(north, totals={"region": "N"}),
        open_table(south, totals={"region": "S"}),
    ]
    linked = link_tables(tables)
    assert relations(linked) == relations(whole)
    assert len(linked) == len(whole)
    one, other = suppress_table(linked), suppress_table(whole)
    assert one.pattern.cost == other.pattern.cost
    assert one.pattern.proven


def test_a_variable_grouped_in_two_ways():
    table = made(["region", "size"], {"region": ["county.csv", "zone.csv"]})
    cells = table.cells.set_index(["region", "size"])
    inside = FIRMS["region"].isin(["N2", "S2", "S3"])
    assert cells.loc[("remote", "Total"), "value"] == FIRMS["turnover"][inside].sum()
    inside = FIRMS["region"].str.startswith("S") & (FIRMS["size"] == "big")
    assert cells.loc[("S", "big"), "value"] == FIRMS["turnover"][inside].sum()
    stored = table.stored()
    tables = [made(["region", "size"], {"region": file}) for file in ("county.csv", "zone.csv")]
    linked = link_tables(tables)
    assert relations(linked) == relations(stored)
    assert linked.cells["status"].value_counts().to_dict() == stored.cells["status"].value_counts().to_dict()
    result = suppress_table(stored)
    assert result.protected
    assert result.pattern.cost == suppress_table(linked).pattern.cost


def test_tables_of_different_variables_share_their_margins():
    tables = [made(["region", other], {"region": "county.csv"}) for other in ("size", "branch")]
    linked = link_tables(tables)
    assert linked.by == ("region", "size", "branch")
    assert len(linked) == 8 * 4 + 8 * 4 - 8
    last = {tuple(row) for row in linked.codes.to_numpy()[-3:]}
    assert last == {("S3", "Total", branch) for branch in ("01", "02", "05")}
    result = suppress_table(linked)
    assert result.protected
    alone = [suppress_table(table).pattern.bound for table in tables]
    assert result.pattern.cost >= max(alone)


def test_common_cells_with_different_values():
    one, other = (made(["region", "size"], {}).stored().cells for _ in range(2))
    other = other.assign(value=other["value"] * 2)
    message = r"the common cell region=Total, size=Total is \d+ in the frame of cells and \d+ in the frame of"
    with pytest.raises(DataError, match=message):
        link_tables([open_table(one), open_table(other)])


def test_common_cells_with_different_numbers_of_respondents():
    cells = pd.DataFrame(
        {"a": ["Total", "x", "y"], "value": [50, 20, 30], "respondents_published": [9, 4, 5]}
    )
    other = cells.assign(respondents_published=[9, 3, 6])
    beside = "the frame of cells, column 'respondents_published'"
    message = f"the common cell a=x is 4 in {beside} and 3 in {beside}, a difference of -1; linked tables"
    with pytest.raises(DataError, match=message):
        link_tables([open_table(cells), open_table(other)])
    joined = link_tables([open_table(cells), open_table(cells)])
    assert joined.cells["respondents_published"].tolist() == [9, 4, 5]


def test_the_stricter_of_two_statuses_holds():
    cells = pd.DataFrame({"a": ["Total", "x", "y"], "value": [5, 2, 3], "status": list("suz")})
    cells = cells.assign(lower_protection=[0, 1, 0])
    other = cells.assign(status=list("zss"), lower_protection=0, upper_bound=[9, 9, 4], cost=[1, 2, 3])
    linked = link_tables([open_table(cells), open_table(other)])
    assert linked.status.tolist() == ["z", "u", "z"]
    assert linked.numbers["lower_protection"].tolist() == [0, 1, 0]
    assert linked.numbers["upper_bound"].tolist() == [9, 9, 4]
    assert linked.relation.size == 3  # the one that both have, once


@pytest.mark.parametrize(
    ("cells", "more", "message"),
    [
        ({"a": ["T", "x"], "value": [1, 1]}, {}, "column 'a': no cell has the code 'Total' of the total"),
        ({"a": ["Total", "x", "x"], "value": [1, 1, 1]}, {}, "row 3: the cell a=x stands in row 2 already"),
        ({"a": ["Total", "x"], "value": [2, 1]}, {}, r"relation 0 \(a: Total = x\) does not add up: its"),
        ({"value": [1, 1]}, {}, "give its relations, or columns of codes before 'value', or say which these"),
        ({"a": ["Total", "x"], "value": [1, 1]}, {"by": ["b"]}, "has no column 'b'; there are: a, value"),
        ({"a": ["Total", "x"], "value": [1, 1]}, {"totals": {"b": "T"}}, "'b' is no column of codes; these"),
        (
            {"region": ["Total", "X"], "value": [1, 1]},
            {"hierarchies": {"region": "county.csv"}},
            "column 'region', row 2: 'X' is in no hierarchy of 'region'; correct it, or the hierarchy",
        ),
        (
            {"region": ["Total"], "value": [1]},
            {"hierarchies": {"region": ["county.csv", "short.csv"]}},
            "hierarchy 2 of 'region' lacks the code 'N1', which another one has; add it there",
        ),
        (
            {"region": ["Total"], "value": [1]},
            {"hierarchies": {"region": "orphan.csv"}},
            "orphan.csv: the code 'S1' has the parent 'S', which is no code; correct it",
        ),
    ],
)
def test_tables_that_cannot_be_used(cells, more, message):
    Path("short.csv").write_text(ZONE.replace("N1,central\n", ""), encoding="utf-8")
    Path("orphan.csv").write_text("code,parent\nN,Total\nS1,S\n", encoding="utf-8")
    with pytest.raises(DataError, match=message) as found:
        open_table(pd.DataFrame(cells), **more)
    assert "\n" not in str(found.value)


def test_parquet_and_polars_come_back(tmp_path):
    polars = pytest.importorskip("polars")
    table = made(["region", "size"], {"region": "county.csv"})
    table.write(tmp_path / "cells.parquet", tmp_path / "relations.parquet")
    read = open_table(tmp_path / "cells.parquet", tmp_path / "relations.parquet")
    assert read.cells.equals(table.cells)
    assert relations(read) == relations(table.stored())
    frames = open_table(polars.from_pandas(table.cells), polars.from_pandas(table.relations))
    assert (frames.status == read.status).all()


def test_several_tables_of_the_same_microdata(tmp_path):
    by = [["region", "size"], ["branch", "size"]]
    tables = make_tables(FIRMS, by, response="turnover", rules=["p=20"], hierarchies={"region": "county.csv"})
    assert repr(tables).startswith("MadeTables(2 tables, 44 cells, ")
    one, other = made(by[0], {"region": "county.csv"}), made(by[1], {})
    assert relations(tables.stored()) == relations(link_tables([one, other]))
    summed = tables.contributors.groupby("cell")["amount"].sum()
    value = tables.cells["value"].to_numpy()
    assert summed.to_dict() == {at: one for at, one in enumerate(value) if one}
    tables.write(tmp_path / "cells.csv", tmp_path / "relations.csv")
    assert suppress_table(tmp_path / "cells.csv", tmp_path / "relations.csv").protected
    with pytest.raises(UsageError, match="needs the variables of each table"):
        make_tables(FIRMS, ["region", "size"])
    with pytest.raises(UsageError, match="hierarchies: 'age' is no explanatory variable; these are branch, "):
        make_tables(FIRMS, by, hierarchies={"age": "county.csv"})


@pytest.fixture
def turnover():
    if DATA is None:
        pytest.skip("needs public data: set LINKRISK_DATA to its folder")
    folder = Path(DATA)
    activity = pd.read_csv(folder / "rtauargus_activity_corr_table.csv", dtype=str)
    activity.to_csv("activity.csv", index=False)
    tables = []
    for name, other in (("act_cj", "CJ"), ("act_size", "SIZE")):
        frame = pd.read_csv(folder / f"rtauargus_turnover_{name}.csv", dtype={"ACTIVITY": str})
        few = frame["N_OBS"].between(1, 3) & (frame["TOT"] > 0)
        level = frame["TOT"].where(few, 0) * 0.1
        status = few.map({True: "u", False: "s"})
        frame = frame.assign(status=status, lower_protection=level, upper_protection=level)
        how = {"by": ["ACTIVITY", other], "hierarchies": {"ACTIVITY": "activity.csv"}}
        tables.append(open_table(frame, value="TOT", **how))
    return tables


def test_published_tables_of_turnover_are_linked(turnover):
    linked = link_tables(turnover)
    assert len(linked) == 406 + 414 - 113
    assert linked.by == ("ACTIVITY", "CJ", "SIZE")
    one = turnover[0]
    wrong = one.cells.assign(value=one.numbers["value"] + 7 * one.codes.eq("Total").all(axis=1))
    message = r"ACTIVITY/CJ: Total/Total = .* does not add up: its terms sum to -7"
    with pytest.raises(DataError, match=message):
        open_table(wrong, by=["ACTIVITY", "CJ"], hierarchies={"ACTIVITY": "activity.csv"})


@pytest.mark.slow
def test_published_tables_of_turnover_are_protected_at_once(turnover):
    result = suppress_table(link_tables(turnover), method="heuristic", time_limit=None)
    assert result.protected


SIDES = {"relation": [0, 0, 0], "cell": [0, 1, 2], "coefficient": [-1, 1, 1]}


def regions(total="T"):
    frame = pd.DataFrame({"region": [total, "N", "S"], "value": [10, 4, 6], "status": ["s", "u", "m"]})
    frame = frame.assign(lower_protection=[0, 1, 0], upper_protection=[0, 1, 0], upper_bound=20)
    return open_table(frame, totals={"region": total})


def ages(total="T", **more):
    """The same records by age."""
    frame = pd.DataFrame({"age": [total, "young", "old"], "value": [10, 3, 7], "status": ["s", "m", "m"]})
    return open_table(frame.assign(upper_bound=20), **more or {"totals": {"age": total}})


def both(total="T"):
    codes = {"region": np.repeat(["N", "S", total], 3), "age": [total, "young", "old"] * 3}
    frame = pd.DataFrame({**codes, "value": [4, 1, 3, 6, 2, 4, 10, 3, 7], "status": "s"})
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
