"""Key variables at every level of their hierarchies: as columns, as codes, and by what is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from linkrisk.arrays import LongArray
from linkrisk.datasets.masking.global_recoding import GlobalRecoding
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.formulations.suppression.recodings import Recodings
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True, eq=False)
class HierarchyLevels:
    """Columns of key variables by level.

    Attributes
    ----------
    columns : tuple of tuple of Series
        Of each key variable, as it is and at each level of its hierarchy.
    hierarchies : tuple of Hierarchy or None
        Of each key variable.
    """

    columns: tuple[tuple[pd.Series, ...], ...]
    hierarchies: tuple[Hierarchy | None, ...]

    @classmethod
    def of(
        cls,
        known: pd.DataFrame,
        names: Sequence[str],
        hierarchies: Sequence[Hierarchy],
        source: str,
        plain: pd.DataFrame | None = None,
    ) -> HierarchyLevels:
        """Recode the key variables that have a hierarchy; the others have one level.

        `plain` is the table without declared missing codes, which stay what they are at every level.

        Raises
        ------
        UsageError
            If a hierarchy is of no key variable, two are of one, or there is none.
        DataError
            If one lacks a value.
        """
        found = {hierarchy.attribute: hierarchy for hierarchy in hierarchies}
        for name in found:
            if name not in names:
                raise UsageError(f"hierarchies: {name!r} is no key variable; these are {', '.join(names)}")
        if len(found) < len(hierarchies):
            raise UsageError("hierarchies: a key variable has two; give one for each")
        if not found:
            raise UsageError(
                "the problem 'joint' chooses levels of hierarchies: give one of a key variable, or a "
                "schema that has some"
            )
        columns = []
        for name in names:
            levels = [known[name]]
            for level in range(1, len(found[name].levels) if name in found else 1):
                method = GlobalRecoding(hierarchy=(found[name],), level=level)
                recoded = method.apply((known if plain is None else plain)[[name]], source=source)[name]
                coded = recoded.isna() & known[name].notna()
                levels.append(recoded.astype("object").mask(coded, known[name]) if coded.any() else recoded)
            columns.append(tuple(levels))
        return cls(tuple(columns), tuple(found.get(name) for name in names))

    def recodings(self, table: KeyTable, cost: LongArray) -> Recodings:
        """The same as codes: a value that is taken out loses the cost of its variable, another a share."""
        groups, losses = [], []
        for at, (levels, hierarchy) in enumerate(zip(self.columns, self.hierarchies, strict=True)):
            codes = table.codes[:, at]
            there = np.flatnonzero(codes >= 0)
            values = int(codes.max(initial=-1)) + 1
            first = np.zeros(values, dtype=np.int64)
            first[codes[there]] = there  # a record of each value
            group = [np.arange(values, dtype=np.int32)]
            loss = [np.zeros(values, dtype=np.int64)]
            for level, column in enumerate(levels[1:], start=1):
                assert hierarchy is not None
                labels = column.iloc[first].astype(str)
                group.append(pd.factorize(labels)[0].astype(np.int32))
                leaves = Counter(hierarchy.levels[level])
                many = labels.map(dict(leaves)).fillna(1.0).to_numpy(np.float64)  # codes lose nothing
                lost = (many - 1) / max(leaves.total() - 1, 1)
                loss.append(np.rint(lost * float(cost[at])).astype(np.int64))
            groups.append(np.array(group))
            losses.append(np.array(loss))
        return Recodings(tuple(groups), tuple(losses), cost)

    def at(self, levels: Sequence[int]) -> tuple[pd.Series, ...]:
        """The columns at one level each."""
        return tuple(of_variable[level] for of_variable, level in zip(self.columns, levels, strict=True))

    def leaves(self, levels: Sequence[int]) -> tuple[Sequence[str] | None, ...]:
        """What the leaves of each hierarchy have become; None where a variable is as it was."""
        return tuple(
            None if hierarchy is None or not level else hierarchy.levels[level]
            for hierarchy, level in zip(self.hierarchies, levels, strict=True)
        )
