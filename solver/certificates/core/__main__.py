"""Checks a certificate from CSV files and prints what it proves: ``python -m core``.

Numbers have a decimal point, dates the form 2026-11-27. For other file formats, and other ways of matching
records than by an id or row by row, call `check.check_fit` with the values.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path

from .check import check_fit
from .claims import Claim, MalformedError, Problem, RejectedError, demand, read_json, read_problem, require
from .records import Files
from .samples import described_draw
from .tables import FORMAT, check_table, read_table

EMPTY = ("", "NA", "NaN")  # cells without a value


def read_columns(path: str | Path) -> dict[str, list[str]]:
    """Read the columns of a CSV file as texts."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedError(f"{path} cannot be read: {error}") from None
    csv.field_size_limit(1 << 24)
    mark = max(",;\t", key=(lines or [""])[0].count)
    rows = [[cell.strip() for cell in row] or [""] for row in csv.reader(lines, delimiter=mark)]
    same = len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows)
    require(same, f"{path} has no rows, or rows of different lengths")
    require(len(set(rows[0])) == len(rows[0]), f"{path} has two columns of one name")
    return {name: list(cells) for name, *cells in zip(*rows, strict=True)}


def read_files(
    original: str | Path, masked: str | Path, problem: Problem, id_column: str | None, missing: Iterable[str]
) -> Files:
    """Read two files; records are matched by a column of ids, or row by row without one."""
    tables = [read_columns(original), read_columns(masked)]
    for name in [*problem.attributes, *([] if id_column is None else [id_column])]:
        require(all(name in table for table in tables), f"there is no column {name!r} in both files")
    empty = {*EMPTY, *missing}
    values = [[_values(table[name], name, problem, empty) for name in problem.attributes] for table in tables]
    others = {name: (file == 0, tables[file][name]) for file in (1, 0) for name in tables[file]}
    sizes = [len(next(iter(table.values()))) for table in tables]
    if id_column is None:
        require(sizes[0] == sizes[1], "the files have different numbers of rows: name a column of ids")
        return Files(values[0], values[1], range(sizes[0]), others)
    ids = [table[id_column] for table in tables]
    require(all(len(set(one)) == len(one) for one in ids), f"{id_column!r} has an id twice")
    places = {one: at for at, one in enumerate(ids[1])}
    partner = [places.get(one, -1) for one in ids[0]]
    require(max(partner) >= 0, f"no id of {id_column!r} is in both files")
    return Files(values[0], values[1], partner, others)


def _values(cells: list[str], name: str, problem: Problem, empty: set[str]) -> list[float]:
    """Convert an attribute to `records.Values`: categories to positions, dates to days since 1970."""
    places = {one: float(at) for at, one in enumerate(problem.categories.get(name, ()))}
    found = []
    for row, cell in enumerate(cells, start=1):
        try:
            if cell in empty:
                value = float(len(places)) if places else math.nan
            elif places:
                value = places[cell]
            elif problem.scales.get(name) == "date":
                value = float((date.fromisoformat(cell) - date(1970, 1, 1)).days)
            else:
                value = math.nan if "_" in cell else float(cell)
            if not (cell in empty or math.isfinite(value)):
                raise ValueError
        except (KeyError, ValueError):
            raise MalformedError(f"{name}, row {row}: {cell!r} is no value of this attribute") from None
        found.append(value)
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; return 0 if all claims are proven, 1 if not, 2 for unreadable input."""
    parser = argparse.ArgumentParser(description="Check a certificate from the files alone.")
    parser.add_argument("claim", help="JSON of the fit, or certificate of a table")
    parser.add_argument("--certificate", help="of the fit")
    parser.add_argument("--original", help="CSV")
    parser.add_argument("--masked", help="CSV")
    parser.add_argument("--id", help="column of ids; without it records belong together row by row")
    parser.add_argument("--cells", help="CSV of a table")
    parser.add_argument("--relations", help="CSV of a table")
    parser.add_argument("--missing", action="append", default=[], help="code of a missing value; repeat it")
    parser.add_argument("--counts", action="store_true", help="the table is one of counts, not of amounts")
    try:
        shown, code, file = "\n".join(_checked(parser.parse_args(words))), 0, sys.stdout
    except RejectedError as error:
        shown, code, file = f"rejected: {_line(error)}", 1, sys.stderr
    except (MalformedError, ArithmeticError, ValueError, TypeError, MemoryError, csv.Error) as error:
        shown, code, file = f"error: {_line(error)}", 2, sys.stderr
    print(shown.encode("ascii", "backslashreplace").decode("ascii"), file=file)
    return code


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _checked(asked: argparse.Namespace) -> Iterator[str]:
    """List the proven statements, a line each."""
    claim = read_json(asked.claim)
    if claim.get("format") == FORMAT:
        require(bool(asked.cells and asked.relations), "the table is needed: --cells and --relations")
        cells, relations = read_columns(asked.cells), read_columns(asked.relations)
        table = check_table(read_table(cells, relations, asked.counts), claim)
        demand(table.demands > 0, "no cell of the table is sensitive: nothing is protected")
        yield (
            f"proved, of a table of {'counts' if asked.counts else 'amounts'}: {table.met} of "
            f"{table.demands} levels hold, {table.missed} do not, {table.undecided} are undecided; "
            f"relations miss 0 by at most {float(table.defect):g}"
        )
        return
    given = asked.certificate and asked.original and asked.masked
    require(bool(given), "the files are needed: --certificate, --original and --masked")
    problem = read_problem(Claim(claim, asked.claim))
    files = read_files(asked.original, asked.masked, problem, asked.id, asked.missing)
    verdict = check_fit(claim, read_json(asked.certificate), files)
    most = f"links more than {_up(verdict.bound)} records"
    if problem.weight is not None:
        most = f"links records that stand for more than {_up(verdict.bound)} (column {problem.weight!r})"
    yield (
        f"proved: no {verdict.family.words} whose distances differ by more than a tie {most}, "
        f"so at most {verdict.bound_count} of {verdict.records}"
    )
    if (limit := verdict.limit) is not None:
        sure = math.floor(100_000 * limit.confidence) / 1000
        drawn = f"{limit.count} records; {described_draw(claim)}"
        yield f"proved, with {sure:g} % confidence: nor more than {_up(limit.weight)}, {drawn}"
    yield f"proved: the parameters of the fit link {verdict.linked} records"
    if verdict.order is not None:
        described = verdict.order.described([repr(name) for name in problem.attributes])
        yield f"not covered by this: {described} links {verdict.order.count}"
    how = "row by row" if asked.id is None else f"by {asked.id!r}"
    yield f"of this problem: records aligned {how}, {len(files.partner) - verdict.records} without a partner"
    for name, value in vars(problem).items():
        assumed = "assuming of masking" if name in ("possible", "steps", "methods") else "of this problem"
        if value:
            yield f"{assumed}: {name} {value!r}"


def _up(value: object) -> str:
    """Format a weight in ten digits, rounded up."""
    number = float(value)  # type: ignore[arg-type]
    text = f"{number:.10g}"
    return text if float(text) >= number else f"{math.nextafter(number, math.inf):.17g}"


if __name__ == "__main__":
    sys.exit(main())
