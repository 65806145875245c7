"""`python -m solver tables audit`: what an attacker can compute of every suppressed cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.errors import called
from linkrisk.solver.commands.table_actions.common import (
    check_files,
    check_fits,
    of_table,
    read_table,
    table_line,
    write_about,
    written_lines,
)
from linkrisk.solver.commands.targets import paths_of
from linkrisk.solver.options.operations.tables.audit import AuditCommand, AuditOptions
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.from_whom import AS_FAR, known_on_grid, not_looked_at

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.crowd_result import CrowdResult
    from linkrisk.solver.tables.operations.result import TableResult

ASKED = AuditCommand
EXAMPLE = "example: tables audit --cells internal.csv --relations relations.csv"

_SHOWN = 5


def run(asked: AuditCommand) -> int:
    """Audit, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.tables.linking import link_publications
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.tables.operations.audit import audit_table
    from linkrisk.solver.tables.operations.source import other_table

    check_files(asked)
    if asked.also and asked.certificate is not None:
        proof, others = called("certificate"), called("also")
        raise UsageError(f"{proof} is about one table: leave {others} out, or give {called('exact')} alone")
    table = read_table(asked)
    also = [other_table(asked, one) for one in asked.also]
    check_fits(asked, link_publications([table, *also])[0] if also else table)
    with progress_line("auditing", asked.time_limit) as line:
        more = {"also": also, "on_progress": reporter(line), **exactly(asked)}
        result = audit_table(**of_table(AuditOptions, asked, table, **more))
    return written(asked, result)


def exactly(asked: Any) -> dict[str, bool]:
    """Whether levels are decided in rational numbers, as a certificate needs it."""
    return {"exact": asked.exact or asked.certificate is not None}


