"""What a notebook shows of what `link`, `evaluate` and `compare` return, made from their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkrisk.solver.charts.markup import bar, card, paragraph, table
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.run.counts import count
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.results import LINKED, least_key, limit_key

Json = Mapping[str, Any]

_LINKS = (
    Column("way", "Way of linking"),
    Column("claimed", "Links", Of.COUNT),
    Column("correct", "Right", Of.COUNT),
    Column("precision", "Precision", Of.SHARE),
    Column("recall", "Recall", Of.SHARE),
)
_SIMPLE = {"euclid": "equal weights", "mahalanobis": "the classical Mahalanobis distance"}


def evaluation_card(result: Json) -> str:
    """Of the JSON of `evaluate`."""
    linked, records = result["linked"], result["records"]
    others = result.get("baselines", {}).items()
    simple = [f"{_SIMPLE[name]} {count(links)}" for name, links in others if links is not None]
    one_to_one = result["one_to_one"]
    if one_to_one is not None:
        simple.append(f"one to one, with the same parameters, {count(one_to_one)}")
    beside = [paragraph(f"Others link: {', '.join(simple)}.")] if simple else []
    said, ends = _linked(linked, records), (linked, linked)
    if "counted" in result:
        ends = result[least_key(LINKED)], result[limit_key(LINKED)]
        said = (
            f"{count(ends[0])} to {count(ends[1])} of {count(records)} records are linked to their partner, "
        )
        said += f"with {100.0 * result['confidence']:g} % confidence: {count(linked)} of the "
        said += f"{count(result['counted'])} that were compared."
    return card(said, bar(*(end / records for end in ends)), *beside, quiet=_quiet(result))


def link_card(result: Json) -> str:
    """Of the JSON of `link`."""
    linked, records = result["linked"], result["records"]
    rows = [["each to its best candidate", records, linked, linked / records, linked / records]]
    one = result["one_to_one"]
    if one is not None:
        rows.append([one["matching"], one["claimed"], one["correct"], one["precision"], one["recall"]])
    return card(
        f"{result['method']}: {_linked(linked, records)}",
        bar(*[linked / records] * 2),
        table(Table(_LINKS, rows)),
        quiet=_quiet(result),
    )


def found_card(result: Json, links: int) -> str:
    """Of the JSON of `find_links`, and how many links it has found."""
    sizes = f"{count(result['queries'])} and {count(result['candidates'])} records"
    said = "Which of them are right is not known."
    return card(
        f"{result['method']}: {count(links)} links of {sizes}.", paragraph(said), quiet=_quiet(result)
    )


def _linked(linked: float, records: int) -> str:
    share = percent(linked / records)
    return f"{count(linked)} of {count(records)} records ({share}) are linked to their partner."


def _quiet(result: Json) -> str:
    ways = [str(result[key]) for key in ("name", "direction") if result.get(key) is not None]
    return "; ".join([", ".join(ways), *result.get("notes", ())])
