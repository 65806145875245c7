"""Options that say who attacks a table besides outsiders, and the lines on what they find out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.table_actions.common import Once, refuse_alone
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.from_whom import AS_FAR, not_looked_at

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.crowd_result import CrowdResult
    from linkrisk.solver.api.tables.result import TableResult

_SHOWN = 5


def add_attackers(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("who attacks besides outsiders")
    group.add_argument(
        "--insiders",
        metavar="WHO",
        action=Once,
        help="singletons (the only respondents of cells; default where --contributors or a column "
        "respondents say who is alone, as far as levels can be kept from them), contributors (every "
        "respondent, by what it contributed), a file: insider, cell, lower, upper; or none",
    )
    group.add_argument(
        "--contributors",
        metavar="FILE",
        action=Once,
        help="cell, contributor, amount, as tables make writes them",
    )
    group.add_argument(
        "--coalitions",
        metavar="FILE",
        action=Once,
        help="who tells one another everything: coalition, contributor",
    )
    group.add_argument(
        "--as-far-as-possible",
        action="store_true",
        help="lower the levels that cannot be reached against an insider, whatever is suppressed",
    )


def given_attackers(arguments: argparse.Namespace) -> dict[str, Any]:
    """The keywords of `suppress_table` and `audit_table`.

    Raises
    ------
    UsageError
        If something is said of insiders, and there are none.
    """
    what = "lowers levels against insiders who are asked for"
    refuse_alone(arguments, "--as-far-as-possible", "--insiders", "--coalitions", what=what)
    return {
        "insiders": arguments.insiders,
        "contributors": arguments.contributors,
        "coalitions": arguments.coalitions,
        "as_far_as_possible": arguments.as_far_as_possible,
    }


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
