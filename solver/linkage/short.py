"""Summarise results of `evaluate`, `link` and `find-links`: counts, baselines, passes."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.documents.document import Block, Document, Headline, Paragraph
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import (
    baselines,
    count,
    heading,
    of_all,
    sizes_line,
    strata,
    table,
)
from linkrisk.solver.run.number_format import confident, percent, with_confidence
from linkrisk.solver.schemas.intervals import EXPECTED, LINKED, WEIGHTED, least_key, limit_key
from linkrisk.solver.schemas.keys import Json

_SUMS = {LINKED: "re-identified", WEIGHTED: "weighted links", EXPECTED: "expected links"}


def evaluation(result: Json) -> Document:
    """Summarise the JSON of `evaluate`."""
    if "method" in result:
        return linkage(result)
    return short(
        [*_all(result), pairs(*_counts(result))],
        baselines(result),
        strata(result),
        said=_linked(result),
        asked=heading(result),
        notes=result["notes"],
    )


def linkage(result: Json) -> Document:
    """Summarise the JSON of `link`."""
    records, candidates = result["records"], result["candidates"]
    chance = "by chance", f"{records / candidates:.3g} of {count(records)}"
    passes = result.get("passes")
    return short(
        [pairs(*_counts(result), chance, *_matched(result), *([] if passes is None else _in_passes(passes)))],
        [] if passes is None else [_passes(passes)],
        [pairs(*_curve(result))],
        strata(result),
        said=_linked(result),
        asked=(sizes_line(result), _way(result)),
        notes=result["notes"],
    )


def found(result: Json) -> Document:
    """Summarise the JSON of `find-links`."""
    sizes, passes = [result["queries"], result["candidates"]], result["passes"]
    if result["direction"] == "masked-to-original":
        sizes.reverse()
    matched = "" if result["matching"] is None else f", one to one ({result['matching']})"
    return short(
        [pairs(*_in_passes(passes))],
        [_passes(passes)],
        said=f"{count(passes['linked'])} links; which of them are right is not known.",
        asked=(
            f"{result['name']}: {count(sizes[0])} and {count(sizes[1])} records, true links not known",
            f"{_way(result)}{matched}",
        ),
        notes=result["notes"],
    )


def _way(result: Json) -> str:
    return f"{result['method']}, {result['direction'].replace('-', ' ')}"


def _linked(result: Json) -> Headline:
    """Report the share of linked records, in a sentence and as a bar; expected links with shared ties."""
    records, keys = result["records"], EXPECTED if result["ties"] == "share" else LINKED
    are, sure = "are" if keys == LINKED else "can be expected to be", ""
    low = high = result[keys[0]]
    said = f"{count(low)} of {count(records)} records ({percent(low / records)})"
    if "counted" in result:
        low, high = result[least_key(keys)], result[limit_key(keys)]
        said = f"{count(low)} to {count(high)} of {count(records)} records"
        sure = with_confidence(result["confidence"])
    said = f"{said} {are} linked to their partner{sure}."
    return Headline("unknown", said, bar=(low / records, high / records))


def _counts(result: Json) -> Iterator[tuple[str, str]]:
    """Report the counts over compared records."""
    total = result.get("counted", result["records"])
    linked = "re-identified"
    if result["ties"] == "share":
        yield "expected links", of_all(result["expected_links"], total)
        linked = f"{'best' if 'method' in result else 'nearest'} up to identical ones"
    yield linked, of_all(result["linked"], total)
    if total == result["records"] and "weight" in result:
        yield "weighted links", of_all(result["weighted_links"], result["total_weight"])
    nearest = "best" if "method" in result else "nearest"
    yield f"partner among the 3 {nearest}", of_all(result["among_three"], total)
    yield "partner tied with another", of_all(result["partner_tied"], total)
    if isinstance(result["one_to_one"], int):
        yield "re-identified one to one", of_all(result["one_to_one"], total)


def _all(result: Json) -> Iterator[Block]:
    """Report intervals for all records where only some were compared, and note that counts are of these."""
    if "counted" not in result:
        return
    records, sure = result["records"], confident(result["confidence"])
    totals = {LINKED: records, EXPECTED: records, WEIGHTED: result.get("total_weight", 0.0)}
    yield pairs(
        *(
            (f"{what}, {end}", f"{of_all(result[key(keys)], totals[keys])}, with {sure}")
            for keys, what in _SUMS.items()
            for key, end in ((least_key, "at least"), (limit_key, "at most"))
            if key(keys) in result
        )
    )
    why = "stopped" if result["limit"] == "user" else f"the {result['limit']} limit was reached"
    some = f"{count(result['counted'])} of {count(records)} records, in random order, were compared"
    yield Paragraph(f"{some} before the run was ended ({why}); of these:")


def _matched(result: Json) -> Iterator[tuple[str, str]]:
    if (one := result["one_to_one"]) is not None:
        yield f"one to one, {one['matching']}", _right(one, one["correct"], one["claimed"])


def _right(rates: Json, right: int, links: int) -> str:
    """Report the correct links, with precision and recall."""
    shown = ["-" if rates[key] is None else f"{rates[key]:.4f}" for key in ("precision", "recall")]
    return f"{count(right)} of {count(links)} links right, precision {shown[0]}, recall {shown[1]}"


def _in_passes(passes: Json) -> Iterator[tuple[str, str]]:
    """Report the links of the passes: the correct ones, or their expectation by the model."""
    links, false = passes["linked"], passes["estimated_false_links"]
    if "right" in passes:
        yield "linked in passes", _right(passes, passes["right"], links)
    else:
        missed = passes["estimated_missed"]
        wrong = f" ({percent(false / links)})" if links else ""
        yield "linked in passes", f"{count(links)} pairs"
        yield "expected to be wrong", f"{false:,.1f} of {count(links)} links{wrong}"
        yield "expected to be missed", f"{'-' if missed is None else percent(missed)} of all links"
    if passes["decided"]:
        yield "decided by people", f"{count(passes['decided'])} pairs"


def _passes(passes: Json) -> Table:
    """List the passes, one per line, and their total."""
    lost, title = (
        ("lost", "True links lost") if "right" in passes else ("estimated_lost", "Links lost, expected")
    )
    every = passes["passes"]
    lines = [(f"{at} {one['keys']}", one, one.get(lost)) for at, one in enumerate(every, start=1)]
    total = {**passes, "compared": sum(one["compared"] for one in every)}
    lines.append(("all", total, every[-1].get(f"{lost}_so_far")))
    columns = [
        *(("pass", "Pass", Of.TEXT), ("compared", "Compared", Of.COUNT), ("linked", "Linked", Of.COUNT)),
        *(("clerical", "Clerical", Of.COUNT), ("false", "False links", Of.COUNT), ("lost", title, Of.SHARE)),
    ]
    names = ("compared", "linked", "clerical")
    rows = [
        [name, *(one[key] for key in names), round(one["estimated_false_links"], 1), gone]
        for name, one, gone in lines
    ]
    return table("", columns, rows)


def _curve(result: Json) -> Iterator[tuple[str, str]]:
    if (curve := result["precision_recall"]) is None:
        return
    yield "average precision", f"{curve['average_precision']:.4f}"
    if (claim := result["most_probable_claim"]) is not None:
        sure = "" if claim["probability"] is None else f", probability {claim['probability']:.4f}"
        known = {1.0: "right", 0.0: "wrong"}
        right = known.get(claim["correct"], f"right with probability {claim['correct']:.2g}")
        yield "most probable claim", f"{claim['query']} is {claim['candidate']}{sure}: {right}"
