"""A probabilistic linker with its probabilities: it scores pairs by their match weights."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.solver.linkage.kinds import Kinds
from linkrisk.solver.linkage.linker import LinkageTask, ScoredInShares
from linkrisk.solver.linkage.pair_shares import Helpers, Rows
from linkrisk.solver.linkage.probabilistic.coding import (
    CodedColumn,
    code_column,
    code_files,
    in_units,
    of_kinds,
    readable_columns,
)
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.cutting import Codes
from linkrisk.solver.linkage.probabilistic.em import Estimate, Probabilities
from linkrisk.solver.linkage.probabilistic.kernels import Blocks, Coded, Weights
from linkrisk.solver.linkage.probabilistic.match_weights import (
    MatchWeights,
    Thresholds,
    compiled_weights,
    level_weights,
)
from linkrisk.solver.linkage.probabilistic.pairs import make_blocks
from linkrisk.solver.linkage.probabilistic.patterns import (
    PatternCounts,
    as_counts,
    joint_table,
    worth_counting_jointly,
)
from linkrisk.solver.linkage.probabilistic.shares import CodedPairs, outcomes_by, patterns_by, share_of
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.remote import Deferred


def shown_parameters(
    attributes: Sequence[str],
    comparisons: Sequence[Comparison],
    counts: PatternCounts,
    found: Estimate,
    *,
    p_known: bool,
) -> dict[str, Any]:
    """Probabilities and match weights of every attribute, and how they were learned."""
    rows = zip(attributes, comparisons, found.m, found.u, strict=True)
    return {
        "p": found.p,
        "p_estimated": not p_known,
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


_ROWS_PER_TASK = 64


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """Two files ready to be compared."""

    attributes: tuple[str, ...]
    comparisons: tuple[Comparison, ...]  # of each attribute, in its units
    columns: tuple[CodedColumn, ...]
    kinds: tuple[Kinds, Kinds]  # records with equal codes; with blocking keys each is its own
    coded: Coded  # the kinds
    blocks: Blocks  # which pairs of them are compared

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
        """Code the files of a task, shares of deviation and range being taken of both files together."""
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
    """Scores are match weights in bits: the sum over attributes of ``log2(m / u)`` at the level reached."""

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
        """Match weights of kinds of queries with all kinds of candidates; -inf where none is compared."""
        return CodedPairs(self.codes).scores(rows)

    def scores(self, rows: IndexArray) -> FloatArray:
        """Match weights of some queries with every candidate, on all cores."""
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
        """The files and the weights for compiled code."""
        return Codes(self.files.coded, self.files.blocks, self._weights)

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.files.attributes)

    def share(self, rows: Rows, candidates: Rows) -> Deferred[CodedPairs]:
        """Some kinds with some others (see `ScoredInShares.share`)."""
        return share_of(self.codes, rows, candidates)

    def outcomes(self, thresholds: Thresholds, helpers: Helpers | None = None) -> dict[str, float]:
        """Number of pairs that are linked, clerical and non-linked."""
        return outcomes_by(self.codes, thresholds, helpers)


@dataclass(frozen=True, eq=False)
class ReadParameters(Probabilities):
    """Parameters that were learned before, read and checked."""

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
    """Apply parameters that were learned before to the files of a task (see `read_parameters`)."""
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
