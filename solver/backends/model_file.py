"""Write a model as an LP or MPS file, for people and other optimisers."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path

from linkrisk.formulations.programs import MilpModel
from linkrisk.solver.backends.highs import load_highs
from linkrisk.solver.run.errors import UsageError

SUFFIXES = (".lp", ".mps")

ILLEGAL = re.compile(r"[^A-Za-z0-9_.()]")
"""Characters that one of the two formats forbids in names."""

MISREAD = re.compile(
    r"[0-9.()]|[eE][0-9]|(?:st|bounds?|min|max|bin|binary|gen|general|semi|free|inf|infinity|end|obj)$",
    re.IGNORECASE,
)
"""Names that a reader of LP files mistakes for a number or a keyword."""


def write_model(model: MilpModel, path: str | os.PathLike[str]) -> None:
    """Write a model with its names as ``.lp`` or ``.mps``; UsageError where that is impossible.

    The file is written atomically. HiGHS writes it, with 15 digits per number.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"cannot write a model as {target.name!r}: end the name in {' or '.join(SUFFIXES)}")
    if not target.parent.is_dir():
        raise UsageError(f"no folder {str(target.parent)!r} to write {target.name!r} in: create it first")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".linkrisk-") as folder:
            draft = Path(folder, f"model{suffix}")
            _write(model, draft)
            draft.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {str(target)!r}: {error.strerror}") from error


def readable_names(names: list[str]) -> list[str]:
    """Convert names to similar ones that both file formats accept.

    They consist of letters, digits and ``_.()``, are no number and no keyword, and are unique: HiGHS discards
    all names of a file when one is illegal or repeated.
    """
    taken: set[str] = set()
    result = []
    for name in names:
        plain = ILLEGAL.sub("_", name)
        if not plain or MISREAD.match(plain):
            plain = f"_{plain}"
        unique, copy = plain, 1
        while unique in taken:
            copy += 1
            unique = f"{plain}_{copy}"
        taken.add(unique)
        result.append(unique)
    return result


def _write(model: MilpModel, path: Path) -> None:
    import highspy

    highs = load_highs(model, model.integer)
    row_names, column_names = model.names()
    for column, name in enumerate(readable_names(column_names)):
        highs.passColName(column, name)
    for row, name in enumerate(readable_names(row_names)):
        highs.passRowName(row, name)
    if highs.writeModel(str(path)) == highspy.HighsStatus.kError:
        raise OSError(errno.EIO, "HiGHS could not write it")
