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
    for depth, code in tree_lines(path):
        if branches and depth == len(branches[-1]):  # the line before is no leaf
            branches.pop()
        above[depth:] = [code]
        branches.append(tuple(above))
    deepest = max(map(len, branches))
    coarser = [
        tuple(branch[min(len(branch), depth) - 1] for branch in branches) for depth in range(deepest, 0, -1)
    ]
    return (*coarser, (TOP,) * len(branches))


def tree_lines(path: str | Path, deeper: str = DEEPER) -> list[tuple[int, str]]:
    """The lines of a tree: how deep each code is, from 0, and the code.

    Parameters
    ----------
    path : path
    deeper : str
        What stands before a code once for each level down.

    Raises
    ------
    DataError
        See `tree_levels`.
    """
    found: list[tuple[int, str]] = []
    above: list[str] = []
    seen: dict[str, int] = {}
    for number, text in enumerate(read_text(Path(path))[0].splitlines(), start=1):
        code, depth = text.strip(), 0
        if not code:
            continue
        while code.startswith(deeper):
            code, depth = code[len(deeper) :].lstrip(), depth + 1
        _check(f"{path}, line {number}", code, depth, above, seen, deeper)
        seen[code] = number
        above[depth:] = [code]
        found.append((depth, code))
    if not found:
        raise DataError(
            f"{path} has no code; write one on each line, with an {deeper} more for each level down"
        )
    return found


def _check(where: str, code: str, depth: int, above: list[str], seen: dict[str, int], deeper: str) -> None:
    if not code:
        raise DataError(f"{where}: there is no code behind {deeper!r}; write one")
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
