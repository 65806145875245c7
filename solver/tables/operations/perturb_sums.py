"""`perturb_sums`: a table of sums with noise by cell keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.record import version
from linkrisk.datasets.options.option import keywords, recorded_of
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.datasets.tables.tabulating import Tabulated
from linkrisk.formulations.tables.cell_key import cell_keys
from linkrisk.formulations.tables.magnitude_cells import SummedCells, perturbed_sums
from linkrisk.formulations.tables.magnitude_noise import Multiplier
from linkrisk.formulations.tables.units import MOST_DECIMALS, Grid
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.options.operations.tables.perturb_sums import PerturbSumsOptions
from linkrisk.solver.options.tabulating import Gaps, Negative, Rules, Summed, Trees, Weighted
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.figures import changed_figures, changes_by_share, codes_by
from linkrisk.solver.tables.operations.magnitude_designs import lines_of, noise_of
from linkrisk.solver.tables.operations.make import make_table, of_records
from linkrisk.solver.tables.operations.noisy import NoisyTable, name_of
from linkrisk.solver.tables.operations.perturb_counts import record_keys
from linkrisk.solver.tables.perturbation.count_changes import sum_changes


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedSums(NoisyTable):
    """A table of sums with noise; its cells also have the columns `respondents` and `sensitive`."""

    kind: ClassVar[str] = "perturbed-sums"
    house: ClassVar[tuple[str, ...]] = ("respondents", "sensitive", "cell_key", "noise", "perturbed")

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
    >>> from linkrisk import perturb_sums
    >>> how = {"noise": "most=10,variance=3", "share": 0.1}
    >>> perturb_sums("firms.csv", ["region"], response="turnover", **how)  # doctest: +SKIP
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
        "linkrisk": version(),
        "name": name_of(data),
        "relations": int(terms["relation"].max()) + 1,
        "records": int(key_of.size),
        "sensitive": int(sensitive.sum()),
        "response": asked.response,
        **of_records(made),
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
        "weight": asked.weight,
        "decimals": places,
        "decimals_of_sums": own,
        "largest_noise": float(np.abs(tables.every.noise).max()),
        "variance": float(tables.every.variance[-1]),
        "separation_point": multiplier.separation_point(tables.small),
        "keys": asked.record_key,
        "seed": None if asked.record_key is not None else asked.seed,
        "rules": [str(rule) for rule in asked.rules],
        "table": {
            **changed_figures(codes_by(cells, made.by), value, after),
            "changes": changes_by_share(value, after),
        },
        **recorded_of(asked),
    }
    return PerturbedSums(cells, key_of, lines_of(tables), off, details)


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
    """What the noise of each cell is in proportion to, shape (n, K)."""
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
    """Perturbed sums, by default on the grid of the sums: other digits would say how the noise was made."""
    if decimals is None and grid is not None:
        return grid.nearest(after)
    return np.asarray(np.round(after, MOST_DECIMALS if decimals is None else decimals) + 0.0)
