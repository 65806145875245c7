"""Figures of a protected table for its JSON: codes, loss, changes, and intervals of attackers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.arrays import BoolArray, FloatArray, LongArray
from linkrisk.datasets.microdata.values import in_natural_order, spelled
from linkrisk.datasets.tables.code_trees import Codes
from linkrisk.datasets.tables.stored_table import SECONDARY, SENSITIVE, STATUS, STATUSES, StoredTable
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.solver.tables.attackers.audit import Audit

MOST_CELLS = 10_000
"""Cells up to which the JSON lists all of them; for larger tables it lists suppressed cells only."""


def suppression_figures(
    stored: StoredTable, status: Any, table: CellTable, suppressed: BoolArray, found: Audit
) -> dict[str, Any]:
    """Return ``variables``, and ``statuses``: cells and the sum of their sizes by `status`.

    ``loss`` is the same by variable and code; ``intervals`` has columns of the suppressed cells; ``all`` has
    codes, values and statuses of all cells, or is None where they are more than `MOST_CELLS`; ``labels``,
    where there are any.
    """
    codes, at = codes_by(stored.cells, stored.by, stored.trees), found.cells
    status, size = pd.Series(status, dtype=str), np.abs(table.value)
    counted = {"cells": 1, "sensitive": status == SENSITIVE, "secondary": status == SECONDARY}
    sizes = pd.DataFrame({**counted, "value": size, "lost": np.where(suppressed, size, 0.0)})
    return {
        **labelled(stored),
        "variables": list(codes),
        "statuses": _by_status(status, size),
        "loss": {name: _by_code(sizes, column) for name, column in codes.items()},
        "intervals": {
            "cell": at.tolist(),
            "codes": [column.iloc[at].tolist() for column in codes.values()],
            "status": status.iloc[at].tolist(),
            "value": table.value[at].tolist(),
            "low": found.low.tolist(),
            "high": found.high.tolist(),
            "lower_level": table.lower_level[at].tolist(),
            "upper_level": table.upper_level[at].tolist(),
            "sliding_level": table.sliding_level[at].tolist(),
            "short": found.short.tolist(),
            "exact": found.exact.tolist(),
            "audited": found.audited.tolist(),
            "undecided": found.undecided.tolist(),
        },
        "all": all_cells(codes, {"value": table.value, STATUS: status}),
    }


def labelled(stored: StoredTable) -> dict[str, Any]:
    """Return the labels of columns and codes, where known."""
    return {"labels": stored.labels} if stored.labels else {}


def ruled(stored: StoredTable) -> dict[str, Any]:
    """Return the primary rules, where known; for internal use."""
    return {"rules": list(stored.rules)} if stored.rules else {}


def all_cells(codes: Mapping[str, pd.Series[Any]], columns: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return codes and these columns of all cells; None for large tables."""
    found = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if len(found["value"]) > MOST_CELLS:
        return None
    return {"codes": [column.tolist() for column in codes.values()], **found}


def codes_by(
    cells: pd.DataFrame, by: Sequence[str], trees: Sequence[Codes] = ()
) -> dict[str, pd.Series[Any]]:
    """Return codes by variable, as in messages; empty where a cell of linked tables has none.

    Categories are in the order of the cells, as on pages. If this is only alphabetical, and the trees show no
    hierarchy, they are sorted naturally: c1, c2, c10.
    """
    flat = {tree.variable: tree.codes[0] for tree in trees if len(tree.inner) <= 1}
    return {str(name): _spelled(cells[name], flat.get(name)) for name in by}


def _spelled(column: pd.Series[Any], total: str | None) -> pd.Series[Any]:
    place, known = pd.factorize(column)  # few codes stand in many cells; -1 where there is none
    texts = np.array([*(spelled(one) for one in known), ""], dtype=object)
    found: list[str] = list(dict.fromkeys(texts[place]))
    order = found if total is None else _naturally(found, total)
    return pd.Series(pd.Categorical(texts[place], categories=order), index=column.index)


def _naturally(found: list[str], total: str) -> list[str]:
    """Sort alphabetical codes in natural order, with the total in place; others stay."""
    others = [code for code in found if code != total]
    if others != sorted(others):
        return found
    following = iter(in_natural_order(others))
    return [code if code == total else next(following) for code in found]


def _by_status(status: pd.Series[Any], size: FloatArray) -> dict[str, dict[str, Any]]:
    return {
        name: {"cells": int((status == name).sum()), "value": float(size[(status == name).to_numpy()].sum())}
        for name in STATUSES
    }


