"""Variables made coarser: a tree cut at a level or at some codes, or codes that become others (.grc)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import read_text
from linkrisk.datasets.microdata.recoding_files import RecodingFile
from linkrisk.datasets.tables.code_trees import CodeTree

TREE_WORD = "<TREERECODE>"


def cut_at_level(tree: CodeTree, level: int) -> tuple[CodeTree, dict[str, str]]:
    """The tree down to a level (the total is at 0), and what its leaves become.

    Raises
    ------
    DataError
        If it has no codes below that level.
    """
    depth = tree.depths()
    if max(depth.values()) <= level:
        raise DataError(f"{tree.variable!r} has no codes below level {level}; leave its recoding out")
    return _cut(tree, {code for code, at in depth.items() if at == level})


def cut_at_codes(tree: CodeTree, path: Path) -> tuple[CodeTree, dict[str, str]]:
    """The tree without what is below the codes of a file, and what its leaves become.

    Raises
    ------
    DataError
        If one is no code with others below it.
    """
    wanted = [line.strip() for line in read_text(path)[0].splitlines()[1:] if line.strip()]
    inner = {tree.codes[line[0]] for line in tree.inner} - {tree.codes[0]}
    for code in wanted:
        if code not in inner:
            raise DataError(f"{path}: {code!r} is no code of {tree.variable!r} with others below it")
    return _cut(tree, set(wanted))


def _cut(tree: CodeTree, leaves: set[str]) -> tuple[CodeTree, dict[str, str]]:
    """Codes that belong to one of `leaves` become it."""
    becomes: dict[str, str] = {}
    for at, code in enumerate(tree.codes):
        above = becomes.get(tree.codes[tree.parent[at]]) if at else None
        becomes[code] = above if above in leaves else code
    kept = [at for at, code in enumerate(tree.codes) if becomes[code] == code]
    place = {at: number for number, at in enumerate(kept)}
    parent = np.array([place.get(int(tree.parent[at]), -1) for at in kept], dtype=np.int64)
    return CodeTree(tree.variable, tuple(tree.codes[at] for at in kept), parent), becomes


def recoded(tree: CodeTree, path: Path) -> tuple[CodeTree, dict[str, str]]:
    """The codes as a recoding file has them, all below the total, and what the leaves become.

    Raises
    ------
    DataError
        If it cannot be read, or no line takes a code.
    """
    if read_text(path)[0].lstrip().upper().startswith(TREE_WORD):
        return cut_at_codes(tree, path)
    inner = {int(line[0]) for line in tree.inner}
    leaves = [code for at, code in enumerate(tree.codes) if at not in inner]
    becomes = dict(zip(leaves, RecodingFile.read(tree.variable, path).becomes(leaves), strict=True))
    return CodeTree.flat(tree.variable, becomes.values(), tree.codes[0]), becomes
