"""Link two files of drawn persons in three passes, and print what it takes and what is found.

    python scripts/benchmarks/passes.py --persons 1000000 --seed 1
    python scripts/benchmarks/passes.py --persons 100000 --seed 1 2 3 --splink PYTHON

Each seed has a process of its own, and its files are made by another one, so that seconds and memory are
those of `link` alone: reading the two CSV files, joining, comparing, learning, deciding, judging. PYTHON is
an interpreter with `pip install splink`, which links the same files after that (`splink_runs.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import alone, parser, timed
from persons import draw_persons
from splink_runs import by_splink

from linkrisk.solver.linkage.operations.link import link
from linkrisk.solver.linkage.probabilistic.blocking import parse_pass
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.result import LinkResult

PASSES = ("date_of_birth", "postcode,given_name[:2]", "suburb[:4],surname[:2]")
TEXTS = ("given_name", "surname", "address_1", "address_2", "suburb")
BAND = (0.1, 0.5)
"""A pair is linked from even odds on, as precision allows; below that and above one in ten it is clerical."""

COMPARE = (
    *(f"{name}=jaro-winkler:0.92,0.8" for name in TEXTS),
    "postcode=levenshtein:1,0.7",
    "date_of_birth=levenshtein:1,0.8",
    "street_number=equal",
    "state=equal",
)


def main() -> None:
    """Print the figures of one run."""
    made = parser(__doc__)
    made.add_argument("--persons", type=int, default=10_000)
    made.add_argument("--seed", type=int, nargs="+", default=[1], help="seeds of the persons")
    made.add_argument("--linked-leave", action="store_true", help="linked records leave after each pass")
    made.add_argument("--frequency-weights", action="store_true")
    made.add_argument("--splink", metavar="PYTHON", help="interpreter that has Splink, to link them too")
    arguments = made.parse_args()
    settings = {"linked_leave": arguments.linked_leave, "frequency_weights": arguments.frequency_weights}
    for seed in arguments.seed:
        for line in figures(arguments.persons, seed, settings, splink=arguments.splink):
            print(line, flush=True)


def figures(
    persons: int, seed: int, settings: dict[str, bool], *, splink: str | None = None, process: bool = True
) -> Iterator[str]:
    """What it takes to link two files and what is found, by processes of their own or by this one."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.csv" for name in ("first", "second")]
        for do, given in ((write_files, ()), (measured, (settings,))):
            task = (persons, seed, files, *given)
            lines = alone(do, *task) if process else do(*task)
        yield from lines or []
        if splink is not None:
            yield splink_line(splink, files)


def measured(persons: int, seed: int, files: list[Path], settings: dict[str, bool]) -> list[str]:
    """Seconds, memory, pairs, and the links that are right."""
    linked_files(list(draw_persons(100, seed)), settings)  # loads compiled code
    result, spent = timed(lambda: linked_files(files, settings))
    took = f"{spent.seconds:.0f} s ({spent.processor:.0f} s of processor time)"
    return [
        f"{persons:,} x {persons:,} persons, seed {seed}: {took}",
        f"  peak memory {spent.megabytes:,.0f} MB",
        *report(result),
    ]


def splink_line(python: str, files: list[Path]) -> str:
    """The same of Splink."""
    found = by_splink(python, "passes", files, files[0].with_name("splink.json"))
    return (
        f"  Splink {found['version']} on DuckDB {found['duckdb']}: {found['seconds']:.0f} s "
        f"({found['processor_seconds']:.0f} s of processor time), peak memory {found['peak_mb']:,.0f} MB; "
        f"{found['linked']:,} links: precision {found['precision']:.4f}, recall {found['recall']:.4f}"
    )


def write_files(persons: int, seed: int, files: list[Path]) -> None:
    """Draw the persons and write both files."""
    for frame, file in zip(draw_persons(persons, seed), files, strict=True):
        frame.to_csv(file, index=False)


def linked_files(files: list[Path] | list[object], settings: dict[str, bool]) -> LinkResult:
    """Link two files, one to one."""
    return link(
        *files,
        method="prl",
        id="rec_id",
        nominal=[*TEXTS, "street_number", "postcode", "state", "date_of_birth"],
        one_to_one="greedy",
        parameters={
            "compare": tuple(map(parse_comparison, COMPARE)),
            "passes": tuple(map(parse_pass, PASSES)),
            "clerical_band": BAND,
            **settings,
        },
    )


def report(result: LinkResult) -> Iterator[str]:
    """What every pass compared and linked."""
    passes = result.passes
    assert passes is not None
    for one in passes.reports:
        yield (
            f"  {one.keys:34} {one.compared:>12,} pairs {one.linked:>9,} linked {one.clerical:>7,} clerical "
            f"{one.estimated_false_links:>8,.0f} false expected, {100 * one.lost:.1f} % of true links lost"
        )
    compared = sum(one.compared for one in passes.reports)
    yield f"  {'all':34} {compared:>12,} pairs; lost {100 * passes.reports[-1].lost_so_far:.2f} %"
    right = sum(one.right for one in passes.reports)
    rates = f"precision {passes.precision or 0:.4f}, recall {passes.recall:.4f}"
    yield f"  {len(passes.links):,} links, {right:,} right: {rates}"
    yield from (f"  note: {note}" for note in result.details["notes"] if not note.startswith("column "))


if __name__ == "__main__":
    main()
