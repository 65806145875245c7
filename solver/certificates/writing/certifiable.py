"""Decides before a search whether its result can be certified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.run.errors import UsageError


class CertificateError(Exception):
    """Raised for a result without a certificate; the message gives the reason in one line."""


def why_not_certifiable(problem: Mapping[str, Any]) -> str | None:
    """Explain in one line why `verify` could not check a fit of this problem; None if it can."""
    from linkrisk.solver.certificates.checking.verify import fit_problem

    try:
        fit_problem(problem, "problem")
    except UsageError as error:
        return f"verify does not support this problem: {error}"
    return None
