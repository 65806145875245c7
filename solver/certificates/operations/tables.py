"""The certificate of a table, checked from its cells and relations."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from linkrisk.datasets.tables.linking import split_beside
from linkrisk.datasets.tables.stored_table import StoredTable
from linkrisk.solver.certificates.core.claims import MalformedError, RejectedError
from linkrisk.solver.certificates.core.tables import (
    PUBLISHED,
    Sparse,
    Table,
    TableVerdict,
    check_table,
    decimal,
)
from linkrisk.solver.certificates.operations.verification import VerificationResult
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.source import check_adds_up, read_asked_table


def exact_table(stored: StoredTable) -> Table:
    """A table in fractions, with the numbers of respondents that are published beside its values."""
    counts = split_beside(stored)[1]
    columns = {**stored.numbers, **({} if counts is None else {PUBLISHED: counts.numbers["value"]})}
    numbers = {
        name: [None if math.isnan(value) else decimal(value) for value in column.tolist()]
        for name, column in columns.items()
    }
    relations: defaultdict[int, Sparse] = defaultdict(dict)
    terms = zip(stored.relation.tolist(), stored.cell.tolist(), stored.coefficient.tolist(), strict=True)
    for row, cell, factor in terms:
        relations[row][cell] = relations[row].get(cell, Fraction(0)) + (decimal(factor) or Fraction(0))
    status = [str(one) for one in stored.status]
    return Table(numbers, status, dict(relations), stored.counting, stored.named, stored.describe)


def checked_table(certificate: Mapping[str, Any], name: str, asked: TableOptions) -> VerificationResult:
    """Check the certificate of a table; UsageError or DataError if one of them cannot be read."""
    began = time.perf_counter()
    stored = read_asked_table(asked)
    counts = split_beside(stored)[1]
    if counts is not None:
        check_adds_up(counts)
    found: TableVerdict | None = None
    rejected: str | None = None
    try:
        found = check_table(exact_table(stored), certificate, name)
    except RejectedError as error:
        rejected = str(error)
    except MalformedError as error:
        raise UsageError(str(error)) from None
    return VerificationResult(
        verified=found is not None,
        rejected=rejected,
        table=found,
        cells=len(stored),
        relations=int(stored.relation.max(initial=-1)) + 1,
        seconds=time.perf_counter() - began,
    )
