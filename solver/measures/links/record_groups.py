"""Risk by the categories of columns: strata, regions, sexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray
from linkrisk.datasets.microdata.names import code_in_words, group_in_words, names_in_words
from linkrisk.datasets.microdata.roles import NAMES_RECORDS, Role
from linkrisk.datasets.microdata.scales import CATEGORICAL
from linkrisk.formulations.linkage.pair import Direction
from linkrisk.solver.inputs.problem import shares
from linkrisk.solver.measures.task import RiskTask

MOST_CATEGORIES = 12
"""Of a column; of one with more, the most frequent and all others together."""

OTHERS = "all others"
MISSING = "missing"


@dataclass(frozen=True)
class Group:
    """The records of one category."""

    column: str
    category: str
    records: int
    # of these, by the worst of the learned attacks; more is worse. Where equal candidates are guessed among,
    # as many as are guessed right on average
    linked: int
    by_any: int  # by any of the attacks
    # what the records stand for: the sum of their sampling weights, their number without such
    population: float
    # linked of these; without sampling weights ``linked / records``. A count of this file, not an estimate:
    # it has no interval
    share: float
    title: str = ""  # column and category in words, where the file or a schema has labels; else empty
    said: str = ""

    @property
    def words(self) -> str:
        """Column and category, in words where there are any."""
        if not (self.title or self.said):
            return f"{self.column} {self.category}"
        return ": ".join(group_in_words(vars(self)))


def group_columns(task: RiskTask) -> tuple[str, ...]:
    """The columns to go by: those asked for, or what the schema calls key or stratum.

    Numeric keys are left out, unless they are asked for or have few values. Without a schema, texts
    and attributes that are compared as categories. Never what leads to persons.
    """
    original, schema, asked = task.files.original, task.schema, task.choices.groups
    if asked is not None:
        return asked
    if schema is None:
        texts = [str(name) for name in original.columns if not pd.api.types.is_numeric_dtype(original[name])]
        often = [name for name in texts if original[name].nunique() <= len(original) / 2]
        return tuple(dict.fromkeys([*task.files.categorical, *often]))
    found = list(task.columns(Role.STRATUM))
    for name in task.columns(Role.KEY):
        scales = {one.scale for one in schema.attributes if one.name == name}
        few = original[name].nunique() <= min(MOST_CATEGORIES, len(original) / 2)
        if few or scales & CATEGORICAL or not pd.api.types.is_numeric_dtype(original[name]):
            found.append(name)
    hidden = {name for role in NAMES_RECORDS for name in task.columns(role)}
    return tuple(name for name in dict.fromkeys(found) if name not in hidden)


def groups(task: RiskTask, columns: Sequence[str], linked: BoolArray, by_any: BoolArray) -> tuple[Group, ...]:
    """What is linked in each category of each column, the most frequent first.

    `columns`: of the original file. `linked` and `by_any` (blocks,).
    """
    pair, problem = task.first.pair, task.first
    original = Direction(problem.options.direction) is Direction.ORIGINAL_TO_MASKED
    weight = np.ones(pair.blocks) if problem.survey.weight is None else problem.survey.weight
    rows = pair.query_rows if original else pair.partner
    worth = shares(problem)
    found: list[Group] = []
    labels = task.files.labels
    titles = dict(zip(columns, names_in_words(columns, labels), strict=True))
    for name in columns:
        category = shown_categories(task.files.original[name].iloc[rows])
        for each in category.value_counts(sort=True).index:
            of = (category == each).to_numpy()
            right, right_by_any = (round(float(worth[of & way].sum())) for way in (linked, by_any))
            stands_for = float(weight[of].sum())
            share = float((weight * worth)[of & linked].sum()) / stands_for
            said = (titles[name], code_in_words(name, str(each), labels)) if name in labels else ("", "")
            counts = int(of.sum()), right, right_by_any
            found.append(Group(name, str(each), *counts, stands_for, share, *said))
    return tuple(found)


def shown_categories(values: pd.Series) -> pd.Series:
    """Categories as texts, with a name for what is missing and one for those that are rare."""
    missing = values.isna().to_numpy()
    numbers = pd.api.types.is_float_dtype(values) and bool((values[~missing] % 1 == 0).all())
    texts = (values[~missing].astype("int64") if numbers else values[~missing]).astype(str)
    counts = texts.value_counts()
    kept = set(counts.index if len(counts) <= MOST_CATEGORIES else counts.index[: MOST_CATEGORIES - 1])
    shown = np.full(len(values), MISSING, dtype=object)
    shown[~missing] = [text if text in kept else OTHERS for text in texts]
    return pd.Series(shown)
