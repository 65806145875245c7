"""`python -m solver tables run-batch`: a batch of tau-ARGUS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.tables.run_batch import RunBatchCommand, RunBatchOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.tables.operations.batch.run import BatchResult
    from linkrisk.solver.tables.operations.batch.steps import BatchTable


ASKED = RunBatchCommand
EXAMPLE = "example: tables run-batch survey.arb"


def run(asked: RunBatchCommand) -> int:
    """Run the batch, and print what was done; 1 where a table is not protected, or it was stopped before."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.progress import progress_line, reporter
    from linkrisk.solver.tables.operations.batch.run import run_batch

    beside = [] if asked.json is None else [asked.json]
    with progress_line("running the batch") as line:
        more = {"on_progress": reporter(line), "beside": beside}
        result = run_batch(**keywords(RunBatchOptions, asked, **more))
    if asked.json is not None:
        write_whole(asked.json, result.to_json())
    print(_summary(result))
    return 0 if result.protected and (result.files or not result.not_begun) else 1


def _summary(result: BatchResult) -> str:
    lines = []
    for number, table in enumerate(result.tables, start=1):
        lines += _of_table(number, table)
    lines += [f"written     {path}" for path in result.files]
    lines += [f"withheld    {path}: its table is not protected" for path in result.withheld]
    lines += [f"said        {one}" for one in result.said]
    if result.not_begun:
        more = len(result.not_begun) - 1
        others = f", and {several(more, 'line')} more" if more else ""
        lines.append(f"stopped     by the user; not begun: {result.path}, {result.not_begun[0]}{others}")
    return "\n".join(lines)


def _of_table(number: int, table: BatchTable) -> list[str]:
    from linkrisk.solver.commands.table_actions.audit import (
        attacker_lines,
        audited,
        cost_said,
        respondent_lines,
    )

    stored, spec = table.stored, table.spec
    relations = int(stored.relation.max(initial=-1)) + 1
    named = f"{' x '.join(stored.by)}, {spec.response or 'frequencies'}"
    sensitive = int((stored.status == "u").sum())
    lines = [
        f"table {number:<5} {named}: {several(len(stored), 'cell')}, {several(relations, 'relation')}",
        f"sensitive   {several(sensitive, 'cell')}",
    ]
    if table.changed is not None:
        changed = table.changed
        said = f"{several(changed.changed, 'cell')} changed, by {changed.largest_change:g} at most"
        lines.append(f"{table.method:<11} {said}")
    elif table.noisy is not None:
        off = table.noisy.not_adding_up
        lines.append(f"{table.method:<11} {several(table.noisy.changed, 'cell')} changed by noise")
        lines.append(f"sums        {off} of {several(relations, 'relation')} do not add up any more")
    elif table.result is not None:
        more = int(table.suppressed.sum()) - sensitive
        shared = ", of all linked tables" if len(table.result.cells) > len(stored) else ""
        lines.append(f"suppressed  {several(more, 'cell')} more{cost_said(table.result)}{shared}")
        lines.append(f"audit       {audited(table.result)}")
        lines += [*attacker_lines(table.result), *respondent_lines(table.result)]
    return lines
