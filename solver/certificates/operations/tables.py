"""The certificate of a table, checked from its cells and relations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from linkrisk.datasets.tables.beside import split_beside
from linkrisk.solver.certificates.checking.rejection import RejectedError
from linkrisk.solver.certificates.checking.table import TableVerdict, check_table
from linkrisk.solver.certificates.operations.verification import VerificationResult
from linkrisk.solver.options.tables import TableOptions
from linkrisk.solver.tables.operations.source import asked_table, check_adds_up


def checked_table(certificate: Mapping[str, Any], name: str, asked: TableOptions) -> VerificationResult:
    """Check the certificate of a table, which messages call `name`, in fractions.

    Raises
    ------
    UsageError, DataError
        If the table or the certificate cannot be read.
    """
    began = time.perf_counter()
    stored = asked_table(asked)
    counts = split_beside(stored)[1]
    if counts is not None:
        check_adds_up(counts)
    found: TableVerdict | None = None
    rejected: str | None = None
    try:
        found = check_table(stored, certificate, name)
    except RejectedError as error:
        rejected = str(error)
    return VerificationResult(
        verified=found is not None,
        rejected=rejected,
        table=found,
        cells=len(stored),
        relations=int(stored.relation.max(initial=-1)) + 1,
        seconds=time.perf_counter() - began,
    )
