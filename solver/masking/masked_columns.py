"""What became of the columns of a masked table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from linkrisk.datasets.masking.recoding import CategoricalMethod
from linkrisk.datasets.masking.sequence import Step
from linkrisk.datasets.microdata.column_descriptions import may_be_codes
from linkrisk.datasets.microdata.roles import CATEGORICAL, NAMES_RECORDS, Role
from linkrisk.datasets.microdata.schema import Attribute
from linkrisk.datasets.pairs.cells import cell_codes
from linkrisk.solver.inputs.source import Source


def columns_of(
    source: Source,
    written: pd.DataFrame,
    steps: Sequence[Step],
    kept: Mapping[str, str],
    dropped: Sequence[str],
) -> dict[str, Any]:
    """What became of every column: masked or as it is.

    Also which of the masked ones have not changed, and which others a method has left alone.
    """
    masked, frame = {name for step in steps for name in step.attributes}, source.plain
    left: dict[str, str] = {}
    if any(step.chosen for step in steps):
        schemas = [step.method.schema for step in steps if step.method.schema is not None]
        known = source.schema(schemas[0] if schemas else None).attributes
        left = {each.name: word for each in known if (word := _left_as(each, frame))} | dict(kept)
        left = {
            name: left[name] for name in frame.columns if name in left and name not in (*masked, *dropped)
        }
    lost = {name: int((written[name].isna() & frame[name].notna()).sum()) for name in frame.columns}
    return {
        "masked": tuple(name for name in frame.columns if name in masked),
        "unchanged": tuple(
            name
            for name in frame.columns
            if name in masked and cell_codes(frame[name], written[name]).in_place
        ),
        "as_is": tuple(name for name in frame.columns if name not in (*masked, *dropped)),
        "left_alone": left,
        "withheld": {name: count for name, count in lost.items() if count},
        "perhaps_codes": tuple(
            name
            for step in steps
            if step.chosen and not isinstance(step.method, CategoricalMethod)
            for name in step.attributes
            if may_be_codes(name, frame[name])
        ),
    }


_LEFT_AS = {**dict.fromkeys(NAMES_RECORDS, "id"), Role.WEIGHT: "weight", Role.STRATUM: "stratum"}
"""What columns are left alone as, by their roles."""


def _left_as(attribute: Attribute, frame: pd.DataFrame) -> str | None:
    """What a column is that methods leave alone; None where it is nothing special."""
    codes = attribute.scale in CATEGORICAL and pd.api.types.is_numeric_dtype(frame[attribute.name].dtype)
    if attribute.role is Role.IGNORED and frame[attribute.name].nunique(dropna=False) < 2:
        return "constant"
    return _LEFT_AS.get(attribute.role or Role.KEY) or ("categories" if codes else None)
