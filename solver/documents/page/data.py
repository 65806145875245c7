"""What the scripts of a page read: charts, tables and contributions, as JSON that holds no tag."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from linkrisk.solver.charts.chart import Chart
from linkrisk.solver.charts.table import Table
from linkrisk.solver.documents.document import Records

# Of contributions, as charts show them: two attributes that differ by less look the same.
_DIGITS = 4


class PageData:
    """Collects, while a page is written, what its scripts need, and names the places where it goes."""

    def __init__(self) -> None:
        self._charts: dict[str, Any] = {}
        self._tables: dict[str, Any] = {}
        self._records: dict[str, Any] = {}

    def chart(self, chart: Chart) -> str:
        """Take a chart; its place in the page, such as ``bound-3``."""
        return _taken(self._charts, chart.name, dict(chart.spec))

    def table(self, table: Table) -> str:
        """Take a table; its place in the page."""
        columns = [{"name": one.name, "title": one.title, "of": one.of.value} for one in table.columns]
        return _taken(self._tables, "table", {"columns": columns, "rows": [list(row) for row in table.rows]})

    def records(self, records: Records) -> str:
        """Take the contributions of records, rounded; their place in the page."""
        return _taken(
            self._records,
            "records",
            {
                "attributes": list(records.attributes),
                "partner": _rounded(records.partner),
                "rival": _rounded(records.rival),
            },
        )

    def to_script(self) -> Markup:
        """All of it, as the text of a script of type ``application/json``."""
        whole = {"charts": self._charts, "tables": self._tables, "records": self._records}
        text = json.dumps(whole, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Markup(text.replace("<", "\\u003c"))


def _taken(where: dict[str, Any], name: str, what: Any) -> str:
    place = f"{name}-{len(where) + 1}"
    where[place] = what
    return place


def _rounded(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[float(f"{value:.{_DIGITS}g}") for value in row] for row in rows]
