"""The map of a sweep: what each masking costs beside its risk, and the cheapest one that is tolerated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.solver.charts.reading import held_out_of, loss_words, run_ends, upper_end
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Paragraph, Section
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.next_steps import cheapest, tolerated
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import table
from linkrisk.solver.run.percent import percent

_HELD_OUT = 3
"""The column of the held-out attack, which is not there where none was made."""


def the_map(results: Results) -> Section:
    """Open the report of a sweep alone; beside a worst case the map stands with what protection has cost."""
    title = "The map of the maskings"
    if results.families or results.sweep is None:
        return Section("map", title, "")
    return Section("map", title, "", tuple(map_blocks(results, results.sweep)))


def map_blocks(results: Results, sweep: Json) -> Iterator[Block]:
    """Draw the map, say the cheapest masking that is tolerated, and list all, the undominated first."""
    yield from drawn(results, "risk-utility", tolerated=tolerated(results))
    yield Paragraph(_cheapest(results))
    columns = [
        ("masking", "Masking", Of.TEXT),
        ("low", "Worst case", Of.SHARE),
        ("high", "At most", Of.SHARE),
        ("held_out", "Held-out", Of.SHARE),
        ("loss", loss_words(sweep.get("loss")), Of.NUMBER),
        ("place", "Place", Of.TEXT),
    ]
    rows = sorted(_runs(sweep), key=_order)
    shown = [at for at in range(len(columns)) if at != _HELD_OUT or any(row[at] is not None for row in rows)]
    yield table(
        "Maskings: their risk and their loss",
        [columns[at] for at in shown],
        [[row[at] for at in shown] for row in rows],
    )
    yield Paragraph(
        "A masking is on the front when no other one has both less risk and less loss, whatever the risks "
        "are within their intervals.",
        quiet=True,
    )
    if any(held_out_of(run) is not None for run in sweep["runs"]):
        yield Paragraph(
            "Held-out is what the strongest intruder re-identifies of other records, who has learned from a "
            "share of them.",
            quiet=True,
        )


def _cheapest(results: Results) -> str:
    allowed, found = tolerated(results), cheapest(results)
    if found is None:
        return (
            "No masking keeps its worst case within the "
            f"{percent(allowed)} that are tolerated and has nothing else against it, such as columns that "
            "are neither masked nor compared."
        )
    loss, most, masking = found
    within = f"whose worst case is within the {percent(allowed)} that are tolerated is {masking}"
    risk = f"at most {percent(most)} of its records can be re-identified"
    if loss is None:
        return f"The safest masking {within}: {risk}. What it loses was not measured."
    return f"The cheapest masking {within}: it loses {loss:.3g}, and {risk}."


def _runs(sweep: Json) -> Iterator[list[Any]]:
    for run in sweep["runs"]:
        ends = run_ends(run) if run["status"] == "done" else None
        place = run["pareto"] or run["reason"] or "no loss known"
        low, high = ends or (None, None)
        yield [run["masking"], low, upper_end(low, high), held_out_of(run), run["loss"], place]
    for masking in sweep["unfinished"]:
        yield [masking, None, None, None, None, "stopped before it was done"]


def _order(row: Sequence[Any]) -> tuple[bool, float]:
    return row[5] != "on the front", row[4] if row[4] is not None else float("inf")
