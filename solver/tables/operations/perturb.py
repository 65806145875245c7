"""Functions `perturb_counts` and `perturb_sums`: tables with noise by the cell-key method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.writing import write_all
from linkrisk.datasets.options.option import keywords, recorded_of
from linkrisk.datasets.tables.sdmx_csv import in_dataflow
from linkrisk.datasets.tables.stored_table import SAFE, SENSITIVE, StoredTable, numbers_of, refuse_rows
from linkrisk.datasets.tables.tabulating import Tabulated
from linkrisk.datasets.tables.writing import published_files
from linkrisk.formulations.tables.cell_key import PerturbationTable, cell_keys
from linkrisk.formulations.tables.magnitude_cells import SummedCells, perturbed_sums
from linkrisk.formulations.tables.magnitude_noise import Multiplier
from linkrisk.formulations.tables.units import MOST_DECIMALS, Grid
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.options.table_noise import PerturbCountsOptions, PerturbSumsOptions
from linkrisk.solver.options.tables import Gaps, Negative, Rules, Summed, Trees, Weighted
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.figures import (
    changed_figures,
    changes_by_share,
    codes_by,
    count_changes,
    sum_changes,
)
from linkrisk.solver.tables.operations.make import MadeTable, make_table
from linkrisk.solver.tables.operations.noise_designs import (
    lines_of_counts,
    lines_of_sums,
    noise_of,
    table_of_counts,
)
from linkrisk.solver.tables.operations.result import ProtectedTable


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NoisyTable(ProtectedTable):
    """Table with noise that is the same wherever the same records are in a cell.

    Attributes
    ----------
    cells : DataFrame
        A line for each cell: its codes, `value`, `cell_key`, `noise`, `perturbed`, and what else a kind has.
    record_keys : ndarray of float64, shape (r,)
        Of the records, in their order. Whoever has them can take the noise out again.
    design : DataFrame
        The perturbation tables, with the columns of package ptable: `i` (value), `j` (perturbed value), `p`,
        `v` (noise), and the interval of cell keys `p_int_lb` to `p_int_ub`.
    not_adding_up : int
        How many relations do not add up any more.
    details : dict
        Everything else of the JSON.
    table : StoredTable
        As it was made, before the noise.
    """

    record_keys: FloatArray
    design: pd.DataFrame
    not_adding_up: int
    table: StoredTable = field(repr=False)

    @abstractmethod
    def _changes(self) -> dict[str, Any]:
        """Differences between values before and after."""

    @property
    def changed(self) -> int:
        """Number of cells with noise other than 0."""
        return int(np.count_nonzero(self.cells["value"] != self.cells["perturbed"]))

    @property
    def published_column(self) -> str:
        """The column whose values are published."""
        return "perturbed"

    def content(self) -> dict[str, Any]:
        """The JSON of the command as a dictionary."""
        return {
            "cells": len(self.cells),
            "changed": self.changed,
            "not_adding_up": self.not_adding_up,
            "changes": self._changes(),
            **self.details,
        }

    def write(self, output: str | Path, *, dataflow: str | None = None) -> None:
        """Write the publishable part: codes and perturbed values."""
        frame = self.table.codes.assign(value=self.cells[self.published_column])
        numbers = {"value": frame["value"].to_numpy(dtype=np.float64)}
        # Which zeros are those of empty cells nobody is told: all are published alike.
        status = np.full(len(frame), SAFE)
        made = replace(in_dataflow(self.table, dataflow), cells=frame, numbers=numbers, status=status)
        nothing = np.zeros(len(frame), dtype=np.bool_)
        write_all(published_files(made, nothing, output, status=False))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({len(self.cells)} cells, {self.not_adding_up} relations do not add up)"


def _details(asked: PerturbCountsOptions | PerturbSumsOptions, made: MadeTable) -> dict[str, Any]:
    """Return the common part of the JSON."""
    return {
        "linkrisk": version(),
        "name": str(asked.data) if isinstance(asked.data, str | Path) else "microdata",
        "relations": made.sizes()["relations"],
        "records": int(made.tabulated.amount.size),
        **made.of_records(),
        "weight": asked.weight,
        "keys": asked.record_key,
        "seed": None if asked.record_key is not None else asked.seed,
        **recorded_of(asked),
    }


_MOST_EQUAL = 0.25
"""Largest share of records with equal keys: drawn keys nearly all differ."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PerturbedCounts(NoisyTable):
    """Table of counts with noise; with weights also the columns `weighted` and `perturbed_weighted`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> noisy = linkrisk.perturb_counts(people, ["town", "trade"], most=2, variance=1.0, seed=7)
    >>> len(noisy.record_keys), noisy.not_adding_up >= 0
    (8, True)
    """

    kind: ClassVar[str] = "perturbed-counts"

    def _changes(self) -> dict[str, Any]:
        before, after = (self.cells[name].to_numpy(dtype=np.int64) for name in ("value", "perturbed"))
        return count_changes(before, after)

    @property
    def published_column(self) -> str:
        """Weighted counts where there are weights."""
        return "perturbed_weighted" if "perturbed_weighted" in self.cells.columns else "perturbed"


