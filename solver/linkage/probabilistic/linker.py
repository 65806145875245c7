"""Learn a probabilistic linker from two files, by its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkrisk.errors import called
from linkrisk.solver.linkage.linker import Helpers, LearnedLinker, LinkageTask, Linker
from linkrisk.solver.linkage.parameters import ProbabilisticParameters
from linkrisk.solver.linkage.probabilistic.all_pairs import (
    ComparedFiles,
    LearnedProbabilistic,
    estimated,
    restored_linker,
)
from linkrisk.solver.linkage.probabilistic.blocking import MOST_PASSES
from linkrisk.solver.linkage.probabilistic.comparisons import USUAL, Comparison
from linkrisk.solver.linkage.probabilistic.fellegi_sunter import (
    EMSettings,
    Thresholds,
    error_rate_thresholds,
    pattern_weights,
)
from linkrisk.solver.linkage.probabilistic.passes import learn_in_passes, restored_passes
from linkrisk.solver.linkage.probabilistic.patterns import PatternCounts
from linkrisk.solver.run.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Probabilistic(ProbabilisticParameters, Linker):
    """Fellegi and Sunter's linkage: match weights from m- and u-probabilities learned by EM.

    UsageError if a setting is out of range or two contradict each other.

    Parameters
    ----------
    {options}

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> linkrisk.link(iris, masked, method=linkrisk.linkers.Probabilistic()).linked
    11
    """

    name: ClassVar[str] = "prl"
    has_workers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        names = [name for name, _ in self.compare]
        twins = [name for name in names if names.count(name) > 1]
        if twins:
            raise UsageError(f"attribute {twins[0]!r} has two comparisons; give one")
        if self.match_share is not None and not 0 < self.match_share < 1:
            raise UsageError(f"the share of matches is {self.match_share:g}; it must be between 0 and 1")
        if self.match_share is not None and self.estimate_share:
            raise UsageError(
                "the share of matches is both given and to be estimated; leave out one of the two"
            )
        if not 0 <= self.prior < np.inf:
            raise UsageError(f"the prior is {self.prior:g} pairs; it must be finite and not negative")
        if not 0 < self.tolerance < np.inf:
            raise UsageError(f"the tolerance is {self.tolerance:g}; it must be positive")
        if self.most_iterations < 1:
            raise UsageError(f"EM needs at least one iteration, not {self.most_iterations}")
        self._check_rates()
        self._check_band()
        self._check_passes()

    @property
    def keys(self) -> tuple[str, ...]:
        """List the blocking keys, or the columns of the passes."""
        return (*self.blocking, *dict.fromkeys(name for one in self.passes for name in one.columns))

    @property
    def lists_links(self) -> bool:
        """Whether the linker decides on links, as passes do."""
        return bool(self.passes)

    def _check_rates(self) -> None:
        rates = (self.false_link_rate, self.false_non_link_rate)
        if (rates[0] is None) != (rates[1] is None):
            raise UsageError("thresholds need both error rates: of false links and of false non-links")
        for rate in rates:
            if rate is not None and not 0 <= rate <= 1:
                raise UsageError(f"an error rate is {rate:g}; it must be between 0 and 1")

    def _check_band(self) -> None:
        for option in ("linked_leave", "frequency_weights", "clerical_band"):
            if getattr(self, option) and not self.passes:
                raise UsageError(
                    f"{called(option)} is about passes: give {called('passes')} too, or leave it out",
                    option=option,
                )
        band = self.clerical_band
        if band is not None and self.false_link_rate is not None:
            raise UsageError("thresholds come from a clerical band or from two error rates; give one of them")
        if band is not None and not 0 < band[0] <= band[1] < 1:
            raise UsageError(
                f"the clerical band is {band[0]:g},{band[1]:g}; give two match probabilities between 0 and "
                "1, the lower one first"
            )

    def _check_passes(self) -> None:
        for one in self.passes:
            if self.passes.count(one) > 1:
                raise UsageError(f"the pass '{one}' is given twice; leave one out")
        if len(self.passes) > MOST_PASSES:
            raise UsageError(f"there are {len(self.passes)} passes; give at most {MOST_PASSES}")
        if self.passes and self.blocking:
            raise UsageError(
                f"{called('passes')} and {called('blocking')} both say which pairs are compared; give one of "
                "them",
                option="blocking",
            )
        for name, how in self.compare:
            if self.passes and how.disagreement is not None:
                raise UsageError(
                    f"passes give every level of agreement one weight: leave out '..{how.disagreement:g}' of "
                    f"the comparison of {name!r}"
                )

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Count agreement patterns, estimate m, u and p, and find thresholds (see `Linker.learn`)."""
        comparisons = self._comparisons(task)
        if self.passes:
            return learn_in_passes(task, comparisons, self._em_settings(task), self)
        files = ComparedFiles.of(task, comparisons, self.blocking)
        counts = files.patterns(task.helpers)
        if not counts.pairs:
            raise UsageError(f"no pair of records is equal on {' or '.join(self.blocking)}; block by others")
        records = (len(task.queries), len(task.candidates))
        settings = replace(self._em_settings(task), start_p=min(0.5, min(records) / counts.pairs))
        found, parameters, notes = estimated(
            files.attributes, files.comparisons, counts, settings, min(records)
        )
        parameters["blocking"] = list(self.blocking)
        learned = LearnedProbabilistic(files, found, parameters, notes)
        if self.false_link_rate is not None and self.false_non_link_rate is not None:
            thresholds = error_rate_thresholds(
                weights=pattern_weights(counts.patterns, learned.level_weights),
                matches=counts.counts * found.match_probability,
                others=counts.counts * (1.0 - found.match_probability),
                most_false_links=self.false_link_rate,
                most_false_non_links=self.false_non_link_rate,
                even=learned.even,
            )
            parameters["thresholds"] = thresholds.to_dict() | self._outcomes(
                learned, thresholds, counts, records[0] * records[1], task.helpers
            )
        return learned

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """Make a linker with these probabilities (see `Linker.restored`)."""
        restore = restored_passes if parameters.get("passes") else restored_linker
        return restore(parameters, task)

    def _comparisons(self, task: LinkageTask) -> dict[str, Comparison]:
        given = dict(self.compare)
        for name in given:
            if name not in task.query_attributes:
                raise UsageError(
                    f"there is a comparison for {name!r}, which is not among the attributes "
                    f"{', '.join(task.query_attributes)}"
                )
        usual = {name: USUAL[task.schema.scale(name)] for name in task.query_attributes}
        if self.passes:
            # Weights of pairs of passes are computed by level.
            usual = {name: replace(how, disagreement=None) for name, how in usual.items()}
        return usual | given

    def _em_settings(self, task: LinkageTask) -> EMSettings:
        return EMSettings(
            p=self._known_share(task),
            fixed_u=self.fixed_u,
            prior=self.prior,
            tolerance=self.tolerance,
            most_iterations=self.most_iterations,
        )

    def _known_share(self, task: LinkageTask) -> float | None:
        if self.match_share is not None:
            return self.match_share
        bijection = task.bijection and not self.estimate_share and not self.blocking
        return 1.0 / len(task.queries) if bijection else None

    @staticmethod
    def _outcomes(
        learned: LearnedProbabilistic,
        thresholds: Thresholds,
        counts: PatternCounts,
        pairs: int,
        helpers: Helpers | None,
    ) -> dict[str, Any]:
        """Count pairs by outcome; those that were not compared are non-links."""
        if any(how.disagreement is not None for how in learned.files.comparisons):
            return {name: int(count) for name, count in learned.outcomes(thresholds, helpers).items()}
        weights = pattern_weights(counts.patterns, learned.level_weights)
        outcomes = {name: int(count) for name, count in thresholds.outcomes(weights, counts.counts).items()}
        outcomes["non_linked"] += pairs - int(counts.pairs)
        return outcomes
