"""``python -m core``: check a certificate, and say what it proves."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence

from .check import Verdict, check_fit
from .claims import Claim, MalformedError, RejectedError, demand, read_json, require
from .files import read_files
from .problem import Problem, read_problem
from .samples import described_draw
from .tables import FORMAT, check_table, read_table


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 0 when all that is claimed is proven, 1 when it is not, 2 for unreadable input."""
    parser = argparse.ArgumentParser(description="Check a certificate from the files alone.")
    parser.add_argument("claim", help="JSON of the fit, or certificate of a table")
    parser.add_argument("--certificate", help="of the fit")
    parser.add_argument("--original", help="CSV")
    parser.add_argument("--masked", help="CSV")
    parser.add_argument("--id", help="column of ids; without it records belong together row by row")
    parser.add_argument("--missing", action="append", default=[], help="code of a missing value; repeat it")
    parser.add_argument("--cells", help="CSV of a table")
    parser.add_argument("--relations", help="CSV of a table")
    parser.add_argument("--counts", action="store_true", help="the table is one of counts, not of amounts")
    asked = parser.parse_args(words)
    try:
        print(_checked(asked).encode("ascii", "backslashreplace").decode("ascii"))
    except RejectedError as error:
        return _refused("rejected", error, 1)
    except (MalformedError, ArithmeticError, ValueError, TypeError, MemoryError, csv.Error) as error:
        return _refused("error", error, 2)
    return 0


def _refused(what: str, error: Exception, code: int) -> int:
    line = " ".join(str(error).split()) or type(error).__name__
    print(f"{what}: {line.encode('ascii', 'backslashreplace').decode('ascii')}", file=sys.stderr)
    return code


def _checked(asked: argparse.Namespace) -> str:
    claim = read_json(asked.claim)
    if claim.get("format") == FORMAT:
        require(bool(asked.cells and asked.relations), "the table is needed: --cells and --relations")
        table = check_table(read_table(asked.cells, asked.relations, asked.counts), claim)
        demand(table.demands > 0, "no cell of the table is sensitive: nothing is protected")
        return (
            f"proved, of a table of {'counts' if asked.counts else 'amounts'}: {table.met} of "
            f"{table.demands} levels hold, {table.missed} do not, {table.undecided} are undecided; "
            f"relations miss 0 by at most {float(table.defect):g}"
        )
    given = asked.certificate and asked.original and asked.masked
    require(bool(given), "the files are needed: --certificate, --original and --masked")
    problem = read_problem(Claim(claim, asked.claim))
    files = read_files(asked.original, asked.masked, problem, asked.id, asked.missing)
    verdict = check_fit(claim, read_json(asked.certificate), files)
    how = "row by row" if asked.id is None else f"by {asked.id!r}"
    alone = len(files.partner) - verdict.records
    return "\n".join(_proved(verdict, f"records aligned {how}, {alone} without a partner", claim))


def _proved(verdict: Verdict, alignment: str, fit: dict[str, object]) -> Iterator[str]:
    """All that the claim depends on, and the claim."""
    problem = verdict.problem
    yield from _assumed(problem)
    most = f"links more than {_up(verdict.bound)} records"
    if problem.weight is not None:
        most = f"links records that stand for more than {_up(verdict.bound)} (column {problem.weight!r})"
    yield (
        f"proved: no {verdict.family.words} whose distances differ by more than a tie {most}, "
        f"so at most {verdict.bound_count} of {verdict.records}"
    )
    how = f"{problem.direction}, ties {problem.ties}, {alignment}"
    yield (
        f"of this problem: {how}; {problem.differences} differences of "
        f"{', '.join(map(repr, problem.attributes))}, standardisation {problem.standardisation}, "
        f"missing values {problem.missing}"
    )
    for name, scale in problem.scales.items():
        order = ", ".join(map(repr, problem.categories.get(name, ())))
        yield f"{name!r} is {scale}{': ' if order else ''}{order}"
    if (limit := verdict.limit) is not None:
        yield (
            f"proved, with {math.floor(100_000 * limit.confidence) / 1000:g} % confidence: nor more than "
            f"{_up(limit.weight)}, {limit.count} records; {described_draw(fit)}"
        )
    yield f"proved: the parameters of the fit link {verdict.linked} records"
    if verdict.order is not None:
        described = verdict.order.described([repr(name) for name in problem.attributes])
        yield f"not covered by this: {described} links {verdict.order.count}"


def _assumed(problem: Problem) -> Iterator[str]:
    """What is known of masking, which no file can show."""
    for name, lines in problem.possible.items():
        yield f"assuming that categories of {name!r} can have become those with a 1: {' '.join(lines)}"
    for name, steps in problem.steps.items():
        shown = ", ".join(
            f"from {begin:g} on {'as they are' if to is None else f'{to:g}'}" for begin, to in steps
        )
        yield f"assuming that values of {name!r} became: {shown}"


def _up(value: object) -> str:
    """A weight in ten digits, rounded up."""
    number = float(value)  # type: ignore[arg-type]
    text = f"{number:.10g}"
    return text if float(text) >= number else f"{math.nextafter(number, math.inf):.17g}"


if __name__ == "__main__":
    sys.exit(main())
