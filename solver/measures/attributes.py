"""Measure which attributes leak: importances, their ranges, and the worst case without each attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.optimize import linprog

from linkrisk.arrays import BoolArray, FloatArray
from linkrisk.errors import LinkriskError
from linkrisk.formulations.linkage.aggregators.base import Aggregator, SimplexAggregator
from linkrisk.formulations.linkage.aggregators.choquet import Choquet
from linkrisk.formulations.linkage.aggregators.mahalanobis import Mahalanobis
from linkrisk.formulations.linkage.aggregators.owa import OrderedWeightedAverage
from linkrisk.formulations.linkage.aggregators.weighted_mean import WeightedMean
from linkrisk.formulations.linkage.block_system import BlockSystem, block_system, system_of
from linkrisk.formulations.linkage.domains import Polytope, Simplex
from linkrisk.formulations.linkage.forms import FormKind
from linkrisk.formulations.linkage.pair import LinkagePair, Ties
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import problem_of
from linkrisk.solver.measures.base import OF_WEIGHTS, Finding, Kind, Measure, MeasureResult, Unit, Worse
from linkrisk.solver.measures.task import Attack, RiskTask, portion
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.number_format import percent
from linkrisk.solver.schemas.intervals import is_bound, objective
from linkrisk.solver.worst_case.request import FitRequest
from linkrisk.solver.worst_case.search import SearchTask, Start, search
from linkrisk.solver.worst_case.search_state import beside_orders

_AT_ONCE = 200
"""Initial rows of a program, and most that a round of row generation adds."""

_ROUNDED = 1e-6
"""Tolerance at which ends are 0 or 1: optimisers satisfy rows to a tenth of it."""

MOST_PAIRS = 40_000_000
"""Most pairs of a linked record and a candidate for which rows are built."""

_MISSED = 1e-9
"""Feasibility tolerance for a row of unit length."""


@dataclass(frozen=True, eq=False)
class Importances:
    """Importances of attributes in a readable form, linear in the parameters."""

    owners: tuple[str, ...]  # attributes; of an OWA ranks
    matrix: FloatArray  # (owners, dimension): ``matrix @ theta`` are the importances


def importances(aggregator: Aggregator) -> Importances:
    """Express weights, Shapley values, or the diagonal of the quadratic form, as a matrix."""
    units = np.eye(aggregator.dimension)
    if isinstance(aggregator, Mahalanobis):
        first, second = aggregator.domain.triangle
        return Importances(aggregator.attributes, units[first == second])
    shares = [aggregator.importance(unit) for unit in units]
    if isinstance(aggregator, SimplexAggregator) or shares[0] is None:
        named = aggregator.dimension == len(aggregator.attributes) and shares[0] is not None
        owners = aggregator.attributes if named else tuple(f"rank {k + 1}" for k in range(len(units)))
        return Importances(owners, units)
    columns = [[share[name] for name in aggregator.attributes] for share in shares if share is not None]
    return Importances(aggregator.attributes, np.array(columns).T)


@dataclass(frozen=True, eq=False)
class ForcedRange:
    """Ranges of importances; all arrays have shape (owners,)."""

    low: FloatArray  # NaN where there was no time
    high: FloatArray
    outer: bool  # whether the true range may be smaller, as the domain was relaxed


def forced_range(
    pair: LinkagePair, aggregator: Aggregator, theta: FloatArray, linked: BoolArray, stop: Callable[[], bool]
) -> ForcedRange:
    """Bound every importance ``a @ theta`` where all linked records (blocks,) stay linked.

    Two linear programs each over the domain, with ``rows @ theta >= 0`` for the rows of the linked blocks,
    separated as they are violated. Other parameters may link as many other records: the true freedom is no
    smaller.
    """
    measured = importances(aggregator).matrix
    ends = np.full((2, len(measured)), np.nan)
    outer = not isinstance(aggregator.domain, Simplex | Polytope)
    if int(linked.sum()) * len(pair.candidates) > MOST_PAIRS:
        return ForcedRange(ends[0], ends[1], outer)
    system = _system(pair, aggregator, linked, stop)
    cell = _Cell(aggregator, system, theta)
    for k, row in enumerate(measured):
        for side, sign in enumerate((1.0, -1.0)):
            if system.complete and not stop():
                ends[side, k] = sign * cell.least(sign * row)
    ends[np.abs(ends) < _ROUNDED] = 0.0
    ends[np.abs(ends - 1.0) < _ROUNDED] = 1.0
    # The parameters themselves are in the cell; what an optimiser leaves out of it by rounding is not.
    own = measured @ theta
    return ForcedRange(np.minimum(ends[0], own), np.maximum(ends[1], own), outer)


def _system(
    pair: LinkagePair, aggregator: Aggregator, linked: BoolArray, stop: Callable[[], bool]
) -> BlockSystem:
    """Build the rows of the linked blocks; none where none is linked."""
    if linked.any():
        blocks = np.flatnonzero(linked).astype(np.intp)
        return block_system(pair.part(blocks), aggregator, expired=stop)
    nothing = np.empty(0, dtype=np.intp)
    return system_of(pair, aggregator, nothing, nothing, ~linked, complete=True)


class _Cell:
    """Polytope of the parameters that keep some blocks linked, with rows generated on demand."""

    def __init__(self, aggregator: Aggregator, system: BlockSystem, theta: FloatArray) -> None:
        self._matrix = system.matrix
        rows = aggregator.domain.rows
        equal = rows.row_lower == rows.row_upper
        above, below = np.isfinite(rows.row_lower) & ~equal, np.isfinite(rows.row_upper) & ~equal
        self._equal = rows.matrix[equal], rows.row_lower[equal]
        self._below = (
            sparse.vstack([-rows.matrix[above], rows.matrix[below]]),
            np.concatenate([-rows.row_lower[above], rows.row_upper[below]]),
        )
        self._bounds = np.stack([rows.column_lower, rows.column_upper], axis=1)
        self._chosen = np.argsort(self._matrix @ theta)[:_AT_ONCE]

    def least(self, costs: FloatArray) -> float:
        """Minimise ``costs @ theta``; NaN where the optimiser fails."""
        program: Any = linprog  # its types know no sparse rows
        while True:
            matrix = sparse.vstack([self._below[0], -self._matrix[self._chosen]], "csr")
            most = np.concatenate([self._below[1], np.zeros(self._chosen.size)])
            found = program(costs, matrix, most, *self._equal, bounds=self._bounds, method="highs")
            if found.x is None:
                return float("nan")
            activity = self._matrix @ found.x
            missed = np.setdiff1d(np.flatnonzero(activity < -_MISSED), self._chosen)
            if missed.size == 0:
                return float(found.fun)
            worst = missed[np.argsort(activity[missed])[:_AT_ONCE]]
            self._chosen = np.concatenate([self._chosen, worst])


_NOTHING = 1e-9
"""Share of the trace below which a direction is rounding error."""

_SMALL = 0.1
"""Coefficients below this share of the largest are omitted from texts."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A term of ``z' M z = trace(M) * sum_k s_k (v_k' z)**2``, z the standardised differences."""

    share: float  # s_k, the eigenvalue as a share of the trace; the attack goes by large ones
    coefficients: FloatArray  # (attributes,): v_k, of length one; the largest coefficient is positive
    words: str  # the sum of differences, such as ``0.98 income - 0.20 tax``; small coefficients are left out


