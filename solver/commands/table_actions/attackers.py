"""Options that say who attacks a table besides outsiders, and the lines on what they find out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.table_actions.common import Once, refuse_alone
from linkrisk.solver.commands.unsafe_options import several

if TYPE_CHECKING:
    from linkrisk.solver.api.tables.crowd_result import CrowdResult

_SHOWN = 5


def add_attackers(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("who attacks besides outsiders")
    group.add_argument(
        "--insiders",
        metavar="WHO",
        action=Once,
        help="singletons (the only respondents of cells), contributors (every respondent, by what it "
        "contributed), or a file: insider, cell, lower, upper",
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
    """The keywords of `protect_table` and `audit_table`.

    Raises
    ------
    UsageError
        If something is said of insiders, and there are none.
    """
    for option, what in (
        ("--as-far-as-possible", "lowers levels against insiders"),
        ("--contributors", "says what insiders know"),
    ):
        refuse_alone(arguments, option, "--insiders", "--coalitions", what=what)
    return {
        "insiders": arguments.insiders,
        "contributors": arguments.contributors,
        "coalitions": arguments.coalitions,
        "as_far_as_possible": arguments.as_far_as_possible,
    }


def attacker_lines(found: CrowdResult | None, named: Callable[[int], str]) -> list[str]:
    """What insiders find out; `named` says what to call a cell."""
    if found is None:
        return []
    audit, many = found.audit, several(len(found.audit.names) - 1, "insider")
    lines = [f"insiders    {many}: every sensitive cell is protected from each"]
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
