"""What protection has cost: changes of columns, information loss, and the maskings of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.solver.charts.reading import run_ends
from linkrisk.solver.charts.table import Of
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.other_measures import findings_block
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import table
from linkrisk.solver.report.document import Block, Paragraph, Section


def what_it_cost(results: Results) -> Section:
    """Loss of this release, and of the maskings of a sweep beside their risk."""
    title, blocks = "What protection has cost", tuple(_blocks(results))
    if not blocks:
        lead = "It was not measured; the command risk or report does it."
        return Section("cost", title, "" if "information-loss" in results.not_measured else lead)
    lead = "How far the released file is from the original. More protection usually costs more."
    return Section("cost", title, lead, blocks)


def _blocks(results: Results) -> Iterator[Block]:
    if columns := results.of_measure("changes", "columns"):
        yield _changes(columns)
    loss = results.measure("information-loss")
    if loss is not None and loss.get("findings"):
        yield findings_block(results, "information-loss", loss)
        yield from drawn(results, "loss")
    if results.sweep is not None:
        yield from drawn(results, "risk-utility")
        yield from _sweep(results.sweep)


def _changes(columns: Sequence[Json]) -> Block:
    titles = [
        ("column", "Column", Of.TEXT),
        ("role", "Role", Of.TEXT),
        ("compared", "Compared", Of.FLAG),
        ("changed", "Values changed", Of.SHARE),
        ("missing", "Taken out", Of.SHARE),
        ("shift", "Mean change, in standard deviations", Of.NUMBER),
        ("most_frequent", "Most frequent change", Of.TEXT),
    ]
    return table("What was changed", titles, [[one[name] for name, _, _ in titles] for one in columns])


def _sweep(sweep: Json) -> Iterator[Block]:
    """Every masking, those that no other dominates first."""
    columns = [
        ("masking", "Masking", Of.TEXT),
        ("low", "Worst case", Of.SHARE),
        ("high", "At most", Of.SHARE),
        ("loss", "Loss", Of.NUMBER),
        ("place", "Place", Of.TEXT),
    ]
    yield table("Maskings: their risk and their loss", columns, sorted(_runs(sweep), key=_order))
    yield Paragraph(
        "A masking is on the front when no other one has both less risk and less loss, whatever the "
        "risks are "
        "within their intervals.",
        quiet=True,
    )


def _runs(sweep: Json) -> Iterator[list[Any]]:
    for run in sweep["runs"]:
        ends = run_ends(run) if run["status"] == "done" else None
        place = run["pareto"] or run["reason"] or "no loss known"
        yield [run["masking"], *(ends or (None, None)), run["loss"], place]
    for masking in sweep["unfinished"]:
        yield [masking, None, None, None, "stopped before it was done"]


def _order(row: Sequence[Any]) -> tuple[bool, float]:
    return row[4] != "on the front", row[3] if row[3] is not None else float("inf")
