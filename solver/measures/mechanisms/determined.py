"""Methods that leave nothing to chance: whoever knows the original file can repeat them."""

from __future__ import annotations

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.measures.mechanisms.base import Mechanism, both_missing_or_none

_SAME = 1e-9
"""Of the largest value: numbers that differ by less are the same but for how they were written."""


class Determined(Mechanism):
    """Every record has one image: microaggregation repeated, or an attribute that was released as it is.

    ``f(y | x_i) = 1`` where y is the image of the record i, 0 elsewhere. The images are computed from the
    whole original file, so that an intruder who goes by them knows all of it.
    """

    def __init__(self, attributes: tuple[str, ...], image: FloatArray, masked: FloatArray) -> None:
        self.attributes, self._image, self._masked = attributes, image, masked

    def log_likelihood(self) -> FloatArray:
        """Zero where the image is the masked record (see `Mechanism.log_likelihood`)."""
        same = np.ones((len(self._image), len(self._masked)), dtype=np.bool_)
        for image, masked in zip(self._image.T, self._masked.T, strict=True):
            same &= alike(image, masked)
        return np.where(same, 0.0, -np.inf)


def alike(image: FloatArray, masked: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which values (n,) are the values (m,), shape (n, m)."""
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in (image, masked))
    near = np.abs(np.nan_to_num(image)[:, None] - np.nan_to_num(masked)[None, :]) <= _SAME * largest
    return np.asarray(near & both_missing_or_none(image, masked))
