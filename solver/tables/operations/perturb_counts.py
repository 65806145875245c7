"""`perturb_counts`: a table of counts with noise by cell keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.record import version
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.options.option import keywords, recorded_of
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.formulations.tables.cell_key import NoiseDesign, PerturbationTable, cell_keys
from linkrisk.formulations.tables.units import Grid
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.options.operations.tables.perturb_counts import PerturbCountsOptions
from linkrisk.solver.options.tabulating import Gaps, Trees, Weighted
from linkrisk.solver.options.taking import taking
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.figures import changed_figures, codes_by
from linkrisk.solver.tables.operations.make import make_table, of_records
from linkrisk.solver.tables.operations.noisy import NoisyTable, name_of
from linkrisk.solver.tables.perturbation.count_changes import count_changes
from linkrisk.solver.tables.perturbation.noise_design import perturbation_table

_MOST_EQUAL = 0.25
"""Share of the records that may have the same key: keys are drawn, and nearly all differ."""


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedCounts(NoisyTable):
    """A table of counts with noise; with weights also the columns `weighted` and `perturbed_weighted`."""

    kind: ClassVar[str] = "perturbed-counts"
    house: ClassVar[tuple[str, ...]] = ("cell_key", "noise", "perturbed", "weighted", "perturbed_weighted")

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
    >>> from linkrisk import perturb_counts
    >>> perturb_counts("persons.csv", ["region", "sex"], most=2, variance=1.0)  # doctest: +SKIP
    """
    table, weight = _design(asked), asked.weight
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
        grid = Grid.of(weighted)  # decimals beyond it would say which counts have no noise, and the others
        after = np.asarray((count + noise) * mean, dtype=np.float64)
        cells = cells.assign(
            weighted=weighted, perturbed_weighted=after if grid is None else grid.nearest(after)
        )
    terms = made.relations
    moved = noise[terms["cell"]] * terms["coefficient"]
    off = int((np.bincount(terms["relation"], moved) != 0).sum())
    lines = _lines(table)
    details = {
        "protection": "counts",
        "linkrisk": version(),
        "name": name_of(asked.data),
        "relations": int(terms["relation"].max()) + 1,
        "records": int(key_of.size),
        "largest_noise": table.most,
        "variance": float(table.variance[-1]),
        "variances": table.variance.tolist(),
        "small": asked.small,
        "weight": weight,
        "keys": asked.record_key,
        "seed": None if asked.record_key is not None else asked.seed,
        "design": lines.to_dict("list"),
        **of_records(made),
        "table": _figures(cells, made.by, table),
        **recorded_of(asked),
    }
    return PerturbedCounts(cells, key_of, lines, off, details)


def _figures(cells: pd.DataFrame, by: Sequence[str], table: PerturbationTable) -> dict[str, Any]:
    """The cells, and ``changes``: each noise, how many cells have it, and which share was to be expected."""
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


def _design(asked: PerturbCountsOptions) -> PerturbationTable:
    most, variance, small, stay = asked.most, asked.variance, asked.small, asked.stay
    if asked.design is None:
        if most is None or variance is None:
            raise UsageError("say what the noise is like: its largest value and its variance, or a design")
        return perturbation_table(NoiseDesign(most, variance, small, stay, asked.monotone))
    if most is not None or variance is not None or small or stay is not None:
        raise UsageError("the design says what the noise is like; leave out what else does")
    table = load_table(asked.design, "the design")
    name = table.source
    check_known(["i", "v", "p"], table.columns, name, what="column")
    count, noise, p = numbers_of(table.frame, ["i", "v", "p"], name).T
    if (count != np.floor(count)).any() or (noise != np.floor(noise)).any() or (count < 0).any():
        raise DataError(f"{name}: counts i and noise v must be whole numbers, i not negative")
    largest = int(np.abs(noise).max())
    rows = np.zeros((int(count.max()) + 1, 2 * largest + 1))
    rows[count.astype(np.int64), noise.astype(np.int64) + largest] = p
    return PerturbationTable(rows)


def _lines(table: PerturbationTable) -> pd.DataFrame:
    """The perturbation table as package ptable shows it."""
    low, high = table.intervals()
    count, place = np.nonzero(table.probability > 0)
    noise = table.noise[place]
    return pd.DataFrame(
        {
            "i": count,
            "j": count + noise,
            "p": table.probability[count, place],
            "v": noise,
            "p_int_lb": low[count, place],
            "p_int_ub": high[count, place],
        }
    )


def record_keys(data: TableLike, keys: str | None, seed: int, records: int) -> FloatArray:
    """The keys of records: a column, or drawn, shape (r,).

    Raises
    ------
    DataError
        If there is no such column, one is none, or many records have the same one.
    """
    if keys is None:
        return np.random.default_rng(seed).random(records)
    source = read_source(data, (), None, [])
    check_known([keys], list(source.known.columns), source.name, what="record key")
    found = numbers_of(source.known, [keys], source.name)[:, 0]
    wrong = ~((found >= 0) & (found < 1))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        raise DataError(
            f"{source.name}, column {keys!r}, row {row}: {found[row - 1]:g} is no record key; they are from "
            "0 to less than 1"
        )
    _refuse_equal(found, f"{source.name}, column {keys!r}")
    return found


def _refuse_equal(keys: FloatArray, name: str) -> None:
    """Refuse keys of which many are the same, as in a column of flags: their noise is, too.

    Raises
    ------
    DataError
    """
    each, often = np.unique(keys, return_counts=True)
    most = int(often.max(initial=0))
    if most > max(1.0, _MOST_EQUAL * keys.size):
        raise DataError(
            f"{name}: {most:,} of {keys.size:,} records have the key {each[np.argmax(often)]:g}; record keys "
            "are drawn at random for each record, so that their noise differs; give another column, or none"
        )