def directions_of(aggregator: Aggregator, theta: FloatArray) -> tuple[Direction, ...]:
    """Decompose a quadratic form by eigenvectors, the largest share first; none for other distances."""
    form = aggregator.form(theta)
    if form.kind is not FormKind.QUADRATIC:
        return ()
    values, vectors = np.linalg.eigh(form.parameters)
    shares = values.clip(0.0) / values.clip(0.0).sum()
    found = []
    for at in np.argsort(-shares, kind="stable"):
        if shares[at] > _NOTHING:
            vector = vectors[:, at] * np.sign(vectors[np.argmax(np.abs(vectors[:, at])), at])
            found.append(Direction(float(shares[at]), vector, _words(vector, aggregator.attributes)))
    return tuple(found)


def _words(vector: FloatArray, names: Sequence[str]) -> str:
    """List the terms that matter, the largest first."""
    order = [
        at for at in np.argsort(-np.abs(vector), kind="stable") if abs(vector[at]) >= _SMALL * vector.max()
    ]
    first, *others = order
    signed = [f"{'-' if vector[at] < 0.0 else '+'} {abs(vector[at]):.2f} {names[at]}" for at in others]
    return " ".join([f"{vector[first]:.2f} {names[first]}", *signed])


@dataclass(frozen=True)
class WithheldAttribute:
    """Worst case of a family without one attribute."""

    aggregator: str
    attribute: str
    linked: float  # what the attack found links without it: records, or the sum of what links count
    most: float | None  # what none exceeds; None where no bound was found in time
    fall: float  # the same of the attacks that were found
    # by how much the worst case falls with it, at least and at most. More means that it leaks more; below
    # zero where the family links more without it (`owa`, whose ranks are others then). None where no bound
    # was found in time that says so
    fall_low: float | None
    fall_high: float | None


