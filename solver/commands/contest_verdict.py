"""What both commands `compare` say when something is wrong, and their exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.compare import TableComparison
    from linkrisk.solver.worst_case.operations.compare import ComparisonResult


def wrong(result: ComparisonResult | TableComparison) -> list[str]:
    """Claims that contradict each other or the count, or that there is no answer; empty when all is well."""
    lines = [f"DISAGREEMENT: {sentence}" for sentence in result.disagreements]
    return lines if result.no_answer is None else [*lines, f"NO ANSWER: {result.no_answer}"]


def exit_code(result: ComparisonResult | TableComparison) -> int:
    """1 where something is wrong, which standard error gets, too."""
    lines = wrong(result)
    for line in lines:
        print(line, file=sys.stderr)
    return 1 if lines else 0