@taking(PerturbCountsOptions)
def perturb_counts(asked: PerturbCountsOptions) -> PerturbedCounts:
    """Count records by some variables, with noise that is the same wherever the same records are counted.

    The cell-key method: each record has a key, a cell the fractional part of the sum of its records' keys,
    and count and key say in a perturbation table which noise is added. Cells do not add up any more.

    Parameters
    ----------
    {options}

    Returns
    -------
    PerturbedCounts

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the data cannot be used.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> noisy = linkrisk.perturb_counts(people, ["town", "trade"], most=2, variance=1.0, seed=7)
    >>> sorted(noisy.cells.columns)
    ['cell_key', 'noise', 'perturbed', 'town', 'trade', 'value']
    """
    table, weight = table_of_counts(asked), asked.weight
    how = keywords(Trees, asked) | keywords(Weighted, asked) | keywords(Gaps, asked)
    made = make_table(asked.data, asked.by, **how)
    key_of = record_keys(asked.data, asked.record_key, asked.seed, made.tabulated.contributor.size)
    count = made.tabulated.respondents
    of_cell = cell_keys(key_of, made.tabulated.cell, made.tabulated.record, count.size)
    noise = table.look_up(count, of_cell)
    cells = made.tabulated.codes().assign(value=count, cell_key=of_cell, noise=noise, perturbed=count + noise)
    if weight is not None:
        weighted = made.tabulated.total
        mean = np.divide(weighted, count, out=np.zeros(count.size), where=count > 0)
        grid = Grid.of(weighted)  # more decimals would reveal which counts have no noise, and the others
        after = np.asarray((count + noise) * mean, dtype=np.float64)
        cells = cells.assign(
            weighted=weighted, perturbed_weighted=after if grid is None else grid.nearest(after)
        )
    terms = made.relations
    moved = noise[terms["cell"]] * terms["coefficient"]
    off = int((np.bincount(terms["relation"], moved) != 0).sum())
    lines = lines_of_counts(table)
    details = {
        "protection": "counts",
        **_details(asked, made),
        "largest_noise": table.most,
        "variance": float(table.variance[-1]),
        "variances": table.variance.tolist(),
        "small": asked.small,
        "design": lines.to_dict("list"),
        "table": _figures(cells, made.by, table),
    }
    return PerturbedCounts(
        cells=cells, record_keys=key_of, design=lines, not_adding_up=off, details=details, table=made.stored()
    )


def _figures(cells: pd.DataFrame, by: Sequence[str], table: PerturbationTable) -> dict[str, Any]:
    """Return the cells, and ``changes``: each noise, how many cells have it, and its expected share."""
    before, after = ("weighted", "perturbed_weighted") if "weighted" in cells else ("value", "perturbed")
    value, became = (cells[name].to_numpy(dtype=np.float64) for name in (before, after))
    rows = np.minimum(cells["value"].to_numpy(dtype=np.int64), len(table.probability) - 1)
    expected, noise = table.probability[rows].mean(axis=0), cells["noise"].to_numpy()
    changes = [
        [int(one), int((noise == one).sum()), float(share)]
        for one, share in zip(table.noise, expected, strict=True)
        if share > 0
    ]
    return {**changed_figures(codes_by(cells, by), value, became), "changes": changes}


