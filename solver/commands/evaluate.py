"""`python -m solver evaluate`: apply learned parameters to a file pair."""

from __future__ import annotations

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.worst_case import EvaluateCommand, EvaluateOptions

ASKED = EvaluateCommand
DESCRIPTION = (
    "Apply the parameters of a `fit --json` or `link --json` file to a file pair and count. "
    "What they were learned with (direction, ties, ...) holds unless it is given again. A file with "
    'your own weights needs {"parameters": {"weights": {"A": 0.7, "B": 0.3}}} only.'
)


def run(asked: EvaluateCommand) -> int:
    """Count, print, write the files that were asked for."""
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.commands.targets import hand_over
    from linkrisk.solver.linkage.operations.evaluate import evaluate

    with progress_line("comparing records", asked.time_limit) as line:
        result = evaluate(**keywords(EvaluateOptions, asked, on_progress=reporter(line)))
    hand_over(asked, result, table=result.table.to_frame)
    return 0
