"""Is it realistic: what an intruder gets who knows the truth for some of the records only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Paragraph, Section
from linkrisk.solver.report.content.drawn import drawn
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import family_heading, table
from linkrisk.solver.run.percent import percent

EQUAL = "equal-weights"


def is_it_realistic(results: Results) -> Section:
    """Learning curves, and the gap between what a distance was learned from and other records."""
    title, rates = "Is it realistic", results.of_measure("held-out", "rates")
    if not rates:
        lead = (
            "The held-out attack, of an intruder who knows the truth for some records only, was not "
            "measured; the command risk or report does it."
        )
        return Section("is-it-realistic", title, "" if "held-out" in results.not_measured else lead)
    lead = (
        "The worst case knows the truth for every record. Here an intruder knows it for a share of "
        "them, learns a "
        "distance from these, and attacks the others."
    )
    return Section("is-it-realistic", title, lead, tuple(_blocks(results, rates)))


def _blocks(results: Results, rates: Sequence[Json]) -> Iterator[Block]:
    yield from drawn(results, "learning-curve")
    columns = [
        ("family", "Distance", Of.TEXT),
        ("share", "Records known", Of.SHARE),
        ("held_out", "Re-identified of the others", Of.SHARE),
        ("low", "At least (95 %)", Of.SHARE),
        ("high", "At most (95 %)", Of.SHARE),
        ("gap", "Over-fit gap", Of.POINTS),
        ("one_to_one", "One to one", Of.SHARE),
        ("worst", "Worst case", Of.SHARE),
    ]
    rows = [
        [_name(rate["aggregator"]), *(rate[name] for name, _, _ in columns[1:])]
        for rate in sorted(rates, key=lambda rate: (rate["aggregator"], rate["share"]))
    ]
    yield table("What is learned from a share of the records links of the others", columns, rows)
    chance = (results.measure("held-out") or {}).get("chance")
    if chance is not None:
        yield Paragraph(
            f"A random guess is right for {percent(chance)} of the records. The over-fit gap is what "
            "a distance "
            "links less of other records than of those that it was learned from; one to one is the same "
            "intruder, who uses every masked record once.",
            quiet=True,
        )


def _name(aggregator: Any) -> str:
    return "Equal weights, nothing learned" if aggregator == EQUAL else family_heading(str(aggregator))
