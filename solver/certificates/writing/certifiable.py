"""What can be certified: said before a search, or raised after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.setting import read_setting
from linkrisk.solver.run.errors import UsageError


class CertificateError(Exception):
    """A result that no certificate can be written for; the message says why, in one line."""


def why_not_certifiable(problem: Mapping[str, Any]) -> str | None:
    """Why `verify` could not check a fit of this problem, None when it can.

    Parameters
    ----------
    problem : mapping
        What `Problem.describe` gives.

    Returns
    -------
    str or None
        One line without a full stop, such as ``verify does not support this problem: ...``.
    """
    try:
        read_setting(Fields(dict(problem), "problem"))
    except UsageError as error:
        return f"verify does not support this problem: {error}"
    return None
