"""Compute likelihoods of released values given original ones, under a known masking method."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import values_of
from linkrisk.datasets.masking.base import MaskingMethod, Recoding, Transition, centred_and_deviation
from linkrisk.datasets.masking.local_suppression import LocalSuppression
from linkrisk.datasets.masking.noise import DEPENDENT, AdditiveNoise
from linkrisk.datasets.masking.rank_swapping import RankSwapping, swap_partners, window_size
from linkrisk.datasets.masking.registry import spelled_recodings
from linkrisk.datasets.masking.sequence import Step, masked_twice
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.pairs.categorical import INFERRED, NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.datasets.pairs.recodings import level_of
from linkrisk.errors import called


class UnfitError(ValueError):
    """Raised where a given masking method does not determine or does not fit the file; the text says why."""


class Mechanism(ABC):
    """Likelihood of a masking method on the compared attributes."""

    attributes: tuple[str, ...]  # those that it has masked
    approximate: str | None = None  # what its probabilities leave out; None where they are exact

    @abstractmethod
    def log_likelihood(self) -> FloatArray:
        """Compute ``log f(y_j | x_i)``, shape (originals, masked), up to a constant; -inf if impossible."""


def both_missing_or_none(original: FloatArray, masked: FloatArray) -> NDArray[np.bool_]:
    """Compare which of values (n,) and (m,) are missing, shape (n, m): masking keeps missing values."""
    return np.asarray(np.isnan(original)[:, None] == np.isnan(masked)[None, :])


class Noise(Mechanism):
    """``y = x + e`` with e normal of mean 0, as `AdditiveNoise` draws it.

    ``log f(y | x) = -(y - x)' C^-1 (y - x) / 2`` but for a constant, with ``C = (percent / 100)^2 S``. S is
    the diagonal of the variances of the original attributes, or their covariance matrix.
    """

    def __init__(
        self,
        method: AdditiveNoise,
        original: FloatArray,
        masked: FloatArray,
        attributes: tuple[str, ...],
        compared: Sequence[int],
    ) -> None:
        self.attributes = attributes
        before = original[:, list(compared)]
        _, deviation = centred_and_deviation(before, lost=1)
        spread = method.percent / 100.0 * deviation
        if method.correlated:
            if np.isnan(before).any() or np.isnan(masked).any():
                raise UnfitError("correlated noise is not followed where values are missing")
            root = _inverse_root(_correlation(original)[np.ix_(compared, compared)], spread)
            self._before, self._after = before @ root, masked @ root
        else:
            self._before, self._after = before / spread, masked / spread

    def log_likelihood(self) -> FloatArray:
        """Compute the normal log density (see `Mechanism.log_likelihood`)."""
        found = np.zeros((len(self._before), len(self._after)))
        for before, after in zip(self._before.T, self._after.T, strict=True):
            apart = np.nan_to_num(after)[None, :] - np.nan_to_num(before)[:, None]
            density = np.where(np.isnan(before)[:, None], 0.0, -0.5 * apart * apart)
            found += np.where(both_missing_or_none(before, after), density, -np.inf)
        return found


def _correlation(values: FloatArray) -> FloatArray:
    complete = values[~np.isnan(values).any(axis=1)]
    return np.atleast_2d(np.corrcoef(complete, rowvar=False))


def _inverse_root(correlation: FloatArray, spread: FloatArray) -> FloatArray:
    """Compute R with ``R R' = C^-1``."""
    covariance = correlation * np.outer(spread, spread)
    if float(np.linalg.eigvalsh(correlation)[0]) < np.sqrt(DEPENDENT):
        raise UnfitError("correlated noise on attributes that follow from each other has no density")
    return np.asarray(np.linalg.cholesky(np.linalg.inv(covariance)))


_SAME = 1e-9
"""Relative tolerance, by the largest value, at which numbers are equal up to their text form."""


class Determined(Mechanism):
    """Deterministic masking: repeated microaggregation, or an attribute released unchanged.

    ``f(y | x_i) = 1`` where y is the image of the record i, 0 elsewhere. The images are computed from the
    whole original file, so that an intruder who goes by them knows all of it.
    """

    def __init__(self, attributes: tuple[str, ...], image: FloatArray, masked: FloatArray) -> None:
        self.attributes, self._image, self._masked = attributes, image, masked

    def log_likelihood(self) -> FloatArray:
        """Return zero where the image is the masked record (see `Mechanism.log_likelihood`)."""
        same = np.ones((len(self._image), len(self._masked)), dtype=np.bool_)
        for image, masked in zip(self._image.T, self._masked.T, strict=True):
            same &= alike(image, masked)
        return np.where(same, 0.0, -np.inf)


