"""`perturb_sums`: a table of sums with noise by cell keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkrisk.datasets.masking.record import version
from linkrisk.datasets.tables.cells_and_relations import SENSITIVE
from linkrisk.datasets.tables.code_trees import Hierarchies
from linkrisk.datasets.tables.incomplete import REFUSE
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.datasets.tables.tabulating import Tabulated
from linkrisk.formulations.tables.cell_key import cell_keys
from linkrisk.formulations.tables.cell_table import FloatArray
from linkrisk.formulations.tables.magnitude_cells import perturbed_sums
from linkrisk.formulations.tables.magnitude_noise import Multiplier
from linkrisk.formulations.tables.primary_rules import PrimaryRule
from linkrisk.formulations.tables.units import MOST_DECIMALS, Grid
from linkrisk.solver.api.keywords import checked_keywords
from linkrisk.solver.api.masking_source import read_source
from linkrisk.solver.api.tables.figures import changed_figures, changes_by_share, codes_by
from linkrisk.solver.api.tables.magnitude_designs import GivenNoise, lines_of, noise_of
from linkrisk.solver.api.tables.make import make_table
from linkrisk.solver.api.tables.noisy import NoisyTable, called
from linkrisk.solver.api.tables.perturb_counts import record_keys
from linkrisk.solver.options.types import SchemaLike, TableLike
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.count_changes import sum_changes

SCALES = ("largest", "mean", "range", "sum")


@dataclass(frozen=True, eq=False, repr=False)
class PerturbedSums(NoisyTable):
    """A table of sums with noise; its cells also have the columns `respondents` and `sensitive`."""

    house: ClassVar[tuple[str, ...]] = ("respondents", "sensitive", "cell_key", "noise", "perturbed")

    def _changes(self) -> dict[str, Any]:
        before, after = (self.cells[name].to_numpy(dtype=np.float64) for name in ("value", "perturbed"))
        return sum_changes(before, after)


@checked_keywords
def perturb_sums(
    data: TableLike,
    by: Sequence[str],
    *,
    response: str,
    noise: GivenNoise,
    share: float,
    scale: str = "largest",
    factors: Sequence[float] = (1.0,),
    least: float | None = None,
    flex_point: float | None = None,
    power: float = 3.0,
    odd: GivenNoise | None = None,
    small: GivenNoise | None = None,
    rules: Sequence[str | PrimaryRule] = (),
    extra: float = 0.0,
    same_key: bool = True,
    digits: int | None = None,
    zeros: bool = False,
    weight: str | None = None,
    missing: str = REFUSE,
    negative: bool = False,
    decimals: int | None = None,
    hierarchies: Mapping[str, Hierarchies] | None = None,
    keys: str | None = None,
    seed: int = 0,
    schema: SchemaLike | None = None,
) -> PerturbedSums:
    """Sum a variable, with noise that is the same wherever the same records are summed.

    The cell-key method of magnitude tables: noise in proportion to the largest contributions of a cell,
    drawn by its key. Cells do not add up any more.

    Parameters
    ----------
    data : path, name, frame (pandas, polars, pyarrow) or ndarray
        The microdata.
    by : sequence of str
        Explanatory variables, one to six.
    response : str
        What is summed.
    noise : str, path, frame or MagnitudeDesign
        The relative noise: ``"most=10,variance=3,steps=2,levels=1/5/10"``, or a perturbation table with the
        columns `i`, `v`, `p` and if need be `type`, as package ptable has it.
    share : float
        By which share of a contribution one unit of noise moves a sum; with `flex_point` of small ones.
    scale : str
        What noise is in proportion to: the ``largest`` contributions, the ``mean`` of the cell, the ``range``
        of its contributions (without weights), or its ``sum``.
    factors : sequence of float
        For the largest contribution, the second, ...: 1, 0.5, ... takes two of them.
    least : float, optional
        Share of very large contributions, with `flex_point`.
    flex_point : float, optional
        From where on the share falls from `share` to `least`.
    power : float
        How fast it falls, at least 1.
    odd : like noise, optional
        Of cells with an odd number of records; `noise` then is of those with an even one.
    small : like noise, optional
        Of what is too small for relative noise (`formulations.tables.magnitude_noise`).
    rules : sequence of str or PrimaryRule
        Which cells are sensitive; see `make_table`.
    extra : float
        Added to the absolute noise of the largest contribution of sensitive cells.
    same_key : bool
        Whether the largest contribution is looked up by the cell key that counts are looked up by.
    digits : int, optional
        The next contributions are looked up by cell keys with so many digits turned round, as tau-ARGUS and
        cellKey have it; by default by cell keys with mixed bits.
    zeros : bool
        Whether keys of records that contribute 0 are summed, too.
    weight : str, optional
        Column of sampling weights.
    missing : str
        See `make_table`.
    negative : bool
        Whether contributions may be negative.
    decimals : int, optional
        To how many the perturbed sums are rounded. Where absent, to the grid that all sums are on (whole
        numbers, cents, thousands): more digits show which sums have no noise, and how it was made.
    hierarchies : mapping of str to path, frame or several, optional
        See `make_table`.
    keys : str, optional
        Column of record keys, from 0 to less than 1; drawn where absent.
    seed : int
        Of the keys that are drawn.
    schema : path, mapping or Schema, optional
        See `make_table`.

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
    multiplier = Multiplier(share, least, flex_point, power, tuple(factors))
    _check(scale, factors, extra, rules, decimals)
    tables = noise_of(noise, odd, small)
    if tables.odd is not None and len(factors) > 1:
        raise UsageError("noise of its own for odd numbers of records takes one factor only")
    made = make_table(
        data,
        by,
        response=response,
        rules=rules,
        hierarchies=hierarchies,
        weight=weight,
        negative=negative,
        missing=missing,
        schema=schema,
    )
    table, sensitive = made.tabulated, (made.cells["status"] == SENSITIVE).to_numpy()
    key_of = record_keys(data, keys, seed, table.amount.size)
    counted = np.ones(table.cell.size, dtype=np.bool_) if zeros else table.amount[table.record] != 0
    of_cell = cell_keys(key_of, table.cell[counted], table.record[counted], table.total.size)
    after = perturbed_sums(
        table.total,
        _scaling(table, scale, len(factors), _weights(data, weight, table)),
        of_cell,
        table.respondents % 2,
        np.where(sensitive, extra, 0.0),
        multiplier,
        tables,
        same_key=same_key,
        digits=digits,
    )
    grid = Grid.of(table.total)
    own = MOST_DECIMALS if grid is None else grid.decimals
    after, places = _rounded(after, grid, decimals), own if decimals is None else decimals
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
        "name": called(data),
        "relations": int(terms["relation"].max()) + 1,
        "records": int(key_of.size),
        "sensitive": int(sensitive.sum()),
        "response": response,
        "renamed": made.renamed,
        "coded": made.coded,
        "left_out": made.left_out,
        "scale": scale,
        "share": share,
        "least": least,
        "flex_point": flex_point,
        "power": power,
        "factors": list(factors),
        "extra": extra,
        "same_key": same_key,
        "digits": digits,
        "zeros": zeros,
        "weight": weight,
        "decimals": places,
        "decimals_of_sums": own,
        "largest_noise": float(np.abs(tables.every.noise).max()),
        "variance": float(tables.every.variance[-1]),
        "separation_point": multiplier.separation_point(tables.small),
        "keys": keys,
        "seed": None if keys is not None else seed,
        "rules": [str(rule) for rule in rules],
        "table": {
            **changed_figures(codes_by(cells, made.by), value, after),
            "changes": changes_by_share(value, after),
        },
    }
    return PerturbedSums(cells, key_of, lines_of(tables), off, details)


def _check(
    scale: str,
    factors: Sequence[float],
    extra: float,
    rules: Sequence[str | PrimaryRule],
    decimals: int | None,
) -> None:
    if scale not in SCALES:
        raise UsageError(f"unknown scale {scale!r}: choose {', '.join(SCALES)}")
    if scale != "largest" and len(factors) > 1:
        raise UsageError(f"factors are of the largest contributions; the {scale} of a cell has one")
    if not 0 <= extra < np.inf:
        raise UsageError(f"extra noise is not negative, not {extra:g}")
    if extra > 0 and not rules:
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
