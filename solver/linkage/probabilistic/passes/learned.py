"""What is learned in passes: one m and u for all of them, and the match weight of every pair compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.solver.linkage.linker import LinkageTask
from linkrisk.solver.linkage.probabilistic.coding import in_units, readable_columns
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison
from linkrisk.solver.linkage.probabilistic.match_weights import MatchWeights
from linkrisk.solver.linkage.probabilistic.passes.comparing import ComparedPairs, compare_pairs
from linkrisk.solver.linkage.probabilistic.passes.joining import JoinedFiles
from linkrisk.solver.linkage.probabilistic.passes.kernels import add_agreement
from linkrisk.solver.linkage.probabilistic.passes.keys import Pass
from linkrisk.solver.linkage.probabilistic.passes.levels import PairLevels, ValueLevels, pair_levels
from linkrisk.solver.linkage.probabilistic.weights import pattern_weights
from linkrisk.solver.linkage.scored_pairs import ScoredPairs
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True, eq=False)
class PassFiles:
    """Two files of which the pairs of all passes were compared.

    Attributes
    ----------
    attributes : tuple of str
    comparisons : tuple of Comparison
        Of each attribute, in its units.
    levels : tuple of PairLevels
    joined : JoinedFiles
    compared : ComparedPairs
    """

    attributes: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    levels: tuple[PairLevels, ...]
    joined: JoinedFiles
    compared: ComparedPairs

    @classmethod
    def of(
        cls, task: LinkageTask, comparisons: Mapping[str, Comparison], passes: Sequence[Pass]
    ) -> PassFiles:
        """Join the files of a task and compare their pairs.

        Raises
        ------
        UsageError
            If a key or an attribute cannot be used, or the passes have too many pairs or none.
        """
        joined = JoinedFiles.of(task, passes)
        if not sum(joined.pairs):
            every = " or ".join(f"'{one}'" for one in passes)
            raise UsageError(
                f"no pair of records agrees on all keys of {every}; give a pass with fewer or coarser keys"
            )
        readable = readable_columns(task, comparisons)
        own = {name: in_units(comparisons[name], *columns) for name, columns in readable.items()}
        levels = pair_levels(readable, own)
        return cls(
            tuple(own), tuple(own.values()), levels, joined, compare_pairs(joined, levels, task.helpers)
        )


class LearnedPasses(MatchWeights):
    """Scores are match weights in bits; a pair that no pass compares cannot be a match.

    Parameters
    ----------
    files : PassFiles
    m, u : sequence of ndarray of float64
        Of every attribute, the probability of each level, disagreement first.
    p : float
        The share of matches among all pairs.
    frequency_weights : bool
        Whether agreement on a rare value weighs more.
    parameters : dict
    notes : tuple of str
    """

    def __init__(
        self,
        files: PassFiles,
        m: Sequence[FloatArray],
        u: Sequence[FloatArray],
        p: float,
        parameters: dict[str, Any],
        notes: tuple[str, ...] = (),
        *,
        frequency_weights: bool = False,
    ) -> None:
        super().__init__(m, u, p, parameters, notes)
        self.files = files
        found, joined = files.compared.pairs, files.joined
        weights = pattern_weights(files.compared.counts.patterns, self.level_weights)[files.compared.pattern]
        if frequency_weights:
            for attribute in files.levels:
                if isinstance(attribute, ValueLevels):
                    codes = attribute.first, attribute.second
                    add_agreement(*codes, attribute.rarity(), found.query, found.candidate, weights)
        self._pairs = ScoredPairs(found.query, found.candidate, weights, joined.queries, joined.candidates)

    @property
    def scored_pairs(self) -> ScoredPairs:
        """Every pair that a pass compares, with its match weight."""
        return self._pairs

    def scores(self, rows: IndexArray) -> FloatArray:
        """Match weights of some queries with every candidate; -inf where no pass compares them."""
        return self.scored_pairs.dense(rows)

    def weight_of(self, probability: float) -> float:
        """The match weight of a match probability."""
        with np.errstate(divide="ignore"):
            return self.even + float(np.log2(probability) - np.log2(1.0 - probability))