def alike(image: FloatArray, masked: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Compare values (n,) with values (m,) up to rounding, shape (n, m)."""
    largest = max(float(np.nanmax(np.abs(each), initial=0.0)) for each in (image, masked))
    near = np.abs(np.nan_to_num(image)[:, None] - np.nan_to_num(masked)[None, :]) <= _SAME * largest
    return np.asarray(near & both_missing_or_none(image, masked))


class Recoded(Mechanism):
    """Recoding: ``f(y | x)`` is an entry of the transition matrix, or 0 or 1 by a rule."""

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
        """Look up the log probabilities (see `Mechanism.log_likelihood`)."""
        with np.errstate(divide="ignore"):
            table = np.log(self._probability)
        return np.asarray(table[np.ix_(self._original, self._masked)])


def probabilities(recoding: Recoding, categories: Sequence[str]) -> NDArray[np.float64]:
    """Build the transition matrix on a list of categories, and one more for missing values."""
    given = recoding.probability if isinstance(recoding, Transition) else recoding.possible.astype(float)
    place = {name: at for at, name in enumerate(categories)}
    table = np.zeros((len(categories) + 1, len(categories) + 1))
    table[-1, -1] = 1.0
    for row, before in enumerate(recoding.before):
        for column, after in enumerate(recoding.after):
            if before in place and after in place:
                table[place[before], place[after]] += given[row, column]
    return table


_RANKS_DRAWN = 200_000
"""Ranks in all simulated swaps together, about a second: more reduce the simulation error."""

_RUNS = (50, 3_000)
"""Minimum and maximum number of simulated swaps."""

_ENOUGH = 100
"""Average number of swaps from which each probability is estimated."""


class Swapped(Mechanism):
    """Rank swapping: ``f(y | x) = prod_a K_a(rank of x_a, rank of y_a)``.

    ``K_a(r, s)`` is the probability that the value of rank r changes places with that of rank s. It has no
    simple formula (the last free rank of a window takes what is left), so it is estimated by simulated swaps,
    smoothed along the diagonals, which change slowly. It is 0 beyond the window. Equal values have each
    other's ranks alike. The intruder knows the ranks: swapping keeps the values of every attribute.
    """

    approximate = (
        "rank swapping is followed record by record, with probabilities estimated by simulation: that two "
        "records exchange their values is not used"
    )

    def __init__(
        self,
        method: RankSwapping,
        original: FloatArray,
        masked: FloatArray,
        attributes: tuple[str, ...],
        seed: int,
    ) -> None:
        self.attributes = attributes
        self._method, self._original, self._masked, self._seed = method, original, masked, seed

    def log_likelihood(self) -> FloatArray:
        """Sum over attributes (see `Mechanism.log_likelihood`)."""
        kernels: dict[int, FloatArray] = {}
        found = np.zeros((len(self._original), len(self._masked)))
        for name, original, masked in zip(self.attributes, self._original.T, self._masked.T, strict=True):
            known = int((~np.isnan(original)).sum())
            if known not in kernels:
                kernels[known] = swap_kernel(known, self._method.percent, self._seed)
            found += _of_values(kernels[known], original, masked, name)
        return found


def swap_kernel(records: int, percent: float, seed: int) -> FloatArray:
    """Estimate by simulation how often ranks are swapped (ranks, ranks), 0 beyond the window."""
    window = window_size(records, percent)
    if window < 1:
        raise UnfitError(f"a window of {percent:g} % is less than one of {records} values")
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(15,)))
    runs = min(max(_RUNS[0], _RANKS_DRAWN // records), _RUNS[1])
    wanting = _ENOUGH * 2 * window / runs  # swaps of neighbours to take along with each one
    reach = min(int(wanting / 2.0), window // 8)
    counts, ranks = np.zeros((records, records)), np.arange(records)
    for _ in range(runs):
        counts[ranks, swap_partners(records, window, random)] += 1.0
    kernel = np.zeros_like(counts)
    for offset in range(window + 1):
        smooth = _smoothed(np.diagonal(counts, offset), reach) + 0.5 / window
        kernel[ranks[: records - offset], ranks[offset:]] = smooth
        kernel[ranks[offset:], ranks[: records - offset]] = smooth
    return np.asarray(kernel / kernel.sum(axis=1, keepdims=True))


def _smoothed(values: FloatArray, reach: int) -> FloatArray:
    """Average each value with its neighbours, fewer at the ends."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(values.size)
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, values.size)
    return np.asarray((total[high] - total[low]) / (high - low))


