"""The error that the formulations raise when what they are given cannot be formulated."""

from linkrisk.errors import LinkriskError


class FormulationError(LinkriskError):
    """Input that has no formulation; the message says what, where and how to fix it."""
