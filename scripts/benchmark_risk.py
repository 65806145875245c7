"""Print what measures of a release take, in seconds and in memory.

    LINKRISK_DATA=../shared/data python scripts/benchmark_risk.py --part keys
    python scripts/benchmark_risk.py --part all --pairs ../shared/bench/pairs
    python scripts/benchmark_risk.py --part leave-one-out --pairs ../shared/bench/pairs
    LINKRISK_DATA=../shared/data python scripts/benchmark_risk.py --part large

Every measure of the part ``keys`` runs in a process of its own on the complete records of Adult with nine
keys; on as many as `--records` says, drawn from these with replacement; and on as many of which every
attribute is drawn by itself, so that most are unique. Memory is the most that the process held.

The part ``all`` takes all measures of pairs of 400 Census records with the default limits. The part
``leave-one-out`` (in `withheld_part.py`) searches the worst case without each attribute. The part ``large``
takes all measures of a million records (the case M6-385 of `scale_cases.py`) within 120 seconds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scale_cases import make_files
from withheld_part import leave_one_out

from linkrisk import risk
from linkrisk.datasets.microdata.schema import Attribute
from linkrisk.solver.measures.diversity import attribute_diversity
from linkrisk.solver.measures.individual_risk import measured
from linkrisk.solver.measures.keys import KeyFile, column_codes, groups_of, sums
from linkrisk.solver.measures.suda import special_uniques

PARTS = ("keys", "all", "leave-one-out", "large")

PAIRS = ("M4-33", "M4-28", "M5-38", "M6-385", "M6-853")
"""Pairs of 400 Census records."""

ADULT_KEYS = (
    *("age", "workclass", "education", "marital-status", "occupation"),
    *("race", "sex", "native-country", "class"),
)
"""Those of the file that ARX ships."""

KEY_MEASURES = ("uniqueness", "individual-risk", "suda", "diversity")

LARGE_LIMIT = 120.0
"""Seconds for all measures of the part ``large``."""

_MEGABYTE = 1e3  # of the kilobytes that `getrusage` gives on Linux


# ---- keys: uniqueness, individual risk, SUDA and diversity on Adult


def adult(records: int | None = None, *, apart: bool = False) -> pd.DataFrame:
    """The complete records, or as many drawn from them; `apart`, every attribute by itself."""
    file = pd.read_csv(Path(os.environ["LINKRISK_DATA"]) / "uci_adult_train.csv").dropna()
    if records is None:
        return file.reset_index(drop=True)
    random = np.random.default_rng(1)
    if not apart:
        return file.sample(records, replace=True, random_state=random).reset_index(drop=True)
    return pd.DataFrame({name: random.choice(file[name].to_numpy(), records) for name in file})


def key_measure(name: str, file: pd.DataFrame) -> str:
    """Take one measure, and say what it found."""
    keys = KeyFile(ADULT_KEYS, np.column_stack([column_codes(file[key]) for key in ADULT_KEYS]))
    if name == "uniqueness":
        return f"{int((sums(groups_of(keys.codes)) == 1).sum()):,} sample uniques"
    if name == "individual-risk":
        # Adult has no weights; these stand for a sample of about 1 %.
        weight = np.random.default_rng(1).uniform(50.0, 150.0, len(file))
        return f"{measured(keys, weight, None).expected:,.1f} expected re-identifications"
    if name == "suda":
        found = special_uniques(keys)
        held = int((found.smallest > 0).sum())
        return (
            f"{held:,} records with {int(found.msus.sum()):,} minimal sample uniques of up to {found.largest}"
        )
    groups = groups_of(keys.codes)
    summary, _, _ = attribute_diversity(Attribute("hours-per-week"), file["hours-per-week"], groups)
    return f"{summary.below_distinct:,} records below 2-diversity, mean t {summary.mean_t:.3f}"


def one_key_measure(name: str, records: int | None = None, *, apart: bool = False) -> None:
    """Print one line: measure, records, seconds, megabytes, what was found."""
    file = adult(records, apart=apart)
    began = time.perf_counter()
    found = key_measure(name, file)
    seconds = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    print(f"{name:16} {len(file):>9,} {seconds:8.2f} s {megabytes:7,.0f} MB  {found}", flush=True)


def key_measures(records: int) -> None:
    """Run every measure on every file in a process of its own."""
    drawn = ["--records", str(records)]
    files = {"complete records": [], "drawn records": drawn, "drawn attributes": [*drawn, "--apart"]}
    for title, options in files.items():
        print(f"{title:16}   records     time   memory  found", flush=True)
        for name in KEY_MEASURES:
            command = [sys.executable, __file__, "--part", "keys", "--measure", name, *options]
            subprocess.run(command, check=True)


# ---- all: every measure of a pair


def all_measures(folder: Path, name: str) -> None:
    """Print the seconds of the whole call, of the searches and of every measure."""
    files = [folder / f"{name}_400_s0_{which}.csv" for which in ("original", "masked")]
    began = time.perf_counter()
    found = risk(*files)
    spent = time.perf_counter() - began
    seconds = found.details["measure_seconds"]
    print(f"{name}: {spent:.1f} s, searches {found.worst.details['seconds']:.1f} s", flush=True)
    print("    " + ", ".join(f"{measure} {each:.1f}" for measure, each in seconds.items()))
    print("    not measured: " + ", ".join(found.not_measured))
    for note in found.notes:
        print(f"    {note}")


# ---- large: every measure of as many records as are asked for


def large(records: int) -> None:
    """Print a table: the seconds of the whole call and of every measure, and what there was no time for."""
    with TemporaryDirectory() as folder:
        files = make_files(Path(folder), "M6-385", records)
        began = time.perf_counter()
        found = risk(*files, time_limit=LARGE_LIMIT)
        spent = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MEGABYTE
    print("| seconds | |\n|---|--:|")
    for measure, seconds in sorted(found.details["measure_seconds"].items(), key=lambda one: -one[1]):
        print(f"| {measure} | {seconds:.1f} |")
    print(f"| searches of the worst case | {found.worst.details['seconds']:.1f} |")
    print(f"| the whole call, reading included | {spent:.1f} |")
    print(f"\n{records:,} records, at most {megabytes:,.0f} MB")
    print(f"not measured: {', '.join(found.not_measured)}")


def main() -> None:
    """Run the part that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default=PARTS[0])
    parser.add_argument("--records", type=int, help="of the parts keys and large; default: 1,000,000")
    parser.add_argument("--measure", choices=KEY_MEASURES, help="of the part keys: this one, in this process")
    parser.add_argument("--apart", action="store_true", help="with --measure: attributes drawn by themselves")
    folder = Path("../shared/bench/pairs")
    parser.add_argument("--pairs", type=Path, default=folder, help="folder of the pairs")
    parser.add_argument("--names", nargs="+", default=PAIRS, metavar="PAIR", help="of the parts on pairs")
    arguments = parser.parse_args()
    if arguments.part == "all":
        for name in arguments.names:
            all_measures(arguments.pairs, name)
    elif arguments.part == "large":
        large(arguments.records or 1_000_000)
    elif arguments.part == "leave-one-out":
        leave_one_out(arguments.pairs, arguments.names)
    elif arguments.measure is not None:
        one_key_measure(arguments.measure, arguments.records, apart=arguments.apart)
    else:
        key_measures(arguments.records or 1_000_000)


if __name__ == "__main__":
    main()