def _by_code(sizes: pd.DataFrame, codes: pd.Series[Any]) -> list[dict[str, Any]]:
    """Sum the columns over the cells of each code."""
    by = sizes.groupby(codes.array, observed=True).sum()
    by.insert(0, "code", [str(code) for code in by.index])
    lines: list[dict[Any, Any]] = by.to_dict("records")
    return lines


def rounding_figures(stored: StoredTable, rounded: LongArray) -> dict[str, Any]:
    """Return `changed_figures`, and ``changes``: how many cells changed by how much."""
    change = np.round(rounded - stored.numbers["value"], 9)
    amounts, many = np.unique(change, return_counts=True)
    changes = [[float(by), int(often)] for by, often in zip(amounts, many, strict=True)]
    codes = codes_by(stored.cells, stored.by, stored.trees)
    figures = changed_figures(codes, stored.numbers["value"], rounded.astype(np.float64))
    return {**labelled(stored), **figures, "changes": changes}


def adjustment_figures(stored: StoredTable, table: CellTable, adjusted: FloatArray) -> dict[str, Any]:
    """Return `changed_figures`, `changes_by_share`, and ``sensitive``: columns of the sensitive cells."""
    at = np.flatnonzero(table.primary)
    codes = codes_by(stored.cells, stored.by, stored.trees)
    return {
        **labelled(stored),
        **changed_figures(codes, table.value, adjusted),
        "changes": changes_by_share(table.value, adjusted),
        "sensitive": {
            "cell": at.tolist(),
            "codes": [column.iloc[at].tolist() for column in codes.values()],
            "value": table.value[at].tolist(),
            "became": adjusted[at].tolist(),
            "lower_level": table.lower_level[at].tolist(),
            "upper_level": table.upper_level[at].tolist(),
        },
    }


SHARES = (0.0, 0.01, 0.05, 0.1, 0.5)
"""Classes of changes, by their largest share of the value."""


def changes_by_share(value: FloatArray, became: FloatArray) -> list[list[Any]]:
    """Count cells that changed by up to a share of their value; None where it is more than all."""
    change, size = np.abs(became - value), np.abs(value)
    share = np.divide(change, size, out=np.where(change > 0, np.inf, 0.0), where=size > 0)
    place = np.searchsorted(np.array(SHARES), share, side="left")
    return [
        [float(end) if at < len(SHARES) else None, int((place == at).sum())]
        for at, end in enumerate((*SHARES, np.inf))
    ]


def changed_figures(
    codes: Mapping[str, pd.Series[Any]], value: FloatArray, became: FloatArray
) -> dict[str, Any]:
    """Return variables; sizes and changes by variable and code; codes, values and new values of all cells."""
    change = np.round(became - value, 9)
    sizes = pd.DataFrame(
        {"cells": 1, "changed": change != 0, "change": np.abs(change), "value": np.abs(value)}
    )
    return {
        "variables": list(codes),
        "loss": {name: _by_code(sizes, column) for name, column in codes.items()},
        "all": all_cells(codes, {"value": value, "became": became}),
    }


_QUANTILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def count_changes(before: LongArray, after: LongArray) -> dict[str, Any]:
    """Summarise distances of counts before and after: absolute, relative, and between square roots.

    The three distances and their quantiles are those of `ck_cnt_measures` of the R package `cellKey`; counts
    that became 0 are `false_zeros`, those that are not 0 any more `false_positives`.
    """
    moved = np.abs(after - before).astype(np.float64)
    relative = moved / np.maximum(before, 1)  # a count of 0 stays
    roots = np.abs(np.sqrt(after.astype(np.float64)) - np.sqrt(before.astype(np.float64)))
    return {
        "absolute": _summary(moved),
        "relative": _summary(relative),
        "roots": _summary(roots),
        "false_zeros": int(((after == 0) & (before != 0)).sum()),
        "false_positives": int(((after != 0) & (before == 0)).sum()),
    }


def sum_changes(before: FloatArray, after: FloatArray) -> dict[str, Any]:
    """Summarise distances of sums before and after: absolute, and relative (without sums of 0)."""
    moved, known = np.abs(after - before), before != 0
    relative = moved[known] / np.abs(before[known]) if known.any() else np.zeros(1)
    return {"absolute": _summary(moved), "relative": _summary(relative)}


def _summary(distance: FloatArray) -> dict[str, float]:
    found = {f"q{round(100 * one)}": float(np.quantile(distance, one)) for one in _QUANTILES}
    return {
        "min": float(distance.min()),
        **found,
        "mean": float(distance.mean()),
        "max": float(distance.max()),
    }
