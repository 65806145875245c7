"""What can be certified: said before a search, or raised after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.certificates.checking.verify import fit_problem
from linkrisk.solver.run.errors import UsageError


class CertificateError(Exception):
    """A result that no certificate can be written for; the message says why, in one line."""


def why_not_certifiable(problem: Mapping[str, Any]) -> str | None:
    """Why `verify` could not check a fit of this problem, in one line; None when it can."""
    try:
        fit_problem(problem, "problem")
    except UsageError as error:
        return f"verify does not support this problem: {error}"
    return None
