"""Builds the page of a suppression from its JSON, for external readers from its public part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import PurePath
from typing import Any

from linkrisk.datasets.microdata.names import Labels, code_in_words
from linkrisk.solver.documents.document import (
    Audience,
    Block,
    Choice,
    Document,
    Numbers,
    Paragraph,
    Section,
    page,
)
from linkrisk.solver.documents.short import pairs
from linkrisk.solver.documents.wording import (
    count,
    counts,
    duration,
    joined,
    numbers,
    sentence,
    shares,
    significant,
    table,
    texts,
)
from linkrisk.solver.run.number_format import percent, several
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.microdata import Suppression, Variable
from linkrisk.solver.suppression.short import (
    COUNTED,
    MEANS,
    PROBLEMS,
    UNSAFE,
    constant,
    ghosts,
    headline,
    levels_taken,
    totals,
)

BASE = 10
"""Counts are rounded to multiples of it; lower ones are reported as lower."""


def for_external(given: Json) -> dict[str, Any]:
    """Keep of the JSON of `suppress` only what its schema marks as public.

    Left out are: the riskiest combinations, which lead to records; risk, unsafe combinations and
    frequencies of the input, as the difference to the output shows which categories lost values; categories
    with fewer than 10 records; costs, priorities, seed, backend and time, with which suppression can be run
    again to see what it takes; name and digest of the input, which confirm a guess at it; and the columns
    of households, weights and ghosts. Counts are rounded to tens, as texts: ``about 120``, ``fewer than
    10``.
    """
    compared = given["before_and_after"]
    return {
        **outside(schema_of(Suppression), given),
        "cells": rounded(given["cells"]),
        "tables": len(given["tables"]),
        "identifiers": len(given["identifiers"]),
        "levels": {one["name"]: one["level"] for one in compared["variables"] if one["level"]},
        "variables": [_variable(one) for one in compared["variables"]],
        "reached": {name: compared["risk"][name]["after"]["smallest"] for name in MEANS},
    }


def rounded(many: int) -> str:
    """Round a count so that it discloses nothing about single records."""
    return f"fewer than {BASE}" if many < BASE else f"about {BASE * round(many / BASE):,}"


def _variable(one: Json) -> dict[str, Any]:
    lines = [line for line in one["frequencies"] if line["after"] is not None]
    shown = [line for line in lines if line["category"] is not None and line["after"] >= BASE]
    # The order of the input would say more of it than rounded counts do.
    shown.sort(key=lambda line: (-round(line["after"] / BASE), line["category"]))
    others = sum(line["after"] for line in lines) - sum(line["after"] for line in shown)
    found = [[str(line["category"]), rounded(line["after"])] for line in shown]
    if len(shown) < len(lines):
        found.append(["all others", rounded(others)])
    found.append(["missing", rounded(one["missing"]["after"])])
    return {
        **outside(schema_of(Variable), one),
        "name": one["name"],
        "suppressed": rounded(one["suppressed"]),
        "categories": found,
    }


@page("what `suppress --json` of this version wrote")
def suppression_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """The page of the JSON of `suppress`; for external readers only of what `for_external` keeps."""
    version, given = given["linkrisk"], in_words(given)
    if audience is Audience.EXTERNAL:
        given, title = for_external(given), "Suppression in a protected file"
        parts: tuple[Callable[[Json], Section], ...] = (_done, _suppressed, _categories)
    else:
        title = f"Suppression in {PurePath(given['name']).name}"
        parts = (risk, unsafe, key_variables, frequencies, riskiest, how_it_was_made)
    sections = tuple(part(given) for part in parts)
    return Document(title, audience, headline(given), sections, version, about="suppression")


def in_words(given: Json) -> dict[str, Any]:
    """JSON with the labels of categories, beside their codes, as far as file or schema have some.

    Groups of a recoded variable have none: they are not the codes of the input.
    """
    labels: Labels = given.get("labels", {})
    compared = deepcopy(given["before_and_after"])

    def word(name: str, code: str | None) -> str | None:
        return None if code is None else code_in_words(name, str(code), labels)

    for one in compared["riskiest"]["combinations"]:
        values = one["values"].items()
        one["values"] = {name: "missing" if code is None else word(name, code) for name, code in values}
    for variable in compared["variables"]:
        for line in variable["frequencies"]:
            if not variable["level"] or line["before"] is not None:
                line["category"] = word(variable["name"], line["category"])
    return {**given, "before_and_after": compared}


# ---- inside: risk


_MANY = 1000.0
"""From here on sums of risk are written as counts."""

_SUMS = {
    "expected": (
        "Expected re-identifications: sum of 1/f",
        "A record counts as one of those like it. f is how many they are, and an intruder who knows that a "
        "person is in the file finds the record with probability 1/f.",
    ),
    "population": (
        "Expected re-identifications in the population: sum of posterior risks",
        "In the population it is the posterior mean of 1/F, F being how many of the population are alike "
        "(Benedetti and Franconi 1998).",
    ),
    "household": (
        "Records expected in a household that is found",
        "A household is found with any of its members: 1 − ∏(1 − r) over their risks r, which is counted for "
        "each of its records.",
    ),
}
"""What each is called, and how it is read."""


def risk(given: Json) -> Section:
    """Section: risk by the key variables under both meanings of a missing value."""
    lead = "How alike the records are in all key variables, and how many an intruder who knows these finds."
    found, records = given["before_and_after"]["risk"], given["records"]
    first = found["own-category"]["before"]
    # Where nothing is missing in the input, what that means makes no difference.
    alike = first == found["matches-anything"]["before"]
    named, ends = ({"before": "Before"}, [first]) if alike else ({}, [])
    for name, means in MEANS.items():
        for when in ("after",) if alike else ("before", "after"):
            named[_column(when, name)] = f"{sentence(when)}, {means}"
            ends.append(found[name][when])
    told = [_row(end, records) for end in ends]
    rows = [[what, *(one[what] for one in told)] for what in told[0]]
    columns = [*texts(measure="Measure"), *numbers(**named)]
    shown = table(f"All key variables together, {several(records, 'record')}", columns, rows)
    notes = " ".join(how for key, (_, how) in _SUMS.items() if first[key] is not None)
    return Section("risk", "Risk before and after", lead, (shown, Paragraph(notes, quiet=True)))


def _row(found: Json, records: int) -> dict[str, Any]:
    """Rows of one count of the records, by measure."""
    below = {f"Records with fewer than {k} like them": many for k, many in found["below"].items()}
    sums = {what: found[key] for key, (what, _) in _SUMS.items() if found[key] is not None}
    return {
        **{what: _part(many, records) for what, many in below.items()},
        "Fewest records alike: the k of all key variables": found["smallest"],
        **{what: _part(many, records) for what, many in sums.items()},
    }


def _column(when: str, meaning: str) -> str:
    return f"{when}_{meaning.replace('-', '_')}"


def _part(value: float, records: int) -> str:
    """A number of records with its share of all."""
    text = count(round(value)) if value >= _MANY else significant(value)
    return f"{text} ({percent(value / records)})"


def unsafe(given: Json) -> Section:
    """Section: unsafe combinations of the input by table, and of the output."""
    tables, records = given["tables"], given["records"]
    lead = f"Unsafe in the input, by {several(len(tables), 'table')}: {totals(given, UNSAFE)}."
    columns = [
        *texts(table="Key variables of the table"),
        *numbers(threshold="Unsafe up to" if given["risk"] is None else "Unsafe above a risk of"),
        *counts(combinations="Unsafe combinations", records="Records with one"),
    ]
    rows = [{**one, "table": " × ".join(one["variables"])} for one in tables]
    found = {"Input": given["unsafe_records"]}
    found |= {f"Output, {MEANS[name]}": many for name, many in given["after"].items()}
    head = [*texts(counted="Counted"), *numbers(records="Records with an unsafe combination")]
    again = [[name, _part(many, records)] for name, many in found.items()]
    what = (
        "A combination of values that occurs, but no more often than the threshold, is unsafe. "
        "Parts of tables are checked as well. What is minimal has no unsafe part."
    )
    blocks = (table("Before, by table", columns, rows), table("Before and after, all tables", head, again))
    return Section("unsafe", "Unsafe combinations", lead, (*blocks, Paragraph(what, quiet=True)))


def riskiest(given: Json) -> Section:
    """Section: the riskiest combinations of keys in the input, and what became of them."""
    found = given["before_and_after"]["riskiest"]
    lines = found["combinations"]
    lead = (
        f"The {several(len(lines), 'combination')} of all key variables with most risk in the input, counted "
        f"{COUNTED[found['missing']].replace('it ', 'a missing value ')}, and what became of them."
    )
    after = {_column("after", name): f"Risk after, {means}" for name, means in MEANS.items()}
    columns = [
        *(*texts(combination="Combination"), *numbers(risk="Risk"), *texts(became="What became of it")),
        *(*counts(frequency="Records alike"), *numbers(**after)),
    ]
    rows = [
        [
            ", ".join(f"{name} = {code}" for name, code in one["values"].items()),
            *(one["risk"], _became(given, one), one["frequency"]),
            *(one["after"][name]["risk"] for name in MEANS),
        ]
        for one in lines
    ]
    text = "Of equal risk come first those whose values are rarest one by one."
    if (more := found["as_risky"] - len(lines)) > 0:
        others = several(more, "other combination is", "other combinations are")
        text += f" {others} as risky as the last one here."
    blocks = (table("", columns, rows), Paragraph(text, quiet=True))
    return Section("riskiest", "The riskiest combinations", lead, blocks)


def _became(given: Json, line: Json) -> str:
    """``town and sex suppressed``, with the number of records if that is not all of them."""
    records = line["records"]
    gone = ", ".join(
        name if many == records else f"{name} in {many:,} of {records:,} records"
        for name, many in line["suppressed"].items()
    )
    parts = [f"{name} at {level}" for name, level in levels_taken(given)]
    return "; ".join([*parts, *([f"{gone} suppressed"] if gone else [])]) or "kept as it is"


# ---- inside: key variables


def key_variables(given: Json) -> Section:
    """Section: categories, missing and suppressed values by key variable; levels of recoding."""
    lines = given["before_and_after"]["variables"]
    how = "" if given["cost_of"] == "one" else f" ({given['cost_of']})"
    columns = [
        *(*texts(variable="Key variable"), *counts(suppressed="Suppressed")),
        *(*shares(share="Share of its values"), *counts(categories="Categories")),
        *(*counts(missing_before="Missing before"), *numbers(cost=f"Cost of a value{how}")),
    ]
    rows = [{**one, "variable": f"{one['name']}{' (untouched)' * one['untouched']}"} for one in lines]
    blocks: list[Block] = [table("Values that were suppressed", columns, rows)]
    if given["levels"]:
        levels = [*texts(name="Key variable"), *counts(level="Level")]
        levels += counts(categories="Categories before", categories_after="Categories after")
        blocks.append(table("Recodings: the level of each key variable, 0 as it was", levels, lines))
    if said := ghosts(given):
        blocks.append(Paragraph(f"Ghosts lose their value wherever their key variable does: {said}."))
    blocks += [Paragraph(f"{said}.") for said in constant(given)]
    touched = f"{sum(one['suppressed'] > 0 for one in lines)} of {several(len(lines), 'key variable')}"
    return _of_variables(f"{several(given['cells'], 'value')} of {touched} suppressed.", *blocks)


def _of_variables(lead: str, *blocks: Block) -> Section:
    return Section("key-variables", "Key variables", lead, blocks)


def frequencies(given: Json) -> Section:
    """Section: records by category of every key variable, before and after."""
    lines = given["before_and_after"]["variables"]
    options = {}
    for one in lines:
        before, after = (one["missing"][when] for when in ("before", "after"))
        missing = f"Missing: {several(before, 'record')} before, {after:,} after."
        options[one["name"]] = (*_by_category(one), Paragraph(missing, quiet=True))
    lead = "Records by category of each key variable."
    if cut := sum(any(line["others"] for line in one["frequencies"]) for one in lines):
        lead += (
            f" Of {several(cut, 'variable')} with many categories the most frequent are listed, "
            "and all others are one line."
        )
    return _of_categories(lead, options)


def _of_categories(lead: str, options: Mapping[str, tuple[Block, ...]]) -> Section:
    return Section("frequencies", "Frequencies", lead, (Choice("Key variable", tuple(options.items())),))


def _by_category(variable: Json) -> Iterator[Block]:
    """Table of records by category; of a recoded variable one before and one after."""
    level, of = variable["level"], texts(category="Category")
    named = [
        {**one, "category": several(one["others"], "other") if one["category"] is None else one["category"]}
        for one in variable["frequencies"]
    ]
    if not level:
        rows = [{**one, "lost": one["before"] - one["after"]} for one in named]
        columns = [*of, *counts(before="Before", after="After", lost="Lost")]
        yield table("Records by category", columns, rows)
        return
    for when, said in (("before", "before"), ("after", f"after, at level {level}")):
        rows = [one for one in named if one[when] is not None]
        yield table(f"Records by category {said}", [*of, *counts(**{when: "Records"})], rows)


# ---- inside: how it was made


def how_it_was_made(given: Json) -> Section:
    """Section: everything that is needed to make it again."""
    files = table("", texts(name="Input", sha256="SHA-256"), [[given["name"], given["sha256"] or "no file"]])
    blocks = (_asked(given), _found(given), files)
    return Section("making", "How it was made", "Everything that is needed to make this again.", blocks)


def _asked(given: Json) -> Numbers:
    found, of = given["before_and_after"]["variables"], given["cost_of"]
    priorities = [f"{one['name']} {one['cost']:g}" for one in found if of == "priority"]
    shared = f"{given['household']}; its key variables: {joined(given['household_keys'])}"
    return pairs(
        ("Problem", sentence(PROBLEMS[given["problem"]])),
        ("Key variables", joined([one["name"] for one in found], most=len(found))),
        ("Unsafe", _unsafe(given)),
        ("Missing values of the input", f"{given['missing']}: {given['missing_means']}"),
        ("Cost", f"{'one' if of == 'one' else f'{of} of the variable'} for each value"),
        ("Priorities", ", ".join(priorities)),
        ("Untouched", joined(given["untouched"]) or "none"),
        ("Ghosts", ghosts(given) or "none"),
        ("Household", "none" if given["household"] is None else shared),
        ("Sampling weight", given["weight"] or "none"),
        title="What was asked",
    )


def _found(given: Json) -> Numbers:
    cover, limit = given["problem"] == "cover", given["time_limit"]
    ended = {"time": ", the time was over", "user": ", it was stopped"}.get(given["limit"] or "", "")
    return pairs(
        ("Values suppressed", count(given["cells"])),
        ("Cost", count(round(given["cost"], 6))),
        ("No other answer costs less than", "" if given["answer_given"] else count(round(given["bound"], 6))),
        ("Proof", sentence(given["proof"])),
        ("Status", given["status"] + ended),
        ("Backend", "" if cover else given["backend"]),
        ("Seed", f"{given['seed']}{': cover leaves nothing to chance' * cover}"),
        ("Time limit", "none" if limit is None else duration(limit)),
        ("Time taken", duration(given["seconds"])),
        ("Version", f"linkrisk {given['linkrisk']}"),
        title="How it was found",
    )


def _unsafe(given: Json) -> str:
    """Definition of unsafe combinations in words."""
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


# ---- outside: what was done, and the output


def _done(kept: Json) -> Section:
    k, tables = kept["k"], f"combinations in {several(kept['tables'], 'table')}"
    reached = "k of all key variables in the output"
    lines = pairs(
        ("Records", f"{kept['records']:,}"),
        ("Method", sentence(PROBLEMS[kept["problem"]])),
        ("Counted", tables if k is None else "all key variables"),
        ("k that was asked for", "" if k is None else str(k)),
        *((f"{reached}, {means}", str(kept["reached"][name])) for name, means in MEANS.items()),
    )
    left_out = (
        "This page leaves out what would help an intruder: single combinations, the input and its risk, "
        f"which categories lost values, categories with fewer than {BASE} records, costs, and how the search "
        "was run. Counts are rounded to tens."
    )
    blocks = (lines, Paragraph(left_out, quiet=True))
    return Section("done", "What was done", "Method, and what the output has.", blocks)


def _suppressed(kept: Json) -> Section:
    levels = counts(level="Level of recoding") if kept["levels"] else []
    columns = [*texts(name="Key variable"), *levels, *numbers(suppressed="Values suppressed")]
    lead = "Values that are missing in the output and were not in the input."
    return _of_variables(lead, table("", columns, kept["variables"]))


def _categories(kept: Json) -> Section:
    columns = [*texts(category="Category"), *numbers(after="Records")]
    lead = f"Records of the output by category; those with fewer than {BASE} are among all others."
    return _of_categories(
        lead,
        {
            one["name"]: (table("Records by category", columns, one["categories"]),)
            for one in kept["variables"]
        },
    )