def _of_values(kernel: FloatArray, original: FloatArray, masked: FloatArray, name: str) -> FloatArray:
    """Compute log probabilities of masked values (m,) given original ones (n,): ties share their ranks."""
    known = original[~np.isnan(original)]
    levels, sizes = np.unique(known, return_counts=True)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = np.add.reduceat(np.add.reduceat(kernel, first, axis=0), first, axis=1) / sizes[:, None]
    after = _places(masked, levels)
    if (after < 0).any():
        row = int(np.argmax(after < 0)) + 1
        raise UnfitError(
            f"masked record {row} has a value of {name!r} that no original record has, which swapping does "
            "not make"
        )
    whole = np.zeros((levels.size + 1, levels.size + 1))
    whole[:-1, :-1], whole[-1, -1] = table, 1.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(whole)[np.ix_(_places(original, levels), after)])


def _places(values: FloatArray, levels: FloatArray) -> NDArray[np.intp]:
    """Find the level of each value, one past the last where missing, -1 where unknown."""
    at = np.minimum(np.searchsorted(levels, values), levels.size - 1)
    found = np.where(levels[at] == values, at, -1)
    return np.where(np.isnan(values), levels.size, found).astype(np.intp)


MOST_PAIRS = 10_000_000
"""Pairs of records per batch: 80 MB for each table of probabilities."""


def unknown() -> str:
    """Say that it is not known how a file was masked, and how to say it."""
    return (
        f"how the file was masked is not known: give {called('masking', 'RECORD.json')}, which mask --record "
        f"wrote, or methods, as in {called('masking', 'noise percent=20')}"
    )


"""Reason where no masking is given, and the files show no recoding."""


