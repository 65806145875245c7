"""Whether the JSON of a protected table contradicts itself, as one may that was edited or cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.words import SHORT, Attacked, attacked, exactly, moved

_ROUNDING = 1e-6
"""Ends of intervals come from programs in floating point."""


def check(given: Json) -> None:
    """Refuse results that contradict themselves.

    Raises
    ------
    UsageError
        With the first contradiction.
    """
    for fault in _FAULTS[given["protection"]](given):
        raise UsageError(f"these results contradict themselves, {fault}: give the JSON as it was written")


def _of_suppression(given: Json) -> Iterator[str]:
    suppressed, sensitive, named = given["suppressed"], given["sensitive"], len(given["pattern"])
    counted = {name: one["cells"] for name, one in given["table"]["statuses"].items()}
    if sum(counted.values()) != given["cells"]:
        yield f"they have {given['cells']:,} cells and {sum(counted.values()):,} statuses"
    if counted["u"] + counted["m"] != suppressed or counted["u"] != sensitive:
        by_status = f"by status {counted['u']:,} and {counted['m']:,} with them"
        yield f"of {suppressed:,} suppressed cells {sensitive:,} are sensitive, and {by_status}"
    if named != suppressed or len(given["table"]["intervals"]["cell"]) != suppressed:
        yield f"{suppressed:,} cells are suppressed and {named:,} are named"
    short, undecided = set(given["under_protected"]), set(given["undecided"])
    others = [given[name]["protected"] for name in ("insiders", "respondents", "exact") if given.get(name)]
    if given["protected"] != (not short and not undecided and all(others)):
        yield "the verdict is not that of the cells that are short of a level"
    yield from _of_search(given)
    for one in attacked(given):
        yield from _of_cell(one, one.number in short)
        if one.undecided != (one.number in undecided):
            yield f"whether {one.cell:.80} was decided is said in two ways"
    if given.get("respondents"):
        yield from _of_suppression(given["respondents"])
        if given["respondents"]["pattern"] != given["pattern"]:
            yield "values and numbers of respondents are suppressed in other cells"


def _of_search(given: Json) -> Iterator[str]:
    cost, bound = given["cost"], given["bound"]
    if cost is None:
        return
    if not 0.0 <= bound <= cost:
        yield f"the cost is {cost:g} and none is less than {bound:g}"
    least = bound >= cost * (1.0 - _ROUNDING) if given["status"] == "optimal" else bound < cost
    if not least:
        yield f"the status is {given['status']!s:.20}, the cost {cost:g} and its bound {bound:g}"


def _of_cell(one: Attacked, listed: bool) -> Iterator[str]:
    slack = _ROUNDING * max(1.0, abs(one.value), abs(one.low), abs(one.high))
    if not one.low - slack <= one.value <= one.high + slack:
        yield f"the value of {one.cell:.80} is outside of its interval, {one.interval}"
    found = f"and its interval, {one.interval}"
    if one.audited and not listed and one.reached < 1.0 - 2.0 * SHORT:
        around = f"is short of a level around {exactly(one.value)}"
        yield f"{one.cell:.80} counts as protected, {found}, {around}"
    if listed and one.reached >= 1.0 + SHORT:
        yield f"{one.cell:.80} counts as not protected, {found}, reaches its levels"


def _of_changes(given: Json) -> Iterator[str]:
    """What is said of how many cells changed by how much."""
    changes, cells = given["table"]["changes"], given["cells"]
    counted = sum(many for _, many, *_ in changes)
    if counted != cells:
        yield f"they have {cells:,} cells, and of {counted:,} is said by how much they changed"
    changed = sum(many for by, many, *_ in changes if by != 0)
    if changed != given["changed"]:
        yield f"{given['changed']:,} cells changed, and by how much is said of {changed:,}"


def _of_rounding(given: Json) -> Iterator[str]:
    yield from _of_search(given)
    yield from _of_changes(given)
    far = max((abs(by) for by, _ in given["table"]["changes"]), default=0.0)
    if abs(far - given["largest_change"]) > _ROUNDING * max(1.0, far):
        yield f"the largest change is {given['largest_change']:g}, and one cell changed by {far:g}"
    base = given["base"]
    if any(abs(value / base - round(value / base)) > _ROUNDING for value in given["rounded"]):
        yield f"a rounded value is no multiple of {base}"


def _of_adjustment(given: Json) -> Iterator[str]:
    yield from _of_search(given)
    yield from _of_changes(given)
    for one in moved(given):
        if one["short"]:
            yield f"{one['cell']:.80} is nearer to its value, {exactly(one['value'])}, than its level"


def _of_noise(given: Json) -> Iterator[str]:
    yield from _of_changes(given)
    if given["not_adding_up"] > given["relations"]:
        yield f"of {given['relations']:,} relations {given['not_adding_up']:,} do not add up"
    if given["protection"] == "counts":
        far = max((abs(by) for by, many, _ in given["table"]["changes"] if many), default=0)
        if far > given["largest_noise"]:
            yield f"the largest noise is {given['largest_noise']:g}, and one cell has {far:g}"


def _of_recoding(given: Json) -> Iterator[str]:
    for one in given["effects"]:
        name = f"{one['recoding']!s:.80}"
        if one["sensitive"] > one["cells"]:
            yield f"{name} has {one['cells']:,} cells, of which {one['sensitive']:,} are sensitive"
        if one["cost"] is not None and not 0.0 <= one["bound"] <= one["cost"]:
            yield f"the cost of {name} is {one['cost']:g}, and none is less than {one['bound']:g}"
    last = given["effects"][-1 if given["recodings"] else 0]
    if last["cells"] != given["cells"]:
        yield f"the table has {given['cells']:,} cells, and {last['cells']:,} with all recodings"


_FAULTS: dict[str, Callable[[Json], Iterator[str]]] = {
    "suppression": _of_suppression,
    "rounding": _of_rounding,
    "adjustment": _of_adjustment,
    "counts": _of_noise,
    "sums": _of_noise,
    "recoding": _of_recoding,
}
