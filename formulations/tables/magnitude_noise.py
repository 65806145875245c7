"""Noise of the cell-key method for sums: tables of relative noise, and by how much it moves.

The noise of a sum x is that of its largest contributions x_1, x_2, ... (with weights), one after the other:

    x := x + sign(x) |d_j| v_j,    d_j = e_j m(|x_j|) x_j

where the noise v_j follows from the key of the cell and a = |x / d_j| in a perturbation table with rows for
some levels a; between two levels it is interpolated, above the last it is that of the last. The share m is
fixed (*simple*), or p_s up to the flex point f and from there falls towards p_l (*flex*):

    m(z) = p_l (1 + (p_s z - p_l f) / (p_l f) (2 f / (f + z))^q)

With a table for small cells, what is below the separation point s = m_1 / (sqrt(e_1^2 + e_2^2 + ...) p_s) is
moved by noise of the fixed variance m_1^2, that of the last row of this table, and only once
(Giessing and Tent 2019, Concepts for generalising tools implementing the cell key method to the case of
continuous variables, UNECE work session on statistical data confidentiality; R package `cellKey`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import FloatArray, LongArray
from linkrisk.formulations.errors import FormulationError

MOST_STEPS = 100
MOST_LARGEST = 6


@dataclass(frozen=True)
class MagnitudeDesign:
    """Required properties of relative noise.

    Attributes
    ----------
    most : int
        D, its largest absolute value, from 1.
    variance : float
        V, above 0.
    steps : int
        Into how many steps 1 is cut.
    levels : tuple of int, optional
        Rising, of which there are rows; the last is D. By default 1 and D.
    stay : float or None
        The least probability of no noise.
    monotone : bool
        Whether probabilities do not fall on the way up to no noise.

    Raises
    ------
    FormulationError
        If a number is not in its range.

    Examples
    --------
    >>> from linkrisk.tables import MagnitudeDesign
    >>> MagnitudeDesign(most=2, variance=1.0).levels
    ()
    """

    most: int
    variance: float
    steps: int = 2
    levels: tuple[int, ...] = ()
    stay: float | None = None
    monotone: bool = True

    def __post_init__(self) -> None:
        stay = self.stay
        for wrong, why in (
            (self.most < 1, f"the largest noise is at least 1, not {self.most}"),
            (not 0 < self.variance < np.inf, f"the variance of noise is above 0, not {self.variance:g}"),
            (
                self.steps < 1 or self.most * self.steps > MOST_STEPS,
                f"the largest noise has 1 to {MOST_STEPS} steps, not {self.most * self.steps}",
            ),
            (
                self.levels and (self.levels[0] < 1 or self.levels[-1] != self.most),
                f"levels start from 1 and end with the largest noise, {self.most}",
            ),
            (bool((np.diff(self.levels) <= 0).any()), "levels rise"),
            (stay is not None and not 0 <= stay < 1, f"the probability of no noise is 0 to 1, not {stay}"),
        ):
            if wrong:
                raise FormulationError(why)

    @property
    def rows(self) -> tuple[int, ...]:
        """Return the levels that have rows."""
        return self.levels or tuple(sorted({1, self.most}))

    def noise(self, level: int) -> FloatArray:
        """Return the possible noise at a level, which is at least -level."""
        every = np.arange(-self.most * self.steps, self.most * self.steps + 1) / self.steps
        return np.asarray(every[every >= -level])


@dataclass(frozen=True, eq=False)
class MagnitudeTable:
    """Probabilities of relative noise at each level.

    Attributes
    ----------
    levels : ndarray of float64, shape (l,)
        From 0, rising; at 0 nothing happens.
    noise : ndarray of float64, shape (k,)
        Rising.
    probability : ndarray of float64, shape (l, k)

    Raises
    ------
    FormulationError
        If a row is no distribution, is biased, or lets a value change its sign.
    """

    levels: FloatArray
    noise: FloatArray
    probability: FloatArray

    def __post_init__(self) -> None:
        if self.levels.size < 2 or self.levels[0] != 0:
            raise FormulationError("the perturbation table: there is a row for 0, and at least one more")
        for level, p in zip(self.levels, self.probability, strict=True):
            bias = float(p @ self.noise)
            for wrong, why in (
                ((p < 0).any(), "has a probability below 0"),
                (abs(p.sum() - 1.0) > 1e-6, f"has probabilities that sum to {p.sum():g}"),
                (abs(bias) > 1e-4, f"has noise of mean {bias:g}, which makes tables biased"),
                ((p[self.noise < -level] > 0).any(), "can change its sign"),
                (level == 0 and (p[self.noise != 0] > 0).any(), "is changed"),
            ):
                if wrong:
                    raise FormulationError(f"the perturbation table: level {level:g} {why}")

    @property
    def variance(self) -> FloatArray:
        """Return the variance of the noise of each level, shape (l,)."""
        return np.asarray(self.probability @ self.noise**2)

    @cached_property
    def ends(self) -> FloatArray:
        """Return the upper ends of the key intervals of each noise, shape (l, k)."""
        ends = np.cumsum(self.probability, axis=1)
        last = ends.shape[1] - 1 - np.argmax(self.probability[:, ::-1] > 0, axis=1)
        ends[np.arange(ends.shape[1]) >= last[:, None]] = 1.0
        return np.asarray(ends)

    def look_up(self, level: FloatArray, keys: FloatArray) -> FloatArray:
        """Look up the noise of cells, interpolated linearly between two levels with the same key.

        Parameters
        ----------
        level : ndarray of float64, shape (n,)
            a, not negative.
        keys : ndarray of float64, shape (n,)
            From 0 to less than 1.
        """
        a = np.minimum(level, self.levels[-1])
        above = np.clip(np.searchsorted(self.levels, a, side="left"), 1, self.levels.size - 1)
        low, high = self.levels[above - 1], self.levels[above]
        share = (a - low) / (high - low)
        first, second = (
            self.noise[(self.ends[row] <= keys[:, None]).sum(axis=1)] for row in (above - 1, above)
        )
        return np.asarray((1.0 - share) * first + share * second)


@dataclass(frozen=True)
class Multiplier:
    """Share by which a contribution is moved.

    Attributes
    ----------
    share : float
        p, or p_s where it is flex: above 0, at most 1.
    least : float or None
        p_l: the share of the largest contributions; None where the share is fixed.
    flex_point : float or None
        f: from where on the share falls.
    power : float
        q, at least 1.
    factors : tuple of float
        e_j for each contribution: 1, and then not rising and not negative.

    Raises
    ------
    FormulationError
        If a number is not in its range.
    """

    share: float
    least: float | None = None
    flex_point: float | None = None
    power: float = 3.0
    factors: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        e = np.array(self.factors)
        for wrong, why in (
            (not 0 < self.share <= 1, f"the share is above 0 and at most 1, not {self.share:g}"),
            (
                (self.least is None) != (self.flex_point is None),
                "a share that falls has both, the least share and the flex point",
            ),
            (
                self.least is not None and not 0 < self.least <= self.share,
                f"the least share is above 0 and at most {self.share:g}, not {self.least}",
            ),
            (
                self.flex_point is not None and not 0 < self.flex_point < np.inf,
                f"the flex point is above 0, not {self.flex_point}",
            ),
            (not 1 <= self.power < np.inf, f"the power is at least 1, not {self.power:g}"),
            (not 1 <= e.size <= MOST_LARGEST, f"there are 1 to {MOST_LARGEST} factors, not {e.size}"),
            (
                bool(e.size and (e[0] != 1 or (np.diff(e) > 0).any() or not (e >= 0).all())),
                "factors start with 1, do not rise, and are not negative",
            ),
        ):
            if wrong:
                raise FormulationError(why)

    def __call__(self, size: FloatArray) -> FloatArray:
        """Return the share m of absolute values, shape (n,)."""
        if self.least is None or self.flex_point is None:
            return np.full(size.shape, self.share)
        point, least = self.flex_point, self.least
        above = np.maximum(size, point)
        rise = (self.share * above - least * point) / (least * point)
        fall = (2.0 * point / (point + above)) ** self.power
        return np.asarray(np.where(size < point, self.share, least * (1.0 + rise * fall)))

    def separation_point(self, small: MagnitudeTable | None) -> float:
        """Return s, below which the table for small cells applies; 0 without such a table."""
        if small is None:
            return 0.0
        return float(np.sqrt(small.variance[-1]) / (np.sqrt(np.sum(np.square(self.factors))) * self.share))


@dataclass(frozen=True, eq=False)
class Noise:
    """Perturbation tables for the lookup of noise.

    Attributes
    ----------
    every : MagnitudeTable
        Of all cells, or of those with an even number of records.
    odd : MagnitudeTable or None
        Of cells with an odd number of records, where that is another one.
    small : MagnitudeTable or None
        Of what is below the separation point.
    """

    every: MagnitudeTable
    odd: MagnitudeTable | None = None
    small: MagnitudeTable | None = None

    def look_up(self, level: FloatArray, keys: FloatArray, odd: LongArray, small: FloatArray) -> FloatArray:
        """Look up the noise of each cell in its table, shape (n,)."""
        found = self.every.look_up(level, keys)
        if self.odd is not None:
            found = np.where(odd == 1, self.odd.look_up(level, keys), found)
        if self.small is not None:
            found = np.where(small > 0, self.small.look_up(level, keys), found)
        return found
