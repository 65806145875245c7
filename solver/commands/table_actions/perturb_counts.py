"""`python -m solver tables perturb-counts`: counts with noise, the same wherever records are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.table_actions.common import (
    incomplete_lines,
    renamed_lines,
    write_changed,
    written_lines,
)
from linkrisk.solver.options.operations.tables.perturb_counts import (
    PerturbCountsCommand,
    PerturbCountsOptions,
)
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.perturb_counts import PerturbedCounts

ASKED = PerturbCountsCommand
EXAMPLE = (
    "example: tables perturb-counts --input p.csv --by region,sex --most 2 --variance 1 --output safe.csv"
)


def run(asked: PerturbCountsCommand) -> int:
    """Count, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb_counts import perturb_counts

    result = perturb_counts(**keywords(PerturbCountsOptions, asked))
    write_changed(asked, result, write_design=result.design)
    print(_summary(asked, result))
    return 0


def _summary(asked: PerturbCountsCommand, result: PerturbedCounts) -> str:
    found = result.to_dict()
    changes = found["changes"]
    absolute, relative = changes["absolute"], changes["relative"]
    of = "relation does" if found["relations"] == 1 else "relations do"
    lines = [
        f"table       {several(found['records'], 'record')} in {several(found['cells'], 'cell')}",
        f"noise       at most {found['largest_noise']}, variance {found['variance']:.4g}, mean 0",
        f"perturbed   {several(found['changed'], 'cell')}: by {absolute['mean']:.3g} on average, "
        f"{absolute['max']:g} at most; {100 * relative['mean']:.3g} % on average",
        f"zeros       {several(changes['false_zeros'], 'count')} became 0, those of 0 have stayed",
        f"sums        {found['not_adding_up']} of {found['relations']} {of} not add up any more",
    ]
    lines += [
        *incomplete_lines(asked, found["coded"], found["left_out"]),
        *renamed_lines(found["renamed"]),
    ]
    return "\n".join([*lines, *written_lines(asked, "output", "internal")])
