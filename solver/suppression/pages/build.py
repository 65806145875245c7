"""From the JSON of `suppress` to the page of a suppression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import (
    Audience,
    Block,
    Choice,
    Document,
    Number,
    Numbers,
    Paragraph,
    Section,
    page,
)
from linkrisk.solver.documents.formats import count, duration, significant
from linkrisk.solver.documents.wording import joined, sentence, table
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.percent import percent
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.suppression.pages.outside import (
    for_external,
    outside_headline,
    outside_sections,
)
from linkrisk.solver.suppression.pages.words import (
    COUNTED,
    MEANS,
    PROBLEMS,
    headline,
    levels_taken,
)


@page("what `suppress --json` of this version wrote")
def suppression_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """What the report of a suppression says.

    Parameters
    ----------
    given : mapping
        The JSON of `suppress`.
    audience : Audience
        For external readers nothing is written but what `for_external` keeps.
    """
    given = in_words(given)
    if audience is Audience.EXTERNAL:
        kept = for_external(given)
        title = "Suppression in a protected file"
        head, sections = outside_headline(kept), outside_sections(kept)
    else:
        title = f"Suppression in {PurePath(given['name']).name}"
        head = headline(given)
        parts = (risk, unsafe, key_variables, frequencies, riskiest, how_it_was_made)
        sections = tuple(part(given) for part in parts)
    return Document(title, audience, head, sections, given["linkrisk"], about="suppression")


def in_words(given: Json) -> dict[str, Any]:
    """The JSON with what categories mean, and their codes beside, as far as file or schema have labels.

    Groups of a recoded variable have no labels: they are not what the codes of the input are.
    """
    labels: Labels = given.get("labels", {})
    compared = given["before_and_after"]
    riskiest = [
        {**one, "values": {name: _word(name, value, labels) for name, value in one["values"].items()}}
        for one in compared["riskiest"]["combinations"]
    ]
    variables = [
        {**one, "frequencies": [_line(one, line, labels) for line in one["frequencies"]]}
        for one in compared["variables"]
    ]
    found = {**compared["riskiest"], "combinations": riskiest}
    return {**given, "before_and_after": {**compared, "variables": variables, "riskiest": found}}


def _line(variable: Json, line: Json, labels: Labels) -> dict[str, Any]:
    if variable["level"] and line["before"] is None:
        return dict(line)
    return {**line, "category": _word(variable["name"], line["category"], labels)}


def _word(name: str, code: str | None, labels: Labels) -> str | None:
    return None if code is None else code_in_words(name, str(code), labels)


_MANY = 1000.0
"""From here on sums of risk are written as counts."""


def risk(given: Json) -> Section:
    """Risk by the key variables under both meanings of a missing value."""
    lead = "How alike the records are in all key variables, and how many an intruder who knows these finds."
    found = given["before_and_after"]["risk"]
    records = given["records"]
    # Where nothing is missing in the input, what that means makes no difference.
    alike = found["own-category"]["before"] == found["matches-anything"]["before"]
    columns = [("measure", "Measure", Of.TEXT), *([("before", "Before", Of.NUMBER)] if alike else [])]
    ends: list[Json] = [found["own-category"]["before"]] if alike else []
    for name, means in MEANS.items():
        for when in ("after",) if alike else ("before", "after"):
            columns.append((_column(when, name), f"{sentence(when)}, {means}", Of.NUMBER))
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
    rows = [{**one, "table": " × ".join(one["variables"])} for one in tables]
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


def key_variables(given: Json) -> Section:
    """Categories, missing values and suppressed ones by key variable; levels of recoding."""
    lines = given["before_and_after"]["variables"]
    how = "" if given["cost_of"] == "one" else f" ({given['cost_of']})"
    columns = [
        ("variable", "Key variable", Of.TEXT),
        *(("suppressed", "Suppressed", Of.COUNT), ("share", "Share of its values", Of.SHARE)),
        *(("categories", "Categories", Of.COUNT), ("missing_before", "Missing before", Of.COUNT)),
        ("cost", f"Cost of a value{how}", Of.NUMBER),
    ]
    rows = [
        {**one, "variable": f"{one['name']} (untouched)" if one["untouched"] else one["name"]}
        for one in lines
    ]
    blocks: list[Block] = [table("Values that were suppressed", columns, rows)]
    if given["levels"]:
        blocks.append(_recodings(given))
    if given["ghosts"]:
        ghosts = "; ".join(f"{', '.join(them)} with {name}" for name, them in given["ghosts"].items())
        blocks.append(Paragraph(f"Ghosts lose their value wherever their key variable does: {ghosts}."))
    if given.get("constant"):
        said = f"Not key variables, as they are the same for all records: {joined(given['constant'])}."
        blocks.append(Paragraph(said))
    touched = f"{sum(one['suppressed'] > 0 for one in lines)} of {several(len(lines), 'key variable')}"
    lead = f"{several(given['cells'], 'value')} of {touched} suppressed."
    return Section("key-variables", "Key variables", lead, tuple(blocks))


def _recodings(given: Json) -> Block:
    columns = [
        ("variable", "Key variable", Of.TEXT),
        ("level", "Level", Of.COUNT),
        *(("before", "Categories before", Of.COUNT), ("after", "Categories after", Of.COUNT)),
    ]
    rows = [
        {**one, "variable": one["name"], "before": one["categories"], "after": one["categories_after"]}
        for one in given["before_and_after"]["variables"]
    ]
    return table("Recodings: the level of each key variable, 0 as it was", columns, rows)


def frequencies(given: Json) -> Section:
    """Records by category of every key variable, before and after."""
    lines = given["before_and_after"]["variables"]
    options = []
    for one in lines:
        tables = _by_category(one["frequencies"], one["level"])
        missing = one["missing"]
        text = f"Missing: {several(missing['before'], 'record')} before, {missing['after']:,} after."
        options.append((one["name"], (*tables, Paragraph(text, quiet=True))))
    cut = sum(any(line["others"] for line in one["frequencies"]) for one in lines)
    lead = "Records by category of each key variable."
    if cut:
        lead += (
            f" Of {several(cut, 'variable')} with many categories the most frequent are listed, "
            "and all others are one line."
        )
    return Section("frequencies", "Frequencies", lead, (Choice("Key variable", tuple(options)),))


def _by_category(lines: Sequence[Json], level: int) -> tuple[Block, ...]:
    """Records by category, before and after; of a recoded variable a table of each."""
    of = ("category", "Category", Of.TEXT)
    named = [
        (several(one["others"], "other") if one["category"] is None else str(one["category"]), one)
        for one in lines
    ]
    if not level:
        whens = (("before", "Before", Of.COUNT), ("after", "After", Of.COUNT), ("lost", "Lost", Of.COUNT))
        rows = [[name, one["before"], one["after"], one["before"] - one["after"]] for name, one in named]
        return (table("Records by category", [of, *whens], rows),)
    return tuple(
        table(
            f"Records by category {said}",
            [of, (when, "Records", Of.COUNT)],
            [[name, one[when]] for name, one in named if one[when] is not None],
        )
        for when, said in (("before", "before"), ("after", f"after, at level {level}"))
    )


def how_it_was_made(given: Json) -> Section:
    """Everything that is needed to make it again."""
    columns = [("name", "Input", Of.TEXT), ("sha256", "SHA-256", Of.TEXT)]
    blocks = (
        Numbers("What was asked", tuple(_asked(given))),
        Numbers("How it was found", tuple(_found(given))),
        table("", columns, [[given["name"], given["sha256"] or "no file"]]),
    )
    return Section("making", "How it was made", "Everything that is needed to make this again.", blocks)


def _asked(given: Json) -> Iterator[Number]:
    yield Number("Problem", sentence(PROBLEMS[given["problem"]]))
    keys = [one["name"] for one in given["before_and_after"]["variables"]]
    yield Number("Key variables", joined(keys, most=len(keys)))
    yield Number("Unsafe", _unsafe(given))
    yield Number("Missing values of the input", f"{given['missing']}: {given['missing_means']}")
    what = "one" if given["cost_of"] == "one" else f"{given['cost_of']} of the variable"
    yield Number("Cost", f"{what} for each value")
    if given["cost_of"] == "priority":
        found = given["before_and_after"]["variables"]
        yield Number("Priorities", ", ".join(f"{one['name']} {one['cost']:g}" for one in found))
    yield Number("Untouched", joined(given["untouched"]) or "none")
    ghosts = [f"{ghost} with {name}" for name, them in given["ghosts"].items() for ghost in them]
    yield Number("Ghosts", joined(ghosts) or "none")
    shared = f"{given['household']}; its key variables: {joined(given['household_keys'])}"
    yield Number("Household", "none" if given["household"] is None else shared)
    yield Number("Sampling weight", given["weight"] or "none")


def _unsafe(given: Json) -> str:
    """What is unsafe, in words."""
    if given["k"] is not None:
        whom = "of the population" if given["weight"] else "records"
        return f"fewer than k = {given['k']} {whom} with the same values of all key variables"
    if given["risk"] is not None:
        return f"more individual risk than {given['risk']:g}, of the values of all key variables"
    tables, limits = given["tables"], sorted({one["threshold"] for one in given["tables"]})
    often = joined([count(limit) for limit in limits])
    what = " in the population" if given["weight"] else ""
    largest = max(len(one["variables"]) for one in tables)
    return (
        f"what occurs no more often{what} than {often}{', by table' if len(limits) > 1 else ''}, in "
        f"{several(len(tables), 'table')} of up to {several(largest, 'key variable')}"
    )


def _found(given: Json) -> Iterator[Number]:
    yield Number("Values suppressed", count(given["cells"]))
    yield Number("Cost", count(round(given["cost"], 6)))
    if not given["answer_given"]:
        yield Number("No other answer costs less than", count(round(given["bound"], 6)))
    yield Number("Proof", sentence(given["proof"]))
    ended = {"time": ", the time was over", "user": ", it was stopped"}.get(given["limit"] or "", "")
    yield Number("Status", given["status"] + ended)
    if given["problem"] != "cover":
        yield Number("Backend", given["backend"])
    without = "cover leaves nothing to chance" if given["problem"] == "cover" else ""
    yield Number("Seed", str(given["seed"]), meaning=without)
    limit = given["time_limit"]
    yield Number("Time limit", "none" if limit is None else duration(limit))
    yield Number("Time taken", duration(given["seconds"]))
    yield Number("Version", f"linkrisk {given['linkrisk']}")
