"""Risk before and after, unsafe combinations by table, and the riskiest combinations of the input."""

from __future__ import annotations

from typing import Any

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Paragraph, Section
from linkrisk.solver.documents.formats import count, significant
from linkrisk.solver.report.content.suppression.words import COUNTED, MEANS, Json, levels_taken, several
from linkrisk.solver.report.content.wording import table
from linkrisk.solver.run.percent import percent

_MANY = 1000.0
"""From here on sums of risk are written as counts."""


def risk(given: Json) -> Section:
    """Risk by the key variables under both meanings of a missing value."""
    lead = "How alike the records are in all key variables, and how many an intruder who knows these finds."
    found = given["before_and_after"]["risk"]
    records = given["records"]
    columns = [("measure", "Measure", Of.TEXT)]
    ends: list[Json] = []
    # Where nothing is missing in the input, what that means makes no difference.
    if found["own-category"]["before"] == found["matches-anything"]["before"]:
        columns.append(("before", "Before", Of.NUMBER))
        ends.append(found["own-category"]["before"])
        wanted = [("after", "After")]
    else:
        wanted = [("before", "Before"), ("after", "After")]
    for name, means in MEANS.items():
        for when, title in wanted:
            columns.append((_column(when, name), f"{title}, {means}", Of.NUMBER))
            ends.append(found[name][when])
    rows: list[list[Any]] = [
        [f"Records with fewer than {size} like them", *(_part(one["below"][size], records) for one in ends)]
        for size in ends[0]["below"]
    ]
    rows.append(["Fewest records alike: the k of all key variables", *(one["smallest"] for one in ends)])
    for key, words in _SUMS.items():
        if ends[0][key] is not None:
            rows.append([words, *(_part(one[key], records) for one in ends)])
    shown = table(f"All key variables together, {several(records, 'record')}", columns, rows)
    return Section("risk", "Risk before and after", lead, (shown, Paragraph(_meaning(ends[0]), quiet=True)))


def _meaning(found: Json) -> str:
    """What the numbers mean."""
    notes = (
        "A record counts as one of those like it. f is how many they are, and an intruder who knows that a "
        "person is in the file finds the record with probability 1/f."
    )
    if found["population"] is not None:
        notes += (
            " In the population it is the posterior mean of 1/F, F being how many of the population are "
            "alike (Benedetti and Franconi 1998)."
        )
    if found["household"] is not None:
        notes += (
            " A household is found with any of its members: 1 − ∏(1 − r) over their risks r, which is "
            "counted for each of its records."
        )
    return notes


_SUMS = {
    "expected": "Expected re-identifications: sum of 1/f",
    "population": "Expected re-identifications in the population: sum of posterior risks",
    "household": "Records expected in a household that is found",
}


def _part(value: float, records: int) -> str:
    """A number of records with its share of all."""
    text = count(round(value)) if value >= _MANY else significant(value)
    return f"{text} ({percent(value / records)})"


def unsafe(given: Json) -> Section:
    """Unsafe combinations of the input by table, and what counting the output finds."""
    tables = given["tables"]
    lead = (
        f"In the input {several(given['unsafe_combinations'], 'unsafe combination')} of "
        f"{several(len(tables), 'table')}; {several(given['minimal_unsafe_combinations'], 'minimal one')} of "
        f"{several(given['unsafe_records'], 'record')}."
    )
    columns = [
        ("table", "Key variables of the table", Of.TEXT),
        ("threshold", "Unsafe up to" if given["risk"] is None else "Unsafe above a risk of", Of.NUMBER),
        *(("combinations", "Unsafe combinations", Of.COUNT), ("records", "Records with one", Of.COUNT)),
    ]
    rows = [
        [" × ".join(one["variables"]), one["threshold"], one["combinations"], one["records"]]
        for one in tables
    ]
    records = given["records"]
    again = [[f"Output, {MEANS[name]}", _part(many, records)] for name, many in given["after"].items()]
    head = [("counted", "Counted", Of.TEXT), ("records", "Records with an unsafe combination", Of.NUMBER)]
    before = ["Input", _part(given["unsafe_records"], records)]
    blocks = (
        table("Before, by table", columns, rows),
        table("Before and after, all tables", head, [before, *again]),
        Paragraph(
            "A combination of values that occurs, but no more often than the threshold, is unsafe. "
            "Parts of tables are checked as well. What is minimal has no unsafe part.",
            quiet=True,
        ),
    )
    return Section("unsafe", "Unsafe combinations", lead, blocks)


def riskiest(given: Json) -> Section:
    """The riskiest combinations of keys in the input, and what became of them."""
    found = given["before_and_after"]["riskiest"]
    lines = found["combinations"]
    lead = (
        f"The {several(len(lines), 'combination')} of all key variables with most risk in the input, counted "
        f"{COUNTED[found['missing']].replace('it ', 'a missing value ')}, and what became of them."
    )
    columns = [
        ("combination", "Combination", Of.TEXT),
        ("risk", "Risk", Of.NUMBER),
        ("became", "What became of it", Of.TEXT),
        ("frequency", "Records alike", Of.COUNT),
        *((_column("after", name), f"Risk after, {means}", Of.NUMBER) for name, means in MEANS.items()),
    ]
    rows = [
        [
            _combination(one["values"]),
            *(one["risk"], _became(given, one), one["frequency"]),
            *(one["after"][name]["risk"] for name in MEANS),
        ]
        for one in lines
    ]
    more = found["as_risky"] - len(lines)
    text = "Of equal risk come first those whose values are rarest one by one."
    if more > 0:
        others = several(more, "other combination is", "other combinations are")
        text += f" {others} as risky as the last one here."
    blocks = (table("", columns, rows), Paragraph(text, quiet=True))
    return Section("riskiest", "The riskiest combinations", lead, blocks)


def _column(when: str, meaning: str) -> str:
    return f"{when}_{meaning.replace('-', '_')}"


def _combination(values: Json) -> str:
    return ", ".join(f"{name} = {'missing' if value is None else value}" for name, value in values.items())


def _became(given: Json, line: Json) -> str:
    """``town and sex suppressed``, with how many records where that is not all of them."""
    records = line["records"]
    said = [
        name if many == records else f"{name} in {many:,} of {records:,} records"
        for name, many in line["suppressed"].items()
    ]
    parts = [f"{name} at {level}" for name, level in levels_taken(given)]
    if said:
        parts.append(f"{', '.join(said)} suppressed")
    return "; ".join(parts) or "kept as it is"
