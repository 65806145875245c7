"""Which value of a key each record has: equal numbers for equal values, in both files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linkrisk.arrays import LongArray
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.coding import as_text
from linkrisk.solver.linkage.probabilistic.passes.keys import Key, Pass
from linkrisk.solver.run.errors import UsageError


def joint_codes(first: pd.Series, second: pd.Series) -> tuple[LongArray, LongArray, NDArray[np.object_]]:
    """The distinct known values of two columns, and which of them each row has, -1 where missing.

    Numbers are compared as numbers where both columns hold them, else both as text.
    """
    if all(pd.api.types.is_numeric_dtype(column) for column in (first, second)):
        values = np.concatenate([column.to_numpy(np.float64, na_value=np.nan) for column in (first, second)])
    else:
        values = np.concatenate([_text(column) for column in (first, second)])
    code, distinct = pd.factorize(values)
    return code[: len(first)], code[len(first) :], np.asarray(distinct, dtype=object)


def _text(column: pd.Series) -> NDArray[np.object_]:
    """Values as text, None where missing; each distinct one is turned into text once."""
    code, distinct = pd.factorize(column)
    text = as_text(pd.Series(distinct)).to_numpy(dtype=object)
    found: NDArray[np.object_] = np.concatenate([text, [None]])[code]
    return found


def pass_codes(task: LinkageTask, one: Pass) -> tuple[LongArray, LongArray]:
    """A number for each record, equal where all keys of the pass agree; -1 where one has no value.

    Returns
    -------
    ndarray of int, shape (queries,)
    ndarray of int, shape (candidates,)

    Raises
    ------
    UsageError
        If a key is not a column of both files, or no record of one of them has a value of it.
    """
    queries = len(task.queries)
    together = np.zeros(queries + len(task.candidates), dtype=np.int64)
    known = np.ones(together.size, dtype=np.bool_)
    for key in one.keys:
        code = _checked_codes(task, key, one)
        known &= code >= 0
        # Numbered anew after each key, so that the product of two never overflows.
        together, _ = pd.factorize(together * (int(code.max()) + 1) + code)
    together[~known] = -1
    return together[:queries], together[queries:]


def key_codes(task: LinkageTask, key: Key) -> tuple[LongArray, LongArray]:
    """A number for each query and each candidate, equal where the key agrees; -1 where it has no value."""
    columns = [frame[key.column] for frame in (task.queries, task.candidates)]
    if key.plain:
        return joint_codes(columns[0], columns[1])[:2]
    code, distinct = pd.factorize(np.concatenate([_text(column) for column in columns]))
    code = np.append(_numbered([key.of(text) for text in distinct]), -1)[code]
    return code[: len(columns[0])], code[len(columns[0]) :]


def _checked_codes(task: LinkageTask, key: Key, one: Pass) -> LongArray:
    """The numbers of both files one after the other; UsageError where a key cannot be used."""
    for frame, source in zip((task.queries, task.candidates), task.sources, strict=True):
        if key.column not in frame.columns:
            raise UsageError(f"pass '{one}': {key.column!r} is not a column of {source}; both files need it")
    codes = key_codes(task, key)
    for code, source in zip(codes, task.sources, strict=True):
        if not (code >= 0).any():
            hint = "dates are read when written like 1975-12-31 or 19751231"
            fix = hint if key.function in ("year", "month", "day") else "use another key"
            raise UsageError(f"pass '{one}': no record of {source} has a value of {str(key)!r}; {fix}")
    return np.concatenate(codes)


def _numbered(texts: Sequence[str]) -> LongArray:
    """The same number for the same text, -1 for none."""
    code, _ = pd.factorize(np.array([text or None for text in texts], dtype=object))
    return code.astype(np.int64)
