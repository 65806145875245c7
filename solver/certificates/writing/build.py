"""The certificate of a fit: what an engine found and proved, in the form that `verify` checks."""

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
from linkrisk.solver.certificates.checking.cores import Rows
from linkrisk.solver.certificates.checking.families.measures import MeasureFamily
from linkrisk.solver.certificates.checking.fields import Fields
from linkrisk.solver.certificates.checking.records import Records, make_records
from linkrisk.solver.certificates.checking.setting import read_setting
from linkrisk.solver.certificates.checking.ties import TOLERANCES
from linkrisk.solver.certificates.checking.units import whole_weights
from linkrisk.solver.certificates.checking.verify import FORMAT, VERSION
from linkrisk.solver.certificates.core.claims import RejectedError
from linkrisk.solver.certificates.writing.certifiable import CertificateError, why_not_certifiable
from linkrisk.solver.certificates.writing.cores import exact_core, lost_pairs
from linkrisk.solver.certificates.writing.hitting import HittingTree, read_hint
from linkrisk.solver.certificates.writing.simplex import Aim, simplex_proof, weight_unit
from linkrisk.solver.engines.base import CoreProof, Proof, whole
from linkrisk.solver.run.errors import UsageError

_ROUNDED = Fraction(1, 2 * 10**9)
"""Relative slack of a bound on weights that are not whole numbers; `verify` allows twice as much."""

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
"""Those of problems with categorical attributes, and with sampling weights."""

_MOST_CORNERS = 9
"""Corners of a simplex up to which halving it is worth a try."""


@dataclass(frozen=True)
class ProvenSearch:
    """What an engine proved of some blocks.

    Attributes
    ----------
    blocks : ndarray of int, or None
        Which blocks of the file those of the system are; None for all.
    system : BlockSystem
        That the engine worked on.
    bound : float or Fraction
        The weight that no parameters exceed, as the engine has proven it; in the population where there are
        sampling weights.
    proof : Proof
        How it did (`EngineResult.proof`); multipliers of the domain may have either sign.
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
        """The blocks of the file that are lost."""
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
    """Write the certificate of a search of all records.

    Parameters
    ----------
    files : FilePair
        The two files.
    problem : mapping
        What `Problem.describe` gives.
    searched : ProvenSearch
        What was proved of all records.
    parameters : mapping
        The best parameters, as the JSON of the fit has them.
    linked : int
        Records that they link.
    seconds : float
        Time for all of it but reading the records exactly. When it is too short, the certificate's ``bound``
        is weaker than the engine's.
    reached : ndarray of bool, shape (blocks,), optional
        Which blocks the parameters link: no proof is tried for less than these.
    parts : sequence of ProvenSearch or ndarray of int
        What was proved of parts of the file, if the bound is the sum of their bounds; the blocks alone of one
        that was not searched. What is lost in the search of all records is in none of them.

    Returns
    -------
    dict
        Ready for JSON; docs/certificate.md describes it.

    Raises
    ------
    CertificateError
        If none can be made, whatever the reason; the fit itself remains valid.
    """
    until = time.perf_counter() + seconds

    def content() -> dict[str, Any]:
        rows = _rows(files, problem, searched.system.pair)
        if parts:
            told, shown = _parts(rows, searched, parts, until)
        else:
            told, shown = _part(rows, range(rows.records.blocks), searched, until, reached)
        return {**_head(rows, problem, parameters, linked), "bound": told, "proof": shown}

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
    """Write the certificate of a search of samples.

    Parameters
    ----------
    files, problem, parameters, linked, seconds
        As in `certify`.
    pair : LinkagePair
        All records.
    samples : sequence of ProvenSearch or ndarray of int
        What was proved of each sample; the blocks alone of one that was not searched.

    Returns
    -------
    dict
        Ready for JSON.

    Raises
    ------
    CertificateError
        If none can be made, whatever the reason; the fit itself remains valid.
    """
    until = time.perf_counter() + seconds

    def content() -> dict[str, Any]:
        rows = _rows(files, problem, pair)
        proven = [found and found[1] for found in _each_part(rows, samples, until)]
        return {**_head(rows, problem, parameters, linked), "samples": proven}

    return _certified(problem, content)


def _certified(problem: Mapping[str, Any], content: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The content; CertificateError where there is none."""
    reason = why_not_certifiable(problem)
    if reason is not None:
        raise CertificateError(reason)
    try:
        return content()
    except (RejectedError, UsageError, DataError) as error:
        raise CertificateError(str(error)) from error
    except MemoryError:
        raise CertificateError("memory ran out while it was made") from None


