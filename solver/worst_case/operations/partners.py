"""Which masked record is which original one, where a list says so instead of ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkrisk.arrays import IndexArray
from linkrisk.datasets.microdata.tables import Table
from linkrisk.solver.run.errors import UsageError


def partner_rows(partner: ArrayLike | None, original: Table, masked: Table) -> IndexArray:
    """The masked row of each original record; UsageError when that is not known or not a whole number."""
    if partner is None:
        sizes = f"{len(original.frame)} original and {len(masked.frame)} masked records"
        if len(original.frame) != len(masked.frame):
            raise UsageError(
                f"{sizes}: without a partner for each, the files must have the same number of rows"
            )
        return np.arange(len(original.frame))
    rows = np.asarray(partner)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer) or (rows < -1).any():
        raise UsageError("partner must be a list of masked rows, counted from 0, with -1 for none")
    return rows.astype(np.intp)


def partner_ids(partner: IndexArray, originals: int, masked: int) -> tuple[list[str], list[str]]:
    """Ids by which the records of both files are aligned."""
    if len(partner) != originals:
        given = f"{len(partner)} partners for {originals} original records"
        raise UsageError(f"{given}: give one for each, -1 for none")
    known = np.flatnonzero(partner >= 0)
    if partner.max(initial=-1) >= masked:
        raise UsageError(
            f"partner {partner.max()} is not a row of the {masked} masked records: rows count from 0"
        )
    if np.unique(partner[known]).size != known.size:
        raise UsageError("two original records have the same partner: give each a different masked row")
    own = [f"masked {at}" for at in range(masked)]
    for row in known.tolist():
        own[partner[row]] = f"original {row}"
    return [f"original {row}" for row in range(originals)], own
