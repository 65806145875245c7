"""Reports of searches that ended before anything was known of cheaper answers."""

from __future__ import annotations

import json

from table_files import write_table_files
from table_pages import section

from linkrisk import round_table, suppress_table
from linkrisk.solver.documents.document import Headline
from linkrisk.solver.tables.pages.build import table_document

ENDED = {"bound": 0.0, "status": "feasible", "limit": "time"}


def head_without_bound(given) -> Headline:
    """The head of a report, which says nowhere that something is almost all."""
    document = table_document({**given, **ENDED})
    assert "99.9 %" not in json.dumps(document.to_dict(), ensure_ascii=False)
    assert "no bound above 0 was found" in str(section(document, "making"))
    return document.headline


def test_of_suppressed_cells(tmp_path):
    given = suppress_table(**write_table_files(tmp_path)).to_dict()
    head = head_without_bound({**given, "cost": 97.9})
    assert head.worst.endswith("at a cost of 97.9; no bound above 0 was found.")


def test_of_rounded_cells(tmp_path):
    given = round_table(**write_table_files(tmp_path, levels={}), base=7).to_dict()
    head = head_without_bound(given)
    assert head.verdict.endswith(" in all: no bound above 0 was found.")
