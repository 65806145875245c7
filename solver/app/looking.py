"""What is in a file, found out by a process of its own: the server itself reads no data, and stays quick.

``python -m linkrisk.solver.app.looking FILE LOOK SIGNS`` reads the file once and writes what
`describe --json` writes, with the first rows as text; values of columns that identify somebody are not shown
here either.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Any

from linkrisk.solver.app.elsewhere import found_by, tell
from linkrisk.solver.app.project import OWN, Project, read_json

ROWS = 1000
"""So many rows are kept to be looked at."""

HIDDEN = "•"
VERSION = 2


async def look(project: Project, file: str) -> dict[str, Any]:
    """What is in a file of the project: its description, and its first rows.

    Returns
    -------
    dict
        Of `describe --json`, with ``rows``; or only ``error``, a line that says what is wrong with the file.
    """
    path = project.inside(file)
    stat = path.stat()
    what = f"{VERSION} {file} {project.signs} {stat.st_size} {stat.st_mtime_ns}"
    key = hashlib.sha256(what.encode()).hexdigest()[:24]
    kept = project.folder / OWN / "looks" / f"{key}.json"
    found = read_json(kept)
    if found is None:
        found = await found_by(__name__, project, file, kept)
    answer: dict[str, Any] = found or {"error": f"{file} cannot be read"}
    return answer


def main(file: str, target: str, signs: str = "{}") -> int:
    """Read a file, with these signs in numbers, and write what is in it."""
    return tell(file, target, signs, lambda: _described(file))


def _described(file: str) -> dict[str, Any]:
    from linkrisk.datasets.microdata.roles import NAMES_RECORDS
    from linkrisk.datasets.microdata.tables import load_table
    from linkrisk.solver.inputs.describe import description_of

    table = load_table(file, file)
    described = description_of(table)
    hidden = {one.attribute.name for one in described.columns if one.attribute.role in NAMES_RECORDS}
    head = table.frame.head(ROWS)
    columns = [
        [HIDDEN] * len(head) if name in hidden else [shown_value(value) for value in head[name]]
        for name in head.columns
    ]
    return {**described.to_dict(), "rows": list(zip(*columns, strict=True))}


def shown_value(value: Any) -> str:
    """A value as people write it; nothing where there is none."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(value).removesuffix(" 00:00:00")[:200]  # how pandas writes a date


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
