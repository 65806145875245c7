"""Fit one family of distances, and make the certificate of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from linkrisk.arrays import IndexArray
from linkrisk.solver.certificates.writing.certifiable import CertificateError, why_not_certifiable
from linkrisk.solver.compiling.parts import CERTIFICATES, compile_once
from linkrisk.solver.engines.base import Proof
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.run.clock import Clock, Status, processors
from linkrisk.solver.run.errors import CancelledError, UsageError
from linkrisk.solver.run.interruption import interruptible
from linkrisk.solver.run.limits import cancellable
from linkrisk.solver.run.progress import of_search
from linkrisk.solver.run.result import plain
from linkrisk.solver.schemas.intervals import LINKED, NOT_YET, objective
from linkrisk.solver.worst_case.answers import answer, most_blocks
from linkrisk.solver.worst_case.parts import Part, PartSearch, search_whole
from linkrisk.solver.worst_case.request import CERTIFICATE_SECONDS, FitRequest
from linkrisk.solver.worst_case.result import FamilyFit
from linkrisk.solver.worst_case.sampled.samples import (
    Plan,
    Samples,
    block_strata,
    draw_samples,
    fingerprint,
    make_plan,
)
from linkrisk.solver.worst_case.search import SearchTask, Start
from linkrisk.solver.worst_case.search_state import Run

if TYPE_CHECKING:
    from linkrisk.solver.certificates.writing.build import ProvenSearch
    from linkrisk.solver.worst_case.sampled.search import SampledRun

# What makes certificates and what searches samples is imported by who asks for one.

_LEAST_SECONDS = 0.5
"""Minimum seconds for a certificate, however late the search has ended."""

_SAME_WEIGHT = Fraction(1, 10**9)
"""Relative tolerance between a sum of doubles and the exact sum."""


@dataclass(frozen=True)
class Fitted:
    """A result, and the data of its certificate."""

    result: FamilyFit  # without a certificate
    problem: Problem
    run: Run  # of all records
    samples: SampledRun | None = None  # where samples were searched
    parts: tuple[Part, ...] = ()  # the parts whose bounds are summed, where that is the bound

    @property
    def cores(self) -> tuple[frozenset[int], ...]:
        """Sets of blocks proved not to be linkable together."""
        proof = self.run.outcome.proof
        if not self.parts:  # the rows of the run are those of its proof
            return () if proof is None else proof.excluding(self.run.system)
        searches = [part.search for part in self.parts if part.search is not None]
        return tuple(
            frozenset(search.blocks[sorted(core)].tolist())
            for search in searches
            for core in search.proof.excluding(search.system)
        )

    def certified(self, seconds: float | None = None) -> FamilyFit:
        """Return the result with its certificate, or with a note why there is none.

        `seconds` limits it; when absent, the rest of the time limit, or `CERTIFICATE_SECONDS` without one.
        Ctrl-C, a cancel token and any error end the attempt, not the result.
        """
        from linkrisk.solver.certificates.writing.build import ProvenSearch, certify

        clock, outcome = self.run.incumbent.clock, self.run.outcome
        left = CERTIFICATE_SECONDS if clock.time_limit is None else clock.time_limit - clock.seconds
        allowed = max(_LEAST_SECONDS, left) if seconds is None else seconds

        def make() -> dict[str, Any]:
            if self.samples is not None:
                return self._certified_samples(self.samples, allowed)
            return certify(
                self.problem.files,
                self.problem.describe(),
                ProvenSearch(None, self.run.system, self._proved, outcome.proof or Proof("lost")),
                self.result.parameters,
                self.result.linked,
                allowed,
                reached=self.run.final.linked,
                parts=[self._proven(part.search, part.blocks) for part in self.parts],
            )

        try:
            certificate = cancellable(make, clock.cancel)
        except (KeyboardInterrupt, CancelledError):
            return self._without_certificate("stopped before it was made")
        except CertificateError as error:
            return self._without_certificate(str(error))
        except Exception as error:  # a failed certificate must not cost the result of a long search
            return self._without_certificate(f"{type(error).__name__}: {error}")
        if self.samples is None:
            result, weaker = self._as_proven(certificate)
        else:
            result, weaker = self.result, self._weaker_samples(self.samples, certificate["samples"])
        notes = [*result.details["notes"], *weaker]
        details = {**result.details, "notes": notes, "certificate": {"made": True, "reason": None}}
        return replace(result, details=details, certificate=certificate)

    def _certified_samples(self, samples: SampledRun, seconds: float) -> dict[str, Any]:
        """Certify the samples that were searched."""
        from linkrisk.solver.certificates.writing.build import certify_samples

        if not self.result.details["sampling"]["counted"]["all"]:
            raise CertificateError("there was no time to count the attack on all records")
        return certify_samples(
            self.problem.files,
            self.problem.describe(),
            self.problem.pair,
            [
                self._proven(samples.searches.get(at), blocks)
                for at, blocks in enumerate(samples.samples.parts)
            ],
            self.result.parameters,
            self.result.linked,
            seconds,
        )

    def _proven(self, search: PartSearch | None, blocks: IndexArray) -> ProvenSearch | IndexArray:
        """Collect the evidence on some blocks, or none where they were not searched."""
        from linkrisk.solver.certificates.writing.build import ProvenSearch

        if search is None:
            return blocks
        bound = Fraction(search.bound) * Fraction(self.problem.survey.unit)
        return ProvenSearch(search.blocks, search.system, bound, search.proof)

    @property
    def _proved(self) -> Fraction:
        """Return the bound of the search, in units of the sampling weights if there are any."""
        return Fraction(self.run.incumbent.bound) * Fraction(self.problem.survey.unit)

    def _as_proven(self, certificate: Mapping[str, Any]) -> tuple[FamilyFit, list[str]]:
        """Raise the result's bound to the one that its certificate proves, with a note where they differ."""
        from linkrisk.solver.certificates.writing.build import weight_of_bound

        result, here, most = self.result, weight_of_bound(certificate["bound"]), self._proved
        if here <= most * (1 + _SAME_WEIGHT):
            return result, []
        unit, weight, keys = self.problem.survey.unit, self.problem.pair.weight, objective(result.details)
        bound = most_blocks(weight, float(here / Fraction(unit)))
        lost = min(len(certificate["proof"].get("lost", ())), result.details["lost"])
        details = {**result.details, "lost": lost}
        if keys != LINKED:
            details[keys[1]] = plain(float(here))
        status = Status.FEASIBLE if result.status == Status.OPTIMAL else Status(result.status)
        said = (
            f"the certificate proves in its time that at most {float(here):.10g} are linked, and no more is "
            f"claimed; the search came to {float(most):.10g}"
        )
        bounded = replace(result, linked_upper_bound=bound, status=status.value, details=details)
        return bounded, [said]

    def _weaker_samples(self, samples: SampledRun, parts: Sequence[Mapping[str, Any] | None]) -> list[str]:
        """Note where the certificate's bounds on samples are weaker than those of the searches."""
        from linkrisk.solver.certificates.writing.build import weight_of_bound

        unit = Fraction(self.problem.survey.unit) * (1 + _SAME_WEIGHT)
        less = sum(
            part is None or weight_of_bound(part["bound"]) > Fraction(samples.searches[at].bound) * unit
            for at, part in enumerate(parts)
            if at in samples.searches
        )
        if not less:
            return []
        return [
            f"the certificate proves less of {less} of {len(parts)} samples than the search did: verify may "
            "not confirm the limit of this fit; a longer time limit for the certificate proves more"
        ]

    def _without_certificate(self, reason: str) -> FamilyFit:
        notes = [*self.result.details["notes"], f"there is no certificate: {reason}"]
        said = {"notes": notes, "certificate": {"made": False, "reason": reason}}
        return replace(self.result, details={**self.result.details, **said})


