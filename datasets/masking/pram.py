"""PRAM, the post-randomisation method: every category becomes another one by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import CategoricalMethod, Transition, paper_parameter
from linkrisk.datasets.masking.parameters import PramParameters
from linkrisk.datasets.masking.transition_matrix import TransitionMatrix
from linkrisk.datasets.microdata.categories import Categories
from linkrisk.errors import called


def even_matrix(size: int, change: float) -> FloatArray:
    """Matrix (size, size): a change with probability p, to every other category alike."""
    if size == 1:
        return np.ones((1, 1))
    matrix = np.full((size, size), change / (size - 1))
    np.fill_diagonal(matrix, 1.0 - change)
    return matrix


def rarest_matrix(frequency: IndexArray, theta: float) -> FloatArray:
    """Matrix that keeps the expected frequencies, with changes as rare as the rarest category allows.

    With frequencies ``t_k > 0`` of K categories and t their least, category k becomes each other one with
    probability ``theta * t / ((K - 1) * t_k)``: as many records are expected to go from k to l as from l to
    k (Gouweleeuw, Kooiman, Willenborg and de Wolf 1998). Categories that do not occur stay.
    """
    matrix = np.eye(frequency.size)
    here = np.flatnonzero(frequency > 0)
    if here.size < 2:
        return matrix
    share = theta * frequency[here].min() / frequency[here]
    block = np.repeat((share / (here.size - 1))[:, None], here.size, axis=1)
    np.fill_diagonal(block, 1.0 - share)
    matrix[np.ix_(here, here)] = block
    return matrix


def invariant_matrix(matrix: FloatArray, frequency: IndexArray) -> FloatArray:
    """Two stages that together keep the expected frequencies (Kooiman, Willenborg and Gouweleeuw 1998).

    The first stage is ``matrix`` P. The second goes back as Bayes' theorem has it, from l to k with
    probability ``t_k p_kl / sum_j t_j p_jl`` for frequencies t. Their product R has ``t' R = t'``.
    Categories that do not occur and that nothing becomes stay.
    """
    joint = frequency[:, None] * matrix
    total = joint.sum(axis=0)
    back = np.eye(frequency.size)
    reached = total > 0.0
    back[reached] = (joint[:, reached] / total[reached]).T
    # Term by term: the last digits of a matrix product depend on the machine.
    product = np.zeros_like(matrix)
    for through, row in zip(matrix.T, back, strict=True):
        product += through[:, None] * row[None, :]
    return np.asarray(product / product.sum(axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class Pram(PramParameters, CategoricalMethod):
    """Post-randomisation (Kooiman, Willenborg and Gouweleeuw 1998), every attribute by itself.

    Attributes
    ----------
    change : float, optional
        Probability p that a record's category changes, to any other one alike; from 0 to 1.
    theta : float, optional
        The expected number of changes of each category, in terms of the frequency of the rarest one; from 0
        to 1 (`rarest_matrix`). Expected frequencies stay what they are.
    matrix : tuple of TransitionMatrix
        The probabilities themselves, one matrix for each attribute to mask.
    invariant : bool
        Whether a second stage makes the expected frequencies what they were (`invariant_matrix`).

    Raises
    ------
    DataError
        Unless exactly one of `change`, `theta` and `matrix` is given, in its range.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": list("AAABBBCC"), "trade": list("xxyxyyxz")})
    >>> method = linkrisk.masking.Pram(change=0.3, attributes=("town",))
    >>> linkrisk.mask(people, method, seed=1).table["town"].tolist()
    ['A', 'C', 'A', 'C', 'B', 'B', 'C', 'C']
    """

    name: ClassVar[str] = "pram"
    chance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        given = [self.change is not None, self.theta is not None, bool(self.matrix)]
        if sum(given) != 1:
            raise DataError(
                f"give one of {called('change')}, {called('theta')} and {called('matrix')}: with what "
                "probability values change",
                option="change",
            )
        for what, value in (("change", self.change), ("theta", self.theta)):
            if value is not None and not 0.0 <= value <= 1.0:
                raise DataError(f"{what} is {value:g}; it must be from 0 to 1")
        if self.matrix and self.attributes is None:
            # A matrix names its attribute, which need not be given again.
            object.__setattr__(self, "attributes", tuple(item.attribute for item in self.matrix))
        if len(self._matrices) < len(self.matrix):
            raise DataError("an attribute has two transition matrices; give one for each")

    @classmethod
    def paper_parameter(cls, p: int) -> Self:
        """Parameter p of Domingo-Ferrer and Torra 2002: theta is p tenths."""
        return cls(theta=paper_parameter(p) / 10)

    @property
    def action(self) -> str:
        """See `NumericMethod`."""
        kind = "invariant PRAM" if self.invariant else "PRAM"
        if self.change is not None:
            return f"{kind} with probability {self.change:g} of a change"
        return f"{kind} with theta {self.theta:g}" if self.theta is not None else f"{kind} by given matrices"

    def recoding(self, attribute: str, categories: Categories) -> Transition:
        """See `CategoricalMethod.recoding`."""
        names, frequency = categories.names, categories.frequency
        if self.change is not None:
            matrix, after = even_matrix(len(names), self.change), names
        elif self.theta is not None:
            matrix, after = rarest_matrix(frequency, self.theta), names
        else:
            given = self._given(attribute, names)
            matrix, after = given.probability, given.categories
        rows = np.array([after.index(name) for name in names], dtype=np.intp)
        if self.invariant:
            count = np.zeros(len(after), dtype=np.intp)
            count[rows] = frequency
            matrix = invariant_matrix(matrix, count)
        return Transition(names, after, matrix[rows])

    @property
    def _matrices(self) -> Mapping[str, TransitionMatrix]:
        return {item.attribute: item for item in self.matrix}

    def _given(self, attribute: str, names: Sequence[str]) -> TransitionMatrix:
        if attribute not in self._matrices:
            raise DataError(
                f"{attribute!r} has no transition matrix; give one with {called('matrix')} or leave it out",
                option="matrix",
            )
        given = self._matrices[attribute]
        lacking = [name for name in names if name not in given.categories]
        if lacking:
            raise DataError(f"the transition matrix of {attribute!r} has no category {lacking[0]!r}")
        return given
