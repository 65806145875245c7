"""The worked example of tables: four rows, four columns and margins, two sensitive cells, as two files."""

from __future__ import annotations

from pathlib import Path

INNER = [[20, 3, 10, 30], [15, 25, 35, 40], [45, 12, 28, 18], [32, 22, 16, 60]]
SENSITIVE = {(1, 3): 3, (3, 2): 4}
ASKED = ["--cells", "cells.csv", "--relations", "relations.csv"]


def write_worked_table(folder):
    """Write `cells.csv` and `relations.csv`; bounds are 0 and twice the value."""
    rows = [[sum(row), *row] for row in INNER]
    rows = [[sum(column) for column in zip(*rows, strict=True)], *rows]
    codes = ["T", "1", "2", "3", "4"]
    lines = ["row,column,value,status,lower_protection,upper_protection,lower_bound,upper_bound"]
    for at, row in enumerate(rows):
        for to, value in enumerate(row):
            level = SENSITIVE.get((at, to), 0)
            status = "u" if level else "s"
            lines.append(f"{codes[at]},{codes[to]},{value},{status},{level},{level},0,{2 * value}")
    Path(folder, "cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    terms = ["relation,cell,coefficient"]
    for at in range(5):
        for number, cells in ((at, range(5 * at, 5 * at + 5)), (5 + at, range(at, 25, 5))):
            terms += [f"{number},{cell},{-1 if cell == cells[0] else 1}" for cell in cells]
    Path(folder, "relations.csv").write_text("\n".join(terms) + "\n", encoding="utf-8")
