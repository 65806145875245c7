"""Results whose pages the tests of this folder look at."""

from __future__ import annotations

import pytest
from small_tables import write_table_files
from table_pages import INNER, RECTANGLE, noisy_firms

from linkrisk import (
    adjust_table,
    audit_table,
    perturb_counts,
    perturb_sums,
    recode_table,
    round_table,
    suppress_table,
)


@pytest.fixture(scope="package")
def files(tmp_path_factory):
    return write_table_files(tmp_path_factory.mktemp("worked"))


@pytest.fixture(scope="package")
def protected(files):
    return suppress_table(**files).to_dict()


@pytest.fixture(scope="package")
def failed(tmp_path_factory):
    return audit_table(**write_table_files(tmp_path_factory.mktemp("failed"), status=RECTANGLE)).to_dict()


@pytest.fixture(scope="package")
def adjusted(files):
    return adjust_table(**files).to_dict()


@pytest.fixture(scope="package")
def rounded(files):
    return round_table(**files, base=5).to_dict()


@pytest.fixture(scope="package")
def secret(tmp_path_factory):
    """Values that occur nowhere by chance."""
    folder = tmp_path_factory.mktemp("secret")
    levels = {(1, 1): 4321.0, (2, 3): 5432.0}
    codes = {"rows": ["north", "south", "east"], "columns": ["big", "small", "tiny"]}
    return suppress_table(**write_table_files(folder, INNER, levels, **codes), seed=987654)


TREE = "code,parent\nN1,North\nN2,North\nS1,South\nS2,South\nNorth,Total\nSouth,Total\n"


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noisy")
    noisy_firms().to_csv(folder / "firms.csv", index=False)
    (folder / "tree.csv").write_text(TREE)
    (folder / "sizes.csv").write_text("code,becomes\nsmall,not big\ntiny,not big\n")
    return folder


@pytest.fixture(scope="package")
def counts(folder):
    how = {"most": 3, "variance": 1.5, "small": 1, "record_key": "key"}
    return perturb_counts(folder / "firms.csv", ["region", "size"], **how)


@pytest.fixture(scope="package")
def sums(folder):
    noise = {"noise": "most=10,variance=3", "share": 0.12, "factors": (1.0, 0.5), "extra": 1.25}
    how = {"response": "turnover", "rules": ["p=30"], "record_key": "key", **noise}
    return perturb_sums(folder / "firms.csv", ["region", "size"], **how)


@pytest.fixture(scope="package")
def coarser(folder):
    how = {"hierarchies": {"region": folder / "tree.csv"}, "recode": {"size": folder / "sizes.csv"}}
    how |= {"cut": {"region": 1}, "rules": ["frequency=6"], "suppress": True}
    return recode_table(folder / "firms.csv", ["region", "size"], **how)
