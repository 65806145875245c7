"""What protection has cost: changes of columns, information loss, and the maskings of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Section
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.maskings import map_blocks
from linkrisk.solver.report.content.other_measures import findings_block
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import table


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
    if results.sweep is not None and results.families:
        yield from map_blocks(results, results.sweep)


def _changes(columns: Sequence[Json]) -> Block:
    titles = [
        ("column", "Column", Of.TEXT),
        ("role", "Role", Of.TEXT),
        ("compared", "Compared", Of.FLAG),
        ("changed", "Values changed", Of.SHARE),
        ("missing", "Taken out", Of.SHARE),
        ("shift", "Shift of the mean, in standard deviations", Of.NUMBER),
        ("most_frequent", "Most frequent change", Of.TEXT),
    ]
    return table("What was changed", titles, [[one[name] for name, _, _ in titles] for one in columns])