def without(problem: Problem, attribute: str) -> Problem:
    """Remove one attribute from the problem; FormulationError or DataError where that is impossible."""
    files = problem.files
    kept = tuple(name for name in files.attributes if name != attribute)
    categorical = {name: one for name, one in files.categorical.items() if name != attribute}
    return problem_of(replace(files, attributes=kept, categorical=categorical), problem.options)


def contained(problem: Problem) -> bool:
    """Whether a family contains every distance without the attribute, so that bounds carry over.

    Of an OWA it is not: who is left out has no rank. With shared ties no bound carries over: candidates that
    the attribute tells apart are rivals with it, and share a link without it.
    """
    if problem.pair.ties is Ties.SHARE:
        return False
    return isinstance(problem.aggregator, WeightedMean | Choquet | Mahalanobis)


def projected(attack: Attack, attribute: str) -> FloatArray | None:
    """Project parameters onto the problem without the attribute; None where that is impossible."""
    aggregator, theta = attack.problem.aggregator, attack.theta
    k, n = aggregator.attributes.index(attribute), len(aggregator.attributes)
    if isinstance(aggregator, WeightedMean):
        smaller = np.delete(theta, k)
        total = float(smaller.sum())
    elif isinstance(aggregator, OrderedWeightedAverage):
        smaller = theta[:-1]
        total = float(smaller.sum())
    elif isinstance(aggregator, Mahalanobis):
        matrix = np.delete(np.delete(aggregator.domain.matrix(theta), k, 0), k, 1)
        smaller, total = matrix[np.triu_indices(n - 1)], float(np.trace(matrix))
    elif type(aggregator) is Choquet:
        sets = np.arange(1, 2**n)
        smaller = theta[(sets >> k) & 1 == 0]
        total = float(smaller[-1]) if smaller.size else 0.0
    else:
        return None
    return smaller / total if total > 0.0 else None


def withheld(attack: Attack, attribute: str, request: FitRequest, clock: Clock) -> WithheldAttribute | None:
    """Search the worst case without an attribute; None where the family does not fit the others.

    The projection of the attack is a warm start. Where the family contains the smaller one, its bound and its
    cores hold for that; the search proves them anew.
    """
    try:
        problem = without(attack.problem, attribute)
    except LinkriskError:
        return None
    theta, domain = projected(attack, attribute), problem.aggregator.domain
    theta = problem.aggregator.equal() if theta is None else domain.repair(theta)
    start = Start(theta, attack.evaluation.linked, attack.cores)
    run = search(
        SearchTask(problem.searched, request.engine, clock, request.options, starts=[start], others=False)
    )
    _ = run.final  # before all else, which may depend on it
    whole = attack.result
    low, bound_key = whole.interval[0], objective(whole.details)[1]
    most = float(whole.details.get(bound_key, whole.linked_upper_bound))  # certain, also of samples
    unit, inside = problem.survey.unit, contained(attack.problem)
    if inside:
        run.incumbent.tighten(max(most / unit, run.incumbent.value))
    run = beside_orders(run, problem.searched)
    linked, bound = run.incumbent.value * unit, run.incumbent.bound * unit
    total = attack.result.total
    known, bounded = is_bound(linked, bound, total), is_bound(low, most, total)
    least = low - bound if known else None
    return WithheldAttribute(
        aggregator=problem.aggregator.name,
        attribute=attribute,
        linked=linked,
        most=bound if known else None,
        fall=low - linked,
        # A contained family cannot link more than the larger one, whatever either search finds.
        fall_low=max(0.0, least or 0.0) if inside else least,
        fall_high=most - linked if bounded else None,
    )


