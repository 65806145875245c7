"""`python -m solver tables perturb-counts`: counts with noise, the same wherever records are the same."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.table_actions.common import write_changed
from linkrisk.solver.options.table_noise import (
    PerturbCountsCommand,
    PerturbCountsOptions,
)

ASKED = PerturbCountsCommand
EXAMPLE = (
    "example: tables perturb-counts --input p.csv --by region,sex --most 2 --variance 1 --output safe.csv"
)


def run(asked: PerturbCountsCommand) -> int:
    """Count, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb import perturb_counts

    result = perturb_counts(**keywords(PerturbCountsOptions, asked))
    write_changed(asked, result, write_design=result.design)
    return 0
