"""Pages of tables changed by rounding, adjustment or noise, and of tables of coarser codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from linkrisk.solver.documents.document import Block, Headline, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.wording import (
    count,
    counts,
    number_text,
    numbers,
    of_all,
    shares,
    table,
    texts,
)
from linkrisk.solver.run.number_format import percent, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.shown import by_variable
from linkrisk.solver.tables.pages.words import (
    MOST_LISTED,
    are,
    cost,
    cut,
    ended,
    exactly,
    listing,
    moved,
    proof,
    proven,
)

_DISTANCES = {"absolute": "By how much", "relative": "Of the value", "roots": "Between the square roots"}
_QUANTILES = {
    "mean": "On average",
    "q50": "Half of them up to",
    "q90": "90 % of them up to",
    "q99": "99 % of them up to",
    "max": "At most",
}


def _searched(given: Json, said: str, worst: str, reasons: Iterable[str]) -> Headline:
    """Build the headline of a change of least cost."""
    return Headline("below" if proven(given) else "open", said, worst, (*reasons, *ended(given)))


def rounding_headline(given: Json) -> Headline:
    """Summarise the sizes of changes, and the proof of optimality."""
    said = f"{of_all(given['changed'], given['cells'])} cells changed, by {cost(given['cost'])} in all"
    if not given["changed"]:
        said = "No cell had to change"
    least = proof(given, "no rounding of this kind changes less than")
    counted = "every relation adds up exactly, counted in whole numbers"
    worst = f"Every cell is a multiple of {given['base']}, and {counted}."
    further, near = "may go further than to the next multiple", "goes to a neighbouring multiple"
    kind = further if given["relaxed"] else near
    reasons = [f"Each cell {kind}; the largest change is {exactly(given['largest_change'])}."]
    if given["relaxed"] and not given["asked_relaxed"]:
        reasons.append("No rounding to neighbouring multiples was found in time.")
    return _searched(given, f"{said}: {least}.", worst, reasons)


def adjustment_headline(given: Json) -> Headline:
    """Summarise the distances of sensitive cells, the cost, and its proof."""
    level = "its level" if given["sensitive"] == 1 else "their level"
    costs = f"the sum of weighted {'squares of ' if given['squares'] else ''}changes"
    said = f"{are(given['sensitive'], 'sensitive cell')} at least {level} away from the value, at a cost of "
    said += f"{cost(given['cost'])}, {costs}"
    least = proof(given, "no adjustment costs less than")
    if not given["sensitive"]:
        said, least = "No cell is sensitive", "nothing had to change"
    reasons = (
        f"{of_all(given['changed'], given['cells'])} cells changed; the largest change is "
        f"{exactly(given['largest_change'])}.",
        f"A cell changed by {percent(given['mean_relative_change'])} of its value in the mean, by "
        f"{percent(given['median_relative_change'])} in the median.",
    )
    worst = "Every relation adds up, and every bound and level holds: counted again after the search."
    return _searched(given, f"{said}: {least}.", worst, reasons)


def sensitive_numbers(given: Json) -> Numbers:
    """Count the directions of sensitive cells, and correct guesses of readers who know the rule."""
    up, sensitive = given["up"], given["sensitive"]
    way = f"{several(up, 'cell')} went up, {several(sensitive - up, 'cell')} down"
    lines = [Number("Sensitive cells", count(sensitive), meaning=way if sensitive else "")]
    if "guessed" in given and sensitive:
        who = "Readers who know the rule and how counts are adjusted find these from what is published."
        of = f"{count(given['guessed'])} of {several(sensitive, 'sensitive count')}"
        lines.append(Number("Guessed", of, meaning=who))
    return Numbers("", tuple(lines))


def moved_cells(given: Json) -> Section:
    """Build the section on sensitive cells before and after."""
    columns = texts(cell="Cell") + numbers(value="Value", became="Published as", level="Had to move by")
    columns += numbers(moved="Moved by") + shares(share="Of its value")
    lines = moved(given)
    text = "The first {:,} are listed, those that moved by the largest share of their value."
    blocks = (sensitive_numbers(given), listing("", columns, lines), *cut(len(lines), text))
    lead = "Values of sensitive cells before and after, and how far each had to move."
    return Section("sensitive", "Sensitive cells", lead, blocks)


def changes(given: Json) -> Section:
    """Build the section on sizes of changes, for counts beside their expected shares."""
    kind, found = given["protection"], given["table"]["changes"]
    title, lead, columns = "Changes", "How many cells changed by how much.", numbers(by="Change")
    notes: tuple[Block, ...] = ()
    columns += counts(cells="Cells") + shares(share="Share")
    if kind == "counts":
        title, columns = "Noise", [*numbers(by="Noise"), *columns[1:], *shares(expected="Expected share")]
        lead = "How many cells have which noise, and which share of these counts was to have it."
        records = "Noise is in records; a weighted count moves by it times the mean weight of its cell."
        notes = (Paragraph(records, quiet=True),) if given["weight"] else ()
    elif kind != "rounding":
        columns[:1] = texts(by="Change")
        lead = "How many cells changed by up to which share of their value."
        found = [[_class(last, end), many] for (last, _), (end, many) in pairwise([(0.0, 0), *found])]
    lines = [[by, many, many / given["cells"], *more] for by, many, *more in found]
    return Section("changes", title, lead, (table("", columns, lines[:MOST_LISTED]), *notes))


def _class(last: float, end: float | None) -> str:
    """Name a class of changes by their share of the value; the last one has no end."""
    if end is None:
        return f"more than {percent(last)} of the value"
    return f"up to {percent(end)} of the value" if end else "none"


def noise_headline(given: Json) -> Headline:
    """Summarise how many cells have noise, and how much, without any proof."""
    found = given["changes"]
    said = f"{of_all(given['changed'], given['cells'])} cells have noise other than 0"
    far = f"{number_text(found['absolute']['mean'])} on average, {exactly(found['absolute']['max'])} at most"
    worst = (
        "Nothing is proven here: whoever knows the perturbation table knows how likely each true value is. "
        "The same records have the same noise in every table."
    )
    reasons = [
        f"On average a cell changed by {percent(found['relative']['mean'])} of its value.",
        f"{of_all(given['not_adding_up'], given['relations'])} sums do not add up any more.",
    ]
    if given["protection"] == "counts":
        reasons.append(f"{several(found['false_zeros'], 'count')} became 0; counts of 0 have stayed.")
    elif given["sensitive"]:
        reasons.append(f"{are(given['sensitive'], 'cell')} sensitive by the rules.")
    return Headline("unknown", f"{said}: by {far}.", worst, tuple(reasons))


def utility(given: Json) -> Section:
    """Build the section on distances between values before and after."""
    columns = texts(cells="Cells")
    for name, title in _DISTANCES.items():
        columns += (
            (shares if name == "relative" else numbers)(**{name: title}) if name in given["changes"] else []
        )
    rows = [
        [words, *(given["changes"][name][one] for name, *_ in columns[1:])]
        for one, words in _QUANTILES.items()
    ]
    lead = "What users lose: distances between the values before and after, of all cells."
    return Section("utility", "Distances", lead, (table("", columns, rows),))


def recoding_headline(given: Json) -> Headline:
    """Compare sensitive cells and costs of suppression before and after recoding."""
    first, last = given["effects"][0], given["effects"][-1]
    before = f"{of_all(first['sensitive'], first['cells'])} cells are sensitive"
    verdict = f"{before}; nothing is recoded."
    if given["recodings"]:
        after = f"{of_all(last['sensitive'], last['cells'])} cells are sensitive"
        if not last["sensitive"]:
            after = f"None of {several(last['cells'], 'cell')} is sensitive"
        verdict = f"{after} with coarser codes; {before} as it is."
    return Headline("unknown", verdict, _costs(first, last) if given["suppressed"] else "", _best(given))


def _costs(first: Json, last: Json) -> str:
    """Compare the costs of suppression before and after."""
    said = [
        f"is not possible {when}" if one["cost"] is None else f"costs {cost(one['cost'])} {when}"
        for one, when in ((last, "with coarser codes"), (first, "as it is"))
    ]
    return f"Suppression {said[0]}; it {said[1]}." if last is not first else f"Suppression {said[1]}."


def _best(given: Json) -> tuple[str, ...]:
    """Name the single recoding that leaves fewest sensitive cells."""
    alone = [one for one in given["effects"][1:] if one["recoding"] != "all together"]
    if len(alone) < 2:
        return ()
    best = min(alone, key=lambda one: one["sensitive"])
    left = several(best["sensitive"], "sensitive cell")
    return (f"Of {len(alone)} recodings by themselves, {best['recoding']} leaves fewest: {left}.",)


def effects(given: Json) -> Section:
    """Build the section on the table before recoding, with each recoding alone, and with all."""
    columns = texts(recoding="Recoding") + counts(cells="Cells", empty="Empty", sensitive="Sensitive")
    columns += shares(share="Share sensitive") + counts(relations="Relations")
    notes: tuple[Block, ...] = ()
    if given["suppressed"]:
        columns += counts(secondary="Suppressed with them") + numbers(cost="Cost", bound="At least")
        if any(one["cost"] is None for one in given["effects"]):
            words = "Without a cost: a cell cannot be protected by any pattern."
            notes = (Paragraph(words, quiet=True),)
    lines = [{**one, "share": one["sensitive"] / one["cells"]} for one in given["effects"]]
    lead = "The table as it is, with each recoding by itself, and with all."
    return Section("effects", "What recodings do", lead, (listing("", columns, lines), *notes))


def codes(given: Json) -> Iterator[Section]:
    """Build the section on merged codes."""
    columns = texts(code="Code", becomes="Becomes")
    blocks = by_variable(
        (
            f"{one['variable']} ({one['before']} codes, {one['after']} afterwards)",
            table(f"Codes of {one['variable']}", columns, one["codes"][:MOST_LISTED]),
        )
        for one in given["recodings"]
    )
    if blocks:
        lead = "Codes that have become others; those that have stayed are left out."
        yield Section("codes", "Codes", lead, blocks)
