"""Recoding files of mu-ARGUS, as `mask` and `suppress` write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def recoding_files(folder: str | None, recodings: Mapping[str, Mapping[str, str]]) -> dict[Path, bytes]:
    """What to write into a folder, a file for each column.

    `folder`: None where nothing is to be written. `recodings`: what became of the codes, by column. Raises
    UsageError if the folder does not exist, or nothing was recoded code by code. Raises DataError if a code
    or a name cannot be written so.
    """
    from linkrisk.datasets.errors import DataError
    from linkrisk.datasets.microdata.recoding_files import RecodingFile
    from linkrisk.solver.run.errors import UsageError

    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise UsageError(f"--write-recodings {folder}: there is no such folder; create it first")
    if not recodings:
        raise UsageError("--write-recodings: no column was recoded code by code; leave it out")
    found = {}
    for name, becomes in recodings.items():
        if "/" in name or "\0" in name:
            raise DataError(f"--write-recodings: a file cannot be named after {name!r}; rename the column")
        found[Path(folder) / f"{name}.grc"] = RecodingFile.of(name, becomes).text().encode("utf-8")
    return found
