"""The report of every pass, as `link` prints it."""

from __future__ import annotations

from linkrisk.solver.commands.wording import listed
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses
from linkrisk.solver.report.formats import NARROW_SPACE, count, percent

_TITLES = ("pass", "compared", "linked", "clerical", "false links", "true links lost")


def pass_lines(passes: LinkedPasses | None) -> list[str]:
    """A table of the passes, and what they linked together; nothing where there are none."""
    if passes is None:
        return []
    rows = [
        (
            f"{number} {report.keys}",
            count(report.compared),
            count(report.linked),
            count(report.clerical),
            f"{report.estimated_false_links:,.1f}",
            _share(report.lost),
        )
        for number, report in enumerate(passes.reports, start=1)
    ]
    shown = passes.to_dict()
    compared = sum(report.compared for report in passes.reports)
    rows.append(
        (
            "all",
            count(compared),
            count(shown["linked"]),
            count(shown["clerical"]),
            f"{shown['estimated_false_links']:,.1f}",
            _share(passes.reports[-1].lost_so_far),
        )
    )
    precision = "-" if passes.precision is None else f"{passes.precision:.4f}"
    right = f"{count(shown['right'])} of {count(shown['linked'])} links right"
    summary = [("linked in passes", f"{right}, precision {precision}, recall {passes.recall:.4f}")]
    if passes.decided:
        summary.append(("decided by people", f"{count(passes.decided)} pairs"))
    return [*listed(summary), "", *_aligned([_TITLES, *rows])]


def _share(part: float) -> str:
    return percent(part, 1.0).replace(NARROW_SPACE, " ")


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of a table below each other, what follows the first column to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
