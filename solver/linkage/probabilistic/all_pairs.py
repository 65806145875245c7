"""Link all pairs of two files, or those in the same block, by threads and workers."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.solver.linkage.linker import (
    TASKS_EACH,
    Helpers,
    LinkageTask,
    ReadyPairs,
    Rows,
    ScoredInShares,
    places,
    shared_out,
)
from linkrisk.solver.linkage.probabilistic.blocking import make_blocks
from linkrisk.solver.linkage.probabilistic.coding import (
    CodedColumn,
    Codes,
    code_column,
    code_files,
    cut_codes,
    in_units,
    met_by,
    of_kinds,
    readable_columns,
)
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.fellegi_sunter import (
    EMSettings,
    Estimate,
    MatchWeights,
    OutsidePairs,
    Probabilities,
    Thresholds,
    compiled_weights,
    estimate,
    level_weights,
    notes_on,
)
from linkrisk.solver.linkage.probabilistic.kernels import Blocks, Coded, Weights, add_weights
from linkrisk.solver.linkage.probabilistic.patterns import (
    PatternCounts,
    added_up,
    agreement_patterns,
    as_counts,
    joint_table,
    table_of_patterns,
    worth_counting_jointly,
)
from linkrisk.solver.linkage.score_ranks import Kinds
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Deferred

_LEAST_OF_ROW = 4_096
"""Minimum cost of a query, in pairs, with blocking keys: its own codes have to be sent."""

_CELLS_AT_ONCE = 1 << 20
"""Match weights that a thread holds at a time: 8 MB."""

_PAIRS = 1 << 28
"""Largest share, in pairs, with blocking keys, unless one query alone has more."""


class CodedPairs(ReadyPairs):
    """All pairs of two coded files."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of queries and candidates."""
        coded = self.codes.coded
        return len(coded.query_code), coded.candidate_slot.shape[1]

    def times(self, rows: slice) -> FloatArray:
        """Count the pairs of records that each pair of kinds represents."""
        coded = self.codes.coded
        return np.outer(coded.query_times[rows], coded.candidate_times).astype(np.float64)

    def scores(self, rows: IndexArray) -> FloatArray:
        """Compute match weights (see `ReadyPairs.scores`)."""
        coded, blocks, weights = self.codes
        assert weights is not None
        total = np.empty((rows.size, self.shape[1]))
        add_weights(coded, blocks, weights, rows, total)
        return total


def share_of(codes: Codes, rows: Rows, candidates: Rows) -> Deferred[CodedPairs]:
    """Extract a share of queries and candidates, the latter in ascending order."""
    return Deferred(_cut, codes, rows, candidates)


def _cut(codes: Codes, rows: Rows, candidates: Rows) -> CodedPairs:
    return CodedPairs(cut_codes(codes, places(rows), places(candidates)))


