"""`python -m solver tables perturb-sums`: sums with noise, the same wherever the same records are summed."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.table_actions.common import write_changed
from linkrisk.solver.options.table_noise import PerturbSumsCommand, PerturbSumsOptions

ASKED = PerturbSumsCommand
EXAMPLE = (
    "example: tables perturb-sums --input firms.csv --by region,size --response turnover --share 0.1 "
    "--noise most=10,variance=3 --output safe.csv"
)


def run(asked: PerturbSumsCommand) -> int:
    """Sum, perturb, write, and print what was done."""
    from linkrisk.solver.tables.operations.perturb import perturb_sums

    result = perturb_sums(**keywords(PerturbSumsOptions, asked))
    write_changed(asked, result, write_design=result.design)
    return 0