def _rows(files: FilePair, problem: Mapping[str, Any], pair: LinkagePair) -> Rows:
    """The exact rows of the problem; CertificateError where they are not those of the engine."""
    setting = read_setting(Fields(dict(problem), "problem"))
    records = make_records(files, setting)
    same = (
        np.array_equal(records.queries, pair.queries, equal_nan=True)
        and np.array_equal(records.candidates, pair.candidates, equal_nan=True)
        and np.array_equal(records.widths, pair.rounding)
        and np.array_equal(records.offset, pair.offset)
        and np.array_equal(records.grains, pair.grains)
    )
    if not (same and _same_weights(records, pair.weight)):
        raise CertificateError("its records would not be those of the engine")
    return Rows(records, setting.family)


def _head(
    rows: Rows, problem: Mapping[str, Any], parameters: Mapping[str, Any], linked: int
) -> dict[str, Any]:
    """What a certificate says before its bound."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": {key: problem[key] for key in (*_PROBLEM_KEYS, *_FURTHER_KEYS) if key in problem},
        "tolerances": dict(TOLERANCES),
        "records": rows.records.blocks,
        "candidates": len(rows.records.candidates),
        "parameters": dict(parameters),
        "linked": linked,
    }


def _part(
    rows: Rows, blocks: Sequence[int], searched: ProvenSearch, until: float, reached: BoolArray | None
) -> tuple[dict[str, int], dict[str, Any]]:
    """The bound of some blocks and its proof; `until` is by `time.perf_counter`."""
    records = rows.records
    lost = lost_pairs(rows, searched.lost, until)
    gone = frozenset(block for block, _ in lost)
    left = [block for block in blocks if block not in gone]
    even = whole(searched.system.pair.weight)
    exact = Fraction(searched.bound) if even else Fraction(searched.bound) * (1 + _ROUNDED)
    unit = weight_unit([records.weight(block) for block in left], exact)
    weight = whole_weights(records, unit, left)
    least = 0 if reached is None else sum(weight.get(int(block), 0) for block in np.flatnonzero(reached))
    aim = Aim(max(int(exact * unit), least), least)
    content, most = _proof(rows, searched.of_the_file(), searched.proof, weight, aim, until)
    return _bound(unit, most), {"lost": lost, **content}


def _each_part(
    rows: Rows, parts: Sequence[ProvenSearch | IndexArray], until: float
) -> Iterator[tuple[list[int], dict[str, Any]] | None]:
    """The blocks of each part, and their bound and its proof; None where there is no proof, or no time."""
    for at, each in enumerate(parts):
        if not isinstance(each, ProvenSearch) or each.blocks is None or time.perf_counter() >= until:
            yield None
            continue
        share = (until - time.perf_counter()) / (len(parts) - at)
        blocks = np.sort(each.blocks).tolist()
        bound, proof = _part(rows, blocks, each, time.perf_counter() + share, None)
        yield blocks, {"bound": bound, "proof": proof}


def _parts(
    rows: Rows, searched: ProvenSearch, parts: Sequence[ProvenSearch | IndexArray], until: float
) -> tuple[dict[str, int], dict[str, Any]]:
    """The bound of all blocks as the sum of those of parts; who is in none and not lost counts in full."""
    lost = lost_pairs(rows, searched.lost, until)
    left = set(range(rows.records.blocks)) - {pair[0] for pair in lost}
    total, shown = Fraction(0), []
    for found in _each_part(rows, parts, until):
        if found is not None:
            blocks, proven = found
            left -= set(blocks)
            total += weight_of_bound(proven["bound"])
            shown.append({"blocks": blocks, **proven})
    total += sum((rows.records.weight(block) for block in left), Fraction(0))
    bound = _bound(Fraction(total.denominator), total.numerator)
    return bound, {"lost": lost, "method": "parts", "parts": shown}


def weight_of_bound(bound: Mapping[str, int]) -> Fraction:
    """The weight of a bound that is written in units."""
    return Fraction(bound["linked_weight"] * bound.get("of", 1), bound["unit"])


def _same_weights(records: Records, weight: FloatArray) -> bool:
    """Whether the engine's weights are those of the records, but for a common factor and rounding."""
    own = np.array([float(records.weight(block)) for block in range(records.blocks)])
    return own.size == weight.size and np.allclose(own * weight[0], weight * own[0], rtol=1e-12, atol=0.0)


