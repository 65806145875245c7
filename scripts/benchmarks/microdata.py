"""Print how long masking and suppression of files of records take, and what is proven.

    python scripts/benchmarks/microdata.py masking [--plain 100000]
    python scripts/benchmarks/microdata.py cover
    python scripts/benchmarks/microdata.py recount
    python scripts/benchmarks/microdata.py joint
    python scripts/benchmarks/microdata.py heuristics
    python scripts/benchmarks/microdata.py sweep

`masking`: records of the Census file, drawn again and given some noise; microaggregation by MDAV is timed
with the index that is used from 5,000 records on, and with the plain search of all records up to `--plain`
(10,000) records: both must make the same groups. `cover`: the demonstration file of mu-ARGUS with its 27
tables; its household file; Adult with nine keys; and a million records drawn from Adult, of which tables up
to three dimensions are counted. `recount`: five keys of the demonstration file and of free1, and all of
Adult. `joint`: Adult with the hierarchies of ARX, beside the best point of the lattice at which whole records
are taken out. `heuristics`: what they take out beside what is proven to be enough; two columns say how many
records are then alike with fewer than k when the output is counted, a missing value being a category of its
own or matching anything. `sweep`: twenty maskings of 400 Census records, all families, the usual measures and
limits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from harness import CENSUS, DATA, parser, timed

from linkrisk import suppress
from linkrisk import sweep as swept
from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.masking.base import MaskingMethod, standardised
from linkrisk.datasets.masking.greedy_suppression import greedy_suppression
from linkrisk.datasets.masking.mdav import indexed_partition, plain_partition
from linkrisk.datasets.masking.microaggregation import OptimalMicroaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.datasets.public.registry import load
from linkrisk.formulations.suppression.key_table import KeyTable, MissingMeaning, frequencies, row_types
from linkrisk.formulations.suppression.unsafe_combinations import k_anonymity, minimal_unsafe
from linkrisk.solver.suppression.answer import SCALE
from linkrisk.solver.suppression.heuristics import each_by_itself, greedily, sdcmicro_suppression
from linkrisk.solver.suppression.joint import best_with_whole_records
from linkrisk.solver.suppression.operations.key_variables import KeyVariables
from linkrisk.solver.suppression.problem import key_codes

K, NOISE = 3, 0.2
"""Records of a group; standard deviation of the noise, relative to that of the attribute."""

OTHERS: tuple[MaskingMethod, ...] = (
    *(OptimalMicroaggregation(k=K), RankSwapping(percent=5), AdditiveNoise(percent=10)),
    AdditiveNoise(percent=10, correlated=True),
)


def masking(asked: argparse.Namespace) -> int:
    """Print one line for each measurement; 1 when two ways of grouping differ."""
    census = read_table(asked.data / "casc_census.csv")
    indexed_partition(standardised(resampled(census, 500)), K)  # compiles
    same = True
    for records in asked.records:
        table = pd.DataFrame(resampled(census, records), columns=census.columns)
        for attributes in (4, census.shape[1]):
            points = standardised(table.to_numpy()[:, :attributes])
            same &= mdav(points, plain=records <= asked.plain)
        for name, seconds in others(table):
            print(f"{records:7} records {census.shape[1]:3} attributes  {seconds:8.2f} s  {name}", flush=True)
    return 0 if same else 1


def resampled(census: pd.DataFrame, records: int) -> FloatArray:
    """Draw records with replacement and add noise, so that no two are the same."""
    generator = np.random.default_rng(1)
    values = census.to_numpy(dtype=float)
    drawn = values[generator.integers(len(values), size=records)]
    return np.asarray(drawn + NOISE * values.std(axis=0) * generator.standard_normal(drawn.shape))


def mdav(points: FloatArray, *, plain: bool) -> bool:
    """Time MDAV both ways; whether the groups are the same, as far as both were made."""
    ways: dict[str, Callable[[FloatArray, int], list[IndexArray]]] = {"indexed": indexed_partition}
    if plain:
        ways["plain"] = plain_partition
    found = {}
    for name, way in ways.items():
        groups, spent = timed(lambda way=way: way(points, K))
        found[name] = [group.tolist() for group in groups]
        size = f"{len(points):7} records {points.shape[1]:3} attributes"
        print(f"{size}  {spent.processor:8.2f} s  MDAV with k = {K}, {name}", flush=True)
    same = all(groups == found["indexed"] for groups in found.values())
    if not same:
        print("the groups differ", flush=True)
    return same


def others(table: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """Time the other methods on all attributes, PRAM on twenty categories."""
    bands = table.iloc[:, [0]].rank(pct=True).mul(20).astype(int).astype(str)
    for method in (*OTHERS, Pram(change=0.2)):
        frame = bands if isinstance(method, Pram) else table
        method.apply(frame[:500], seed=1)  # compiles
        _, spent = timed(lambda method=method, frame=frame: method.apply(frame, seed=1))
        yield method.describe(frame[:500]).split(" of ")[0], spent.processor


def argus(folder: Path, name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A file of mu-ARGUS, and its levels of identification and missing codes."""
    frame = pd.read_csv(folder / f"muargus_{name}.csv", dtype=str)
    meta = pd.read_csv(folder / f"muargus_{name}_meta.csv", dtype=str).set_index("variable")
    levels = meta["idlevel"].dropna().astype(int)
    levels = levels[levels > 0]
    missing = {key: meta.loc[key, ["missing1", "missing2"]].dropna().tolist() for key in levels.index}
    columns = [{"name": key, "role": "key", "scale": "nominal", "missing": missing[key]} for key in missing]
    return frame, {"keys": list(missing), "levels": levels.to_dict(), "schema": {"attributes": columns}}


