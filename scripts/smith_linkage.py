"""The classical linkage of OWA representatives in `reproduce_smith.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from linkrisk.solver.linkage.linker import LearnedLinker, LinkageTask, Linker
from linkrisk.solver.linkage.probabilistic.comparisons import Comparison, Measure
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.linkage.quantifiers import FAMILIES
from linkrisk.solver.linkage.representatives import OrderedWeightedAverages

AGREEMENT = Comparison(Measure.WITHIN, (0.05,))
"""The similarity ``max(1 - |x - y|, 0)`` is at least 0.95."""

INTERPOLATED = Comparison(Measure.WITHIN, (0.0,), 1.0)
"""The weight of agreement at equal values falls to that of disagreement at similarity 0."""


@dataclass(frozen=True)
class ClassicalLinkage(Linker):
    """Linkage by EM on agreement, and then by interpolated weights (Smith 2016, section 5.1.3).

    Similarities are cut in two to learn m and u. Winkler (1990) interpolates afterwards, from equal values
    on: `prl` itself begins at the threshold, which gives all pairs that agree the same weight.
    """

    name: ClassVar[str] = "classical"

    def learn(self, task: LinkageTask) -> LearnedLinker:
        """Learn m and u, then interpolate the weights."""
        compare = tuple((name, AGREEMENT) for name in task.query_attributes)
        found = Probabilistic(compare=compare).learn(task).parameters
        rows = [row | {"comparison": INTERPOLATED.to_dict()} for row in found["attributes"]]
        return self.restored(found | {"attributes": rows}, task)

    @classmethod
    def restored(cls, parameters: Mapping[str, Any], task: LinkageTask) -> LearnedLinker:
        """The weights as they were learned."""
        return Probabilistic.restored(parameters, task)


def owa(family: str) -> OrderedWeightedAverages:
    """OWA operators of ranged values, as many as the family has functions, compared by classical linkage."""
    return OrderedWeightedAverages(
        quantifiers=(FAMILIES[family],), normalisation="ranging", inner=ClassicalLinkage()
    )
