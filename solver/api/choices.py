"""Types of the arguments of `fit` and the other functions: tables, and fixed names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import pandas as pd
from numpy.typing import NDArray

from linkrisk.datasets.microdata.schema import Schema


class ToPandas(Protocol):
    """A frame of another library, such as polars or pyarrow."""

    def to_pandas(self) -> Any:
        """The same table as a pandas frame."""
        ...


TableLike: TypeAlias = str | Path | pd.DataFrame | NDArray[Any] | ToPandas
"""A file of any format, a frame, or an array whose columns are the attributes V1, V2, ..."""

SchemaLike: TypeAlias = str | Path | Mapping[str, Any] | Schema
"""What the columns are (docs/schema.md): a file, a mapping as `Schema.from_dict` reads it, or a schema."""

DirectionName = Literal["original-to-masked", "masked-to-original"]
TiesName = Literal["strict", "share"]
StandardisationName = Literal["own", "original", "pooled", "none"]
DifferencesName = Literal["squared", "absolute", "signed"]
MissingName = Literal["nearest", "expected", "farthest"]
EngineName = Literal["exact", "milp"]
MatchingName = Literal["hungarian", "greedy"]