def _bound(unit: Fraction, most: int) -> dict[str, int]:
    """The bound as the certificate writes it."""
    of = {} if unit.denominator == 1 else {"of": unit.denominator}
    return {"unit": unit.numerator, **of, "linked_weight": most}


def _proof(
    rows: Rows, system: BlockSystem, proof: Proof, weight: Mapping[int, int], aim: Aim, until: float
) -> tuple[dict[str, Any], int]:
    """The proof of as small a bound as there is; and the bound, in units."""
    best: tuple[dict[str, Any], int] = ({"method": "lost"}, sum(weight.values()))
    methods = []
    if rows.family.simplex and rows.family.dimension <= _MOST_CORNERS:
        methods.append("simplex-tree")
    if proof.cores:
        methods.insert(0 if proof.method == "hitting-set" else 1, "hitting-set")
    for left, method in zip((2, 1)[-len(methods) :], methods, strict=False):
        share = (until - time.perf_counter()) / left
        if best[1] <= aim.most or share <= 0.0:
            break
        if method == "hitting-set":
            found = _hitting_set(rows, system, proof, weight, aim.most, share)
        else:
            found = simplex_proof(rows, _rivals(system), weight, aim, share) or best
        best = min(best, found, key=lambda attempt: attempt[1])
    return best


def _rivals(system: BlockSystem) -> dict[int, list[int]]:
    """The rivals of each open block that have a row."""
    blocks = system.open_blocks[system.row_open]
    found: dict[int, list[int]] = {}
    for block, rival in zip(blocks.tolist(), system.rival.tolist(), strict=True):
        found.setdefault(block, []).append(rival)
    return found


def _hitting_set(
    rows: Rows,
    system: BlockSystem,
    proof: Proof,
    weight: Mapping[int, int],
    most: int,
    seconds: float,
) -> tuple[dict[str, Any], int]:
    """Cores that are proven exactly, and a tree for the hitting set."""
    proven: dict[frozenset[int], dict[str, Any]] = {}
    until = time.perf_counter() + seconds
    for core in proof.cores:
        if time.perf_counter() >= until:
            break  # fewer cores prove less, which is said
        answer = exact_core(rows, *_multipliers(rows, system, core))
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
    rows: Rows, system: BlockSystem, core: CoreProof
) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
    """Multipliers of a core as those of exact rows and of the inequalities of a monotone measure."""
    used = np.asarray(core.rows)
    raw = np.asarray(core.multipliers) / system.length[used]
    blocks = system.open_blocks[system.row_open[used]]
    entries = list(zip(blocks.tolist(), system.rival[used].tolist(), raw.tolist(), strict=True))
    if not isinstance(rows.family, MeasureFamily) or core.domain.size == 0:
        return entries, []
    steps = rows.family.inequalities
    # The sum of a Moebius form comes first. Multipliers of "at least" are negative, others say nothing there.
    values = -np.asarray(core.domain)[-len(steps) :]
    return entries, [(*step, y) for step, y in zip(steps, values.tolist(), strict=True) if y > 0.0]


def _minimal(cores: list[frozenset[int]]) -> list[frozenset[int]]:
    """Cores that contain no other core."""
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
