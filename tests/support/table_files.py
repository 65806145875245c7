"""Two files of a table with margins, for tests: the worked example of docs/tables.md, and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

WORKED = ((20, 3, 10, 30), (15, 25, 35, 40), (45, 12, 28, 18), (32, 22, 16, 60))
LEVELS = {(1, 3): 3.0, (3, 2): 4.0}
ASKED = ["--cells", "cells.csv", "--relations", "relations.csv"]
"""Options that name the two files."""


def write_table_files(
    folder: Path,
    inner: Sequence[Sequence[float]] = WORKED,
    levels: Mapping[tuple[int, int], float] = LEVELS,
    *,
    status: Mapping[tuple[int, int], str] | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    names: tuple[str, str] = ("row", "column"),
) -> dict[str, str]:
    """Write ``cells.csv`` and ``relations.csv``; the keywords of the functions that read them.

    Places count from 1 inside, 0 is the total; sensitive are those with a level. Bounds are 0 and twice the
    value.
    """
    values = np.array(inner)
    whole = np.zeros((values.shape[0] + 1, values.shape[1] + 1), dtype=values.dtype)
    whole[1:, 1:], whole[0, 1:], whole[1:, 0], whole[0, 0] = (
        values,
        values.sum(0),
        values.sum(1),
        values.sum(),
    )
    rows = ["T", *(rows or map(str, range(1, len(whole))))]
    columns = ["T", *(columns or map(str, range(1, whole.shape[1])))]
    lines = [",".join([*(f'"{name}"' for name in names), "value", "status", "lower_protection"])]
    lines[0] += ",upper_protection,lower_bound,upper_bound"
    for (i, j), value in np.ndenumerate(whole):
        level = levels.get((i, j), 0)
        mark = "u" if level else (status or {}).get((i, j), "s")
        lines.append(f'"{rows[i]}","{columns[j]}",{value},{mark},{level},{level},0,{2 * value}')
    number = np.arange(whole.size).reshape(whole.shape)
    terms = ["relation,cell,coefficient"]
    for at, line in enumerate([*number, *number.T]):
        terms += [f"{at},{cell},{-1 if place == 0 else 1}" for place, cell in enumerate(line)]
    paths = {name: str(folder / f"{name}.csv") for name in ("cells", "relations")}
    Path(paths["cells"]).write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path(paths["relations"]).write_text("\n".join(terms) + "\n", encoding="utf-8")
    return paths
