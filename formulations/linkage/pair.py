"""The linkage problem of a file pair: blocks, candidates, partners and weights."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.linkage.box_tree import BoxTree, box_tree
from linkrisk.formulations.linkage.comparison import (
    NUMERIC,
    Columns,
    Comparison,
    MissingDifferences,
    Rows,
    compare_files,
)
from linkrisk.formulations.linkage.comparison import Direction as Direction
from linkrisk.formulations.linkage.distances import (
    Differences,
    DistanceTables,
    FileMoments,
    Standardisation,
    category_counts,
    of_kind,
)
from linkrisk.formulations.linkage.tie_tolerance import Partners, tied_distances, value_rounding

_TREES_KEPT = 6


class BoxedCandidates(NamedTuple):
    """Candidates in the boxes of a tree."""

    tree: BoxTree
    records: FloatArray  # (candidates, attributes): each in its place
    place: IndexArray  # (candidates,): where each candidate has gone


class CandidateOrders:
    """Sorted orders, twins and box trees of candidates, cached in this process."""

    def __init__(self, candidates: FloatArray) -> None:
        self.candidates = candidates
        self._orders: dict[int, tuple[IndexArray, FloatArray]] = {}
        self._boxed: dict[Hashable, BoxedCandidates] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"candidates": self.candidates, "_orders": {}, "_boxed": {}}

    @cached_property
    def twin_group(self) -> IndexArray:
        """Label of each candidate, shape (candidates,): equal labels mean equal on every attribute.

        What is missing in both is equal: no distance tells such records apart.
        """
        # NaN differs from itself, inf does not.
        comparable = np.where(np.isnan(self.candidates), np.inf, self.candidates)
        order = np.lexsort(comparable.T)
        ordered = comparable[order]
        labels = np.zeros(len(order), dtype=np.intp)
        labels[order[1:]] = np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))
        return labels

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest known value of each attribute; NaN where none is known."""
        low = np.fmin.reduce(self.candidates, initial=np.nan)
        return low, np.fmax.reduce(self.candidates, initial=np.nan)

    def order(self, attribute: int) -> IndexArray:
        """The candidates by an attribute, shape (candidates,)."""
        return self._ordered(attribute)[0]

    def values(self, attribute: int) -> FloatArray:
        """The values of an attribute in that order, shape (candidates,)."""
        return self._ordered(attribute)[1]

    def _ordered(self, attribute: int) -> tuple[IndexArray, FloatArray]:
        if attribute not in self._orders:
            values = self.candidates[:, attribute]
            order = np.argsort(values, kind="stable")
            self._orders[attribute] = (order, values[order])
        return self._orders[attribute]

    def boxed(
        self,
        key: Hashable,
        importance: FloatArray,
        categories: IndexArray | None = None,
        points: Callable[[], FloatArray] | None = None,
    ) -> BoxedCandidates:
        """Candidates in a tree of boxes (arguments of `box_tree`), cached by `key`.

        `points` gives coordinates (candidates, dimensions) other than their values.
        """
        known = self._boxed.pop(key, None)
        if known is None:
            tree = box_tree(self.candidates if points is None else points(), importance, categories)
            place = np.empty_like(tree.order)
            place[tree.order] = np.arange(tree.order.size)
            known = BoxedCandidates(tree, self.candidates[tree.order], place)
        # A new dictionary: other threads may be reading the old one.
        self._boxed = dict([*self._boxed.items(), (key, known)][-_TREES_KEPT:])
        return known

    def has_boxed(self, key: Hashable) -> bool:
        """Whether a tree is kept."""
        return key in self._boxed


class Ties(StrEnum):
    """What a candidate that equals the partner on every attribute means."""

    STRICT = "strict"  # a rival like any other: the record cannot be linked
    SHARE = "share"  # no rival; the block counts 1 / (number of such candidates, the partner included)