TIMES_FIT = 3.0
"""Time for withholding all attributes, as a multiple of the family's own search."""

_LEAST_SECONDS = 1.0
"""Minimum duration assumed for that search, as multiples of short ones are too short."""

_RANGES = 0.3
"""Share of the time for ranges; the rest is for the worst cases without an attribute."""


@dataclass(frozen=True, eq=False)
class FamilyImportance:
    """Importances by the learned parameters of a family; all arrays have shape (owners,)."""

    aggregator: str
    linked: int  # records that they link
    owners: tuple[str, ...]  # attributes; of an OWA ranks of attribute distances, 1 the largest
    importance: FloatArray  # weights, Shapley values or shares of the diagonal; they sum to one
    # range of each over all parameters that keep the same records linked (`forced_range`); NaN where there
    # was no time. What is not forced away from zero need not leak
    low: FloatArray
    high: FloatArray
    outer: bool  # whether the range may be smaller than that: that of the quadratic form is of a relaxation
    interaction: list[list[float]] | None  # positive where two attributes complement each other
    parameters: dict[str, Any]  # as `fit` shows them
    directions: tuple[Direction, ...]  # of a quadratic form, the sum of their squares


@dataclass(frozen=True, eq=False, repr=False)
class LeakingAttributes(MeasureResult):
    """Importances of the attributes, and the effect of withholding each."""

    measure: ClassVar[str] = "attributes"
    total: float  # what links are part of
    families: tuple[FamilyImportance, ...]  # the family that links most first
    withheld: tuple[WithheldAttribute, ...]  # a larger fall means that the attribute leaks more
    asked: int  # pairs of a family and an attribute that there are to be withheld

    @property
    def _most(self) -> WithheldAttribute | None:
        """Find the attribute without which the worst family links least."""
        worst = [one for one in self.withheld if one.aggregator == self.families[0].aggregator]
        return max(worst, key=lambda one: one.fall, default=None)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Report the largest importance with its range, and the largest fall with its interval."""
        family = self.families[0]
        if not family.linked:
            return (Finding("importance", "no record is linked by any attribute", None),)
        at = int(np.argmax(family.importance))
        words = f"importance of {family.owners[at]}, {family.aggregator}"
        known = not np.isnan([family.low[at], family.high[at]]).any()
        ends = (float(family.low[at]), float(family.high[at]), Kind.RANGE) if known else (None, None, None)
        found = [Finding("importance", words, float(family.importance[at]), Unit.SHARE, Worse.NEITHER, *ends)]
        if (most := self._most) is not None:
            found.append(self._fall(most))
        return tuple(found)

    def _fall(self, most: WithheldAttribute) -> Finding:
        """Bound the fall of the worst case without an attribute, from above where possible."""
        words, fall = f"fall without {most.attribute}, {most.aggregator}", most.fall / self.total
        if most.fall_high is None:
            return Finding("fall", f"{words}, no bound in time", fall, worse=Worse.NEITHER)
        low = None if most.fall_low is None else most.fall_low / self.total
        ends = low, most.fall_high / self.total, Kind.CERTAIN
        return Finding("fall", words, fall, Unit.SHARE, Worse.NEITHER, *ends)

    @property
    def paragraph(self) -> str:
        """Report which attribute leaks most, and how certain that is."""
        family = self.families[0]
        if not family.linked:
            return "no record is linked, so that importances are those of arbitrary parameters."
        at = int(np.argmax(family.importance))
        text = (
            f"{family.owners[at]} has the largest importance in the worst distance ({family.aggregator}), "
            f"{family.importance[at]:.2f}"
        )
        if not np.isnan(family.high[at] - family.low[at]):
            text += f", and {family.low[at]:.2f} to {family.high[at]:.2f} link the same records"
        if family.directions:
            text += f"; {percent(family.directions[0].share)} of the form is ({family.directions[0].words})²"
        if (most := self._most) is None:
            return f"{text}."
        found = percent(most.fall / self.total)
        return (
            f"{text}. Without {most.attribute} the attack found links {found} of the records less, more than "
            f"without any other; {self._falls(most)}."
        )

    def _falls(self, most: WithheldAttribute) -> str:
        """List the falls of the worst case, as far as they are known."""
        low, high = most.fall_low, most.fall_high
        least = "" if low is None or low <= 0.0 else f"at least {percent(low / self.total)}"
        if high is None and not least:
            return "how far the worst case falls is open, as no bound was found in time"
        if high is None:
            return f"the worst case falls by {least}, and no bound in time says how far at most"
        least = "" if low is None else f"{least or 'perhaps nothing'} and "
        return f"the worst case falls by {least}at most {percent(high / self.total)}, for certain"

    @property
    def notes(self) -> tuple[str, ...]:
        """Note what time did not allow."""
        notes = []
        if any(np.isnan(family.low).any() or np.isnan(family.high).any() for family in self.families):
            notes.append(
                "attributes: there was no time for the range of every importance, or too many records"
            )
        if len(self.withheld) < self.asked:
            notes.append(
                f"attributes: searched {len(self.withheld)} of {self.asked} worst cases without an attribute"
            )
        return tuple(notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per family and owner: importance with its range, and links without the attribute."""
        parts = [
            pd.DataFrame(
                {
                    "aggregator": family.aggregator,
                    "owner": list(family.owners),
                    "importance": family.importance,
                    "low": family.low,
                    "high": family.high,
                }
            )
            for family in self.families
        ]
        columns = list(WithheldAttribute.__annotations__)
        without = pd.DataFrame([vars(one) for one in self.withheld], columns=columns)
        without = without.rename(columns={"attribute": "owner"}).astype(
            {"aggregator": object, "owner": object}
        )
        return pd.concat(parts, ignore_index=True).merge(
            without, "outer", ["aggregator", "owner"], sort=False
        )


