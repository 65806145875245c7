"""Results whose pages the tests of this folder look at."""

from __future__ import annotations

import pytest
from small_tables import write_table_files
from table_pages import INNER, RECTANGLE

from linkrisk import adjust_table, audit_table, round_table, suppress_table


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