@dataclass(frozen=True)
class LinkagePair:
    """The linkage problem of a file pair, in standardised units or categories.

    One *block* per query record that has a partner among the candidates: the block is re-identified
    when the partner is strictly nearer than every rival (D11.2, Eq. 4).
    """

    queries: FloatArray  # (blocks, attributes): the records to be linked; categories as their positions
    candidates: FloatArray  # (candidates, attributes): all records they may be linked to
    partner: IndexArray  # (blocks,): row of each block's partner in `candidates`
    weight: FloatArray  # (blocks,): what linking the block counts
    attributes: tuple[str, ...]  # names of the attributes
    ties: Ties  # the tie rule
    query_rows: IndexArray  # (blocks,): row of each block's query record in its own file
    # (attributes,): how far from zero values were before they were standardised (`Standardised`)
    offset: FloatArray
    # (attributes,): what is far below any difference that the attributes show (`ties.grain`)
    grains: FloatArray
    # distances between categories, of a query and of a candidate; all other attributes are numeric
    tables: DistanceTables | None = None
    # what numeric attributes differ by where a value is missing, which records hold as NaN
    missing: MissingDifferences | None = None
    orders: CandidateOrders | None = field(default=None, repr=False)  # of these candidates; made when absent

    def __post_init__(self) -> None:
        """Parts of a problem share what is computed of its candidates."""
        if self.orders is None or self.orders.candidates is not self.candidates:
            object.__setattr__(self, "orders", CandidateOrders(self.candidates))

    def __getstate__(self) -> dict[str, Any]:
        """What goes to other processes: the fields alone, not what was computed of them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def by_candidate(self) -> CandidateOrders:
        """What is computed of the candidates alone."""
        assert self.orders is not None
        return self.orders

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.queries)

    @property
    def twin_group(self) -> IndexArray:
        """Label of each candidate, shape (candidates,): equal labels mean equal on every attribute."""
        return self.by_candidate.twin_group

    @cached_property
    def equals(self) -> IndexArray:
        """Candidates that equal each block's partner on every attribute, itself included, shape (blocks,)."""
        sizes = np.bincount(self.twin_group)
        return np.asarray(sizes[self.twin_group[self.partner]], dtype=np.intp)

    @cached_property
    def reachable(self) -> BoolArray:
        """Whether each query's partner is possible, shape (blocks,); if not, the block is never linked."""
        return self.possible(np.arange(self.blocks), self.partner)

    @cached_property
    def looked_up(self) -> Mapping[int, FloatArray]:
        """The attributes of categories with their distances, shape (of queries, of candidates)."""
        if self.tables is None:
            return {}
        return {k: self.tables.table(at) for at, k in enumerate(self.tables.attributes.tolist())}

    @cached_property
    def ordered(self) -> IndexArray:
        """The attributes whose distance grows with the difference of two values, for all records.

        Not those with tables of distances, and not those in which values are missing.
        """
        others = np.zeros(len(self.attributes), dtype=np.bool_)
        others[list(self.looked_up)] = True
        if self.missing is not None:
            others[self.missing.attributes] = True
        return np.flatnonzero(~others).astype(np.intp)

    def boxed(self, halving: BoolArray | None = None) -> BoxedCandidates:
        """Candidates in a tree of boxes halved by `halving` (attributes,), by all attributes when absent."""
        halving = np.ones(len(self.attributes), dtype=np.bool_) if halving is None else halving
        weight = halving.astype(np.float64)
        for k, table in self.looked_up.items():
            squares = table[np.isfinite(table)] ** 2
            weight[k] *= float(squares.mean()) if squares.size else 1.0
        categories = category_counts(self.tables, weight.size)
        return self.by_candidate.boxed(halving.tobytes(), weight, categories)

    def part(self, blocks: IndexArray) -> LinkagePair:
        """The same problem with some of the blocks; all candidates stay."""
        return replace(
            self,
            queries=self.queries[blocks],
            partner=self.partner[blocks],
            weight=self.weight[blocks],
            query_rows=self.query_rows[blocks],
            missing=None if self.missing is None else self.missing.part(blocks),
        )

    def possible(self, blocks: Rows, candidates: Rows) -> BoolArray:
        """Whether candidates can be the partners of blocks (`DistanceTables.possible`); both broadcast."""
        if self.tables is not None:
            return self.tables.possible(self.queries[blocks], self.candidates[candidates])
        shapes = np.shape(self.queries[blocks, 0]), np.shape(self.candidates[candidates, 0])
        return np.ones(np.broadcast_shapes(*shapes), dtype=np.bool_)

    def distances(self, blocks: Rows, candidates: Rows, kind: Differences) -> FloatArray:
        """Attribute distances (..., attributes) of blocks to candidates, which broadcast; always finite."""
        queries, others = self.queries[blocks], self.candidates[candidates]
        differences: FloatArray = queries - others
        if self.tables is not None:
            self.tables.place(differences, queries, others)
        if self.missing is not None:
            self.missing.place(differences, blocks, candidates)
        return of_kind(differences, kind)

    def rivals(self, block: int) -> IndexArray:
        """Candidates that must be farther than the partner for `block` to be linked."""
        partner = self.partner[block]
        if self.ties is Ties.SHARE:
            against = self.twin_group != self.twin_group[partner]
        else:
            against = np.arange(len(self.candidates)) != partner
        return np.flatnonzero(against & self.possible(np.intp(block), slice(None)))

    def partner_distances(self, kind: Differences) -> FloatArray:
        """Attribute distances of each query to its own partner, shape (blocks, attributes)."""
        return self.distances(slice(None), self.partner, kind)

    @cached_property
    def rounding(self) -> FloatArray:
        """Largest rounding error of differences to partners (`value_rounding`), zero for categories."""
        queries, partners = self.queries, self.candidates[self.partner]
        if self.missing is not None:
            # What goes into such a difference is about as large as the difference.
            apart, lacking = self.partner_distances(Differences.ABSOLUTE), np.isnan(queries - partners)
            queries, partners = (np.where(lacking, apart, values) for values in (queries, partners))
        rounding = value_rounding(queries, partners, self.offset)
        rounding[:, list(self.looked_up)] = 0.0
        return rounding

    def partners(self, kind: Differences, tied: Differences, share: float) -> Partners:
        """Distances of blocks to their partners, and those up to which a rival ties."""
        absolute = self.partner_distances(Differences.ABSOLUTE)
        widened = tied_distances(absolute, self.rounding, self.grains, tied, share)
        return Partners(self.partner_distances(kind), widened)

    def chunks(self, kind: Differences, megabytes: float = 64.0) -> Iterator[tuple[slice, FloatArray]]:
        """Yield slices of blocks with their attribute distances to all candidates, of limited memory."""
        per_block = self.candidates.nbytes or 1
        size = max(1, int(megabytes * 2**20 / per_block))
        for first in range(0, self.blocks, size):
            part = slice(first, min(first + size, self.blocks))
            blocks, candidates = np.arange(self.blocks)[part, None], np.arange(len(self.candidates))[None, :]
            yield part, self.distances(blocks, candidates, kind)


