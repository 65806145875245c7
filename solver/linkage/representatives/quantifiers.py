"""Non-decreasing quantifiers Q: one function that gives weights to any number of attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.solver.run.errors import UsageError

Family = tuple["Quantifier", ...]


@dataclass(frozen=True)
class Quantifier:
    """A non-decreasing function Q on [0, 1] with Q(0) = 0 and Q(1) = 1 (Torra and Nin 2008, Definition 2).

    Attributes
    ----------
    kind : str
        ``power``, ``sigmoid``, ``threshold`` or ``points``.
    numbers : tuple of float
        The parameter alpha; of ``points`` x1, Q(x1), x2, Q(x2), ..., between which Q is linear.

    Raises
    ------
    UsageError
        If there is no such kind, or the numbers do not make a non-decreasing function.
    """

    kind: str
    numbers: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise UsageError(f"there is no quantifier {self.kind!r}; use one of {', '.join(_KINDS)}")
        if not all(math.isfinite(number) for number in self.numbers):
            raise UsageError(f"quantifier {self}: every number must be finite")
        if self.kind == "points":
            _check_points(self)
        elif len(self.numbers) != 1:
            raise UsageError(f"quantifier {self}: give one alpha, as in {self.kind}:0.5")
        elif self.kind == "power" and self.numbers[0] <= 0.0:
            raise UsageError(f"quantifier {self}: the exponent must be above 0")

    def __str__(self) -> str:
        """The text that `parse_family` reads: ``power:0.5``, ``points:0 0 0.5 0.2 1 1``."""
        return f"{self.kind}:{' '.join(_shown(number) for number in self.numbers)}"

    def __call__(self, x: FloatArray) -> FloatArray:
        """Q(x) for numbers in [0, 1].

        The sigmoid, and a threshold of 1 or below 0, miss Q(0) = 0 or Q(1) = 1; these two values are set, as
        Smith (2016, section 5.1.2) says, so that weights always sum to one.
        """
        values = _KINDS[self.kind](x, self.numbers)
        return np.where(x <= 0.0, 0.0, np.where(x >= 1.0, 1.0, values))


def _shown(number: float) -> str:
    """The shortest text that reads back as this number."""
    return repr(float(number)).removesuffix(".0")


def _power(x: FloatArray, numbers: Sequence[float]) -> FloatArray:
    return np.asarray(x ** numbers[0])


def _sigmoid(x: FloatArray, numbers: Sequence[float]) -> FloatArray:
    exponent = np.clip(10.0 * (numbers[0] - x), -700.0, 700.0)
    return np.asarray(1.0 / (1.0 + np.exp(exponent)))


def _threshold(x: FloatArray, numbers: Sequence[float]) -> FloatArray:
    return np.where(x <= numbers[0], 0.0, 1.0)


def _points(x: FloatArray, numbers: Sequence[float]) -> FloatArray:
    return np.asarray(np.interp(x, numbers[0::2], numbers[1::2]))


_KINDS: Mapping[str, Callable[[FloatArray, Sequence[float]], FloatArray]] = MappingProxyType(
    {"power": _power, "sigmoid": _sigmoid, "threshold": _threshold, "points": _points}
)


def _check_points(quantifier: Quantifier) -> None:
    numbers = np.array(quantifier.numbers)
    if numbers.size < 4 or numbers.size % 2:
        raise UsageError(
            f"quantifier {quantifier}: give x and Q(x) of at least two points, as in 0 0 0.5 0.2 1 1"
        )
    x, values = numbers[0::2], numbers[1::2]
    if (x[0], values[0], x[-1], values[-1]) != (0.0, 0.0, 1.0, 1.0):
        raise UsageError(f"quantifier {quantifier}: the first point must be 0 0 and the last one 1 1")
    if (np.diff(x) <= 0.0).any():
        raise UsageError(f"quantifier {quantifier}: the points must have ascending x")
    if (np.diff(values) < 0.0).any():
        raise UsageError(f"quantifier {quantifier}: Q must not decrease from one point to the next")


_TENTHS = tuple(tenth / 10 for tenth in range(10))

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "power": tuple(Quantifier("power", (fifths / 5,)) for fifths in range(1, 11)),
        "sigmoid": tuple(Quantifier("sigmoid", (alpha,)) for alpha in _TENTHS),
        "threshold": tuple(Quantifier("threshold", (alpha,)) for alpha in _TENTHS),
    }
)
"""The three families of ten functions of Torra and Nin (2008, section 4.3).

``power`` is ``Q(x) = x**alpha`` for alpha = 1/5, ..., 10/5; ``sigmoid`` is ``1 / (1 + exp(10 (alpha - x)))``
for alpha = 0, 0.1, ..., 0.9 (they print ``exp((alpha - x) + 10)``, which is next to 0 everywhere; Smith 2016
and their own Figure 4 multiply by 10); ``threshold`` is 0 up to alpha and 1 above it, for the same alpha.
"""


def parse_family(text: str) -> Family:
    """Read quantifiers: the name of a family, one with its own alphas, or points.

    Parameters
    ----------
    text : str
        ``power``, ``sigmoid`` or ``threshold``; ``power:0.5,1,2``; ``points:0 0 0.5 0.2 1 1``.

    Raises
    ------
    UsageError
        If the text is none of these.
    """
    kind, colon, numbers = text.strip().partition(":")
    if not colon:
        if kind not in FAMILIES:
            raise UsageError(
                f"there is no quantifier family {text!r}; use one of {', '.join(FAMILIES)}, "
                "or points:0 0 ... 1 1"
            )
        return FAMILIES[kind]
    return tuple(
        Quantifier(kind, tuple(_number(word, text) for word in part.split())) for part in numbers.split(",")
    )


def _number(word: str, text: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(f"quantifier {text!r}: {word!r} is not a number") from None


def values_at(quantifiers: Sequence[Quantifier], size: int) -> FloatArray:
    """Q(i/N) of each quantifier for i = 0, ..., N.

    Parameters
    ----------
    quantifiers : sequence of Quantifier
        k of them.
    size : int
        N, at least 1.

    Returns
    -------
    ndarray of float64, shape (k, N + 1)
        Each row goes from 0 to 1.
    """
    x = np.arange(size + 1) / size
    return np.vstack([quantifier(x) for quantifier in quantifiers])
