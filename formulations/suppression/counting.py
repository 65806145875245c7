"""How often combinations of values occur, with three meanings of a missing value in between and at the ends.

Two rows agree on a set of variables *exactly* when their codes are equal, a missing value being a category
of its own, and *loosely* when they are equal wherever both have a value. The count of a row is

    exact + alpha (loose - exact),

so that alpha = 0 makes a missing value its own category, alpha = 1 lets it match anything, on either side, as
sdcMicro's `freqCalc` does, and in between it counts in part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.suppression.key_table import MISSING, Codes, numbered_rows

OWN_CATEGORY, MATCHES_ANYTHING, SAFE = "own-category", "matches-anything", "safe"


@dataclass(frozen=True)
class MissingMeaning:
    """What a missing value of a key variable stands for where combinations are counted.

    Attributes
    ----------
    alpha : float
        0: a category of its own; 1: it matches anything; between, loose agreement counts by so much.
    safe : bool
        Whether a combination with a missing value is never unsafe, as in mu-ARGUS.
    code : str, optional
        What stands in the place of values that are taken out, and is what is missing; a gap when None. It is
        a category of its own.
    """

    alpha: float = 0.0
    safe: bool = False
    code: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha <= 1.0:
            raise FormulationError(f"alpha = {self.alpha:g} is not between 0 and 1")

    @classmethod
    def parse(cls, text: str) -> MissingMeaning:
        """Read ``own-category``, ``matches-anything``, ``safe``, ``alpha=A`` or ``code=C``.

        Raises
        ------
        FormulationError
            If it is none of these.
        """
        known = {OWN_CATEGORY: cls(0.0), MATCHES_ANYTHING: cls(1.0), SAFE: cls(0.0, safe=True)}
        if text in known:
            return known[text]
        name, mark, value = text.partition("=")
        try:
            if name.strip() == "alpha" and mark:
                return cls(float(value))
            if name.strip() == "code" and value.strip():
                return cls(code=value.strip())
        except ValueError as error:
            if isinstance(error, FormulationError):
                raise
        raise FormulationError(
            f"a missing value is {OWN_CATEGORY}, {MATCHES_ANYTHING}, {SAFE}, alpha=A or code=C, not {text!r}"
        )

    @property
    def words(self) -> str:
        """How a sentence goes on that a number depends on it."""
        if self.safe:
            return "a combination with a missing value is safe"
        if self.code is not None:
            return f"what is taken out is written as {self.code}, a category of its own"
        if self.alpha == 0.0:
            return "a missing value is a category of its own"
        if self.alpha == 1.0:
            return "a missing value matches anything"
        return f"a missing value matches anything by {self.alpha:g}"

    def __str__(self) -> str:
        if self.safe:
            return SAFE
        if self.code is not None:
            return f"code={self.code}"
        return {0.0: OWN_CATEGORY, 1.0: MATCHES_ANYTHING}.get(self.alpha, f"alpha={self.alpha:g}")


def frequencies(codes: Codes, weight: FloatArray, meaning: MissingMeaning) -> FloatArray:
    """How often the combination in each row occurs.

    Parameters
    ----------
    codes : ndarray of int32, shape (T, d)
    weight : ndarray of float64, shape (T,)
        How often each row itself occurs.
    meaning : MissingMeaning

    Returns
    -------
    ndarray of float64, shape (T,)
        Not less than `weight`.
    """
    groups, firsts = numbered_rows(codes)
    exact: FloatArray = np.bincount(groups, weight, len(firsts)).astype(np.float64)
    if meaning.alpha == 0.0 or not (codes == MISSING).any():
        return exact[groups]
    loose = exact + loosely(codes[firsts], exact)
    return np.asarray((exact + meaning.alpha * (loose - exact))[groups], dtype=np.float64)


def loosely(rows: Codes, weight: FloatArray) -> FloatArray:
    """The weight of the other rows that agree with each of some different rows, but not exactly.

    Rows with the same variables missing are compared together, pattern by pattern.

    Parameters
    ----------
    rows : ndarray of int32, shape (G, d)
        Each another.
    weight : ndarray of float64, shape (G,)

    Returns
    -------
    ndarray of float64, shape (G,)
    """
    lacking = rows == MISSING
    pattern, firsts = numbered_rows(lacking.astype(np.int32))
    places = [np.flatnonzero(pattern == at) for at in range(len(firsts))]
    found = np.zeros(len(rows))
    for at, ours in enumerate(places):
        for other, theirs in enumerate(places):
            if at == other:  # of one pattern, loosely is exactly, and they differ
                continue
            shared = ~(lacking[firsts[at]] | lacking[firsts[other]])
            found[ours] += _sums_at(rows[ours][:, shared], rows[theirs][:, shared], weight[theirs])
    return found


def _sums_at(ours: Codes, theirs: Codes, weight: FloatArray) -> FloatArray:
    """For each of our rows, the weight of theirs that equal it."""
    if not ours.shape[1]:
        return np.full(len(ours), weight.sum())
    groups: LongArray = numbered_rows(np.concatenate([ours, theirs]))[0]
    sums = np.bincount(groups[len(ours) :], weight, int(groups.max()) + 1)
    return np.asarray(sums[groups[: len(ours)]], dtype=np.float64)