def record_keys(data: TableLike, keys: str | None, seed: int, records: int) -> FloatArray:
    """Return the keys of records: a column, or drawn, shape (r,)."""
    if keys is None:
        return np.random.default_rng(seed).random(records)
    source = read_source(data, (), None, [])
    check_known([keys], list(source.known.columns), source.name, what="record key")
    found = numbers_of(source.known, [keys], source.name)[:, 0]
    name = f"{source.name}, column {keys!r}"
    refuse_rows(
        ~((found >= 0) & (found < 1)),
        name,
        lambda row: f"{found[row]:g} is no record key; they are from 0 to less than 1",
    )
    _refuse_equal(found, name)
    return found


def _refuse_equal(keys: FloatArray, name: str) -> None:
    """Refuse keys of which many are equal, as in a column of flags: so is their noise."""
    each, often = np.unique(keys, return_counts=True)
    most = int(often.max(initial=0))
    if most > max(1.0, _MOST_EQUAL * keys.size):
        raise DataError(
            f"{name}: {most:,} of {keys.size:,} records have the key {each[np.argmax(often)]:g}; record keys "
            "are drawn at random for each record, so that their noise differs; give another column, or none"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PerturbedSums(NoisyTable):
    """Table of sums with noise, whose cells also have the columns `respondents` and `sensitive`.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> design = linkrisk.tables.MagnitudeDesign(most=2, variance=1.0)
    >>> noisy = linkrisk.perturb_sums(firms, ["region"], response="sales", noise=design, share=0.1, seed=7)
    >>> len(noisy.cells), len(noisy.record_keys)
    (3, 8)
    """

    kind: ClassVar[str] = "perturbed-sums"

    def _changes(self) -> dict[str, Any]:
        before, after = (self.cells[name].to_numpy(dtype=np.float64) for name in ("value", "perturbed"))
        return sum_changes(before, after)


@taking(PerturbSumsOptions)
def perturb_sums(asked: PerturbSumsOptions) -> PerturbedSums:
    """Sum a variable, with noise that is the same wherever the same records are summed.

    The cell-key method of magnitude tables: noise in proportion to the largest contributions of a cell,
    drawn by its key. Cells do not add up any more.

    Parameters
    ----------
    {options}

    Returns
    -------
    PerturbedSums

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the data cannot be used.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> design = linkrisk.tables.MagnitudeDesign(most=2, variance=1.0)
    >>> noisy = linkrisk.perturb_sums(firms, ["region"], response="sales", noise=design, share=0.1, seed=7)
    >>> noisy.cells.columns.tolist()
    ['region', 'value', 'respondents', 'sensitive', 'cell_key', 'noise', 'perturbed']
    """
    data, share, least, factors = asked.data, asked.share, asked.least, asked.factors
    multiplier = Multiplier(share, least, asked.flex_point, asked.power, tuple(factors))
    _check(asked)
    tables = noise_of(asked.noise, asked.odd, asked.small)
    if tables.odd is not None and len(factors) > 1:
        raise UsageError("noise of its own for odd numbers of records takes one factor only")
    groups = (Summed, Rules, Trees, Weighted, Negative, Gaps)
    how = {name: value for group in groups for name, value in keywords(group, asked).items()}
    made = make_table(data, asked.by, **how)
    table, sensitive = made.tabulated, (made.cells["status"] == SENSITIVE).to_numpy()
    key_of = record_keys(data, asked.record_key, asked.seed, table.amount.size)
    counted = np.ones(table.cell.size, dtype=np.bool_) if asked.zeros else table.amount[table.record] != 0
    of_cell = cell_keys(key_of, table.cell[counted], table.record[counted], table.total.size)
    summed = SummedCells(
        table.total,
        _scaling(table, asked.scale, len(factors), _weights(data, asked.weight, table)),
        of_cell,
        table.respondents % 2,
        np.where(sensitive, asked.extra, 0.0),
    )
    after = perturbed_sums(summed, multiplier, tables, same_key=asked.same_key, digits=asked.turn_digits)
    grid = Grid.of(table.total)
    own = MOST_DECIMALS if grid is None else grid.decimals
    after, places = _rounded(after, grid, asked.decimals), own if asked.decimals is None else asked.decimals
    cells = table.codes().assign(
        value=table.total,
        respondents=table.respondents,
        sensitive=sensitive,
        cell_key=of_cell,
        noise=after - table.total,
        perturbed=after,
    )
    terms = made.relations
    sums = np.bincount(terms["relation"], after[terms["cell"]] * terms["coefficient"])
    off = int((np.abs(sums) > 0.5 * 10.0**-places).sum())
    value = np.asarray(table.total, dtype=np.float64)
    details = {
        "protection": "sums",
        **_details(asked, made),
        "sensitive": int(sensitive.sum()),
        "response": asked.response,
        "scale": asked.scale,
        "share": share,
        "least": least,
        "flex_point": asked.flex_point,
        "power": asked.power,
        "factors": list(factors),
        "extra": asked.extra,
        "same_key": asked.same_key,
        "digits": asked.turn_digits,
        "zeros": asked.zeros,
        "decimals": places,
        "decimals_of_sums": own,
        "largest_noise": float(np.abs(tables.every.noise).max()),
        "variance": float(tables.every.variance[-1]),
        "separation_point": multiplier.separation_point(tables.small),
        "rules": [str(rule) for rule in asked.rules],
        "table": {
            **changed_figures(codes_by(cells, made.by), value, after),
            "changes": changes_by_share(value, after),
        },
    }
    return PerturbedSums(
        cells=cells,
        record_keys=key_of,
        design=lines_of_sums(tables),
        not_adding_up=off,
        details=details,
        table=made.stored(),
    )


def _check(asked: PerturbSumsOptions) -> None:
    scale, factors, extra, decimals = asked.scale, asked.factors, asked.extra, asked.decimals
    if scale != "largest" and len(factors) > 1:
        raise UsageError(f"factors are of the largest contributions; the {scale} of a cell has one")
    if not 0 <= extra < np.inf:
        raise UsageError(f"extra noise is not negative, not {extra:g}")
    if extra > 0 and not asked.rules:
        raise UsageError("extra noise is of sensitive cells; give a rule that says which are")
    if decimals is not None and not 0 <= decimals <= MOST_DECIMALS:
        raise UsageError(f"sums are rounded to 0 to {MOST_DECIMALS} decimals, not {decimals}")


def _weights(data: TableLike, weight: str | None, table: Tabulated) -> FloatArray:
    if weight is None:
        return np.ones(table.amount.size)
    source = read_source(data, (), None, [])
    return np.asarray(numbers_of(source.known, [weight], source.name)[:, 0])


def _scaling(table: Tabulated, scale: str, width: int, weight: FloatArray) -> FloatArray:
    """Return the scale of the noise of each cell, shape (n, K)."""
    cells = table.total.size
    cell, amount, mine = table.cell, table.amount[table.record], weight[table.record]
    if scale == "largest":
        order = np.lexsort((-mine, -np.abs(amount), cell))
        rank = np.arange(cell.size) - np.searchsorted(cell[order], cell[order])
        found, kept = np.zeros((cells, width)), rank < width
        found[cell[order][kept], rank[kept]] = (amount * mine)[order][kept]
        return found
    if scale == "mean":
        by = np.bincount(cell, mine, cells)
        return np.divide(table.total, by, out=np.zeros(cells), where=by > 0)[:, None]
    if scale == "range":
        high, low = np.full(cells, -np.inf), np.full(cells, np.inf)
        np.maximum.at(high, cell, amount)
        np.minimum.at(low, cell, amount)
        return np.where(table.respondents > 0, high - low, 0.0)[:, None]
    return table.total[:, None].astype(np.float64)


def _rounded(after: FloatArray, grid: Grid | None, decimals: int | None) -> FloatArray:
    """Round perturbed sums, by default to the grid of the sums: other digits would reveal the noise."""
    if decimals is None and grid is not None:
        return grid.nearest(after)
    return np.asarray(np.round(after, MOST_DECIMALS if decimals is None else decimals) + 0.0)
