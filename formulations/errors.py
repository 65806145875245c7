"""The error that the formulations raise when what they are given cannot be formulated."""

from linkrisk.errors import LinkriskError


class FormulationError(LinkriskError):
    """Input that has no formulation; the message says what, where and how to fix it.

    Examples
    --------
    >>> import linkrisk
    >>> try:
    ...     linkrisk.tables.PPercentRule(-1.0)
    ... except linkrisk.FormulationError as error:
    ...     print(error)
    the rule p = -1 %, q = 100 % is none: it needs 0 < p < q <= 100
    """
