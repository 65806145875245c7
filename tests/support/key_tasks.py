"""Tasks for measures of key variables, without any search; files that publications work through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.solver.measures.keys import KeyFile, column_codes
from linkrisk.solver.measures.task import RiskTask
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.worst_case.families import read_once


def task_of(original: pd.DataFrame, masked: pd.DataFrame, schema: Any = None, **options: Any) -> RiskTask:
    """What `risk` hands to measures, but for the worst cases."""
    first = read_once(original, masked, ProblemOptions(schema=schema, **options))
    nothing = cast("Any", None)
    return RiskTask(first, {}, schema_of(schema), nothing, Clock(None), nothing)


def schema(roles: Mapping[str, str], **scales: str) -> dict[str, Any]:
    """A schema by the role of each column; what is not given a scale is nominal."""
    return {
        "attributes": [
            {"name": name, "role": role, "scale": scales.get(name, "nominal")} for name, role in roles.items()
        ]
    }


def key_file(frame: pd.DataFrame) -> KeyFile:
    """All columns of a frame as keys."""
    return KeyFile(tuple(frame.columns), np.column_stack([column_codes(frame[name]) for name in frame]))


def practice_guide() -> pd.DataFrame:
    """The ten records of the IHSN's guide, its weights, and the health of its Table 4.3.

    Benschop, T., Machingauta, C., Welch, M.: Statistical Disclosure Control: A Practice Guide, Chapter 4.
    """
    rows = [
        ("Urban", "Female", "Secondary incomplete", "Employed", 180, "yes"),
        ("Urban", "Female", "Secondary incomplete", "Employed", 180, "yes"),
        ("Urban", "Female", "Primary incomplete", "Non-LF", 215, "yes"),
        ("Urban", "Male", "Secondary complete", "Employed", 76, "yes"),
        ("Rural", "Female", "Secondary complete", "Unemployed", 186, "yes"),
        ("Urban", "Male", "Secondary complete", "Employed", 76, "no"),
        ("Urban", "Female", "Primary complete", "Non-LF", 180, "no"),
        ("Urban", "Male", "Post-secondary", "Unemployed", 215, "yes"),
        ("Urban", "Female", "Secondary incomplete", "Non-LF", 186, "no"),
        ("Urban", "Female", "Secondary incomplete", "Non-LF", 76, "yes"),
    ]
    return pd.DataFrame(rows, columns=["residence", "gender", "education", "labor", "weight", "health"])


GUIDE_KEYS = ["residence", "gender", "education", "labor"]


# Records that tests of `suppress` share: people, and members of households


PEOPLE = """id,town,sex,trade
1,Urk,f,smith
2,Urk,f,nurse
3,Urk,f,nurse
4,Urk,m,smith
5,Urk,m,smith
6,Delft,f,smith
7,Delft,f,smith
8,Delft,m,nurse
"""
HOMES = pd.DataFrame(
    {
        "home": [1, 1, 2, 2, 3, 3, 4],
        "street": ["a", "a", "b", "b", "b", "b", "c"],
        "sex": ["f", "m", "f", "m", "f", "m", "f"],
        "age": [1, 2, 1, 2, 1, 2, 1],
    }
)
ASKED = ["suppress", "--input", "people.csv"]
