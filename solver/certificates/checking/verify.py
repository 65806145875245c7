"""The check of a certificate: what a fit claims of two files, from the files alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.solver.certificates.checking.bounds import ProvenPart, check_bound, check_sum
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.drawing import draw_again
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.objective import ROUNDED, check_sums, objective_keys
from linkrisk.solver.certificates.checking.orders import Ordered, best_order
from linkrisk.solver.certificates.checking.records import block_rows, make_records
from linkrisk.solver.certificates.checking.sampled import (
    Limit,
    check_limit,
    check_parts,
    is_sampled,
)
from linkrisk.solver.certificates.checking.sampling import Sampling, check_column
from linkrisk.solver.certificates.checking.setting import Setting, demand_same, read_setting
from linkrisk.solver.certificates.checking.shown import (
    check_euclid,
    check_importance,
    check_measure,
    check_table,
    check_tied,
    left_out,
)
from linkrisk.solver.certificates.checking.ties import TOLERANCES
from linkrisk.solver.certificates.checking.units import most_blocks, total_weight
from linkrisk.solver.certificates.core.claims import demand
from linkrisk.solver.run.errors import UsageError

FORMAT = "linkrisk certificate"
VERSION = 3

STATUSES = ("optimal", "feasible", "interrupted", "no_solution")


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves.

    Attributes
    ----------
    setting : Setting
        The problem.
    records : int
        Number of blocks.
    linked : int
        Blocks that the parameters link.
    linked_weight : Fraction
        Their weight.
    bound : Fraction
        No parameters link blocks of a larger weight.
    bound_count : int
        And therefore no more blocks than this.
    ordered : Ordered or None
        What comparing attributes one after another links, where that is more than the bound, which is about
        distances that differ by more than ties.
    method : str
        ``lost``, ``hitting-set``, ``simplex-tree``, ``parts`` or ``samples``.
    lost, cores, leaves : int
        Single blocks that no parameters link, cores and leaves that were checked.
    impossible, pairs : int
        Pairs of a block and a candidate that are impossible if the masking is what it is claimed to be, and
        all pairs.
    has_missing : bool
        Whether values are missing in the files.
    euclid : bool
        Whether the fit shows a count of the Euclidean distance, which is right.
    sampling : Sampling or None
        What the blocks stand for in the population, where the fit counts that.
    limit : Limit or None
        Where samples were searched: what is not exceeded with some confidence. `bound` is certain.
    """

    setting: Setting
    records: int
    linked: int
    linked_weight: Fraction
    bound: Fraction
    bound_count: int
    ordered: Ordered | None
    method: str
    lost: int
    cores: int
    leaves: int
    impossible: int
    pairs: int
    has_missing: bool
    euclid: bool
    sampling: Sampling | None = None
    limit: Limit | None = None

    @property
    def total(self) -> Fraction:
        """The sum of the sampling weights of all blocks, or their number."""
        return Fraction(self.records) if self.sampling is None else sum(self.sampling.weights, Fraction(0))


def fit_setting(fit: Mapping[str, Any], where: str) -> Setting:
    """The problem that a fit says it solved."""
    return read_setting(Fields(dict(fit), where))


def verify(
    fit: Mapping[str, Any], certificate: Mapping[str, Any], files: FilePair, names: tuple[str, str]
) -> Verdict:
    """Check a certificate and the fit that it belongs to.

    Parameters
    ----------
    fit, certificate : mapping
        The JSON of ``fit --json`` and of ``fit --certificate``.
    files : FilePair
        The two files, with the attributes of the fit.
    names : tuple of str
        What to call the fit and the certificate in messages.

    Returns
    -------
    Verdict
        What is proven; `demand_fit` compares the bound with that of the fit.

    Raises
    ------
    RejectedError
        If a check fails.
    UsageError
        If one of the two is malformed.
    """
    claim, fields = Fields(dict(fit), names[0]), Fields(dict(certificate), names[1])
    if fields.text("format") != FORMAT or fields.whole("version") != VERSION:
        raise UsageError(
            f"{names[1]} is not a certificate of version {VERSION}; make it again with this version"
        )
    setting = read_setting(claim)
    demand_same(setting, read_setting(fields.inner("problem")))
    check_column(files, setting.weight, names[0])
    _check_tolerances(fields.inner("tolerances"))
    demand(
        is_sampled(fit) == is_sampled(certificate),
        f"{names[1]}: the one of fit and certificate is about samples, the other about all records",
    )
    records = make_records(files, setting)
    rows = Rows(records, setting.family)
    linked = _check_links(claim, fields, rows, setting)
    limit: Limit | None = None
    if is_sampled(certificate):
        method = "samples"
        bound, limit = _check_samples(claim, fields, files, rows, setting, linked)
    else:
        proof = fields.inner("proof")
        method = proof.text("method")
        told = fields.inner("bound")
        check = check_sum if method == "parts" else check_bound
        bound = check(rows, proof, range(records.blocks), told)
    weight = total_weight(records, np.flatnonzero(linked).tolist())
    count = most_blocks(records, bound.weight, bound.lost)
    demand(
        sum(linked) <= count and weight <= bound.weight,
        f"{fields.where}, bound: the parameters link {sum(linked)}, more than the {count} it allows",
    )
    return Verdict(
        setting=setting,
        records=records.blocks,
        linked=sum(linked),
        linked_weight=weight,
        bound=bound.weight,
        bound_count=count,
        ordered=best_order(rows, bound.weight),
        method=method,
        lost=len(bound.lost),
        cores=bound.cores,
        leaves=bound.leaves,
        has_missing=records.has_missing,
        impossible=records.impossible_pairs(),
        pairs=records.blocks * len(records.candidates),
        euclid=check_euclid(claim, rows),
        sampling=records.sampling,
        limit=limit,
    )


