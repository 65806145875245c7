"""Print the figures of linkers: what they find, how long they take, how much memory they need.

    python scripts/benchmark_linkers.py                    # every part
    python scripts/benchmark_linkers.py --parts febrl4

Every part has a process of its own, so that its peak of memory is its own. Where `splink` is installed,
here or in another environment (`--splink-python`), its figures on febrl4 stand beside ours.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import get_context
from pathlib import Path

from bayes_part import bayes
from category_experiments import figures
from prl_parts import febrl4, prl_size

PARTS: Mapping[str, Callable[[argparse.Namespace], Iterable[str]]] = {
    "prl-size": lambda arguments: prl_size(arguments.records, arguments.attributes),
    "febrl4": lambda arguments: febrl4(arguments.data, arguments.splink_python),
    "bayes": lambda arguments: bayes(records=100, samples=arguments.samples),
    "experiments": lambda _: figures(),
}
"""What can be measured: each gives lines to print."""


def main() -> int:
    """Run the parts one after the other; 1 when one of them failed."""
    arguments = parse()
    failed = False
    for part in arguments.parts:
        print(f"\n{part}", flush=True)
        process = get_context("spawn").Process(target=run, args=(part, arguments))
        process.start()
        process.join()
        failed |= process.exitcode != 0
    return int(failed)


def run(part: str, arguments: argparse.Namespace) -> None:
    """One part, in this process."""
    for line in PARTS[part](arguments):
        print(f"  {line}", flush=True)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Figures of linkers.")
    parser.add_argument("--parts", type=parts, default=tuple(PARTS), help=f"of {', '.join(PARTS)} (all)")
    parser.add_argument("--records", type=int, default=10_000, help="of each file of prl-size (10,000)")
    parser.add_argument("--attributes", type=int, default=13, help="of prl-size (13)")
    parser.add_argument("--samples", type=int, default=20, help="of bayes (20)")
    data = Path(os.environ.get("LINKRISK_DATA", "../shared/data"))
    parser.add_argument("--data", type=Path, default=data, help="folder with febrl4a.csv and febrl4b.csv")
    parser.add_argument("--splink-python", default=sys.executable, help="interpreter that has splink")
    return parser.parse_args()


def parts(text: str) -> tuple[str, ...]:
    """Parts separated by commas."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {name!r}; choose of {', '.join(PARTS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
