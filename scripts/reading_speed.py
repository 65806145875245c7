"""Print how long files of every format take to be written and read.

    python scripts/reading_speed.py                              # 200,000 records of 20 columns
    python scripts/reading_speed.py --records 10000 --formats .csv,.asc

The table has whole numbers, amounts, codes with leading zeros, words, dates and missing values. Seconds are
those of the processor. `loses` is what `mask` asks of a format before any work: what would be lost in it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.registry import FORMATS, format_of, read_file

_SUFFIXES = tuple(made.suffixes[0] for made in FORMATS if made.cannot_write is None)
_Result = TypeVar("_Result")


def main() -> None:
    """Print one line for each format."""
    parser = argparse.ArgumentParser(description="Seconds to write and to read files of every format.")
    parser.add_argument("--records", type=int, default=200_000, help="records of the table (200,000)")
    parser.add_argument("--formats", default=",".join(_SUFFIXES), help="suffixes, separated by commas (all)")
    options = parser.parse_args()
    stored = StoredFile(table(options.records))
    print(f"{options.records} records, {stored.frame.shape[1]} columns; seconds")
    print(f"{'':10}{'loses':>8}{'write':>8}{'read':>8}{'MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in options.formats.split(","):
            print(measured(stored, Path(folder) / f"table{suffix}"), flush=True)


def table(records: int) -> pd.DataFrame:
    """Twenty columns of every kind."""
    random = np.random.default_rng(1)
    columns: dict[str, pd.Series] = {"person": pd.Series(np.arange(1, records + 1))}
    for at in range(1, 5):
        columns[f"amount{at}"] = pd.Series(random.lognormal(8, 1, records).round(2))
        columns[f"count{at}"] = pd.Series(random.poisson(30, records))
        columns[f"code{at}"] = pd.Series(random.integers(0, 10**at, records)).map(f"0{{:0{at}d}}".format)
        columns[f"word{at}"] = pd.Series(random.choice(["Köln", "Ulm", "Łódź", "Bad Aibling"], records))
    columns["measure"] = pd.Series(random.normal(size=records))
    columns["gaps"] = columns["count1"].where(random.random(records) > 0.1)
    days = np.datetime64("1940-01-01") + random.integers(0, 30_000, records).astype("timedelta64[D]")
    columns["day"] = pd.Series(days.astype("datetime64[s]"))
    return pd.DataFrame(columns)


def measured(stored: StoredFile, path: Path) -> str:
    """The line of one format."""
    made = format_of(path)
    _, asked = timed(lambda: made.loses(stored))
    files, wrote = timed(lambda: made.write(stored, path))
    for file, content in files.items():
        file.write_bytes(content)
    _, read = timed(lambda: read_file(path))
    size = sum(map(len, files.values())) / 1e6
    return f"{path.suffix:10}{asked:8.2f}{wrote:8.2f}{read:8.2f}{size:8.1f}"


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """What comes out, and the seconds it took."""
    start = time.process_time()
    return work(), time.process_time() - start


if __name__ == "__main__":
    main()
