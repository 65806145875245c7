"""Tables of small values, measured in a smaller unit: tolerances of 1e-9 mean nothing where all are less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkrisk.formulations.tables.cell_table import CellTable


def in_units(table: CellTable) -> tuple[CellTable, float]:
    """A table in a unit in which some cell can move by 1 at least, and the unit, which is 1 or less.

    The unit is a power of 2, so that no digit is lost. Costs are no values, and stay.

    Parameters
    ----------
    table : CellTable
    """
    room = float(max(table.below.max(initial=0.0), table.above.max(initial=0.0)))
    if not 0.0 < room < 1.0:
        return table, 1.0
    unit = float(2.0 ** np.floor(np.log2(room)))
    insiders = tuple(
        replace(
            one,
            lower=one.lower / unit,
            upper=one.upper / unit,
            lowered={key: level / unit for key, level in one.lowered.items()},
        )
        for one in table.insiders
    )
    made = replace(
        table,
        value=table.value / unit,
        lower=table.lower / unit,
        upper=table.upper / unit,
        lower_level=table.lower_level / unit,
        upper_level=table.upper_level / unit,
        sliding_level=table.sliding_level / unit,
        insiders=insiders,
    )
    return made, unit
