"""From the masking methods of a release to the likelihood of every pair of records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkrisk.arrays import FloatArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.choosing import values_of
from linkrisk.datasets.masking.local_suppression import LocalSuppression
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.masking.sequence import Step, masked_twice
from linkrisk.datasets.microdata.names import shown_name, shown_names
from linkrisk.datasets.pairs.categorical import INFERRED, NOT_INFERRED
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.errors import called
from linkrisk.solver.measures.mechanisms.additive import Noise
from linkrisk.solver.measures.mechanisms.base import Mechanism, UnfitError
from linkrisk.solver.measures.mechanisms.determined import Determined
from linkrisk.solver.measures.mechanisms.recoded import Recoded
from linkrisk.solver.measures.mechanisms.swapped import Swapped
from linkrisk.solver.measures.population.misclassification import known_recodings

MOST_PAIRS = 10_000_000
"""Pairs of records whose probabilities are held at a time: 80 MB for each table of them."""


def unknown() -> str:
    """Say that it is not known how a file was masked, and how to say it."""
    return (
        f"how the file was masked is not known: give {called('masking', 'RECORD.json')}, which mask --record "
        f"wrote, or methods, as in {called('masking', 'noise percent=20')}"
    )


"""Why there are no probabilities where nobody said it, and the files show no recoding."""


@dataclass(frozen=True, eq=False)
class KnownMasking:
    """How a file was masked, as far as that is known."""

    files: FilePair
    # of numeric attributes; one that names no attributes has masked all numeric ones that are compared
    methods: tuple[MaskingMethod, ...]
    recodings: Sequence[object]  # of categorical attributes, as text; others are not looked at
    seed: int = 0  # of simulations

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Of every method, and of attributes that were released as they are, or recoded as the files show."""
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
        """The compared attributes whose masking is known, in their order."""
        known = {name for mechanism in self.mechanisms for name in mechanism.attributes}
        return tuple(name for name in self.files.attributes if name in known)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The other ones."""
        return tuple(name for name in self.files.attributes if name not in self.attributes)

    @property
    def approximate(self) -> tuple[str, ...]:
        """What the probabilities leave out."""
        said = [mechanism.approximate for mechanism in self.mechanisms]
        return tuple(dict.fromkeys(text for text in said if text is not None))

    @cached_property
    def log_likelihood(self) -> FloatArray:
        """``log f(y_j | x_i)`` of all known attributes, shape (original records, masked records)."""
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
        """Why there are no probabilities; None where there are."""
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
        """Of methods that change numbers, or suppress values of any scale."""
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
        """Of one method."""
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
        """The original values without those that a method suppresses."""
        files = self.files
        lost = method.apply(files.original)[compared].isna().to_numpy(dtype=bool)
        # A missing category has the position behind all others (see `FilePair`).
        missing = [
            float(len(files.categorical[name].categories)) if name in files.categorical else np.nan
            for name in compared
        ]
        return np.where(lost, missing, original)

    def _categorical(self) -> list[Mechanism]:
        """Of methods that change categories."""
        found: list[Mechanism] = []
        for name, recoding in known_recodings(self.files, self.files.attributes, self.recodings).items():
            original, masked = self._values([name])
            categories = self.files.categorical[name].categories
            found.append(Recoded(name, recoding, categories, original[:, 0], masked[:, 0]))
        return found

    def _values(self, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Columns of both files."""
        at = [self.files.attributes.index(name) for name in names]
        return self.files.original_values[:, at], self.files.masked_values[:, at]

    def _image(self, name: str) -> FloatArray:
        """An attribute of the original, recoded as the files show; as it was where they show nothing."""
        at, categorical = self.files.attributes.index(name), self.files.categorical
        values = self.files.compared_values[:, at]
        return categorical[name].image(values) if name in categorical else values

    def _recoded(self, name: str) -> bool:
        """Whether it is known what the values of an attribute became."""
        categorical = self.files.categorical.get(name)
        return name in self.files.recoded or (categorical is not None and categorical.masking == INFERRED)

    def _shown(self, name: str, image: FloatArray) -> bool:
        """Whether every record has the image of its original: then nothing else was done to the attribute."""
        after = self._values([name])[1][:, 0]
        rows = np.flatnonzero(self.files.partner >= 0)
        return bool(np.array_equal(image[rows], after[self.files.partner[rows]], equal_nan=True))
