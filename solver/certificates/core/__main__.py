"""``python -m core``: check a certificate, and say what it proves."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .check import Verdict, check_fit
from .claims import Claim, MalformedError, RejectedError, read_json
from .files import read_files
from .problem import read_problem
from .tables import FORMAT, check_table, read_table


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; 0 when all that is claimed is proven, 1 when it is not, 2 for files that are none."""
    parser = argparse.ArgumentParser(description="Check a certificate from the files alone.")
    parser.add_argument("claim", help="JSON of the fit, or certificate of a table")
    parser.add_argument("--certificate", help="of the fit")
    parser.add_argument("--original", help="CSV")
    parser.add_argument("--masked", help="CSV")
    parser.add_argument("--id", help="column of ids; without it records belong together row by row")
    parser.add_argument("--missing", action="append", default=[], help="code of a missing value; repeat it")
    parser.add_argument("--cells", help="CSV of a table")
    parser.add_argument("--relations", help="CSV of a table")
    try:
        print(_checked(parser.parse_args(words)))
    except (MalformedError, RejectedError) as error:
        print(f"{'rejected' if isinstance(error, RejectedError) else 'error'}: {error}", file=sys.stderr)
        return 1 if isinstance(error, RejectedError) else 2
    return 0


def _checked(asked: argparse.Namespace) -> str:
    claim = read_json(asked.claim)
    if claim.get("format") == FORMAT:
        if not (asked.cells and asked.relations):
            raise MalformedError("the table is needed: --cells and --relations")
        counts = claim.get("counts") is True
        verdict = check_table(read_table(asked.cells, asked.relations, counts), claim)
        kind = "counts" if counts else "amounts"
        return (
            f"proved, of a table of {kind}: {verdict.met} of {verdict.demands} levels hold, "
            f"{verdict.missed} do not, {verdict.undecided} are undecided"
        )
    if not (asked.certificate and asked.original and asked.masked):
        raise MalformedError("the files are needed: --certificate, --original and --masked")
    problem = read_problem(Claim(claim, asked.claim))
    files = read_files(asked.original, asked.masked, problem, asked.id, asked.missing)
    return _said(check_fit(claim, read_json(asked.certificate), files))


def _said(verdict: Verdict) -> str:
    problem = verdict.problem
    lines = []
    if problem.possible or problem.steps:
        names = ", ".join(map(repr, [*problem.possible, *problem.steps]))
        lines.append(f"assuming what the fit says of the recoding of {names}")
    what = f"{problem.aggregator} {problem.options or ''}".strip()
    how = f"{problem.direction}, ties {problem.ties}, {problem.differences} differences"
    lines.append(
        f"proved: no {what} links more than {float(verdict.bound):.10g} (at most {verdict.count} of "
        f"{verdict.records} records; {how}; attributes {', '.join(map(repr, problem.attributes))})"
    )
    if verdict.limit is not None:
        confidence, weight, count = verdict.limit
        lines.append(
            f"proved, with {float(100 * confidence):.4g} % confidence: nor more than {float(weight):.10g} "
            f"({count} records)"
        )
    lines.append(f"proved: the parameters of the fit link {verdict.linked}")
    if verdict.order is not None:
        described = verdict.order.described([repr(name) for name in problem.attributes])
        lines.append(f"not covered by this: {described} links {verdict.order.count}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
