"""Perturbation tables of sums: out of words, or out of a file of package ptable."""

from __future__ import annotations

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.tables.numbers import numbers_of
from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign, MagnitudeTable, Noise
from linkrisk.solver.options.types import GivenNoise
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.perturbation.noise_design import magnitude_table

ALL, EVEN, ODD, SMALL = "all", "even", "odd", "small_cells"
_EVERY_TYPE = (ALL, EVEN, ODD, SMALL)
_WORDS = ("most", "variance", "steps", "levels", "stay")


def magnitude_design(text: str) -> MagnitudeDesign:
    """Read ``most=10,variance=3,steps=2,levels=1/5/10,stay=0.3``; the last three may be left out.

    Raises
    ------
    UsageError
        If it is none.
    FormulationError
        If a number is not in its range.
    """
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
    """The tables of all that is given.

    Raises
    ------
    UsageError, DataError, FormulationError
        If it cannot be used.
    """
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
    check_known(["i", "v", "p"], table.columns, name, what="column")
    types = frame["type"].astype(str) if "type" in frame.columns else pd.Series(ALL, frame.index)
    unknown = next((one for one in types if one not in _EVERY_TYPE), None)
    if unknown is not None:
        raise DataError(f"{name}: there is no type {unknown!r}; it is {', '.join(_EVERY_TYPE)}")
    return {one: _read(frame[types == one], name) for one in _EVERY_TYPE if (types == one).any()}


def _read(frame: pd.DataFrame, name: str) -> MagnitudeTable:
    level, noise, p = numbers_of(frame, ["i", "v", "p"], name).T
    levels, row = np.unique(level, return_inverse=True)
    every, column = np.unique(noise, return_inverse=True)
    rows = np.zeros((levels.size, every.size))
    np.add.at(rows, (row, column), p)
    return MagnitudeTable(levels, every, rows)


def lines_of(noise: Noise) -> pd.DataFrame:
    """The tables as package ptable shows them."""
    kinds = {ALL if noise.odd is None else EVEN: noise.every, ODD: noise.odd, SMALL: noise.small}
    return pd.concat([_lines(table, kind) for kind, table in kinds.items() if table is not None]).reset_index(
        drop=True
    )


def _lines(table: MagnitudeTable, kind: str) -> pd.DataFrame:
    row, place = np.nonzero(table.probability > 0)
    low = np.hstack([np.zeros((len(table.ends), 1)), table.ends[:, :-1]])
    level, noise = table.levels[row], table.noise[place]
    return pd.DataFrame(
        {
            "i": level,
            "j": level + noise,
            "p": table.probability[row, place],
            "v": noise,
            "p_int_lb": low[row, place],
            "p_int_ub": table.ends[row, place],
            "type": kind,
        }
    )
