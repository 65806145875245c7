"""Builds the certificate of a fit from the results of an engine, in the form that `verify` checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, FloatArray, IndexArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.pairs.file_pair import FilePair
from linkrisk.formulations.linkage.block_system import BlockSystem
from linkrisk.formulations.linkage.pair import LinkagePair
from linkrisk.solver.certificates.checking.linkage import FastLinkage
from linkrisk.solver.certificates.checking.verify import fit_problem, linkage_of
from linkrisk.solver.certificates.core.check import FORMAT, VERSION
from linkrisk.solver.certificates.core.claims import MalformedError, RejectedError
from linkrisk.solver.certificates.core.families import Measure
from linkrisk.solver.certificates.core.records import TOLERANCES, Records
from linkrisk.solver.certificates.writing.certifiable import CertificateError, why_not_certifiable
from linkrisk.solver.certificates.writing.cores import exact_core, inequalities, lost_pairs
from linkrisk.solver.certificates.writing.hitting import HittingTree, read_hint
from linkrisk.solver.certificates.writing.simplex import Aim, simplex_proof, weight_unit
from linkrisk.solver.engines.base import CoreProof, Proof, whole
from linkrisk.solver.run.errors import UsageError

_ROUNDED = Fraction(1, 2 * 10**9)
"""Relative slack of a bound on non-integral weights; `verify` allows twice as much."""

_PROBLEM_KEYS = (
    "aggregator",
    "aggregator_options",
    "direction",
    "attributes",
    "ties",
    "standardisation",
    "differences",
    "missing",
)

_FURTHER_KEYS = ("schema", "masking", "recodings", "weight")
"""Keys of problems with categorical attributes, and with sampling weights."""

_MOST_CORNERS = 9
"""Vertices of a simplex up to which a simplex tree is tried: larger ones need too many nodes."""


@dataclass(frozen=True)
class ProvenSearch:
    """What an engine proved of some blocks of the file (None: of all).

    `bound` is the weight that no parameters exceed, in the population where there are sampling weights; in
    `proof` multipliers of the domain may have either sign.
    """

    blocks: IndexArray | None
    system: BlockSystem
    bound: float | Fraction
    proof: Proof

    def of_the_file(self) -> BlockSystem:
        """The system with the numbers of the file's blocks, but for those that are lost (`lost`)."""
        if self.blocks is None:
            return self.system
        return replace(self.system, open_blocks=self.blocks[self.system.open_blocks])

    @property
    def lost(self) -> list[int]:
        """Blocks of the file that no parameters link."""
        lost = np.flatnonzero(self.system.lost)
        found = lost if self.blocks is None else self.blocks[lost]
        return [int(block) for block in np.sort(found)]


def certify(
    files: FilePair,
    problem: Mapping[str, Any],
    searched: ProvenSearch,
    parameters: Mapping[str, Any],
    linked: int,
    seconds: float,
    reached: BoolArray | None = None,
    parts: Sequence[ProvenSearch | IndexArray] = (),
) -> dict[str, Any]:
    """The certificate of a search of all records, ready for JSON; docs/methods/certificates.md describes it.

    `parameters` link `linked` records, those of `reached` where it is known: no proof is tried for less.
    `seconds` are for all of it but reading the records; when they are too few, the certificate's ``bound`` is
    weaker than the engine's. `parts` were proved where the bound is a sum of theirs; of one that was not
    searched the blocks alone. CertificateError if none can be made; the fit itself remains valid.
    """
    until = time.perf_counter() + seconds

    def content() -> dict[str, Any]:
        linkage = _linkage(files, problem, searched.system.pair)
        if parts:
            told, shown = _parts(linkage, searched, parts, until)
        else:
            told, shown = _part(linkage, range(linkage.records.blocks), searched, until, reached)
        return {**_head(linkage, problem, parameters, linked), "bound": told, "proof": shown}

    return _certified(problem, content)


def certify_samples(
    files: FilePair,
    problem: Mapping[str, Any],
    pair: LinkagePair,
    samples: Sequence[ProvenSearch | IndexArray],
    parameters: Mapping[str, Any],
    linked: int,
    seconds: float,
) -> dict[str, Any]:
    """The certificate of a search of samples of a `pair`, ready for JSON; arguments are as in `certify`."""
    until = time.perf_counter() + seconds

    def content() -> dict[str, Any]:
        linkage = _linkage(files, problem, pair)
        proven = [found and found[1] for found in _each_part(linkage, samples, until)]
        return {**_head(linkage, problem, parameters, linked), "samples": proven}

    return _certified(problem, content)