def suppressed(title: str, frame: pd.DataFrame, **asked: Any) -> None:
    """Print one line."""
    found, spent = timed(lambda: suppress(frame, **{"time_limit": None, **asked}))
    share = 100.0 * (found.cost - found.bound) / max(found.bound, 1.0)
    proof = "proven" if found.proven else f"at least {found.bound:,.0f} ({share:.2f} % above)"
    print(
        f"{title:32} {len(frame):>9,} records: {found.unsafe_combinations:>7,} combinations of "
        f"{found.unsafe:>7,} records, {found.cells:>7,} values, {proof}; counting and proving "
        f"{found.details['seconds']:6.2f} s, all {spent.seconds:6.2f} s, {spent.megabytes:,.0f} MB",
        flush=True,
    )


def texts(folder: Path, name: str) -> pd.DataFrame:
    """A public file, all of it text."""
    return pd.read_csv(folder / f"{name}.csv", dtype=str)


def cover(asked: argparse.Namespace) -> None:
    """Unsafe combinations counted, and the fewest values that cover them."""
    frame, options = argus(asked.data, "demodata")
    suppressed("Demodata, 27 tables", frame, **options)
    frame, options = argus(asked.data, "samhh")
    suppressed("samhh, households", frame, household="hhnum", household_keys=["agehh"], **options)
    adult = texts(asked.data, "arx_adult")
    suppressed("Adult, 9 keys, k = 5", adult, k=5)
    drawn = adult.iloc[np.random.default_rng(1).integers(0, len(adult), 1_000_000)].reset_index(drop=True)
    suppressed("Adult drawn, up to 3 of 9 keys", drawn, dimension=3, threshold=30)


def recount(asked: argparse.Namespace) -> None:
    """The problem in which the output is counted again."""
    demonstration, free = texts(asked.data, "muargus_demodata"), texts(asked.data, "sdcmicro_free1")
    adult = texts(asked.data, "arx_adult")
    ages, trades = ["REGION", "SEX", "AGE", "MARSTAT"], ["REGION", "SEX", "AGE", "OCCUCODE", "ETNI"]
    for missing in ("own-category", "matches-anything"):
        options = {"problem": "recount", "missing": missing, "time_limit": asked.seconds}
        print(f"A missing value: {missing}")
        suppressed("Demodata, 5 keys, k = 3", demonstration, keys=[*ages, "EDUC1"], k=3, **options)
        suppressed("Demodata, 5 others, k = 3", demonstration, keys=trades, k=3, **options)
        suppressed("free1, 5 keys, k = 3", free, keys=[*ages, "KINDPERS"], k=3, **options)
        suppressed("Adult, 9 keys, k = 5", adult, k=5, **options)


def joint(asked: argparse.Namespace) -> None:
    """Recoding and suppression together."""
    adult, k = texts(asked.data, "arx_adult"), 5
    hierarchies = [Hierarchy.read(name, asked.data / f"arx_adult_hierarchy_{name}.csv") for name in adult]
    names = tuple(adult.columns)
    table = KeyTable(names, key_codes(adult, names))
    levels = KeyVariables.read(adult, names, None).levels(hierarchies)
    recodings = levels.recodings(table, np.full(len(names), SCALE, dtype=np.int64))
    whole, spent = timed(lambda: best_with_whole_records(recodings, table.types, k, lambda: False))
    assert whole is not None
    gone = int(table.types.count[whole.gone].sum())
    print(
        f"Adult, k = {k}: best levels for whole records {whole.levels}, {gone:,} of which go: loss "
        f"{whole.cost / SCALE:,.0f}; every point in order {spent.seconds:.0f} s",
        flush=True,
    )
    found = suppress(adult, problem="joint", k=k, hierarchies=hierarchies, time_limit=asked.seconds)
    lattice = found.details["lattice"]
    print(
        f"Adult, k = {k}: levels {tuple(found.levels.values())}, {found.cells:,} values taken out, loss "
        f"{found.cost:,.0f}, at least {found.bound:,.0f} "
        f"({100.0 * (found.cost - found.bound) / found.bound:.2f} % above), "
        f"{lattice['open']} of {lattice['points']:,} points open, {found.details['seconds']:.0f} s",
        flush=True,
    )


