"""`python -m solver risk`: every measure of a release."""

from __future__ import annotations

import sys

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.risk import RiskCommand, RiskOptions

ASKED = RiskCommand
DESCRIPTION = (
    "Take every measure of a release: the certified worst case of all families of distances, and what "
    "stands beside it. One table, one verdict."
)
EXAMPLE = "example: risk --original o.csv --masked m.csv --schema schema.toml --json risk.json"


def run(asked: RiskCommand) -> int:
    """Measure, print, write the files that were asked for."""
    from linkrisk.datasets.microdata.writing import write_table, write_whole
    from linkrisk.solver.api.report import report_of
    from linkrisk.solver.api.risk import risk
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.commands.risk_summary import summary
    from linkrisk.solver.commands.targets import say_written

    with progress_line("comparing records", limit_of(asked)) as line:
        result = risk(**keywords(RiskOptions, asked, on_progress=reporter(line)))
    try:
        print(summary(result), end="")
        sys.stdout.flush()
    finally:  # a reader that has gone away must not cost the files of a long run
        if asked.json is not None:
            write_whole(asked.json, result.to_json())
        if asked.table is not None:
            write_table(result.to_frame(), asked.table)
        if asked.report is not None:
            report_of(result.to_dict()).save(asked.report)
    say_written(asked.json, asked.table, asked.report)
    return 0
