"""Codes of explanatory variables as metadata of ARGUS (.rda) says them: a tree, or digits of levels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_files import find_file
from linkrisk.datasets.microdata.formats.argus_metadata import Variable
from linkrisk.datasets.tables.code_trees import TOTAL, CodeTree
from linkrisk.datasets.tables.tree_files import parents_in

_LEAD = "."
"""What stands before a code once for each level down, where the metadata does not say it."""


def total_of(variable: Variable) -> str:
    """The code of the total of a variable."""
    return variable.words.get("totcode", "").strip() or TOTAL


def tree_of(variable: Variable, codes: Iterable[str], path: Path) -> CodeTree:
    """The codes of a variable, and which belongs to which.

    Parameters
    ----------
    variable : Variable
    codes : iterable of str
        Those that the data has, without the total. Declared missing codes that are in no tree stand right
        below the total.
    path : Path
        Of the metadata: a tree is looked for beside it.

    Raises
    ------
    DataError
        If the tree cannot be read, or a code does not fit the digits of the levels.
    """
    total, words = total_of(variable), variable.words
    found = sorted(set(codes) - {total})
    if "hiercodelist" in words:
        name = re.split(r"[\\/]", words["hiercodelist"])[-1]
        file = find_file(path.parent, name)
        if file is None:
            raise DataError(f"{path}: the hierarchy {name} of {variable.name!r} is not in the same folder")
        parents = parents_in(file, total, words.get("hierleadstring") or _LEAD)
    elif "hierlevels" in words:
        parents = _by_digits(variable, [code for code in found if code not in variable.missing], path, total)
    else:
        parents = dict.fromkeys(found, total)  # in the order of the program, which is that of text
    missing = {code for code in found if code in variable.missing} - set(parents)
    return CodeTree.of(variable.name, {**parents, **dict.fromkeys(sorted(missing), total)}, str(path), total)


def tree_text(tree: CodeTree, lead: str = "@") -> str:
    """A tree as a file of ARGUS (.hrc), without its total."""
    below = {int(line[0]): line[1:].tolist() for line in tree.inner}
    lines, pending = [], [(0, at) for at in reversed(below.get(0, []))]
    while pending:
        depth, at = pending.pop()
        lines.append(lead * depth + tree.codes[at])
        pending += [(depth + 1, one) for one in reversed(below.get(at, []))]
    return "\n".join(lines) + "\n"


def _by_digits(variable: Variable, codes: Iterable[str], path: Path, total: str) -> dict[str, str]:
    """Of codes whose first digits are the codes above them: with 3 1 1, 34100 is below 3410 below 341."""
    widths = variable.words["hierlevels"].split()
    if not widths or not all(width.isdigit() for width in widths):
        raise DataError(f"{path}: <HIERLEVELS> of {variable.name!r} are {' '.join(widths)!r}; write numbers")
    ends = [sum(map(int, widths[: at + 1])) for at in range(len(widths)) if widths[at] != "0"]
    parents: dict[str, str] = {}
    for code in codes:
        if len(code) > ends[-1]:
            raise DataError(
                f"{path}: the code {code!r} of {variable.name!r} has more than the {ends[-1]} digits of its "
                "levels"
            )
        above = total
        for part in dict.fromkeys(code[:end] for end in ends):
            parents[part] = above
            above = part
    return parents