class Attributes(Measure):
    """Measures importances, forced ranges, and the effect of withholding attributes."""

    name: ClassVar[str] = "attributes"
    title: ClassVar[str] = "Which attributes leak"
    unit: ClassVar[str] = OF_WEIGHTS
    cost: ClassVar[float] = 8.0

    def take(self, task: RiskTask, clock: Clock) -> LeakingAttributes:
        """Compute importances first, then searches; the family that links most first."""
        attacks = sorted(task.attacks.values(), key=lambda attack: -attack.evaluation.linked_weight)
        ranges = portion(clock, _RANGES)
        families = tuple(_importance(attack, ranges) for attack in attacks)
        # A bound of samples is none of all records, and of one attribute nothing is left.
        some = task.worst.confidence is None and len(task.files.attributes) > 1
        names = task.files.attributes if some else ()
        found = tuple(_withheld(attacks, task, clock)) if names else ()
        return LeakingAttributes(task.total, families, found, len(attacks) * len(names))


def _importance(attack: Attack, clock: Clock) -> FamilyImportance:
    aggregator, theta = attack.problem.aggregator, attack.theta
    measured = importances(aggregator)
    free = forced_range(
        attack.problem.pair, aggregator, theta, attack.evaluation.linked, lambda: clock.expired
    )
    return FamilyImportance(
        aggregator=aggregator.name,
        linked=attack.evaluation.count,
        owners=measured.owners,
        importance=measured.matrix @ theta,
        low=free.low,
        high=free.high,
        outer=free.outer,
        interaction=aggregator.interaction(theta),
        parameters=aggregator.decode(theta),
        directions=directions_of(aggregator, theta),
    )


def _withheld(attacks: list[Attack], task: RiskTask, clock: Clock) -> Iterator[WithheldAttribute]:
    """Search the worst cases without an attribute while there is time."""
    names = task.files.attributes
    left = len(attacks) * len(names)
    for attack in attacks:
        for name in names:
            if clock.expired:
                return
            one = withheld(attack, name, task.request, clock.part(_portion(attack, clock, left, len(names))))
            left -= 1
            if one is not None:
                yield one


def _portion(attack: Attack, clock: Clock, left: int, attributes: int) -> float | None:
    """Allot time to one search: a share of what is left, and of `TIMES_FIT` times the family's search."""
    if clock.remaining is None:
        return None
    portion = clock.remaining / left
    if not clock.counts:
        lasted = max(float(attack.result.details["seconds"]), _LEAST_SECONDS)
        portion = min(portion, TIMES_FIT * lasted / attributes)
    return max(portion, 1e-9)