def patterns_by(codes: Codes, helpers: Helpers | None) -> PatternCounts:
    """Count agreement patterns, on workers where that is faster (see `agreement_patterns`)."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    keyed = codes.blocks.key.shape[1] > 0
    pairs = _pairs_of_rows(codes.blocks)
    if helpers is None or not helpers.worth(float(pairs.sum()) if keyed else queries * candidates):
        return agreement_patterns(codes.coded, codes.blocks)

    def plan(many: int) -> Sequence[Deferred[CodedPairs]]:
        return _by_keys(codes, pairs, many) if keyed else every_pair(codes, many)

    table = np.empty((0, 2), dtype=np.int64)
    for _, counted in helpers.answers(None, _count, plan):
        table = added_up([table, counted])
    return as_counts(table, attributes)


def every_pair(codes: Codes, many: int) -> list[Deferred[CodedPairs]]:
    """Split all pairs, compared or not, into shares for so many workers."""
    queries, attributes = codes.coded.query_code.shape
    candidates = codes.coded.candidate_slot.shape[1]
    return [share_of(codes, *share) for share in shared_out(queries, candidates, attributes, many)]


def _pairs_of_rows(blocks: Blocks) -> LongArray:
    """Count the pairs of each query over all its keys, with repetitions."""
    size = np.append(np.diff(blocks.first), 0)  # the last entry is for keys without candidates
    return np.asarray(size[blocks.key].sum(axis=1), dtype=np.int64)


def _by_keys(codes: Codes, pairs: LongArray, many: int) -> list[Deferred[CodedPairs]]:
    """Split pairs into shares of queries with equal keys and the candidates of their blocks."""
    blocks, attributes = codes.blocks, codes.coded.query_code.shape[1]
    rows = np.flatnonzero(pairs)
    rows = rows[np.lexsort(blocks.key[rows].T[::-1])]
    cost = np.cumsum(np.maximum(pairs[rows], _LEAST_OF_ROW))
    each = min(_PAIRS, max(1, int(cost[-1]) // (TASKS_EACH * many)))
    shares: list[Deferred[CodedPairs]] = []
    for part in np.split(rows, np.flatnonzero(np.diff(cost // each)) + 1):
        met = met_by(*blocks, part)
        for _, columns in shared_out(1, met.size, attributes, 1):
            shares.append(share_of(codes, part, met[columns]))
    return shares


def _count(given: None, share: Deferred[CodedPairs], clock: Clock) -> LongArray:
    """Count the patterns of a share on a worker."""
    del given
    codes = share.made().codes
    return table_of_patterns(codes.coded, codes.blocks, clock.threads, lambda: clock.expired)


def outcomes_by(codes: Codes, thresholds: Thresholds, helpers: Helpers | None) -> dict[str, float]:
    """Count links, clerical pairs and non-links by match weight; on workers where that is faster."""
    pairs = CodedPairs(codes)
    if helpers is not None and helpers.worth(math.prod(pairs.shape)):
        answers = helpers.answers(thresholds, _decide, lambda many: every_pair(codes, many))
        return _together(found for _, found in answers)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return _together(pool.map(lambda part: _outcomes(thresholds, pairs, part), _parts(pairs)))


def _parts(pairs: CodedPairs) -> list[slice]:
    """Split queries into batches of the weights that a thread holds."""
    queries, candidates = pairs.shape
    size = max(1, _CELLS_AT_ONCE // candidates)
    return [slice(first, min(first + size, queries)) for first in range(0, queries, size)]


def _together(found: Iterable[dict[str, float]]) -> dict[str, float]:
    """Add up outcomes, which are integers."""
    total = dict.fromkeys(("linked", "clerical", "non_linked"), 0.0)
    for some in found:
        for name, count in some.items():
            total[name] += count
    return total


def _outcomes(thresholds: Thresholds, pairs: CodedPairs, part: slice) -> dict[str, float]:
    weights = pairs.scores(np.arange(part.start, part.stop))
    return thresholds.outcomes(weights.ravel(), pairs.times(part).ravel())


def _decide(thresholds: Thresholds, share: Deferred[CodedPairs], clock: Clock) -> dict[str, float]:
    """Count the outcomes of a share on a worker."""
    pairs, found = share.made(), []
    for part in _parts(pairs):
        found.append(_outcomes(thresholds, pairs, part))
        if clock.expired:
            break
    return _together(found)


def estimated(
    attributes: Sequence[str],
    comparisons: Sequence[Comparison],
    counts: PatternCounts,
    settings: EMSettings,
    records: int,
    outside: OutsidePairs | None = None,
) -> tuple[Estimate, dict[str, Any], tuple[str, ...]]:
    """Estimate m, u and p, with parameters for the JSON and notes; `records` of the smaller file."""
    found = estimate(counts, [how.levels for how in comparisons], settings, outside)
    rows = zip(attributes, comparisons, found.m, found.u, strict=True)
    parameters = {
        "p": found.p,
        "p_estimated": settings.p is None,
        "attributes": [
            {
                "attribute": name,
                "comparison": comparison.to_dict(),
                "m": m.tolist(),
                "u": u.tolist(),
                "weights": level_weights(m, u).tolist(),
            }
            for name, comparison, m, u in rows
        ],
        "blocking": [],
        "compared_pairs": int(counts.pairs),
        "patterns": len(counts.counts),
        "expected_matches": float(counts.counts @ found.match_probability),
        "iterations": found.iterations,
        "converged": found.converged,
        "log_posterior": found.log_posterior[-1],
        "thresholds": None,
    }
    pairs = counts.pairs + (0.0 if outside is None else outside.pairs)
    return found, parameters, notes_on(attributes, found, settings, records, pairs)


_ROWS_PER_TASK = 64


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """Two files ready to be compared."""

    attributes: tuple[str, ...]
    comparisons: tuple[Comparison, ...]  # comparisons, in units of each attribute
    columns: tuple[CodedColumn, ...]
    kinds: tuple[Kinds, Kinds]  # kinds of records with equal codes; with blocking keys each record is its own
    coded: Coded  # the kinds
    blocks: Blocks  # blocking of the kinds

    @property
    def shape(self) -> tuple[int, int]:
        """Number of kinds of queries and of candidates."""
        return len(self.coded.query_code), self.coded.candidate_slot.shape[1]

    def patterns(self, helpers: Helpers | None = None) -> PatternCounts:
        """Count the agreement patterns, jointly or pair by pair, whichever is faster."""
        given = self.columns, self.comparisons, self.kinds
        if not self.blocks.key.shape[1] and worth_counting_jointly(*given):
            return as_counts(joint_table(*given), len(self.columns))
        return patterns_by(Codes(self.coded, self.blocks), helpers)

    @classmethod
    def of(cls, task: LinkageTask, comparisons: Mapping[str, Comparison], keys: Sequence[str]) -> Self:
        """Code the files of a task, relative thresholds being taken of both files together."""
        readable = readable_columns(task, comparisons)
        own = tuple(in_units(comparisons[name], *columns) for name, columns in readable.items())
        columns = tuple(code_column(*pair, how) for pair, how in zip(readable.values(), own, strict=True))
        coded, blocks = code_files(columns), make_blocks(task, keys)
        sides = (coded.query_code.T, coded.candidate_slot)
        kinds = tuple(
            Kinds.each(side.shape[1]) if keys else Kinds.where_worth(side, side.shape[1]) for side in sides
        )
        return cls(tuple(readable), own, columns, (kinds[0], kinds[1]), of_kinds(coded, *kinds), blocks)


class LearnedProbabilistic(MatchWeights, ScoredInShares):
    """Scores pairs by match weights in bits: the sum over attributes of ``log2(m / u)`` at their level."""

    def __init__(
        self,
        files: ComparedFiles,
        probabilities: Probabilities,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(probabilities, parameters, notes)
        self.files, self.both = files, files.kinds
        self._weights: Weights = compiled_weights(files.columns, files.comparisons, self.level_weights)

    def kind_scores(self, rows: IndexArray) -> FloatArray:
        """Compute match weights of kinds of queries with all kinds of candidates; -inf where not compared."""
        return CodedPairs(self.codes).scores(rows)

    def scores(self, rows: IndexArray) -> FloatArray:
        """Compute match weights of some queries with every candidate, on all cores."""
        firsts = range(0, rows.size, _ROWS_PER_TASK)
        parts = [rows[first : first + _ROWS_PER_TASK] for first in firsts]
        if len(parts) <= 1:
            return super().scores(rows)
        total = np.empty((rows.size, self.files.kinds[1].kind.size))

        def task(first: int, part: IndexArray) -> None:
            total[first : first + part.size] = super(LearnedProbabilistic, self).scores(part)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(task, firsts, parts))
        return total

    @property
    def codes(self) -> Codes:
        """Convert files and weights for compiled code."""
        return Codes(self.files.coded, self.files.blocks, self._weights)

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.files.attributes)

    def share(self, rows: Rows, candidates: Rows) -> Deferred[CodedPairs]:
        """Extract some kinds with some others (see `ScoredInShares.share`)."""
        return share_of(self.codes, rows, candidates)

    def outcomes(self, thresholds: Thresholds, helpers: Helpers | None = None) -> dict[str, float]:
        """Count the pairs that are linked, clerical and non-linked."""
        return outcomes_by(self.codes, thresholds, helpers)


@dataclass(frozen=True, eq=False)
class ReadParameters(Probabilities):
    """Learned parameters, read and checked."""

    comparisons: dict[str, Comparison]
    blocking: list[str]


def read_parameters(parameters: Mapping[str, Any], task: LinkageTask) -> ReadParameters:
    """Read parameters for the files of a task."""
    try:
        rows = {str(row["attribute"]): row for row in parameters["attributes"]}
        comparisons = {name: Comparison.from_dict(row["comparison"]) for name, row in rows.items()}
        m, u = ([np.array(row[key], dtype=np.float64) for row in rows.values()] for key in ("m", "u"))
        p, keys = float(parameters["p"]), [str(key) for key in parameters["blocking"]]
    except (KeyError, TypeError, ValueError, DataError) as problem:
        reason = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise UsageError(f"these are not parameters of a probabilistic linker: {reason}") from None
    if tuple(rows) != tuple(task.query_attributes):
        raise UsageError(
            f"the parameters are those of attributes {', '.join(rows)}, not of "
            f"{', '.join(task.query_attributes)}; name the same ones"
        )
    if not 0.0 < p < 1.0:
        raise UsageError(f"the share of matches p is {p:g}; it must be between 0 and 1")
    for name, *tables in zip(rows, m, u, strict=True):
        for symbol, table in zip("mu", tables, strict=True):
            _check_probabilities(name, symbol, table, comparisons[name].levels)
    return ReadParameters(m, u, p, comparisons, keys)


def restored_linker(parameters: Mapping[str, Any], task: LinkageTask) -> LearnedProbabilistic:
    """Apply learned parameters to the files of a task (see `read_parameters`)."""
    read = read_parameters(parameters, task)
    files = ComparedFiles.of(task, read.comparisons, read.blocking)
    return LearnedProbabilistic(files, read, dict(parameters))


def _check_probabilities(name: str, symbol: str, table: FloatArray, levels: int) -> None:
    if table.shape != (levels,):
        raise UsageError(
            f"attribute {name!r} has {levels} levels of agreement, but {table.size} {symbol}-probabilities"
        )
    if not ((table > 0).all() and abs(float(table.sum()) - 1.0) < 1e-6):
        raise UsageError(f"the {symbol}-probabilities of attribute {name!r} must be positive and sum to one")
