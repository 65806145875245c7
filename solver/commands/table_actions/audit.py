"""`python -m solver tables audit`: what an attacker can compute of every suppressed cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkrisk.errors import called
from linkrisk.solver.commands.table_actions.common import (
    check_files,
    check_fits,
    of_table,
    read_table,
    show,
    write_about,
)
from linkrisk.solver.commands.targets import paths_of
from linkrisk.solver.options.table_protection import AuditCommand, AuditOptions
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.result import TableResult

ASKED = AuditCommand
EXAMPLE = "example: tables audit --cells internal.csv --relations relations.csv"


def run(asked: AuditCommand) -> int:
    """Audit, write, and print what was found; 1 where a sensitive cell is not protected."""
    from linkrisk.datasets.tables.linking import link_publications
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.tables.operations.source import other_table
    from linkrisk.solver.tables.operations.suppress_and_audit import audit_table

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
    withheld, written = f"{result.unprotected:,} not protected", ("internal", "certificate")
    if result.protected:
        show(asked, result, "output", *written)
    else:
        show(asked, result, *written, withheld=withheld if asked.output is not None else "")
    return 0 if result.protected else 1
