"""Hierarchies as trees, as ARGUS has them (.hrc): a code on each line, one ``@`` more a level down."""

from __future__ import annotations

from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import read_text

DEEPER = "@"
TOP = "*"
"""What everything becomes at the last level; trees do not name it."""


def tree_levels(path: str | Path) -> tuple[tuple[str, ...], ...]:
    """The leaves of a tree, and what they become level by level, up to `TOP`.

    Where a leaf is nearer to the root than others, it stays what it is until they have come as far.

    Raises
    ------
    DataError
        If the file cannot be read or is empty, a line has no code or is more than one level below the one
        before, or a code stands there twice.
    """
    branches: list[tuple[str, ...]] = []
    above: list[str] = []
    seen: dict[str, int] = {}
    for number, text in enumerate(read_text(Path(path))[0].splitlines(), start=1):
        line = text.strip()
        if not line:
            continue
        code = line.lstrip(DEEPER).strip()
        depth = len(line) - len(line.lstrip(DEEPER))
        _check(f"{path}, line {number}", code, depth, above, seen)
        seen[code] = number
        if branches and depth == len(branches[-1]):  # the line before is no leaf
            branches.pop()
        above[depth:] = [code]
        branches.append(tuple(above))
    if not branches:
        raise DataError(
            f"{path} has no code; write one on each line, with an {DEEPER} more for each level down"
        )
    deepest = max(map(len, branches))
    coarser = [
        tuple(branch[min(len(branch), depth) - 1] for branch in branches) for depth in range(deepest, 0, -1)
    ]
    return (*coarser, (TOP,) * len(branches))


def _check(where: str, code: str, depth: int, above: list[str], seen: dict[str, int]) -> None:
    if not code:
        raise DataError(f"{where}: there is no code behind {DEEPER!r}; write one")
    if depth > len(above):
        raise DataError(
            f"{where}: {code!r} is {depth - len(above) + 1} levels below the line before; go down one at a "
            "time"
        )
    if code in above[:depth]:
        raise DataError(
            f"{where}: {code!r} is below itself, which makes a loop; give one of them another name"
        )
    if code in seen:
        raise DataError(
            f"{where}: {code!r} stands in line {seen[code]} already; a code has one place in the tree"
        )
