"""The blocks and their candidates as exact whole numbers, made from the two files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.dyadic import shift_of_array, whole_numbers
from linkrisk.solver.certificates.checking.missing import (
    MissingDifferences,
    missing_differences,
    with_unknown,
)
from linkrisk.solver.certificates.checking.moments import standardised
from linkrisk.solver.certificates.checking.recodings import recoded
from linkrisk.solver.certificates.checking.sampling import Sampling, read_sampling
from linkrisk.solver.certificates.checking.setting import Setting
from linkrisk.solver.certificates.checking.ties import (
    GRAIN_SHIFT,
    TOLERANCES,
    Partner,
    grain,
    grain_of_table,
    tied,
    widths,
)
from linkrisk.solver.certificates.checking.weights import Weights, weights_of
from linkrisk.solver.certificates.core.claims import demand

ExactRecord = tuple[int | None, ...]

MOST_KEPT = 1 << 20
"""Whole numbers of records that are remembered."""


@dataclass(frozen=True, eq=False)
class Records:
    """The linkage problem of a file pair in standardised units and positions of categories.

    Attributes
    ----------
    queries : ndarray of float64, shape (blocks, attributes)
    candidates : ndarray of float64, shape (candidates, attributes)
    partner : tuple of int
        Candidate that each block belongs to.
    share : bool
        Whether candidates identical to the partner are not rivals.
    differences : str
        ``squared``, ``absolute`` or ``signed``.
    labels : tuple of str
        What each block's record is called.
    offset : ndarray of float64, shape (attributes,)
        How far from zero the values of the files are: ``|mean| / deviation`` of both, added.
    grains : ndarray of float64, shape (attributes,)
        What is far below any difference that the attributes show.
    tables : mapping of int to ndarray of float64
        For each categorical attribute, by its place, the distance of a query's category (rows) to a
        candidate's (columns); inf where one cannot have become the other. Records hold positions there.
    missing : mapping of int to MissingDifferences
        For each numeric attribute in which values are missing (NaN), by its place, what they differ by.
    has_missing : bool
        Whether any value is missing, of categorical attributes as well.
    sampling : Sampling, optional
        What the records stand for; each for itself when absent.
    """

    queries: FloatArray
    candidates: FloatArray
    partner: tuple[int, ...]
    share: bool
    differences: str
    labels: tuple[str, ...]
    offset: FloatArray
    grains: FloatArray
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    missing: Mapping[int, MissingDifferences] = field(default_factory=dict)
    has_missing: bool = False
    sampling: Sampling | None = None
    _known: dict[tuple[bool, int], ExactRecord] = field(default_factory=dict, init=False)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.partner)

    @cached_property
    def shift(self) -> int:
        """Exact values are in units of ``2**-shift``; squares and products of them in its square."""
        values = [self.queries, self.candidates, self.widths, *self.tables.values()]
        known = [shift_of_array(part[np.isfinite(part)]) for part in values]
        grains = shift_of_array(self.grains) + GRAIN_SHIFT
        return max(grains, *known, *(shift_of_array(some.doubles()) for some in self.missing.values()))

    @cached_property
    def partners(self) -> IndexArray:
        """`partner` as an array."""
        return np.array(self.partner, dtype=np.intp)

    @cached_property
    def widths(self) -> FloatArray:
        """By how much rounding may have moved differences to partners; zero for categories."""
        queries, partners = self.queries.copy(), self.candidates[self.partners]
        for k, differences in self.missing.items():
            some = np.flatnonzero(np.isnan(queries[:, k] - partners[:, k]))
            queries[some, k] = partners[some, k] = np.abs(differences.of(some, self.partners[some]))
        result = widths(queries, partners, self.offset)
        result[:, list(self.tables)] = 0.0
        return result

    def _exact(self, values: FloatArray, at: int) -> ExactRecord:
        """A record as whole numbers, None where a value is missing."""
        key = values is self.queries, at
        known = self._known.get(key)
        if known is None:
            row: list[float] = values[at].tolist()
            numbers = whole_numbers([0.0 if math.isnan(x) else x for x in row], self.shift)
            known = tuple(None if math.isnan(x) else number for x, number in zip(row, numbers, strict=True))
            if len(self._known) * len(row) < MOST_KEPT:
                self._known[key] = known
        return known

    @cached_property
    def twins(self) -> IndexArray:
        """A number for each candidate, the same for those that are equal on every attribute."""
        comparable = np.where(np.isnan(self.candidates), np.inf, self.candidates)
        order = np.lexsort(comparable.T)
        ascending = comparable[order]
        fresh = (ascending[1:] != ascending[:-1]).any(axis=1)
        result = np.zeros(order.size, dtype=np.intp)
        result[order[1:]] = np.cumsum(fresh)
        return result

    @cached_property
    def distinct(self) -> IndexArray:
        """How many values each attribute of the candidates has."""
        return np.array([np.unique(column).size for column in self.candidates.T])

    @cached_property
    def _copies(self) -> IndexArray:
        return np.bincount(self.twins)[self.twins[self.partners]]

    def copies(self, block: int) -> int:
        """Candidates that equal the block's partner on every attribute, itself included."""
        return int(self._copies[block])

    @cached_property
    def weights(self) -> Weights:
        """What linking each block counts."""
        own = None if self.sampling is None else self.sampling.weights
        copies = self._copies if self.share else np.ones(self.blocks, dtype=np.intp)
        return weights_of(own, copies)

    def weight(self, block: int) -> Fraction:
        """What linking the block counts."""
        return self.weights.of(block)

    def is_rival(self, block: int, candidate: int) -> bool:
        """Whether the candidate must be farther than the partner for the block to be linked."""
        if not 0 <= candidate < len(self.candidates) or candidate == self.partner[block]:
            return False
        if not self.possible(block, np.array([candidate]))[0]:
            return False
        return not (self.share and self.twins[candidate] == self.twins[self.partner[block]])

    def possible(self, blocks: int | IndexArray, candidates: IndexArray) -> BoolArray:
        """Whether each of the candidates can be a block's partner: no distance of categories is infinite.

        Or one candidate that of each of some blocks.
        """
        possible = np.ones(candidates.size, dtype=np.bool_)
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            possible &= np.isfinite(table[self.queries[blocks, k].astype(np.intp), columns])
        return possible

    @cached_property
    def reached(self) -> BoolArray:
        """Whether each block's own partner is possible."""
        return self.possible(np.arange(self.blocks), self.partners)

    def impossible_pairs(self) -> int:
        """How many pairs of a block and a candidate are impossible."""
        limited = [k for k, table in self.tables.items() if not np.isfinite(table).all()]
        if not limited:
            return 0
        ours, often = np.unique(self.queries[:, limited].astype(np.intp), axis=0, return_counts=True)
        theirs, many = np.unique(self.candidates[:, limited].astype(np.intp), axis=0, return_counts=True)
        count = 0
        for query, times in zip(ours, often.tolist(), strict=True):
            can = [np.isfinite(self.tables[k][query[at], theirs[:, at]]) for at, k in enumerate(limited)]
            count += times * int(many[~np.logical_and.reduce(can)].sum())
        return count

    def reachable(self, block: int) -> bool:
        """Whether the block's own partner is possible; the block is never linked if not."""
        return bool(self.reached[block])

    def rivals(self, block: int) -> IndexArray:
        """All rivals of a block: candidates that cannot be its partner are not rivals."""
        everyone = np.arange(len(self.candidates))
        mask = (everyone != self.partner[block]) & self.possible(block, everyone)
        if self.share:
            mask &= self.twins != self.twins[self.partner[block]]
        return np.flatnonzero(mask)

    def distances(self, block: int, candidate: int) -> list[int]:
        """Exact attribute distances of a block's query to a possible candidate, in a unit common to all."""
        differences = self._differences(block, candidate)
        if self.differences == "squared":
            return [z * z for z in differences]
        return [abs(z) for z in differences] if self.differences == "absolute" else differences

    def _differences(self, block: int, candidate: int) -> list[int]:
        """Differences of values, and distances of categories, in units of ``2**-shift``."""
        query, other = self._exact(self.queries, block), self._exact(self.candidates, candidate)
        differences = [
            self._lacking(block, candidate, k) if a is None or b is None else a - b
            for k, (a, b) in enumerate(zip(query, other, strict=True))
        ]
        for k, table in self.tables.items():
            distance = float(table[int(self.queries[block, k]), int(self.candidates[candidate, k])])
            differences[k] = whole_numbers([distance], self.shift)[0]
        return differences

    def _lacking(self, block: int, candidate: int, k: int) -> int:
        """The difference of an attribute whose value is missing in one of them."""
        difference = float(self.missing[k].of(block, np.array([candidate]))[0])
        return whole_numbers([difference], self.shift)[0]

    def partner_of(self, block: int, *, squares: bool) -> Partner:
        """A block's own partner; ties are squares, or what the attribute distances are."""
        own = self.partner[block]
        wide = whole_numbers(self.widths[block].tolist(), self.shift)
        widened = [abs(z) + w for z, w in zip(self._differences(block, own), wide, strict=True)]
        grains = whole_numbers(self.grains.tolist(), self.shift)
        if squares or self.differences == "squared":
            widened = [z * z + g * g for z, g in zip(widened, grains, strict=True)]
        else:
            widened = [z + (g >> GRAIN_SHIFT) for z, g in zip(widened, grains, strict=True)]
        return Partner(self.distances(block, own), [tied(z) for z in widened])

    def rounded_ties(self, blocks: IndexArray, *, squares: bool) -> FloatArray:
        """The same ties of some blocks in double precision, shape (blocks, attributes)."""
        wide = np.abs(self.rounded_differences(blocks, self.partners[blocks])) + self.widths[blocks]
        if squares or self.differences == "squared":
            wide = wide * wide + self.grains * self.grains
        else:
            wide = wide + 2.0**-GRAIN_SHIFT * self.grains
        return np.asarray(wide * (1.0 + TOLERANCES["tie"]))

    def rounded_distances(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Attribute distances of possible candidates in double precision, shape (candidates, attributes)."""
        difference = self.rounded_differences(blocks, candidates)
        if self.differences == "squared":
            return np.asarray(difference * difference)
        return np.asarray(np.abs(difference) if self.differences == "absolute" else difference)

    def rounded_differences(self, blocks: int | IndexArray, candidates: IndexArray) -> FloatArray:
        """Differences of values, and distances of categories, shape (candidates, attributes).

        Of one block to all of these candidates, or of each block to one.
        """
        difference = self.queries[blocks] - self.candidates[candidates]
        for k, table in self.tables.items():
            columns = self.candidates[candidates, k].astype(np.intp)
            difference[:, k] = table[self.queries[blocks, k].astype(np.intp), columns]
        for k, lacking_values in self.missing.items():
            unknown = np.isnan(difference[:, k])
            own = np.broadcast_to(blocks, candidates.shape)[unknown]
            difference[unknown, k] = lacking_values.of(own, candidates[unknown])
        return np.asarray(difference)


def block_rows(files: FilePair, setting: Setting) -> list[tuple[int, int]]:
    """The original and the masked record of each block, in the order of the blocks."""
    pairs = [(own, other) for own, other in enumerate(files.partner.tolist()) if other >= 0]
    return sorted(pairs, key=lambda pair: pair[setting.direction == "masked-to-original"])


def make_records(files: FilePair, setting: Setting) -> Records:
    """Set up the blocks of a file pair.

    Parameters
    ----------
    files : FilePair
        With the attributes of `setting`, in its order.
    setting : Setting
    """
    _check_categories(files, setting)
    original, masked = files.original_values.copy(), files.masked_values.copy()
    for entry in setting.recodings:
        if entry.steps:
            at = setting.attributes.index(entry.attribute)
            original[:, at] = recoded(original[:, at], entry.steps)
    numeric = numeric_places(files)
    offset = np.zeros(len(files.attributes))
    original[:, numeric], masked[:, numeric], offset[numeric] = standardised(
        original[:, numeric], masked[:, numeric], setting.standardisation
    )
    possible = {entry.attribute: entry.possible for entry in setting.recodings if entry.possible}
    tables = {
        setting.attributes.index(name): category_table(scale, len(categories), possible.get(name))
        for name, scale, categories in setting.schema
    }
    known = tables
    tables = {k: _with_unknown(table, original[:, k], masked[:, k], setting) for k, table in known.items()}
    grains = [
        grain_of_table(tables[k]) if k in tables else grain(original[:, k], masked[:, k], float(offset[k]))
        for k in range(len(offset))
    ]
    pairs = block_rows(files, setting)
    backwards = setting.direction == "masked-to-original"
    sampling = None if setting.weight is None else read_sampling(files, setting.weight, pairs)
    labels = files.original_labels
    if backwards:
        original, masked, labels = masked, original, files.masked_labels
        tables = {k: table.T for k, table in tables.items()}
        pairs = [(other, own) for own, other in pairs]
    blocks = [own for own, _ in pairs]
    missing = {k: missing_differences(original[:, k], blocks, masked[:, k], setting.missing) for k in numeric}
    return Records(
        queries=original[blocks],
        candidates=masked,
        partner=tuple(other for _, other in pairs),
        share=setting.share,
        differences=setting.differences,
        labels=tuple(labels[own] for own, _ in pairs),
        offset=offset,
        grains=np.array(grains),
        tables=tables,
        missing={k: differences for k, differences in missing.items() if differences is not None},
        has_missing=any(missing.values()) or any(tables[k].shape != known[k].shape for k in tables),
        sampling=sampling,
    )


def _with_unknown(
    table: FloatArray, original: FloatArray, masked: FloatArray, setting: Setting
) -> FloatArray:
    """The table, with the position behind all categories where a record of either file has it."""
    counts = [
        np.bincount(codes.astype(np.intp), minlength=size + 1).astype(np.float64)
        for codes, size in zip((original, masked), table.shape, strict=True)
    ]
    if not any(often[size] for often, size in zip(counts, table.shape, strict=True)):
        return table
    demand(all(often[:-1].any() for often in counts), "an attribute has no value in one of the files")
    return with_unknown(table, counts[0][:-1], counts[1][:-1], setting.missing)


def numeric_places(files: FilePair) -> list[int]:
    """Which of the attributes are numeric."""
    return [k for k, name in enumerate(files.attributes) if name not in files.categorical]


def category_table(scale: str, many: int, possible: Sequence[str] | None) -> FloatArray:
    """Distances of original categories (rows) to masked ones (columns), inf for impossible recodings.

    Nominal: 0 or 1. Ordinal: the difference of positions divided by the number of categories, as a double.
    """
    steps = np.abs(np.arange(many)[:, None] - np.arange(many)[None, :])
    table = steps / many if scale == "ordinal" else np.minimum(steps, 1).astype(np.float64)
    if possible is None:
        return np.asarray(table)
    can = np.array([[digit == "1" for digit in line] for line in possible], dtype=np.bool_)
    return np.where(can, table, np.inf)


def _check_categories(files: FilePair, setting: Setting) -> None:
    """Reject files that are read with other categories than those of the fit."""
    here = {(name, kind.scale.value, kind.categories) for name, kind in files.categorical.items()}
    demand(here == set(setting.schema), "problem, schema: the files are read with other categories")
    demand(dict(files.dates) == setting.dates, "problem, schema: the files are read with other dates")
    demand(files.attributes == setting.attributes, "problem, attributes: others are read from the files")
