"""Read designs of noise for the cell-key method: options, designs as text, files of `ptable`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.tables.stored_table import numbers_of
from linkrisk.formulations.tables.cell_key import NoiseDesign, PerturbationTable
from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign, MagnitudeTable, Noise
from linkrisk.solver.options.table_noise import PerturbCountsOptions
from linkrisk.solver.options.types import GivenNoise
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.maximum_entropy_noise import magnitude_table, perturbation_table


def table_of_counts(asked: PerturbCountsOptions) -> PerturbationTable:
    """Return the perturbation table of counts: of a file, or of the largest noise and its variance."""
    most, variance, small, stay = asked.most, asked.variance, asked.small, asked.stay
    if asked.design is None:
        if most is None or variance is None:
            raise UsageError("say what the noise is like: its largest value and its variance, or a design")
        return perturbation_table(NoiseDesign(most, variance, small, stay, asked.monotone))
    if most is not None or variance is not None or small or stay is not None:
        raise UsageError("the design says what the noise is like; leave out what else does")
    table = load_table(asked.design, "the design")
    check_known(_COLUMNS, table.columns, table.source, what="column")
    count, noise, p = numbers_of(table.frame, _COLUMNS, table.source).T
    if (count != np.floor(count)).any() or (noise != np.floor(noise)).any() or (count < 0).any():
        raise DataError(f"{table.source}: counts i and noise v must be whole numbers, i not negative")
    largest = int(np.abs(noise).max())
    rows = np.zeros((int(count.max()) + 1, 2 * largest + 1))
    rows[count.astype(np.int64), noise.astype(np.int64) + largest] = p
    return PerturbationTable(rows)


ALL, EVEN, ODD, SMALL = "all", "even", "odd", "small_cells"
_COLUMNS = ["i", "v", "p"]
_EVERY_TYPE = (ALL, EVEN, ODD, SMALL)
_WORDS = ("most", "variance", "steps", "levels", "stay")


def magnitude_design(text: str) -> MagnitudeDesign:
    """Parse ``most=10,variance=3,steps=2,levels=1/5/10,stay=0.3``; the last three may be left out."""
    found: dict[str, str] = {
        name.strip(): value.strip() for name, _, value in (one.partition("=") for one in text.split(","))
    }
    try:
        if not {"most", "variance"} <= set(found) <= set(_WORDS):
            raise ValueError
        most, variance, steps = int(found["most"]), float(found["variance"]), int(found.get("steps", "2"))
        levels = tuple(int(one) for one in found["levels"].split("/")) if "levels" in found else ()
        stay = float(found["stay"]) if "stay" in found else None
    except ValueError:
        raise UsageError(
            f"{text!r} says of no noise what it is like; write most=D,variance=V and if need be steps=N, "
            "levels=1/5/10 and stay=P, or name a file"
        ) from None
    return MagnitudeDesign(most, variance, steps, levels, stay)


def noise_of(noise: GivenNoise, odd: GivenNoise | None, small: GivenNoise | None) -> Noise:
    """Return the perturbation tables of all given designs."""
    given = _tables(noise)
    if len(given) > 1 and (odd is not None or small is not None):
        raise UsageError("the file of noise has tables of several types; leave the other designs out")
    for name, one in ((ODD, odd), (SMALL, small)):
        if one is not None:
            given[name] = _single(one)
    every = given.get(EVEN, given.get(ALL))
    if every is None or (EVEN in given and (ALL in given or ODD not in given)):
        raise DataError(
            f"the noise has tables of the types {', '.join(given)}; there is one of all, or even and odd"
        )
    return Noise(every, given.get(ODD), given.get(SMALL))


def _single(given: GivenNoise) -> MagnitudeTable:
    found = _tables(given)
    if len(found) != 1:
        raise DataError(f"{given}: there is one table of one type, not of {', '.join(found)}")
    return next(iter(found.values()))


def _tables(given: GivenNoise) -> dict[str, MagnitudeTable]:
    if isinstance(given, MagnitudeDesign):
        return {ALL: magnitude_table(given)}
    if isinstance(given, str) and "=" in given:
        return {ALL: magnitude_table(magnitude_design(given))}
    table = load_table(given, "the design")
    frame, name = table.frame, table.source
    check_known(_COLUMNS, table.columns, name, what="column")
    types = frame["type"].astype(str) if "type" in frame.columns else pd.Series(ALL, frame.index)
    unknown = next((one for one in types if one not in _EVERY_TYPE), None)
    if unknown is not None:
        raise DataError(f"{name}: there is no type {unknown!r}; it is {', '.join(_EVERY_TYPE)}")
    return {one: _read(frame[types == one], name) for one in _EVERY_TYPE if (types == one).any()}


def _read(frame: pd.DataFrame, name: str) -> MagnitudeTable:
    level, noise, p = numbers_of(frame, _COLUMNS, name).T
    levels, row = np.unique(level, return_inverse=True)
    every, column = np.unique(noise, return_inverse=True)
    rows = np.zeros((levels.size, every.size))
    np.add.at(rows, (row, column), p)
    return MagnitudeTable(levels, every, rows)


def lines_of_sums(noise: Noise) -> pd.DataFrame:
    """Show the tables of sums as package ptable does."""
    kinds = {ALL if noise.odd is None else EVEN: noise.every, ODD: noise.odd, SMALL: noise.small}
    parts = []
    for kind, table in kinds.items():
        if table is not None:
            ends = np.hstack([np.zeros((len(table.ends), 1)), table.ends])
            parts.append(_lines(table, table.levels, ends[:, :-1], ends[:, 1:]).assign(type=kind))
    return pd.concat(parts, ignore_index=True)


def lines_of_counts(table: PerturbationTable) -> pd.DataFrame:
    """Show the table of counts as package ptable does."""
    return _lines(table, np.arange(len(table.probability)), *table.intervals())


def _lines(
    table: MagnitudeTable | PerturbationTable,
    levels: FloatArray | LongArray,
    low: FloatArray,
    high: FloatArray,
) -> pd.DataFrame:
    row, place = np.nonzero(table.probability > 0)
    level, noise = levels[row], table.noise[place]
    found = {"i": level, "j": level + noise, "p": table.probability[row, place], "v": noise}
    return pd.DataFrame({**found, "p_int_lb": low[row, place], "p_int_ub": high[row, place]})
