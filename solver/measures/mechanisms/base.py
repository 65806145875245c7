"""What is known of a masking method: the probability of a masked record, given the original one."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray


class UnfitError(ValueError):
    """A masking method that is given says nothing of this file, or something else; the text says why."""


class Mechanism(ABC):
    """A masking method, on the attributes that are compared."""

    attributes: tuple[str, ...]  # those that it has masked
    # what its probabilities leave out, as the end of a sentence; None where they are exact
    approximate: str | None = None

    @abstractmethod
    def log_likelihood(self) -> FloatArray:
        """``log f(y_j | x_i)``, shape (original records, masked records).

        -inf where the original record i cannot have become the masked record j. A constant that is the same
        for all pairs may be missing: no posterior depends on it.
        """


def both_missing_or_none(original: FloatArray, masked: FloatArray) -> NDArray[np.bool_]:
    """Whether values (n,) and (m,) agree in being missing, shape (n, m): masking keeps what is missing."""
    return np.asarray(np.isnan(original)[:, None] == np.isnan(masked)[None, :])
