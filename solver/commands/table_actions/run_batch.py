"""`python -m solver tables run-batch`: a batch of tau-ARGUS."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.table_making import RunBatchCommand, RunBatchOptions

ASKED = RunBatchCommand
EXAMPLE = "example: tables run-batch survey.arb"


def run(asked: RunBatchCommand) -> int:
    """Run the batch, and print what was done; 1 where a table is not protected, or it was stopped before."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.tables.operations.batch.run import run_batch

    beside = [] if asked.json is None else [asked.json]
    with progress_line("running the batch") as line:
        more = {"on_progress": reporter(line), "beside": beside}
        result = run_batch(**keywords(RunBatchOptions, asked, **more))
    hand_over(asked, result)
    return 0 if result.protected and (result.files or not result.not_begun) else 1
