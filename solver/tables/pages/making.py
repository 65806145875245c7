"""Describes how a table was made: request, search, limits of the proof, and input."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from linkrisk.solver.documents.document import Block, Items, Number, Numbers, Section
from linkrisk.solver.documents.wording import count, duration, numbers, shares, significant, table, texts
from linkrisk.solver.run.number_format import NO_BOUND, gap, has_bound, percent, several, two_digits
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.words import attacked, cost, exactly, proven

_COSTS = {
    "value": "its value, at least 1",
    "unit": "one for each cell",
    "log": "logarithm of 1 + its value",
    "given": "as given in the column cost",
}
_METHODS = {
    "optimal": "optimal: all relations at once",
    "modular": "modular: one subtable after the other, then audited and repaired over all relations",
    "heuristic": "heuristic: one pattern for each sensitive cell, audited over all relations",
}
_WEIGHTS = {
    "value": "1 over its value, at least 1",
    "unit": "the same for all",
    "root": "1 over the root of its value",
    "given": "as given in the column cost",
}
_SCALES = {
    "largest": "the largest contributions of a cell",
    "mean": "the mean contribution of a cell",
    "range": "the range of the contributions of a cell",
    "sum": "the value of a cell",
}
_NO_RULE = "none: no cell is sensitive"
_AS_GIVEN = "as given: sensitive cells and their levels are columns of the input"


def made(given: Json, asked: Iterable[Number]) -> Section:
    """Build the section on request, search, input, and the perturbation table of counts."""
    noisy = "largest_noise" in given
    lead = f"What is needed to make this again{', with the records and their keys' if noisy else ''}."
    blocks: list[Block] = [Numbers("What the noise is like" if noisy else "What was asked", tuple(asked))]
    if "cost" in given and given["cost"] is None:
        blocks.append(Numbers("The audit", (Number("Time taken", duration(given.get("seconds"))),)))
    elif "cost" in given:
        blocks.append(Numbers("How it was found", tuple(_found_by(given))))
    what = "Microdata" if noisy or given["protection"] == "recoding" else "Cells"
    rows = [
        [what, PurePath(given["name"]).name],
        ["Size", f"{count(given['cells'])} cells, {count(given['relations'])} relations"],
        ["Made by", f"linkrisk {given['linkrisk']}"],
    ]
    blocks.append(table("", texts(what="Input", name="Name"), rows))
    if "design" in given:
        columns = numbers(i="Count", v="Noise") + shares(p="Probability")
        columns += numbers(p_int_lb="Keys from", p_int_ub="to")
        lines = list(zip(*(given["design"][name] for name, *_ in columns), strict=True))
        caption = "Perturbation table; larger counts have the noise of the last one"
        blocks.append(table(caption, columns, lines))
    return Section("making", "How it was made", lead, tuple(blocks))


def _found_by(given: Json) -> Iterator[Number]:
    """List cost, bound, status, method and limits of a search."""
    yield Number("Cost", cost(given["cost"]))
    left = ""
    if not proven(given):
        known = has_bound(given["cost"], given["bound"])
        left = f"gap {two_digits(gap(given['cost'], given['bound']))} %" if known else NO_BOUND
    yield Number("No other that does the same costs less than", cost(given["bound"]), left)
    ends = {"time": "the time was over", "user": "it was stopped", None: "the search went to its end"}
    state = "proven" if proven(given) else "not proven"
    yield Number("Status", f"{state}: {ends.get(given['limit'], str(given['limit']))}")
    yield from method(given)
    backend = given["backend"]
    yield Number("Backend", "exact: our own branch and cut" if backend == "exact" else str(backend))
    yield Number("Seed", str(given["seed"]))
    yield _time_limit(given)
    yield Number("Time taken", duration(given["seconds"]))


def _time_limit(given: Json, of: str = "") -> Number:
    limit = given.get("time_limit")
    return Number("Time limit", "none" if limit is None else f"{duration(limit)}{of}")


def method(given: Json) -> Iterator[Number]:
    """Describe the method for a large table, and what its repair added and removed."""
    if given.get("method"):
        yield _word("Method", given["method"], _METHODS)
    if "added_by_repair" not in given:
        return
    if given.get("subtables"):
        yield Number("Subtables", count(given["subtables"]))
    opened = f"{several(given['open_before_repair'], 'level')} were open over all relations at once"
    needed = several(given["removed_by_thinning"], "cell was", "cells were")
    said = f"{opened}; afterwards {needed} not needed any more."
    yield Number("Repair", f"{several(given['added_by_repair'], 'cell')} added", meaning=said)


# ---- the request


def _word(title: str, name: str, words: Json) -> Number:
    """Describe a choice in words, where there are any."""
    return Number(title, words.get(name, str(name)))


def _rule(given: Json, none: str) -> Number:
    """List the primary rules."""
    return Number("Rule", "; ".join(map(str, given.get("rules") or [])) or none)


def of_suppression(given: Json) -> Iterator[Number]:
    """List rules, levels, costs and attackers."""
    yield _rule(given, _AS_GIVEN)
    for words, name in (("below", "lower_level"), ("above", "upper_level"), ("sliding", "sliding_level")):
        found = [(getattr(one, name), abs(one.value)) for one in attacked(given) if one.sensitive]
        if levels := [(level, value) for level, value in found if level > 0]:
            yield Number(f"Protection levels, {words}", _range(levels))
    if given.get("cost_of"):
        yield _word("Cost of a cell", given["cost_of"], _COSTS)
    more = ""
    if known := given.get("insiders"):
        more = f"; {several(known['attackers'], 'insider')}, who know of their cells more"
    outsiders = "outsiders, who know all published cells, all relations and the bounds of every cell"
    yield Number("Attackers", outsiders + more)


def _range(found: list[tuple[float, float]]) -> str:
    """Describe levels and their median share of the values: ``3 to 40, in the median 12 % of the value``."""
    least, most = min(found)[0], max(found)[0]
    said = exactly(least) if least == most else f"{exactly(least)} to {exactly(most)}"
    parts = [level / value for level, value in found if value > 0]
    return f"{said}, in the median {percent(statistics.median(parts))} of the value" if parts else said


def of_rounding(given: Json) -> Iterator[Number]:
    """List base and kind."""
    yield Number("Base", str(given["base"]))
    kind = "relaxed: a cell may go further" if given["relaxed"] else "zero-restricted: each to a neighbour"
    yield Number("Kind", kind)


def of_adjustment(given: Json) -> Iterator[Number]:
    """List rules, weights, directions and the grid of adjusted values."""
    step = given["step"]
    on = "any numbers" if step is None else "whole numbers" if step == 1 else f"multiples of {step:.10g}"
    yield _rule(given, _AS_GIVEN)
    yield _word("Weight of a change", given["weight"], _WEIGHTS)
    yield Number("What is least", f"the sum of {'squares of ' if given['squares'] else ''}changes")
    yield Number("Sensitive cells go", "up only" if given["up_only"] else "up or down, as costs less")
    yield Number("Values", on)


def of_counts(given: Json) -> Iterator[Number]:
    """Describe the noise of counts."""
    yield from _noise(given)
    words = {0: "all may appear", 1: "1 never appears"}
    yield Number("Small counts", words.get(given["small"], f"1 to {given['small']} never appear"))


def _noise(given: Json) -> Iterator[Number]:
    yield Number("Largest noise", exactly(given["largest_noise"]))
    said = "Of the noise of large values, whose mean is 0."
    yield Number("Variance", significant(given["variance"]), meaning=said)
    keys, weight, drawn = given["keys"], given["weight"], f"drawn with the seed {given['seed']}"
    yield Number("Record keys", drawn if keys is None else f"the column {keys}")
    yield Number("Sampling weights", "none" if weight is None else f"the column {weight}")


def of_sums(given: Json) -> Iterator[Number]:
    """Describe the noise of sums."""
    yield Number("What is summed", str(given["response"]))
    yield from _noise(given)
    turned = "mixed bits" if given["digits"] is None else f"{given['digits']} digits turned round"
    yield Number("Keys of the next contributions", turned)
    yield _word("In proportion to", given["scale"], _SCALES)
    share = f"{percent(given['share'])} of it"
    if given["least"] is not None:
        share += f", falling to {percent(given['least'])} from {exactly(given['flex_point'])} on"
    yield Number("A noise of 1 is", share)
    if len(given["factors"]) > 1:
        yield Number("Of the largest, the second, ...", ", ".join(map(exactly, given["factors"])))
    if given["separation_point"]:
        yield Number("Values of their own noise", f"below {significant(given['separation_point'])}")
    if given["extra"]:
        yield Number("More noise of sensitive cells", exactly(given["extra"]))
    yield _rule(given, _NO_RULE)
    if given["decimals"] > given["decimals_of_sums"]:
        said = "They show which sums have no noise, and how it was made."
        sums = f"{given['decimals']}, where sums have {given['decimals_of_sums']}"
        yield Number("Decimals", sums, meaning=said)


def of_recoding(given: Json) -> Iterator[Number]:
    """List rules, columns and recodings."""
    yield _rule(given, _NO_RULE)
    yield Number("What is summed", str(given["response"] or "records are counted"))
    for name, words in (("holding", "Holdings"), ("weight", "Sampling weights")):
        if given[name] is not None:
            yield Number(words, f"the column {given[name]}")
    for one in given["recodings"]:
        yield Number("Recoding", str(one["how"]))
    if given["suppressed"]:
        yield Number("Cost of a cell", _COSTS["value"])
        yield _time_limit(given, " for each table")


# ---- limits of the proof


def limits(given: Json) -> Section:
    """Build the section on limits of the proof, and references."""
    kind, base = given["protection"], given.get("base", 0)
    named = _NAMED_INSIDERS if given.get("insiders") else _NO_INSIDERS
    items = tuple(one.format(base=base, near=base - 1, insiders=named) for one in _LIMITS[kind])
    references = (Items("References", _REFERENCES[kind]),) if kind in _REFERENCES else ()
    return Section("limits", "What it does not tell", "", (Items("", items), *references))


_NAMED_INSIDERS = "Attackers who know more than those named here find more."
_NO_INSIDERS = (
    "Whoever contributes to a cell knows more than an outsider, and so do several who work together."
)
_OF_NOISE = (
    "Many tables with common parts narrow a true value down: a total and all its parts have noise each.",
    "Cells do not add up. Where they have to, round or adjust the table instead.",
    "Largest noise, variance and keys are not to be published together; keys never.",
)
_LIMITS: dict[str, tuple[str, ...]] = {
    "suppression": (
        "{insiders}",
        "Tables with common cells are safe together only as one table: with the relations of all of them.",
        "Levels are met up to a hundred-thousandth of themselves, which is what optimisers in floating "
        "point can tell.",
        "The bounds of cells are taken for known to everybody. Whoever knows more, such as the values of "
        "last year, finds shorter intervals.",
    ),
    "rounding": (
        "Levels of sensitive cells are not looked at: who sees a multiple of {base} thinks of values up to "
        "{near} away, and whoever knows the other values of a relation thinks of fewer.",
        "A second rounding of the same table says more than one: publish one only.",
    ),
    "adjustment": (
        "Every cell is published, but none says whether its value is the true one: users have to be told "
        "that values were adjusted, and by how much at most.",
        "Whoever knows that the change is the least may find out more than from the table alone: parameters "
        "stay in the house.",
    ),
    "counts": _OF_NOISE,
    "sums": (
        *_OF_NOISE,
        "A cell of few records can have noise 0, but for sensitive cells with extra noise.",
    ),
    "recoding": (
        "What readers wanted to know of codes that are gone is no part of the cost, which counts suppressed "
        "values only.",
        "Two published tables of different codes can be subtracted from one another: link them, or publish "
        "one.",
    ),
}
_CELL_KEYS = (
    "J. K. Marley, V. L. Leaver, A method for confidentialising user-defined tables: statistical properties "
    "and a risk-utility analysis, 58th World Statistical Congress, 2011.",
    "S. Giessing, R. Tent, Concepts for generalising tools implementing the cell key method to the case of "
    "continuous variables, UNECE work session on statistical data confidentiality, 2019.",
)
_REFERENCES: dict[str, tuple[str, ...]] = {
    "suppression": (
        "M. Fischetti, J. J. Salazar, Models and algorithms for optimizing cell suppression in tabular data "
        "with linear constraints, Journal of the American Statistical Association 95, 2000, 916–928.",
        "A. Hundepool and others, Handbook on Statistical Disclosure Control, chapter 4: magnitude tabular "
        "data.",
        "J. Kelly, B. Golden, A. Assad, Cell suppression: disclosure protection for sensitive tabular data, "
        "Networks 22, 1992, 397–417.",
    ),
    "rounding": (
        "L. H. Cox, A constructive procedure for unbiased controlled rounding, Journal of the American "
        "Statistical Association 82, 1987, 520–524.",
        "J. J. Salazar, C. Bycroft, A. T. Staggemeier, Controlled rounding implementation, UNECE work "
        "session on statistical data confidentiality, 2005.",
    ),
    "adjustment": (
        "R. A. Dandekar, L. H. Cox, Synthetic tabular data: an alternative to complementary cell "
        "suppression, 2002.",
        "J. Castro, Minimum-distance controlled perturbation methods for large-scale tabular data "
        "protection, European Journal of Operational Research 171, 2006, 39–52.",
    ),
    "counts": _CELL_KEYS,
    "sums": _CELL_KEYS,
}
