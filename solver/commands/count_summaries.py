"""What `evaluate` and `link` print, and the files that they write."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import pandas as pd

from linkrisk.datasets.microdata.writing import write_table, write_whole
from linkrisk.formulations.linkage.pair import Direction, Ties
from linkrisk.solver.commands.pass_lines import pass_lines
from linkrisk.solver.documents.formats import count
from linkrisk.solver.linkage.operations.evaluation_task import EvaluationResult
from linkrisk.solver.linkage.result import FoundLinks, LinkResult
from linkrisk.solver.report.short.wording import (
    baseline_pairs,
    directions,
    heading,
    listed,
    share,
    spaced,
    strata_lines,
    weighted_pairs,
)
from linkrisk.solver.run.records import RecordsTable
from linkrisk.solver.run.results import EXPECTED, LINKED, WEIGHTED, least_key, limit_key

_SUMS = {LINKED: "re-identified", WEIGHTED: "weighted links", EXPECTED: "expected links"}


class Outputs(Protocol):
    """A request whose result may be written."""

    @property
    def json(self) -> str | None:
        """File of the whole result."""

    @property
    def table(self) -> str | None:
        """File of the table of records."""


def finish(
    arguments: Any,
    content: Callable[[], str],
    table: RecordsTable | None,
    tables: Mapping[str, Callable[[], pd.DataFrame]],
    text: str,
) -> int:
    """Write the files that were asked for, and print; the text also when a file cannot be written.

    Parameters
    ----------
    arguments : request
    content : callable
        Makes the JSON.
    table : RecordsTable, optional
        Of which the JSON may leave out the records.
    tables : mapping of str to callable
        Makes the table of each option.
    text : str
    """
    try:
        if arguments.json is not None:
            write_whole(arguments.json, content())
            if table is not None:
                say_left_out(arguments, table)
        for name, make in tables.items():
            path = getattr(arguments, name)
            if path is not None:
                write_table(make(), path)
    finally:
        print(text, end="")
    return 0


def say_left_out(arguments: Outputs, table: RecordsTable) -> None:
    """Say that a file does not list the records, and which option writes them; not where it is given."""
    if table.left_out and arguments.table is None:
        what = f"JSON and report do not list {count(len(table))} records"
        print(f"note: {what}; --table FILE.parquet writes them", file=sys.stderr)


def finish_link(arguments: Any, result: LinkResult | FoundLinks) -> int:
    """The same for a linkage, with the pairs of its passes."""
    tables: dict[str, Callable[[], pd.DataFrame]] = {}
    passes = result.passes
    if passes is not None:
        tables |= {"links": lambda: passes.links, "clerical": lambda: passes.clerical}
    if isinstance(result, FoundLinks):
        return finish(arguments, result.to_json, None, tables, summary_of_found(result))
    tables["table"] = result.table.to_frame
    return finish(arguments, result.to_json, result.table, tables, summary_of_links(result))


def summary(result: EvaluationResult) -> str:
    """The counts in a few lines."""
    if result.link is not None:
        return summary_of_links(result.link)
    details, records, table, counted = result.details, result.records, result.table, result.counted
    counts: list[tuple[str, float]] = [
        ("re-identified", result.linked),
        ("partner among the 3 nearest", table.within(3)),
        ("partner tied with another", table.tied),
    ]
    if details["ties"] == "share":
        counts[0] = ("nearest up to identical ones", result.linked)
        counts.insert(0, ("expected links", details["expected_links"]))
    if result.one_to_one is not None:
        counts.append(("re-identified one to one", result.one_to_one))
    total = details.get("total_weight", records)
    lines = [
        *heading(details, records),
        "",
        *(_in_part(result) if counted < records else listed(weighted_pairs(details))),
        *listed([(name, share(number, counted)) for name, number in counts]),
        "",
        *listed(baseline_pairs(details["baselines"], total)),
        *spaced(strata_lines(details)),
        *(f"note: {note}" for note in details["notes"]),
    ]
    return "\n".join(lines) + "\n"


def _in_part(result: EvaluationResult) -> list[str]:
    """What is known of all records, and that what follows is of those that were counted."""
    details, sure = result.details, f"with {100.0 * result.details['confidence']:g} % confidence"
    total = {LINKED: result.records, EXPECTED: result.records, WEIGHTED: details.get("total_weight", 0.0)}
    pairs = [
        (f"{what}, {end}", f"{share(details[key(keys)], total[keys])}, {sure}")
        for keys, what in _SUMS.items()
        for key, end in ((least_key, "at least"), (limit_key, "at most"))
        if key(keys) in details
    ]
    why = "stopped" if details["limit"] == "user" else f"the {details['limit']} limit was reached"
    some = f"{count(result.counted)} of {count(result.records)} records, in random order, were compared"
    return [*listed(pairs), f"  {some} before the run was ended ({why}); of these:", ""]


def summary_of_links(result: LinkResult) -> str:
    """The counts in a few lines."""
    details, records, table = result.details, result.records, result.table
    size = f"{count(records)} records"
    if details["candidates"] != records:
        size += f" with a partner among {count(details['candidates'])} candidates"
    counts = [
        ("re-identified", share(result.linked, records)),
        ("partner among the 3 best", share(table.within(3, tied=True), records)),
        ("partner tied with another", share(table.tied, records)),
        ("by chance", f"{records / details['candidates']:.3g} of {count(records)}"),
    ]
    counts[1:1] = weighted_pairs(details)
    if details["ties"] == Ties.SHARE:
        counts[0] = ("best up to identical ones", share(result.linked, records))
        counts.insert(0, ("expected links", share(details["expected_links"], records)))
    lines = [
        f"{details['name']}: {size}",
        f"{result.method}, {directions(details['direction'])}",
        "",
        *listed(counts),
        *_matched(result),
        *pass_lines(result.passes),
        "",
        *listed(_curve(result)),
        *spaced(strata_lines(details)),
        *[f"note: {note}" for note in details["notes"]],
    ]
    return "\n".join(lines) + "\n"


def summary_of_found(result: FoundLinks) -> str:
    """The same where the true links are not known."""
    details = result.details
    sizes = [details["queries"], details["candidates"]]
    if details["direction"] == Direction.MASKED_TO_ORIGINAL:
        sizes.reverse()
    way = "" if result.matching is None else f", one to one ({result.matching})"
    lines = [
        f"{details['name']}: {count(sizes[0])} and {count(sizes[1])} records, true links not known",
        f"{result.method}, {directions(details['direction'])}{way}",
        "",
        *pass_lines(result.passes),
        *(["", *(f"note: {note}" for note in details["notes"])] if details["notes"] else []),
    ]
    return "\n".join(lines) + "\n"


def _matched(result: LinkResult) -> list[str]:
    found = result.one_to_one
    if found is None:
        return []
    precision = "-" if found.precision is None else f"{found.precision:.4f}"
    right = f"{count(found.correct)} of {count(found.claimed)} links right"
    rates = f"precision {precision}, recall {found.recall:.4f}"
    return listed([(f"one to one, {found.matching}", f"{right}, {rates}")])


def _curve(result: LinkResult) -> list[tuple[str, str]]:
    if result.curve is None:
        return []
    rows = [("average precision", f"{result.curve.average_precision:.4f}")]
    claim = result.details["most_probable_claim"]
    if claim is not None:
        sure = "" if claim["probability"] is None else f", probability {claim['probability']:.4f}"
        right = {1.0: "right", 0.0: "wrong"}.get(
            claim["correct"], f"right with probability {claim['correct']:.2g}"
        )
        rows.append(("most probable claim", f"{claim['query']} is {claim['candidate']}{sure}: {right}"))
    return rows
