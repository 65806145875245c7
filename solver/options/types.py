"""Types of options, and of what functions take besides; whoever only needs help does not import them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pandas as pd
from numpy.random import RandomState as RandomState
from numpy.typing import NDArray

from linkrisk.datasets.masking.base import MaskingMethod as MaskingMethod
from linkrisk.datasets.microdata.hierarchies import Hierarchy as Hierarchy
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.categorical import Masking as Masking
from linkrisk.solver.run.interruption import Cancel as Cancel
from linkrisk.solver.run.progress import Reporter as Reporter
from linkrisk.solver.suppression.problem import Tables as Tables
from linkrisk.solver.suppression.problem import Threshold as Threshold

if TYPE_CHECKING:
    from linkrisk.solver.engines.steering import Steering as Steering
    from linkrisk.solver.linkage.linker import Linker as Linker
else:
    Steering = Linker = Any  # their modules need compiled code


class ToPandas(Protocol):
    """A frame of another library, such as polars or pyarrow."""

    def to_pandas(self) -> Any:
        """The same table as a pandas frame."""
        ...


class Result(Protocol):
    """What a function has returned, or was written of it."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON as a dictionary."""
        ...


TableLike: TypeAlias = str | Path | pd.DataFrame | NDArray[Any] | ToPandas
"""A file of any format, a frame, or an array whose columns are the attributes V1, V2, ..."""

SchemaLike: TypeAlias = str | Path | Mapping[str, Any] | Schema
"""What the columns are (docs/schema.md): a file, a mapping as `Schema.from_dict` reads it, or a schema."""