def written(asked: Any, result: TableResult) -> int:
    """Write what is asked for, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.microdata.writing import together

    with together():
        if asked.output is not None and result.protected:
            result.write(asked.output)
        for path in paths_of(asked, "internal"):
            result.write_internal(path)
        if asked.certificate is not None:
            result.write_certificate(asked.certificate)
        write_about(asked, result)
    print(summary(asked, result))
    return 0 if result.protected else 1


def summary(asked: Any, result: TableResult) -> str:
    """What was suppressed, and what its audit found."""
    from linkrisk.solver.run.counts import count

    details = result.details
    secondary = int(result.suppressed.sum()) - details["sensitive"]
    lines = [
        table_line(asked, len(result.cells), details["relations"]),
        f"sensitive   {several(details['sensitive'], 'cell')}",
        *_counting(result),
        f"suppressed  {several(secondary, 'cell')} more{cost_said(result)}",
        *_method(details),
        f"audit       {audited(result)}",
        *_exactly(result),
        *(attacker_lines(result) if details["sensitive"] else ()),
        *respondent_lines(result),
    ]
    if result.protected:
        return "\n".join([*lines, *written_lines(asked, "output", "internal", "certificate")])
    lines += written_lines(asked, "internal", "certificate")
    if asked.output is not None:
        lines.append(f"output      none: {count(result.unprotected)} not protected")
    return "\n".join(lines)


def _counting(result: TableResult) -> list[str]:
    from linkrisk.solver.tables.operations.counts import counting_lines

    return counting_lines(result.counting, result.table.named)


def respondent_lines(result: TableResult) -> list[str]:
    """What is found of numbers of respondents: published beside the values, or not to be."""
    found = result.beside
    if found is None:
        known = "respondents" in result.table.cells.columns and not result.table.counting
        said = "respondents their numbers were not looked at: publish none beside the values, or make "
        return (
            [f"{said}the table with --publish-respondents"] if known and result.details["sensitive"] else []
        )
    lines = [
        "respondents are published beside the values, in the same cells: "
        + ("of every sensitive cell another number is possible" if found.protected else "NOT protected")
    ]
    more = (*_counting(found)[1:], f"audit       {audited(found)}")
    return [*lines, *(f"  {line}" for line in (*more, *_exactly(found), *attacker_lines(found)))]


def _method(details: Mapping[str, Any]) -> list[str]:
    """How a large table was protected; nothing for the optimum."""
    if "subtables" not in details:
        return []
    parts = f"{several(details['subtables'], 'subtable')}, " if details["subtables"] else ""
    return [
        f"method      {details['method']}: {parts}{several(details['open_before_repair'], 'level')} open; "
        f"{several(details['added_by_repair'], 'cell')} added by the repair, "
        f"{details['removed_by_thinning']:,} not needed in the end"
    ]


def cost_said(result: TableResult) -> str:
    """The cost of a pattern, and how far from the least it is at most."""
    from linkrisk.solver.run.counts import count
    from linkrisk.solver.run.gaps import no_less

    pattern = result.pattern
    if pattern is None:
        return ""
    said = f", cost {count(round(pattern.cost, 6))}"
    if pattern.proven:
        return f"{said}: proven least"
    shown = count(round(pattern.bound, 6))
    less = no_less("none that protects costs less than", pattern.cost, pattern.bound, shown, "{} % less")
    return f"{said}; {less}"


def audited(result: TableResult) -> str:
    """What the audit found."""
    found, exact = result.audit, int(result.audit.exact.sum())
    more = f"; {several(exact, 'suppressed cell')} known exactly" if exact else ""
    grid, left = result.details["on_grid"], int((~found.audited).sum())
    if grid["known"]:
        more += f"; {known_on_grid(several(len(grid['known']), 'sensitive cell'), grid['step'])}"
    if not result.details.get("intervals", True):
        more += "; levels only, no intervals"
    elif left:
        more += f"; ended before {several(left, 'interval')} could be found"
    if found.passed and not result.details["sensitive"]:
        return f"no cell is sensitive (status u): there was nothing to protect{more}"
    if found.passed:
        return f"every sensitive cell is protected from outsiders{more}"
    short, open_ = int((found.short > 0).sum()), int(found.undecided.sum())
    said = []
    if short:
        said.append(f"{several(short, 'cell')} short of the level: {_listed(result)}")
    if open_:
        said.append(f"of {several(open_, 'sensitive cell')} nobody knows")
    return f"NOT protected: {'; '.join(said)}{more}"


def _listed(result: TableResult) -> str:
    found = result.audit
    short = [at for at in range(len(found.cells)) if found.short[at] > 0]
    named = result.table.named
    shown = ", ".join(f"{named(int(found.cells[at]))} by {found.short[at]:g}" for at in short[:_SHOWN])
    return f"{shown} and {len(short) - _SHOWN} more" if len(short) > _SHOWN else shown


def _exactly(result: TableResult) -> list[str]:
    """What was decided in rational numbers."""
    found = result.certified
    if found is None:
        return []
    if found.protected:
        vectors = several(len(found.witnesses), "witness vector")
        numbers = "whole" if found.whole else "rational"
        return [f"exact       every level is met in {numbers} numbers, by {vectors}"]
    said = [f"{several(len(found.missed), 'level')} missed"] if found.missed else []
    said += [f"{several(len(found.undecided), 'level')} undecided"] if found.undecided else []
    cells = sorted({one.cell for one in (*found.missed, *found.undecided)})
    shown = ", ".join(map(result.table.named, cells[:_SHOWN])) + (
        f" and {len(cells) - _SHOWN} more" if cells[_SHOWN:] else ""
    )
    return [f"exact       NOT protected: {' and '.join(said)}, of {shown}"]


def attacker_lines(result: TableResult) -> list[str]:
    """What insiders find out, or why nobody looked."""
    found, named, left_out = result.insiders, result.table.named, result.details["from"]["left_out"]
    lines = [] if found is None else _found(found, named)
    if left_out is not None:
        lines.append(f"insiders    {not_looked_at(left_out)}")
    return lines or ["insiders    none: no cell has a single respondent"]


def _found(found: CrowdResult, named: Callable[[int], str]) -> list[str]:
    audit, many = found.audit, several(len(found.audit.names) - 1, "insider")
    far = f", {AS_FAR}" if found.beyond else ""
    lines = [f"insiders    {many}: every sensitive cell is protected from each{far}"]
    if not audit.passed:
        short = [at for at in range(len(audit.cells)) if audit.short[at] > 0]
        shown = "; ".join(
            f"{named(int(audit.cells[at]))} from {audit.names[audit.short_of[at]]}, by {audit.short[at]:g}"
            for at in short[:_SHOWN]
        )
        more = f" and {len(short) - _SHOWN} more" if len(short) > _SHOWN else ""
        said = [f"{several(len(short), 'cell')}: {shown}{more}"] if short else []
        said += [] if audit.audited else ["time was out before all levels were looked at"]
        lines = [f"insiders    {many}: NOT protected: {'; '.join(said)}"]
    if audit.left:
        lines[0] += f"; {several(audit.left, 'interval')} not looked for"
    if found.beyond:
        shown = "; ".join(
            f"{named(one.demand.cell)} from {audit.names[one.owner]}: {one.found:g} of {one.demand.level:g}"
            for one in found.beyond[:_SHOWN]
        )
        more = f" and {len(found.beyond) - _SHOWN} more" if len(found.beyond) > _SHOWN else ""
        lines.append(f"unreachable {several(len(found.beyond), 'level')}: {shown}{more}")
    return lines
