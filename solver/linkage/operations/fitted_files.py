"""The files that parameters were learned from, for those who give none: named by the JSON of the fit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkrisk.datasets.pairs.table_pair import BY_ID, BY_ROW
from linkrisk.datasets.public.default_pair import default_pair
from linkrisk.errors import called
from linkrisk.solver.run.errors import UsageError


def fitted_files(fitted: Mapping[str, Any], source: str, folder: Path | None) -> tuple[str, str] | None:
    """Name the two files of a fit, as its command line does; None where that was the embedded pair.

    Parameters
    ----------
    fitted : mapping
        The JSON of the fit. Parameters alone, which name no files, may be of the embedded pair.
    source : str
        What to call it in messages.
    folder : Path or None
        Where the JSON is: names are looked up there, and then in the working folder.

    Raises
    ------
    UsageError
        If the fit was of other files, and these are not named or not there.
    """
    name = fitted.get("name")
    if not isinstance(name, str) or name == default_pair().name:
        return None
    named = _named(fitted.get("command"))
    if named is None:
        raise UsageError(f"{source} is of {name}, and does not say where these files are: {_give()}")
    return _found(named[0], source, folder), _found(named[1], source, folder)


def fitted_alignment(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """How the records of the fit were aligned, as options of a problem."""
    alignment = fitted.get("alignment")
    if alignment == BY_ROW:
        return {"row_by_row": True}
    if isinstance(alignment, str) and alignment.startswith(BY_ID):
        return {"id": alignment.removeprefix(BY_ID)}
    return {}


def check_same_records(fitted: Mapping[str, Any], records: int, candidates: int, source: str) -> None:
    """Refuse files that have other numbers of records than those of the fit; UsageError then."""
    for key, here in (("records", records), ("candidates", candidates)):
        told = fitted.get(key)
        if isinstance(told, int) and told != here:
            raise UsageError(
                f"{source} is of files with {told:,} {key}, and the files that it names have {here:,}: they "
                f"have changed; {_give()}"
            )


def changed(fitted: Mapping[str, Any], linked: NDArray[np.bool_]) -> tuple[str, ...]:
    """Say that files are no longer those of the fit, where other records are re-identified than it tells.

    Parameters
    ----------
    fitted : mapping
        The JSON of the fit, or of one family.
    linked : bool array (n,)
        Which records the same parameters re-identify, compared as then.
    """
    table = fitted.get("records_table")
    rows, ranks = (table.get(key) if isinstance(table, Mapping) else None for key in ("rows", "ranks"))
    told, records = fitted.get("linked"), linked.size
    if isinstance(ranks, list):  # of a large file records are not listed
        same = told == int(linked.sum()) or sum(ranks) < records
    else:
        then = [row[1] for row in rows] if isinstance(rows, list) else linked.tolist()
        told = sum(map(bool, then))
        # What was not counted then, for lack of time, may be either.
        same = len(then) == records and all(
            was is None or was == now for was, now in zip(then, linked.tolist(), strict=True)
        )
    if same:
        return ()
    return (
        "the files are not as they were when the parameters were learned: "
        f"{told:,} of {records:,} records were re-identified then; learn anew with fit",
    )


def _give() -> str:
    return f"give {called('original')} and {called('masked')}"


def _named(command: object) -> tuple[str, str] | None:
    """The two files of a command line; None where it does not name each once."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return None
    found = {
        option: [
            *(word for before, word in pairwise(words) if before == option),
            *(word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")),
        ]
        for option in ("--original", "--masked")
    }
    first, second = found.values()
    return (first[0], second[0]) if len(first) == len(second) == 1 else None


def _found(name: str, source: str, folder: Path | None) -> str:
    """Where a file is."""
    for place in (folder, Path()):
        if place is not None and (place / name).exists():
            return str(place / name)
    raise UsageError(f"{source} is of {name}, which is not there: {_give()}")
