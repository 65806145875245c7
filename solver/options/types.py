"""Types of options; a help text does without them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import pandas as pd
from numpy.random import RandomState as RandomState
from numpy.typing import NDArray

from linkrisk.datasets.microdata.hierarchies import Hierarchy as Hierarchy
from linkrisk.datasets.microdata.schema import Schema
from linkrisk.datasets.pairs.categorical import Masking as Masking
from linkrisk.solver.run.interruption import Cancel as Cancel
from linkrisk.solver.run.progress import Reporter as Reporter
from linkrisk.solver.run.result import Result as Result

if TYPE_CHECKING:
    from linkrisk.datasets.masking.base import MaskingMethod as MaskingMethod
    from linkrisk.datasets.tables.code_trees import Hierarchies as Hierarchies
    from linkrisk.datasets.tables.explanatory_variables import Incomplete as Incomplete
    from linkrisk.datasets.tables.stored_table import StoredTable as StoredTable
    from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign as MagnitudeDesign
    from linkrisk.formulations.tables.primary_rules import PrimaryRule as PrimaryRule
    from linkrisk.solver.engines.steering import Steering as Steering
    from linkrisk.solver.linkage.linker import Linker as Linker
    from linkrisk.solver.suppression.problem import Tables as Tables
    from linkrisk.solver.suppression.problem import Threshold as Threshold
else:  # few runs need their modules
    MaskingMethod = Hierarchies = Incomplete = StoredTable = MagnitudeDesign = PrimaryRule = Any
    Steering = Linker = Tables = Threshold = Any


class ToPandas(Protocol):
    """A frame of another library, such as polars or pyarrow."""

    def to_pandas(self) -> Any:
        """The same table as a pandas frame."""
        ...


TableLike: TypeAlias = str | Path | pd.DataFrame | NDArray[Any] | ToPandas
"""A file of any format, a frame, or an array whose columns are the attributes V1, V2, ..."""

FileOrResult: TypeAlias = TableLike | Result | Mapping[str, Any]
"""A file, or what `report` can be made of: a result, its JSON, or a file with that."""

SchemaLike: TypeAlias = str | Path | Mapping[str, Any] | Schema
"""What the columns are (docs/how-to/schema.md): a file, a mapping for `Schema.from_dict`, or a schema."""


@runtime_checkable
class Stored(Protocol):
    """What can be used as a table, such as one made of microdata."""

    def stored(self) -> StoredTable:
        """It as cells and relations."""
        ...


Frame: TypeAlias = str | Path | pd.DataFrame | ToPandas
"""A file of any format, or a frame of any library."""

TableSource: TypeAlias = Frame | StoredTable | Stored
"""A table: its cells, or all of it."""

File: TypeAlias = str | Path | pd.DataFrame
"""A file of any format, or a frame, of what is said about a table."""

Rule: TypeAlias = str | PrimaryRule
"""By which cells are sensitive."""

GivenNoise: TypeAlias = str | Path | pd.DataFrame | MagnitudeDesign
"""A perturbation table, or words that say what it is like."""
