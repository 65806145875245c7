"""Blocking keys: which pairs are compared at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.coding import as_text, distinct_values
from linkrisk.solver.linkage.probabilistic.kernels import Blocks
from linkrisk.solver.run.errors import UsageError


def make_blocks(task: LinkageTask, keys: Sequence[str]) -> Blocks:
    """Candidates by their blocking keys; a missing key is equal to no other.

    Raises
    ------
    UsageError
        If a key is not a column of both files.
    """
    codes, members, sizes = [], [], [np.zeros(1, dtype=np.int64)]
    for key in keys:
        for frame, source in zip((task.queries, task.candidates), task.sources, strict=True):
            if key not in frame.columns:
                raise UsageError(f"blocking key {key!r} is not a column of {source}; both files need it")
        code, slot, slots = _key_codes(task.queries[key], task.candidates[key])
        codes.append(np.where(code >= 0, code + sum(map(len, sizes)) - 1, -1))
        order = np.argsort(slot, kind="stable")
        members.append(order[np.count_nonzero(slot < 0) :])
        sizes.append(np.bincount(slot[slot >= 0], minlength=slots))
    return Blocks(
        key=np.array(codes, dtype=np.int32).reshape(len(keys), len(task.queries)).T.copy(),
        first=np.cumsum(np.concatenate(sizes)).astype(np.int64),
        member=np.concatenate([*members, np.empty(0)]).astype(np.int32),
    )


def _key_codes(
    queries: pd.Series, candidates: pd.Series
) -> tuple[NDArray[np.integer], NDArray[np.integer], int]:
    """The place of each record's key among the keys of candidates, -1 for none, and how many these are."""
    numbers = all(pd.api.types.is_numeric_dtype(column) for column in (queries, candidates))
    left, right = (queries, candidates) if numbers else (as_text(queries), as_text(candidates))
    values, code = distinct_values(left)
    known, slot = distinct_values(right)
    place = np.searchsorted(known, values)
    met = place < np.searchsorted(known, values, side="right")
    return np.append(np.where(met, place, -1), -1)[code], slot, known.size
