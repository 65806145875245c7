"""Categories that became others, by a rule or by chance: recodings, end coding, PRAM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.masking.recoding import Recoding, Transition
from linkrisk.solver.measures.mechanisms.base import Mechanism


class Recoded(Mechanism):
    """``f(y | x)`` is the entry of the transition matrix, or 0 and 1 where a rule decides.

    What is missing stays missing.
    """

    def __init__(
        self,
        attribute: str,
        recoding: Recoding,
        categories: Sequence[str],
        original: FloatArray,
        masked: FloatArray,
    ) -> None:
        self.attributes = (attribute,)
        self._probability = probabilities(recoding, categories)
        self._original, self._masked = original.astype(np.intp), masked.astype(np.intp)

    def log_likelihood(self) -> FloatArray:
        """Looked up (see `Mechanism.log_likelihood`)."""
        with np.errstate(divide="ignore"):
            table = np.log(self._probability)
        return np.asarray(table[np.ix_(self._original, self._masked)])


def probabilities(recoding: Recoding, categories: Sequence[str]) -> NDArray[np.float64]:
    """The transition matrix on a list of categories, and one more for missing values."""
    given = recoding.probability if isinstance(recoding, Transition) else recoding.possible.astype(float)
    place = {name: at for at, name in enumerate(categories)}
    table = np.zeros((len(categories) + 1, len(categories) + 1))
    table[-1, -1] = 1.0
    for row, before in enumerate(recoding.before):
        for column, after in enumerate(recoding.after):
            if before in place and after in place:
                table[place[before], place[after]] += given[row, column]
    return table