def ways(codes: np.ndarray, k: int) -> dict[str, Callable[[], np.ndarray]]:
    """The ways that prove nothing."""
    keys = codes.shape[1]
    cost, none = np.ones(keys, dtype=np.int64), np.zeros(keys, dtype=np.int64)
    table = KeyTable(tuple(map(str, range(keys))), codes)
    minimal = minimal_unsafe(table.types, k_anonymity(keys, k), MissingMeaning())
    return {
        "cover: each combination by itself": lambda: each_by_itself(table.types, minimal, cost),
        "cover: greedily by record": lambda: greedily(table.types, minimal, cost),
        "cover: local-suppression, counted in the input": lambda: greedy_suppression(
            codes, k, none, mutual=False
        ),
        "anything: sdcMicro's localSuppression": lambda: sdcmicro_suppression(codes, k),
        "anything: local-suppression, in the output": lambda: greedy_suppression(codes, k, none, mutual=True),
    }


def heuristics(asked: argparse.Namespace) -> None:
    """What is taken out by each way, and by the optima."""
    small = pd.DataFrame({"a": list("xxyyz"), "b": list("uvuvu")})
    for choose in ways(key_codes(small, ["a", "b"]), 2).values():  # compiles
        choose()
    keys = ["REGION", "SEX", "AGE", "MARSTAT"]
    compared("Demodata", texts(asked.data, "muargus_demodata")[[*keys, "EDUC1"]], 3, asked.seconds)
    compared("free1", texts(asked.data, "sdcmicro_free1")[[*keys, "KINDPERS"]], 3, asked.seconds)
    compared("Adult", texts(asked.data, "arx_adult"), 5, asked.seconds)


def compared(title: str, frame: pd.DataFrame, k: int, seconds: float) -> None:
    """Print the lines of one file."""
    codes = key_codes(frame, list(frame))
    print(f"\n{title}: {len(frame):,} records, {len(frame.columns)} keys, k = {k}")
    print(f"{'':44} {'values':>8} {'own':>8} {'anything':>8} {'seconds':>8}")
    for name, choose in ways(codes, k).items():
        taken, spent = timed(choose)
        line(name, taken, codes, k, spent.seconds)
    optima: dict[str, dict[str, Any]] = {
        "cover: optimum": {},
        "anything: optimum": {"problem": "recount", "missing": "matches-anything"},
        "own category: optimum": {"problem": "recount"},
    }
    for name, problem in optima.items():
        found, spent = timed(lambda problem=problem: suppress(frame, k=k, time_limit=seconds, **problem))
        taken = np.column_stack([found.table[key].isna() & frame[key].notna() for key in frame])
        proof = "proven" if found.proven else f"at least {found.bound:,.0f}"
        line(name, taken, codes, k, spent.seconds, proof)


def line(name: str, taken: np.ndarray, codes: np.ndarray, k: int, seconds: float, proof: str = "") -> None:
    """Print one way: values, and records in classes of fewer than k, by what a missing value means."""
    types = row_types(np.where(taken, np.int32(-1), codes).astype(np.int32))
    weight = types.count.astype(np.float64)
    own, anything = (
        int(types.count[frequencies(types.codes, weight, MissingMeaning.parse(meaning)) < k].sum())
        for meaning in ("own-category", "matches-anything")
    )
    print(f"{name:44} {int(taken.sum()):>8,} {own:>8,} {anything:>8,} {seconds:>8.1f}  {proof}", flush=True)


_GROUPS = "groups=AFNLWGT,AGI,EMCONTRB groups=FEDTAX,PTOTVAL,STATETAX"
MASKINGS = (
    f"microaggregation k=3..15:4 {_GROUPS}",
    "optimal-microaggregation k=3,10",
    "noise percent=5,10,20,30,50",
    "rank-swapping percent=2,5,10,20",
    "M4-33",
    "M6-853",
    f"microaggregation k=3 {_GROUPS} + noise percent=5,20 attributes=AGI,PTOTVAL",
    "top-coding percent=20 attributes=AGI,FEDTAX,PTOTVAL",
)
"""Twenty, with their ranges written out."""


def sweep(asked: argparse.Namespace) -> None:
    """Sweep with as many processes as there are processors, and print the map."""
    found = swept(
        load("census").head(400)[CENSUS],
        MASKINGS,
        time_limit=min(asked.seconds, 60.0),
        on_progress=lambda progress: print(progress.work or progress.phase, flush=True),
    )
    print(str(found), end="")
    print(f"{len(found.done)} maskings in {found.details['seconds'] / 60.0:.1f} min")


PARTS: dict[str, Callable[[argparse.Namespace], int | None]] = {
    "masking": masking,
    "cover": cover,
    "recount": recount,
    "joint": joint,
    "heuristics": heuristics,
    "sweep": sweep,
}


def main() -> int:
    """Measure one part."""
    made = parser(__doc__, *PARTS, data=DATA)
    made.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000], help="masking: sizes")
    made.add_argument("--plain", type=int, default=10_000, help="masking: largest plain search (10,000)")
    made.add_argument("--seconds", type=float, default=580.0, help="for one problem (580)")
    asked = made.parse_args()
    if asked.part not in ("masking", "sweep"):
        suppress(pd.DataFrame({"a": [1, 1, 2]}), k=2)  # compiles
    return PARTS[asked.part](asked) or 0


if __name__ == "__main__":
    sys.exit(main())