def fit_one(
    problem: Problem, request: FitRequest, clock: Clock | None = None, starts: Sequence[Start] = ()
) -> Fitted:
    """Search one family; UsageError before the search if `verify` could not check its certificate.

    `clock` replaces one with the limits of the request, and compilation is done then. The result links no
    fewer records than each of `starts`.
    """
    samples = drawn_samples(problem, request)
    if request.certificate:
        check_certifiable(problem.describe())
    if clock is None:
        request.compile(problem.aggregator.name)
        if request.certificate:
            compile_once(CERTIFICATES, request.report)
        clock = request.clock(problem)
    request.pool.know(problem.pair, problem.rereading)
    unit = problem.survey.unit
    total = float(problem.pair.weight.sum()) * unit
    report = of_search(request.report, problem.aggregator.name, total, unit)
    task = SearchTask(problem.searched, request.engine, clock, request.options, report, starts, request.pool)
    with interruptible(clock):
        if samples is None:
            run, parts = search_whole(task)
            fitted = Fitted(answer(problem, request, run, parts), problem, run, parts=parts)
        else:
            from linkrisk.solver.worst_case.sampled.result import sampled_answer
            from linkrisk.solver.worst_case.sampled.search import search_samples

            state = search_samples(task, samples)
            fitted = Fitted(sampled_answer(problem, request, state), problem, state.run, state)
    request.pool.rest()  # the next family needs workers that share other things
    details = {**fitted.result.details, **request.pool.describe(), **request.settings}
    if request.certificate:
        details["certificate"] = {"made": False, "reason": NOT_YET}
    return replace(fitted, result=replace(fitted.result, details=details))


def planned(problem: Problem, request: FitRequest) -> Plan | None:
    """Plan the samples; None where all records are searched; UsageError as in `drawn_samples`."""
    choice, pair = request.sampling, problem.pair
    # By the requested pool, not by the workers present: the plan must be reproducible.
    asked = request.workers.workers or request.limits.threads or processors()
    workers = 1 if request.limits.work is not None else asked
    return make_plan(
        choice,
        pair.blocks,
        len(pair.candidates),
        request.limits.work or request.limits.time,
        workers,
        request.options.steering.sampling,
    )


def drawn_samples(problem: Problem, request: FitRequest) -> Samples | None:
    """Draw the samples before any record is compared; None to search all records.

    UsageError when the file is too small, or a stratum has one record.
    """
    choice, pair, plan = request.sampling, problem.pair, planned(problem, request)
    if plan is None:
        return None
    stratum = None if choice.strata is None else block_strata(problem, choice.strata)
    files = problem.files
    digest = fingerprint(files.original_values, files.masked_values, files.partner)
    return draw_samples(plan, digest, request.options.seed, pair.blocks, stratum)


def check_certifiable(described: dict[str, Any]) -> None:
    """Refuse options that `verify` does not support before anything is searched."""
    reason = why_not_certifiable(described)
    if reason is not None:
        raise UsageError(f"no certificate is possible, {reason}: leave the certificate out")