def _certified(problem: Mapping[str, Any], content: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the content; CertificateError if there is none."""
    reason = why_not_certifiable(problem)
    if reason is not None:
        raise CertificateError(reason)
    try:
        return content()
    except (RejectedError, MalformedError, UsageError, DataError) as error:
        raise CertificateError(str(error)) from error
    except MemoryError:
        raise CertificateError("memory ran out while it was made") from None


def _linkage(files: FilePair, problem: Mapping[str, Any], pair: LinkagePair) -> FastLinkage:
    """Return the exact records of the problem; CertificateError if they differ from the engine's."""
    linkage = linkage_of(files, fit_problem(problem, "problem"))
    arrays = linkage.arrays
    same = (
        np.array_equal(arrays.queries, pair.queries, equal_nan=True)
        and np.array_equal(arrays.candidates, pair.candidates, equal_nan=True)
        and np.array_equal(arrays.widths, pair.rounding)
        and np.array_equal(arrays.offset, pair.offset)
        and np.array_equal(arrays.grains, pair.grains)
    )
    if not (same and _same_weights(linkage.records, pair.weight)):
        raise CertificateError("its records would not be those of the engine")
    return linkage


def _head(
    linkage: FastLinkage, problem: Mapping[str, Any], parameters: Mapping[str, Any], linked: int
) -> dict[str, Any]:
    """Return the part of a certificate before its bound."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": {key: problem[key] for key in (*_PROBLEM_KEYS, *_FURTHER_KEYS) if key in problem},
        "tolerances": dict(TOLERANCES),
        "records": linkage.records.blocks,
        "candidates": linkage.records.candidates,
        "parameters": dict(parameters),
        "linked": linked,
    }


def _part(
    linkage: FastLinkage,
    blocks: Sequence[int],
    searched: ProvenSearch,
    until: float,
    reached: BoolArray | None,
) -> tuple[dict[str, int], dict[str, Any]]:
    """Prove a bound for some blocks; `until` is by `time.perf_counter`."""
    records = linkage.records
    lost = lost_pairs(linkage, searched.lost, until)
    gone = frozenset(block for block, _ in lost)
    left = [block for block in blocks if block not in gone]
    even = whole(searched.system.pair.weight)
    exact = Fraction(searched.bound) if even else Fraction(searched.bound) * (1 + _ROUNDED)
    unit = weight_unit([records.weight([block]) for block in left], exact)
    weight = {block: records.in_units(block, unit) for block in left}
    least = 0 if reached is None else sum(weight.get(int(block), 0) for block in np.flatnonzero(reached))
    aim = Aim(max(int(exact * unit), least), least)
    content, most = _proof(linkage, searched.of_the_file(), searched.proof, weight, aim, until)
    return _bound(unit, most), {"lost": lost, **content}


def _each_part(
    linkage: FastLinkage, parts: Sequence[ProvenSearch | IndexArray], until: float
) -> Iterator[tuple[list[int], dict[str, Any]] | None]:
    """Yield each part's blocks, bound and proof; None if there is no proof, or no time."""
    for at, each in enumerate(parts):
        if not isinstance(each, ProvenSearch) or each.blocks is None or time.perf_counter() >= until:
            yield None
            continue
        share = (until - time.perf_counter()) / (len(parts) - at)
        blocks = np.sort(each.blocks).tolist()
        bound, proof = _part(linkage, blocks, each, time.perf_counter() + share, None)
        yield blocks, {"bound": bound, "proof": proof}


def _parts(
    linkage: FastLinkage, searched: ProvenSearch, parts: Sequence[ProvenSearch | IndexArray], until: float
) -> tuple[dict[str, int], dict[str, Any]]:
    """Add the bounds of parts; blocks in no part and not lost count in full."""
    lost = lost_pairs(linkage, searched.lost, until)
    left = set(range(linkage.records.blocks)) - {pair[0] for pair in lost}
    total, shown = Fraction(0), []
    for found in _each_part(linkage, parts, until):
        if found is not None:
            blocks, proven = found
            left -= set(blocks)
            total += weight_of_bound(proven["bound"])
            shown.append({"blocks": blocks, **proven})
    total += linkage.records.weight(left)
    bound = _bound(Fraction(total.denominator), total.numerator)
    return bound, {"lost": lost, "method": "parts", "parts": shown}


def weight_of_bound(bound: Mapping[str, int]) -> Fraction:
    """Return the weight of a bound that is written in units."""
    return Fraction(bound["linked_weight"] * bound.get("of", 1), bound["unit"])


def _same_weights(records: Records, weight: FloatArray) -> bool:
    """Tell whether the engine's weights are proportional to those of the records, up to rounding."""
    own = np.array([float(records.weight([block])) for block in range(records.blocks)])
    return own.size == weight.size and np.allclose(own * weight[0], weight * own[0], rtol=1e-12, atol=0.0)


def _bound(unit: Fraction, most: int) -> dict[str, int]:
    """Return the bound as written in the certificate."""
    of = {} if unit.denominator == 1 else {"of": unit.denominator}
    return {"unit": unit.numerator, **of, "linked_weight": most}


def _proof(
    linkage: FastLinkage, system: BlockSystem, proof: Proof, weight: Mapping[int, int], aim: Aim, until: float
) -> tuple[dict[str, Any], int]:
    """Prove the smallest possible bound, returned in units."""
    best: tuple[dict[str, Any], int] = ({"method": "lost"}, sum(weight.values()))
    methods = []
    if linkage.family.simplex and linkage.family.dimension <= _MOST_CORNERS:
        methods.append("simplex-tree")
    if proof.cores:
        methods.insert(0 if proof.method == "hitting-set" else 1, "hitting-set")
    for left, method in zip((2, 1)[-len(methods) :], methods, strict=False):
        share = (until - time.perf_counter()) / left
        if best[1] <= aim.most or share <= 0.0:
            break
        if method == "hitting-set":
            found = _hitting_set(linkage, system, proof, weight, aim.most, share)
        else:
            found = simplex_proof(linkage, _rivals(system), weight, aim, share) or best
        best = min(best, found, key=lambda attempt: attempt[1])
    return best


def _rivals(system: BlockSystem) -> dict[int, list[int]]:
    """Return the rivals of each open block that have a row."""
    blocks = system.open_blocks[system.row_open]
    found: dict[int, list[int]] = {}
    for block, rival in zip(blocks.tolist(), system.rival.tolist(), strict=True):
        found.setdefault(block, []).append(rival)
    return found


def _hitting_set(
    linkage: FastLinkage,
    system: BlockSystem,
    proof: Proof,
    weight: Mapping[int, int],
    most: int,
    seconds: float,
) -> tuple[dict[str, Any], int]:
    """Prove a hitting set by exact cores and a branch-and-bound tree."""
    proven: dict[frozenset[int], dict[str, Any]] = {}
    until = time.perf_counter() + seconds
    for core in proof.cores:
        if time.perf_counter() >= until:
            break  # fewer cores prove a weaker bound, which is reported
        answer = exact_core(linkage, *_multipliers(linkage, system, core))
        if answer is not None and answer[1] <= weight.keys():
            proven[answer[1]] = answer[0]
    minimal = _minimal(list(proven))
    total = sum(weight.values())
    if not minimal:
        return {"method": "lost"}, total
    hint = read_hint(proof.splits, system.open_blocks.tolist())
    tree, least = HittingTree(minimal, weight, total - most, max(0.0, until - time.perf_counter())).prove(
        hint
    )
    content = {**tree, "cores": [proven[minimal[at]] for at in tree["cores"]]}
    return {"method": "hitting-set", **content}, total - least


def _multipliers(
    linkage: FastLinkage, system: BlockSystem, core: CoreProof
) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
    """Convert multipliers of a core to those of exact rows and of monotonicity."""
    used = np.asarray(core.rows)
    raw = np.asarray(core.multipliers) / system.length[used]
    blocks = system.open_blocks[system.row_open[used]]
    entries = list(zip(blocks.tolist(), system.rival[used].tolist(), raw.tolist(), strict=True))
    if not isinstance(linkage.family, Measure) or core.domain.size == 0:
        return entries, []
    steps = inequalities(linkage.family)
    # The sum of a Moebius form comes first. Multipliers of "at least" are negative, others say nothing there.
    values = -np.asarray(core.domain)[-len(steps) :]
    return entries, [(*step, y) for step, y in zip(steps, values.tolist(), strict=True) if y > 0.0]


def _minimal(cores: list[frozenset[int]]) -> list[frozenset[int]]:
    """Keep cores that contain no other core."""
    kept: list[frozenset[int]] = []
    of_block: dict[int, list[frozenset[int]]] = {}
    for core in sorted(cores, key=lambda core: (len(core), sorted(core))):
        smaller = (other for block in core for other in of_block.get(block, ()))
        if any(other <= core for other in smaller):
            continue
        kept.append(core)
        # A subset has its smallest member in the core, so it is enough to look for it there.
        of_block.setdefault(min(core), []).append(core)
    return kept
