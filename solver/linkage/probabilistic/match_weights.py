"""A linker whose scores are match weights: log-odds of a match, of which probabilities follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from linkrisk.arrays import FloatArray
from linkrisk.solver.linkage.linker import LearnedLinker
from linkrisk.solver.linkage.probabilistic.weights import level_weights


class MatchWeights(LearnedLinker):
    """Scores are match weights in bits: the sum over attributes of ``log2(m / u)`` at the level reached.

    Parameters
    ----------
    m, u : sequence of ndarray of float64
        Of every attribute, the probability of each level, disagreement first.
    p : float
        The share of matches among the pairs that the weights are about.
    parameters : dict
    notes : tuple of str
    """

    def __init__(
        self,
        m: Sequence[FloatArray],
        u: Sequence[FloatArray],
        p: float,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.p = p
        self.level_weights = tuple(level_weights(*pair) for pair in zip(m, u, strict=True))
        self.parameters = parameters
        self.notes = notes

    @property
    def even(self) -> float:
        """The match weight at which a match is as likely as none, in bits."""
        return float(np.log2(1.0 - self.p) - np.log2(self.p))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """``p 2**w / (p 2**w + 1 - p)`` for a match weight w."""
        odds = scores - self.even  # in place from here: there may be very many
        odds *= np.log(2.0)
        return np.asarray(expit(odds, out=odds), dtype=np.float64)