@dataclass(frozen=True, eq=False)
class KnownMasking:
    """Known masking of a file's attributes."""

    files: FilePair
    methods: tuple[MaskingMethod, ...]  # of numbers; without names of all compared ones
    recodings: Sequence[object]  # of categorical attributes, as text; others are ignored
    seed: int = 0  # of simulations

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """List the mechanisms of every method, and of attributes unchanged or with an inferred recoding."""
        spelled = [item for item in self.recodings if isinstance(item, str) and item != NOT_INFERRED]
        try:
            found = [*self._numeric(), *self._categorical()]
        except DataError as error:
            raise UnfitError(f"the masking does not fit: {error}") from None
        known = {name for mechanism in found for name in mechanism.attributes}
        images = {name: self._image(name) for name in self.files.attributes if name not in known}
        certain = tuple(name for name, image in images.items() if self._shown(name, image))
        if not found and not any(self._recoded(name) for name in certain):
            given = bool(self.methods or spelled)
            raise UnfitError(
                "no attribute that is compared is masked by a method that is given" if given else unknown()
            )
        if certain:
            image = np.column_stack([images[name] for name in certain])
            found.append(Determined(certain, image, self._values(certain)[1]))
        return tuple(found)

    @property
    def attributes(self) -> tuple[str, ...]:
        """List the compared attributes with known masking, in order."""
        known = {name for mechanism in self.mechanisms for name in mechanism.attributes}
        return tuple(name for name in self.files.attributes if name in known)

    @property
    def left_out(self) -> tuple[str, ...]:
        """List the other attributes."""
        return tuple(name for name in self.files.attributes if name not in self.attributes)

    @property
    def approximate(self) -> tuple[str, ...]:
        """Note the approximations in the probabilities."""
        notes = [mechanism.approximate for mechanism in self.mechanisms]
        return tuple(dict.fromkeys(text for text in notes if text is not None))

    @cached_property
    def log_likelihood(self) -> FloatArray:
        """Compute ``log f(y_j | x_i)`` of all known attributes, shape (original records, masked records)."""
        total = np.zeros((len(self.files.original), len(self.files.masked)))
        rows = np.flatnonzero(self.files.partner >= 0)
        for mechanism in self.mechanisms:
            found = mechanism.log_likelihood()
            lost = ~np.isfinite(found[rows, self.files.partner[rows]])
            if lost.any():
                label = self.files.original_labels[rows[int(np.argmax(lost))]]
                names = shown_names(mechanism.attributes)
                raise UnfitError(
                    f"the masking that is given cannot have made record {label} what it is in {names} "
                    f"({int(lost.sum()):,} such records): it is another one, or not the only one"
                )
            total += found
        return total

    def lacking(self) -> str | None:
        """Give the reason why there are no probabilities; None where there are."""
        pairs = len(self.files.original) * len(self.files.masked)
        if pairs > MOST_PAIRS:
            return f"it compares all pairs of records, {pairs:.1g} here; take a sample of the files"
        try:
            assert self.log_likelihood is not None
        except UnfitError as error:
            return str(error)
        return None

    # ---- one kind of method after the other

    def _numeric(self) -> list[Mechanism]:
        """Build mechanisms of methods that change numbers, or suppress values of any scale."""
        frame, files = self.files.original, self.files
        numeric = tuple(name for name in files.attributes if name not in files.categorical)
        steps = []
        for method in self.methods:
            able = files.attributes if isinstance(method, LocalSuppression) else numeric
            masks = method if method.named is not None or not able else method.restricted(able)
            steps.append(Step(masks, masks.masked_attributes(frame), chosen=method.named is None))
        for name, twice in masked_twice(steps).items():
            raise UnfitError(f"{shown_name(name)} is masked by {' and by '.join(twice)}; one can be followed")
        found = []
        for step in steps:
            able = files.attributes if isinstance(step.method, LocalSuppression) else numeric
            if wrong := [name for name in step.attributes if name in files.categorical and name not in able]:
                raise UnfitError(f"{shown_name(wrong[0])} is compared by its categories, not as a number")
            compared = [name for name in step.attributes if name in able]
            if compared:
                found.append(self._mechanism(step, compared))
        return found

    def _mechanism(self, step: Step, compared: list[str]) -> Mechanism:
        method, names = step.method, tuple(compared)
        original, masked = self._values(compared)
        if isinstance(method, AdditiveNoise):
            places = [step.attributes.index(name) for name in compared]
            values = values_of(self.files.original, step.attributes)
            return Noise(method, values, masked, names, places)
        if isinstance(method, RankSwapping):
            return Swapped(method, original, masked, names, self.seed)
        if isinstance(method, LocalSuppression):
            return Determined(names, self._suppressed(method, compared, original), masked)
        if method.chance:
            raise UnfitError(f"the probabilities of {method.name} are not known")
        repeated = method.apply(self.files.original)
        return Determined(names, values_of(repeated, compared), masked)

    def _suppressed(self, method: MaskingMethod, compared: list[str], original: FloatArray) -> FloatArray:
        """Remove the original values that a method suppresses."""
        files = self.files
        lost = method.apply(files.original)[compared].isna().to_numpy(dtype=bool)
        # A missing category has the position behind all others (see `FilePair`).
        missing = [
            float(len(files.categorical[name].categories)) if name in files.categorical else np.nan
            for name in compared
        ]
        return np.where(lost, missing, original)

    def _categorical(self) -> list[Mechanism]:
        found: list[Mechanism] = []
        for name, recoding in known_recodings(self.files, self.files.attributes, self.recodings).items():
            original, masked = self._values([name])
            categories = self.files.categorical[name].categories
            found.append(Recoded(name, recoding, categories, original[:, 0], masked[:, 0]))
        return found

    def _values(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        at = [self.files.attributes.index(name) for name in names]
        return self.files.original_values[:, at], self.files.masked_values[:, at]

    def _image(self, name: str) -> FloatArray:
        """Apply the inferred recoding to an original attribute, if there is one."""
        at, categorical = self.files.attributes.index(name), self.files.categorical
        values = self.files.compared_values[:, at]
        return categorical[name].image(values) if name in categorical else values

    def _recoded(self, name: str) -> bool:
        """Whether the recoding of an attribute is known."""
        categorical = self.files.categorical.get(name)
        return name in self.files.recoded or (categorical is not None and categorical.masking == INFERRED)

    def _shown(self, name: str, image: FloatArray) -> bool:
        """Whether every record has the image of its original, so that no other masking applies."""
        after = self._values([name])[1][:, 0]
        rows = np.flatnonzero(self.files.partner >= 0)
        return bool(np.array_equal(image[rows], after[self.files.partner[rows]], equal_nan=True))


def known_recodings(
    files: FilePair, keys: Sequence[str], masking: Sequence[object]
) -> Mapping[str, Recoding]:
    """List known recodings of key variables that are compared (see `key_changes`)."""
    schema = Schema(
        tuple(
            Attribute(name, scale=attribute.scale, categories=attribute.categories)
            if attribute.scale is Scale.ORDINAL
            else Attribute(name, scale=Scale.NOMINAL)
            for name, attribute in files.categorical.items()
        )
    )
    found: dict[str, Recoding] = {}
    for text in masking:
        if isinstance(text, str) and text != NOT_INFERRED and level_of(text, files.dates)[0] is None:
            found |= spelled_recodings([text], files.original, schema)
    return {name: found[name] for name in keys if name in found}