def demand_fit(fit: Mapping[str, Any], verdict: Verdict, name: str) -> None:
    """Reject a fit that claims a smaller bound, or more lost records, than its certificate proves.

    Or that its own bound does not hold for, or that calls itself proven and leaves a gap.
    """
    claim = Fields(dict(fit), name)
    count = claim.whole("linked_upper_bound")
    most = verdict.records
    demand(count <= most, f"{name}, linked_upper_bound: more is claimed than there are records, {most}")
    demand(verdict.linked <= count, f"{name}, linked_upper_bound: {count}, but {verdict.linked} are linked")
    demand(
        verdict.bound_count <= count,
        f"{name}, linked_upper_bound: {count} is claimed, the certificate proves {verdict.bound_count}",
    )
    if (ordered := verdict.ordered) is not None:
        attack = ordered.described(verdict.setting.attributes)
        demand(
            ordered.count <= count,
            f"{name}, linked_upper_bound: {count} is claimed, {attack} links {ordered.count}",
        )
    lost = claim.whole("lost")
    demand(lost <= verdict.lost, f"{name}, lost: {lost} is claimed, the certificate proves {verdict.lost}")
    bound, reached = Fraction(count), Fraction(verdict.linked)
    keys = objective_keys(verdict.setting)
    if keys is not None:
        bound, reached = Fraction(claim.real(keys[1])), verdict.linked_weight
        _check_upper_end(bound, verdict, f"{name}, {keys[1]}")
    status = claim.text("status")
    demand(status in STATUSES, f"{name}, status must be one of {', '.join(STATUSES)}")
    ends = f"at most {float(bound):.10g} are linked and {float(reached):.10g} are"
    demand(
        status != "optimal" or bound <= reached * (1 + ROUNDED),
        f"{name}, status: it is not optimal, {ends}",
    )


def _check_upper_end(bound: Fraction, verdict: Verdict, where: str) -> None:
    """Reject a bound on a sum that is below what is proved, or than what an order links; or beyond all."""
    ordered = verdict.ordered
    least = verdict.bound if ordered is None else ordered.weight
    how = "the certificate proves" if ordered is None else "an order of attributes links"
    demand(
        least <= bound * (1 + ROUNDED),
        f"{where}: {float(bound):.10g} is claimed, {how} {float(least):.10g}",
    )
    demand(
        bound <= verdict.total * (1 + ROUNDED),
        f"{where}: {float(bound):.10g} is claimed, all records together count {float(verdict.total):.10g}",
    )


def _check_tolerances(fields: Fields) -> None:
    for key, value in TOLERANCES.items():
        demand(fields.real(key) == value, f"{fields.where}, {key}: ties are within {value:g} here")


def _check_links(claim: Fields, fields: Fields, rows: Rows, setting: Setting) -> list[bool]:
    """Count the links of the parameters and compare everything that says how many they are."""
    records = rows.records
    sizes = {"records": records.blocks, "candidates": len(records.candidates)}
    for key, size in sizes.items():
        for source in (claim, fields):
            demand(source.whole(key) == size, f"{source.where}, {key}: the files have {size}")
    theta = setting.family.read(fields.inner("parameters"), setting.attributes)
    same = theta == setting.family.read(claim.inner("parameters"), setting.attributes)
    demand(same, f"{fields.where}, parameters: they are not those of {claim.where}")
    for source in (claim, fields):
        check_measure(source.inner("parameters"), theta, rows.family, setting.attributes)
    check_importance(claim, theta, rows.family, setting.attributes)
    linked, told = check_table(claim, rows, theta)
    for source in (claim, fields):
        count = source.whole("linked")
        # A fit without a table may have counted its attack on a part of the records: it links no fewer.
        seen = left_out(claim) and 0 <= count <= sum(told)
        demand(
            count == sum(told) or seen,
            f"{source.where}, linked: {count}, but the parameters link {sum(told)}",
        )
    check_sums(claim, records, setting, total_weight(records, np.flatnonzero(told).tolist()))
    check_tied(claim, rows)
    return linked


def _check_samples(
    claim: Fields, fields: Fields, files: FilePair, rows: Rows, setting: Setting, linked: list[bool]
) -> tuple[ProvenPart, Limit]:
    """Draw again, check the bound of every sample, and what follows for the whole file."""
    records = rows.records
    drawn = draw_again(claim.inner("sampling"), files, block_rows(files, setting))
    parts, certain = check_parts(
        fields, drawn, records, lambda proof, blocks, told: check_bound(rows, proof, blocks, told)
    )
    return certain, check_limit(claim, setting, records, drawn, parts, linked, certain.weight)
