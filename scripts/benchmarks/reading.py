"""Print how long files of every format take to be written and read, and how much memory reading takes.

    python scripts/benchmarks/reading.py                              # 200,000 records of 20 columns
    python scripts/benchmarks/reading.py --records 10000 --formats .csv,.asc
    python scripts/benchmarks/reading.py --records 1000000 --numbers 6 --formats .csv,.parquet --peak
    python scripts/benchmarks/reading.py --records 1000000 --formats .csv --european --peak

The table has whole numbers, amounts, codes with leading zeros, words, dates and missing values; --numbers A
makes one of A columns of whole numbers alone. Seconds are those of the processor. `loses` is what `mask` asks
of a format before any work: what would be lost in it. `peak` is by how many megabytes a process grows at most
while it reads the file (on Linux, else `-`), beyond what it held when it had read a small one; `table` is how
many its numbers and texts take. With --european text files are Windows-1252 with semicolons, decimal commas.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from harness import alone, listed, parser, timed

from linkrisk.datasets.microdata.formats.base import StoredFile
from linkrisk.datasets.microdata.formats.delimited import DelimitedDialect
from linkrisk.datasets.microdata.formats.registry import format_of, formats, read_file

_SUFFIXES = [made.suffixes[0] for made in formats() if made.cannot_write is None]
_STATUS = Path("/proc/self/status")


def main() -> None:
    """Print one line for each format."""
    made = parser(__doc__)
    made.add_argument("--records", type=int, default=200_000, help="records of the table (200,000)")
    made.add_argument("--numbers", type=int, metavar="A", help="that many columns of whole numbers alone")
    made.add_argument("--formats", type=listed(), default=_SUFFIXES, help="suffixes (all)")
    made.add_argument("--peak", action="store_true", help="megabytes of reading, too")
    made.add_argument("--european", action="store_true", help="semicolons, decimal commas, Windows-1252")
    asked = made.parse_args()
    dialect = DelimitedDialect(";", "cp1252", ",") if asked.european else DelimitedDialect()
    frame = numbers(asked.records, asked.numbers) if asked.numbers else table(asked.records)
    stored = StoredFile(frame, dialect=dialect)
    print(f"{asked.records} records, {stored.frame.shape[1]} columns; seconds")
    print(f"{'':10}{'loses':>8}{'write':>8}{'read':>8}{'MB':>8}" + f"{'peak':>8}{'table':>8}" * asked.peak)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in asked.formats:
            print(measured(stored, Path(folder) / f"table{suffix}", asked.peak), flush=True)


def numbers(records: int, columns: int) -> pd.DataFrame:
    """Columns of whole numbers of up to five digits."""
    values = np.random.default_rng(1).integers(0, 100_000, (records, columns))
    return pd.DataFrame(values, columns=[f"v{at}" for at in range(columns)])


def table(records: int) -> pd.DataFrame:
    """Twenty columns of every kind."""
    random = np.random.default_rng(1)
    columns: dict[str, pd.Series] = {"person": pd.Series(np.arange(1, records + 1))}
    for at in range(1, 5):
        columns[f"amount{at}"] = pd.Series(random.lognormal(8, 1, records).round(2))
        columns[f"count{at}"] = pd.Series(random.poisson(30, records))
        columns[f"code{at}"] = pd.Series(random.integers(0, 10**at, records)).map(f"0{{:0{at}d}}".format)
        columns[f"word{at}"] = pd.Series(random.choice(["Köln", "Ulm", "Fürth", "Bad Aibling"], records))
    columns["measure"] = pd.Series(random.normal(size=records))
    columns["gaps"] = columns["count1"].where(random.random(records) > 0.1)
    days = np.datetime64("1940-01-01") + random.integers(0, 30_000, records).astype("timedelta64[D]")
    columns["day"] = pd.Series(days.astype("datetime64[s]"))
    return pd.DataFrame(columns)


def measured(stored: StoredFile, path: Path, peak: bool = False) -> str:
    """The line of one format."""
    made = format_of(path)
    _, asked = timed(lambda: made.loses(stored))
    files, wrote = timed(lambda: made.write(stored, path))
    for file, content in files.items():
        file.write_bytes(content)
    _, read = timed(lambda: read_file(path))
    seconds = (asked.processor, wrote.processor, read.processor)
    size = sum(map(len, files.values())) / 1e6
    line = f"{path.suffix:10}" + "".join(f"{one:8.2f}" for one in seconds) + f"{size:8.1f}"
    if peak:
        held = stored.frame.memory_usage(index=False, deep=True).sum() / 1e6
        line += f"{alone(peak_of, path):>8}{held:8.1f}"
    return line


def peak_of(path: Path) -> str:
    """By how many megabytes this process grows at most while it reads a file."""
    if not _STATUS.exists():
        return "-"
    first = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    with tempfile.TemporaryDirectory() as folder:  # what is imported for a format does not count
        for stored in (StoredFile(first), StoredFile(first[["a"]])):
            small = Path(folder) / f"small{path.suffix}"
            for file, content in format_of(small).write(stored, small).items():
                file.write_bytes(content)
            read_file(small)
    before = _megabytes("VmRSS")
    read_file(path)
    return f"{max(_megabytes('VmHWM') - before, 0.0):.1f}"


def _megabytes(name: str) -> float:
    """What the system says of this process."""
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
