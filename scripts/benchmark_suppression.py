"""Print what suppression takes: unsafe combinations counted, and what is proven, in seconds.

    python scripts/benchmark_suppression.py --data ../shared/data
    python scripts/benchmark_suppression.py --data ../shared/data --part recount
    python scripts/benchmark_suppression.py --data ../shared/data --part joint

Cover: the demonstration file of mu-ARGUS with its 27 tables; its household file; Adult with nine keys; and a
million records drawn from Adult, of which tables up to three dimensions are counted. Recount: five keys of
the demonstration file and of free1, and all of Adult, for which it has 580 seconds. Joint: Adult with the
hierarchies of ARX, beside the best point of the lattice at which whole records are taken out.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linkrisk import suppress
from linkrisk.datasets.microdata.hierarchies import Hierarchy
from linkrisk.formulations.suppression.key_table import KeyTable
from linkrisk.solver.suppression.anonymity.whole_records import best_with_whole_records
from linkrisk.solver.suppression.answer import SCALE
from linkrisk.solver.suppression.hierarchy_levels import HierarchyLevels
from linkrisk.solver.suppression.problem import key_codes

_MEGABYTE = 1e3  # of the kilobytes that `getrusage` gives on Linux


def argus(folder: Path, name: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A file of mu-ARGUS, and its levels of identification and missing codes."""
    frame = pd.read_csv(folder / f"muargus_{name}.csv", dtype=str)
    meta = pd.read_csv(folder / f"muargus_{name}_meta.csv", dtype=str).set_index("variable")
    levels = meta["idlevel"].dropna().astype(int)
    levels = levels[levels > 0]
    columns = [
        {
            "name": key,
            "role": "key",
            "scale": "nominal",
            "missing": meta.loc[key, ["missing1", "missing2"]].dropna().tolist(),
        }
        for key in levels.index
    ]
    asked = {"keys": list(levels.index), "levels": levels.to_dict(), "schema": {"attributes": columns}}
    return frame, asked


def timed(title: str, frame: pd.DataFrame, **asked: Any) -> None:
    """Print one line."""
    began = time.perf_counter()
    found = suppress(frame, **{"time_limit": None, **asked})
    seconds = time.perf_counter() - began
    share = 100.0 * (found.cost - found.bound) / max(found.bound, 1.0)
    proof = "proven" if found.proven else f"at least {found.bound:,.0f} ({share:.2f} % above)"
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    print(
        f"{title:32} {len(frame):>9,} records: {found.unsafe_combinations:>7,} combinations of "
        f"{found.unsafe:>7,} records, {found.cells:>7,} values, {proof}; counting and proving "
        f"{found.details['seconds']:6.2f} s, all {seconds:6.2f} s, {megabytes:,.0f} MB",
        flush=True,
    )


def recount(folder: Path, seconds: float) -> None:
    """Print the lines of the problem in which the output is counted again."""
    demonstration = pd.read_csv(folder / "muargus_demodata.csv", dtype=str)
    free = pd.read_csv(folder / "sdcmicro_free1.csv", dtype=str)
    adult = pd.read_csv(folder / "arx_adult.csv", dtype=str)
    ages, trades = ["REGION", "SEX", "AGE", "MARSTAT"], ["REGION", "SEX", "AGE", "OCCUCODE", "ETNI"]
    for missing in ("own-category", "matches-anything"):
        asked = {"problem": "recount", "missing": missing, "time_limit": seconds}
        print(f"A missing value: {missing}")
        timed("Demodata, 5 keys, k = 3", demonstration, keys=[*ages, "EDUC1"], k=3, **asked)
        timed("Demodata, 5 others, k = 3", demonstration, keys=trades, k=3, **asked)
        timed("free1, 5 keys, k = 3", free, keys=[*ages, "KINDPERS"], k=3, **asked)
        timed("Adult, 9 keys, k = 5", adult, k=5, **asked)


def joint(folder: Path, seconds: float) -> None:
    """Print the lines of recoding and suppression together."""
    adult = pd.read_csv(folder / "arx_adult.csv", dtype=str)
    hierarchies = [Hierarchy.read(name, folder / f"arx_adult_hierarchy_{name}.csv") for name in adult]
    names = tuple(adult.columns)
    table = KeyTable(names, key_codes(adult, names))
    levels = HierarchyLevels.of(adult, names, hierarchies, "Adult")
    recodings = levels.recodings(table, np.full(len(names), SCALE, dtype=np.int64))
    k = 5
    began = time.perf_counter()
    whole = best_with_whole_records(recodings, table.types, k, lambda: False)
    assert whole is not None
    gone = int(table.types.count[whole.gone].sum())
    print(
        f"Adult, k = {k}: best levels for whole records {whole.levels}, {gone:,} of which go: loss "
        f"{whole.cost / SCALE:,.0f}; every point in order {time.perf_counter() - began:.0f} s",
        flush=True,
    )
    asked = {"problem": "joint", "k": k, "hierarchies": hierarchies, "time_limit": seconds}
    found = suppress(adult, **asked)
    print(
        f"Adult, k = {k}: levels {tuple(found.levels.values())}, {found.cells:,} values taken out, loss "
        f"{found.cost:,.0f}, at least {found.bound:,.0f} "
        f"({100.0 * (found.cost - found.bound) / found.bound:.2f} % above), "
        f"{found.details['lattice']['open']} of {found.details['lattice']['points']:,} points open, "
        f"{found.details['seconds']:.0f} s",
        flush=True,
    )


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data")
    parser.add_argument("--part", choices=["cover", "recount", "joint"], default="cover")
    parser.add_argument("--seconds", type=float, default=580.0, help="for one problem of recount or joint")
    arguments = parser.parse_args()
    folder = arguments.data
    suppress(pd.DataFrame({"a": [1, 1, 2]}), k=2)  # compiles
    if arguments.part == "recount":
        recount(folder, arguments.seconds)
        return
    if arguments.part == "joint":
        joint(folder, arguments.seconds)
        return
    frame, asked = argus(folder, "demodata")
    timed("Demodata, 27 tables", frame, **asked)
    frame, asked = argus(folder, "samhh")
    timed("samhh, households", frame, household="hhnum", household_keys=["agehh"], **asked)
    adult = pd.read_csv(folder / "arx_adult.csv", dtype=str)
    timed("Adult, 9 keys, k = 5", adult, k=5)
    drawn = adult.iloc[np.random.default_rng(1).integers(0, len(adult), 1_000_000)].reset_index(drop=True)
    timed("Adult drawn, up to 3 of 9 keys", drawn, dimension=3, threshold=30)


if __name__ == "__main__":
    main()