def make_pair(
    original: FloatArray,
    masked: FloatArray,
    partner: IndexArray | None = None,
    *,
    columns: Columns = NUMERIC,
    direction: Direction = Direction.ORIGINAL_TO_MASKED,
    standardisation: Standardisation | FileMoments = Standardisation.OWN,
    ties: Ties | None = Ties.STRICT,
    weight: FloatArray | None = None,
) -> LinkagePair:
    """Set up the linkage problem of an original file (n, attributes) and its masked version.

    `partner` (n,) is the masked row of each original record, -1 for none; row by row when absent. `weight`
    (n,) is what linking an original record counts. With `ties` None they are shared where a candidate equals
    a partner. FormulationError if no record has a partner or the shapes do not fit.
    """
    partner = _checked_partner(original, masked, partner)
    linked = np.flatnonzero(partner >= 0)
    if linked.size == 0:
        raise FormulationError("no original record has a masked partner, so there is nothing to link")
    comparison = compare_files(
        original,
        masked,
        columns=columns,
        direction=direction,
        standardisation=standardisation,
    )
    own, other = linked.astype(np.intp), partner[linked].astype(np.intp)
    base = np.ones(own.size) if weight is None else np.asarray(weight, dtype=np.float64)[linked]
    if direction is Direction.MASKED_TO_ORIGINAL:
        order = np.argsort(other, kind="stable")
        own, other, base = other[order], own[order], base[order]
    return pair_of(comparison, own, other, base, ties)


def pair_of(
    comparison: Comparison, rows: IndexArray, partner: IndexArray, weight: FloatArray, ties: Ties | None
) -> LinkagePair:
    """The linkage problem of comparable files, from queries, candidates and weights (blocks,)."""
    missing = comparison.missing
    pair = LinkagePair(
        queries=np.ascontiguousarray(comparison.queries[rows]),
        candidates=comparison.candidates,
        partner=partner,
        weight=weight,
        attributes=comparison.attributes,
        ties=ties or Ties.SHARE,
        query_rows=rows,
        offset=comparison.offset,
        grains=comparison.grains,
        tables=comparison.tables,
        missing=None if missing is None else missing.part(rows),
    )
    if ties is None and (pair.equals == 1).all():
        return replace(pair, ties=Ties.STRICT)
    return pair if ties is Ties.STRICT else _shared(pair)


def _checked_partner(original: FloatArray, masked: FloatArray, partner: IndexArray | None) -> IndexArray:
    """The partner of each original record, row by row when absent; shapes must fit."""
    if original.shape[1] != masked.shape[1]:
        raise FormulationError(
            f"{original.shape[1]} attributes in the original file and {masked.shape[1]} in the masked one: "
            "compare the same attributes"
        )
    if partner is None:
        if len(original) != len(masked):
            raise FormulationError(
                f"{len(original)} original and {len(masked)} masked records: without a partner for each, "
                "the files must have the same number of rows"
            )
        return np.arange(len(original))
    partner = np.asarray(partner, dtype=np.intp)
    if len(partner) != len(original):
        raise FormulationError(
            f"{len(partner)} partners for {len(original)} original records: give one for each, -1 for none"
        )
    if partner.max(initial=-1) >= len(masked):
        raise FormulationError(
            f"partner {partner.max()} is not a row of the {len(masked)} masked records: rows count from 0"
        )
    return partner


def _shared(pair: LinkagePair) -> LinkagePair:
    """Divide each block's weight by the number of candidates that equal its partner."""
    return replace(pair, weight=pair.weight / pair.equals)
