"""Parquet files of numbers alone, read in batches: memory holds the numbers and a part of one column.

Any other file is not read here, but as a whole (`arrow`), with the same result.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_ROWS = 1 << 16
_BYTES = 1 << 16
"""Of each column, read from the file at a time."""
_PLAIN_INDEX = {"kind": "range", "name": None, "start": 0, "step": 1}


def read_numbers(path: Path) -> pd.DataFrame | None:
    """The table of a file of numbers; None where it is none, has notes on its columns, or is damaged."""
    import pyarrow
    from pyarrow import parquet

    try:
        with path.open("rb") as source, parquet.ParquetFile(source, buffer_size=_BYTES) as file:
            kinds = _kinds(file.schema_arrow)
            if kinds is None or not file.metadata.num_rows:
                return None
            names, columns = file.schema_arrow.names, []
            for name, kind in zip(
                names, kinds, strict=True
            ):  # one after another: Arrow keeps what it has begun
                columns.append(np.empty(file.metadata.num_rows, kind))
                if not _filled(columns[-1], file.iter_batches(batch_size=_ROWS, columns=[name])):
                    return None
    except (pyarrow.ArrowException, OSError, ValueError):  # what is wrong is said where it is read as a whole
        return None
    return pd.DataFrame(dict(zip(names, columns, strict=True)), copy=False)


def _kinds(schema: Any) -> list[np.dtype[Any]] | None:
    """The types of columns of numbers, as numpy has them; None where that is not all there is to them."""
    from pyarrow import types

    names = schema.names
    if len(set(names)) != len(names) or not all(name.strip() and "." not in name for name in names):
        return None  # to Arrow, a point leads into a column
    kinds = []
    for field in schema:
        if not (types.is_integer(field.type) or types.is_float32(field.type) or types.is_float64(field.type)):
            return None
        kinds.append(np.dtype(field.type.to_pandas_dtype()))
    metadata = dict(schema.metadata or {})
    pandas = metadata.pop(b"pandas", None)
    plain = b"linkrisk" not in metadata and (pandas is None or _is_plain(json.loads(pandas), kinds))
    return kinds if plain else None


def _is_plain(told: dict[str, Any], kinds: list[np.dtype[Any]]) -> bool:
    """Whether pandas has noted rows that are numbered from 0, and columns of these types."""
    for index in told["index_columns"]:
        if not isinstance(index, dict) or {**index, **_PLAIN_INDEX} != index:
            return False
    for names in told["column_indexes"]:
        if names["name"] is not None or names["pandas_type"] != "unicode":
            return False
    return [column["numpy_type"] for column in told["columns"]] == [str(kind) for kind in kinds]


def _filled(column: NDArray[Any], batches: Any) -> bool:
    """Whether all batches have found their place: whole numbers with gaps have none."""
    done = 0
    for batch in batches:
        batch.validate(full=True)
        cells = batch.column(0)
        if cells.null_count and column.dtype.kind != "f":
            return False
        column[done : done + len(cells)] = cells.to_numpy(zero_copy_only=False)
        done += len(cells)
    return done == column.size
