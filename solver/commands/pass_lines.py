"""The report of every pass, as `link` prints it."""

from __future__ import annotations

from linkrisk.solver.documents.formats import NARROW_SPACE, count, percent
from linkrisk.solver.linkage.probabilistic.passes.reporting import LinkedPasses
from linkrisk.solver.report.short.wording import listed

_TITLES = ("pass", "compared", "linked", "clerical", "false links")
_LOST, _EXPECTED = "true links lost", "links lost, expected"


def pass_lines(passes: LinkedPasses | None) -> list[str]:
    """A table of the passes, and what they linked together; nothing where there are none."""
    if passes is None:
        return []
    judged = passes.matches is not None
    rows = [
        (
            f"{number} {report.keys}",
            count(report.compared),
            count(report.linked),
            count(report.clerical),
            f"{report.estimated_false_links:,.1f}",
            _share(report.lost if judged else report.estimated_lost),
        )
        for number, report in enumerate(passes.reports, start=1)
    ]
    last = passes.reports[-1]
    rows.append(
        (
            "all",
            count(sum(report.compared for report in passes.reports)),
            count(len(passes.links)),
            count(len(passes.clerical)),
            f"{passes.estimated_false_links:,.1f}",
            _share(last.lost_so_far if judged else last.estimated_lost_so_far),
        )
    )
    summary = _judged(passes) if judged else _expected(passes)
    if passes.decided:
        summary.append(("decided by people", f"{count(passes.decided)} pairs"))
    titles = (*_TITLES, _LOST if judged else _EXPECTED)
    return [*listed(summary), "", *_aligned([titles, *rows])]


def _judged(passes: LinkedPasses) -> list[tuple[str, str]]:
    """How many links are right."""
    rates = ["-" if rate is None else f"{rate:.4f}" for rate in (passes.precision, passes.recall)]
    right = f"{count(passes.right or 0)} of {count(len(passes.links))} links right"
    return [("linked in passes", f"{right}, precision {rates[0]}, recall {rates[1]}")]


def _expected(passes: LinkedPasses) -> list[tuple[str, str]]:
    """How many links should be right, by the model."""
    links, false = len(passes.links), passes.estimated_false_links
    wrong = f"{false:,.1f} of {count(links)} links"
    if links:
        wrong += f" ({_share(false / links)})"
    return [
        ("linked in passes", f"{count(links)} pairs"),
        ("expected to be wrong", wrong),
        ("expected to be missed", f"{_share(passes.estimated_missed)} of all links"),
    ]


def _share(part: float | None) -> str:
    return "-" if part is None else percent(part, 1.0).replace(NARROW_SPACE, " ")


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of a table below each other, what follows the first column to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
