"""`verify_table`: the certificate of a table, checked from its cells and relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkrisk.datasets.tables.beside import split_beside
from linkrisk.solver.api.tables.source import asked_table, check_adds_up
from linkrisk.solver.certificates.checking.fields import read_object
from linkrisk.solver.certificates.checking.rejection import RejectedError
from linkrisk.solver.certificates.checking.table import TableVerdict, check_table
from linkrisk.solver.options.operations.tables.verify import VerifyTableOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.results import dump_json


@dataclass(frozen=True)
class VerifiedTable:
    """What a certificate proves. As a condition it is true if it proves that the table is protected.

    Attributes
    ----------
    rejected : str or None
        The first claim that does not hold.
    verdict : TableVerdict or None
        What is proven; None where a claim does not hold.
    """

    rejected: str | None
    verdict: TableVerdict | None

    def __bool__(self) -> bool:
        return self.verdict is not None and self.verdict.protected

    def to_dict(self) -> dict[str, Any]:
        """What is proven, as JSON has it."""
        head: dict[str, Any] = {"verified": self.verdict is not None, "rejected": self.rejected}
        if self.verdict is None:
            return head
        found = {name: getattr(self.verdict, name) for name in ("demands", "met", "missed", "undecided")}
        return {**head, "protected": bool(self), **found, "defect": str(self.verdict.defect)}

    def to_json(self) -> str:
        """`to_dict` as text."""
        return dump_json(self.to_dict())


@taking(VerifyTableOptions)
def verify_table(asked: VerifyTableOptions) -> VerifiedTable:
    """Check the certificate of a table in fractions: no optimiser, no tolerance.

    Suppressed cells have the status ``u`` or ``m``, as in the internal file.

    Parameters
    ----------
    {options}

    Returns
    -------
    VerifiedTable

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError
        If the table or the certificate cannot be read.
    """
    content = read_object(asked.certificate, "tables audit --certificate")
    stored = asked_table(asked)
    counts = split_beside(stored)[1]
    if counts is not None:
        check_adds_up(counts)
    try:
        return VerifiedTable(None, check_table(stored, content, str(asked.certificate)))
    except RejectedError as error:
        return VerifiedTable(str(error), None)
