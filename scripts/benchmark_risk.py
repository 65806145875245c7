"""Print what measures of a release take, in seconds and in memory.

    LINKRISK_DATA=../shared/data python scripts/benchmark_risk.py --part keys

Every measure of the part ``keys`` runs in a process of its own on the complete records of Adult with nine
keys; on as many as `--records` says, drawn from these with replacement; and on as many of which every
attribute is drawn by itself, so that most are unique. Memory is the most that the process held.
"""Print how long measures of risk take on public files, and what they find.

    python scripts/benchmark_risk.py             # population uniqueness on Adult, link reliability on Census

Seconds are those of the clock and of the processors.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.schema import Attribute
from linkrisk.solver.measures.diversity import attribute_diversity
from linkrisk.solver.measures.frequencies import column_codes, groups_of, sums
from linkrisk.solver.measures.individual_risk import measured
from linkrisk.solver.measures.keys import KeyFile
from linkrisk.solver.measures.suda import special_uniques

PARTS = ("keys",)

ADULT_KEYS = (
    *("age", "workclass", "education", "marital-status", "occupation"),
    *("race", "sex", "native-country", "class"),
)
"""Those of the file that ARX ships."""

KEY_MEASURES = ("uniqueness", "individual-risk", "suda", "diversity")

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


def main() -> None:
    """Run the part that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", choices=PARTS, default=PARTS[0])
    parser.add_argument("--records", type=int, help="drawn in the part keys; default: 1,000,000")
    parser.add_argument("--measure", choices=KEY_MEASURES, help="of the part keys: this one, in this process")
    parser.add_argument("--apart", action="store_true", help="with --measure: attributes drawn by themselves")
    arguments = parser.parse_args()
    if arguments.measure is not None:
        one_key_measure(arguments.measure, arguments.records, apart=arguments.apart)
    else:
        key_measures(arguments.records or 1_000_000)


if __name__ == "__main__":
    main()
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.solver.linkage.linker import LinkageTask, Truth
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic
from linkrisk.solver.measures.best_candidates import best_candidates
from linkrisk.solver.measures.link_reliability import LinkReliability, link_reliability
from linkrisk.solver.measures.sample_uniques import UniquesRisk, uniques_risk
from linkrisk.solver.run.clock import Clock

KEYS = {
    "few categories": ("workclass", "education", "marital-status", "occupation", "race", "sex"),
    "age too": ("age", "workclass", "education", "marital-status", "race", "sex"),
}
"""Six key variables of Adult each."""

FRACTION = 0.1

Result = TypeVar("Result")


def main() -> int:
    """Print a line for each measurement."""
    arguments = parse()
    adult = read_table(arguments.data / "uci_adult_train.csv")
    for words, keys in KEYS.items():
        uniqueness(words, adult, keys)
    reliability(read_table(arguments.data / "casc_census.csv"))
    return 0


def uniqueness(words: str, frame: pd.DataFrame, keys: tuple[str, ...]) -> UniquesRisk:
    """Population uniqueness: independence, all two-way interactions, and models between them."""
    risk = timed(
        f"population uniqueness, {len(keys)} keys, {words}", lambda: uniques_risk(frame, keys, FRACTION)
    )
    for model in risk.models:
        shown = "not tested" if model.z_2 is None else f"misfit {model.misfit:.1f}"
        print(f"    {model.words}: tau_1 {model.tau_1:.1f}, tau_2 {model.tau_2:.1f}, {shown}", flush=True)
    return risk


def reliability(census: pd.DataFrame, noise: float = 0.1) -> LinkReliability:
    """Link reliability of prl on a file with noise."""
    random = np.random.default_rng(1)
    masked = census + random.normal(size=census.shape) * noise * census.std().to_numpy()
    names = tuple(str(name) for name in census.columns)
    schema = Schema(tuple(Attribute(name, scale=Scale.NUMERIC) for name in names))
    task = LinkageTask(census, masked, names, names, schema, bijection=True)
    truth = Truth.of(np.arange(len(census), dtype=np.intp), len(masked))

    def measured() -> LinkReliability:
        claims = best_candidates(Probabilistic().learn(task), truth, 0, Clock(None))
        return link_reliability(claims.score, claims.right, scored_by="prl")

    found = timed(f"link reliability, {len(census)} records", measured)
    print(f"    {found.paragraph}", flush=True)
    return found


def timed(words: str, measure: Callable[[], Result]) -> Result:
    """Take a measure and print its seconds."""
    clock, processors = time.perf_counter(), time.process_time()
    result = measure()
    spent = time.perf_counter() - clock, time.process_time() - processors
    print(f"{words}: {spent[0]:.2f} s, of processors {spent[1]:.2f} s", flush=True)
    return result


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Seconds that measures of risk take.")
    data = Path(os.environ.get("LINKRISK_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder with the public files")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
