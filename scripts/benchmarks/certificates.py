"""Print how large certificates are and how long they take to check, as a table of a page.

    python scripts/benchmarks/certificates.py --pairs ../shared/bench/pairs

Each pair is fitted until its optimum is proven, the certificate is made, and checked by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness import PAIRS, parser, timed

from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.certificates.checking.verify import FullVerdict, demand_fit, verify
from linkrisk.solver.worst_case.operations.fit import fit


class Case(NamedTuple):
    """A pair, and what is asked of it."""

    pair: str
    direction: str
    family: str
    k_additive: int | None = None


FORTH, BACK = "original-to-masked", "masked-to-original"

CASES = (
    Case("M5-38_400_s0", BACK, "weighted-mean"),
    Case("M6-385_400_s0", BACK, "weighted-mean"),
    Case("M5-38_400_s0", BACK, "owa"),
    Case("M4-28_400_s0", BACK, "choquet"),
    Case("M4-33_400_s0", BACK, "choquet", 3),
    Case("M5-38_400_s0", BACK, "choquet"),
    Case("M5-38_400_s0", FORTH, "mahalanobis"),
)

HEAD = (
    "| pair, direction, family | proved | at least | proof | size | found in | made in | checked in |",
    "|---|---|---|---|---|---|---|---|",
)


def line(folder: Path, case: Case, seconds: float) -> str:
    """Fit, certify and check one case: a row of the table."""
    files = [folder / f"{case.pair}_{side}.csv" for side in ("original", "masked")]
    asked = {"aggregator": case.family, "direction": case.direction, "k_additive": case.k_additive}
    result, whole = timed(lambda: fit(*files, certificate=True, time_limit=seconds, **asked))
    searched = result.details["seconds"]
    text = json.dumps(result.certificate)
    fitted, certificate = json.loads(result.to_json()), json.loads(text)

    def check() -> FullVerdict:
        verdict = verify(fitted, certificate, make_file_pair(*files), ("fit", "certificate"))
        demand_fit(fitted, verdict, "fit")
        return verdict

    verdict, checked = timed(check)
    family = case.family if case.k_additive is None else f"{case.k_additive}-additive"
    return (
        f"| {case.pair}, {case.direction}, {family} | {verdict.bound_count:,} | {verdict.linked:,} | "
        f"{_proof(verdict)} | {len(text) / 1e3:.0f} kB | {searched:.1f} s | "
        f"{max(0.0, whole.seconds - searched):.1f} s | {checked.seconds:.1f} s |"
    )


def _proof(verdict: FullVerdict) -> str:
    leaves = "1 leaf" if verdict.leaves == 1 else f"{verdict.leaves:,} leaves"
    if verdict.method == "hitting-set":
        return f"{verdict.cores:,} cores, {leaves}"
    return f"simplex tree, {leaves}" if verdict.method == "simplex-tree" else "lost records"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    made = parser(__doc__, pairs=PAIRS)
    made.add_argument("--only", help="cases whose pair has this in its name")
    made.add_argument("--time-limit", type=float, default=300.0, help="seconds for each search (300)")
    options = made.parse_args(arguments)
    print(*HEAD, sep="\n", flush=True)
    for case in CASES:
        if options.only is None or options.only in case.pair:
            print(line(options.pairs, case, options.time_limit), flush=True)


if __name__ == "__main__":
    main()
