"""`python -m solver risk`: every measure of a release."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.measuring import RiskCommand, RiskOptions

ASKED = RiskCommand
DESCRIPTION = (
    "Take every measure of a release: the certified worst case of all families of distances, and what "
    "stands beside it. One table, one verdict."
)
EXAMPLE = "example: risk --original o.csv --masked m.csv --schema schema.toml --json risk.json"


def run(asked: RiskCommand) -> int:
    """Measure, print, write the files that were asked for."""
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.measures.risk import risk

    with progress_line("comparing records", limit_of(asked)) as line:
        result = risk(**keywords(RiskOptions, asked, on_progress=reporter(line)))
    hand_over(asked, result, table=result.to_frame)
    return 0
