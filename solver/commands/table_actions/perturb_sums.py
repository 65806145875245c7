"""`python -m solver tables perturb-sums`: sums with noise, the same wherever the same records are summed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.table_actions.common import (
    incomplete_lines,
    renamed_lines,
    write_changed,
    written_lines,
)
from linkrisk.solver.options.operations.tables.perturb_sums import PerturbSumsCommand, PerturbSumsOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.perturb_sums import PerturbedSums

ASKED = PerturbSumsCommand
EXAMPLE = (
    "example: tables perturb-sums --input firms.csv --by region,size --response turnover --share 0.1 "
    "--noise most=10,variance=3 --output safe.csv"
)


def run(asked: PerturbSumsCommand) -> int:
    """Sum, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb_sums import perturb_sums

    result = perturb_sums(**keywords(PerturbSumsOptions, asked))
    write_changed(asked, result, write_design=result.design)
    print(_summary(asked, result))
    return 0


def _summary(asked: PerturbSumsCommand, result: PerturbedSums) -> str:
    found = result.to_dict()
    absolute, relative = found["changes"]["absolute"], found["changes"]["relative"]
    of = "relation does" if found["relations"] == 1 else "relations do"
    share = "" if found["least"] is None else f", {100 * found['least']:g} % of very large ones"
    lines = [
        f"table       {several(found['records'], 'record')} in {several(found['cells'], 'cell')}, "
        f"{found['sensitive']} sensitive",
        f"noise       at most {found['largest_noise']:g} times {100 * found['share']:g} % of the "
        f"{found['scale']}{share}, variance {found['variance']:.4g}, mean 0",
        f"perturbed   {several(found['changed'], 'cell')}: by {absolute['mean']:.4g} on average, "
        f"{absolute['max']:.4g} at most; {100 * relative['mean']:.3g} % on average",
        f"sums        {found['not_adding_up']} of {found['relations']} {of} not add up any more",
        *_finer(found),
    ]
    lines += [
        *incomplete_lines(asked, found["coded"], found["left_out"]),
        *renamed_lines(found["renamed"]),
    ]
    return "\n".join([*lines, *written_lines(asked, "output", "internal")])


def _finer(found: Mapping[str, Any]) -> list[str]:
    """What more decimals than the sums have would tell."""
    if found["decimals"] <= found["decimals_of_sums"]:
        return []
    return [
        f"decimals    {found['decimals']}, where sums have {found['decimals_of_sums']}: they show which "
        "sums have no noise, and how it was made"
    ]
