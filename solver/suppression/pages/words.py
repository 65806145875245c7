"""What the page of a suppression and its answer in short have in common: the headline, and words."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.datasets.microdata.names import level_in_words, shown_name, shown_names
from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.wording import joined, of_all
from linkrisk.solver.run.counts import several
from linkrisk.solver.run.gaps import no_less
from linkrisk.solver.schemas.keys import Json

MEANS = {
    "own-category": "missing as a category of its own",
    "matches-anything": "missing matches anything",
}
"""What a missing value means to whoever counts, at the head of a column."""

COUNTED = {
    "own-category": "where a missing value is a category of its own",
    "matches-anything": "where it matches anything",
}
"""The same in a sentence."""

PROBLEMS = {
    "cover": "cover: every minimal unsafe combination of the input loses a value",
    "recount": "recount: every record has k like it when the output is counted",
    "joint": "joint: every record has k like it in the output, by recoding together with suppression",
}


def recoded(given: Json) -> str:
    """``town recoded to level 1 and age recoded to level 2``; empty where nothing was."""
    return joined([f"{shown_name(name)} recoded to {level}" for name, level in levels_taken(given)])


def records_with_unsafe(many: int, records: int) -> str:
    """``9 of 12 (75.0 %) records have an unsafe combination``."""
    return f"{of_all(many, records)} records have an unsafe combination"


def levels_taken(given: Json) -> list[tuple[str, str]]:
    """The variables that were recoded, each with its level in words."""
    names = given.get("level_names", {})
    return [
        (name, level_in_words(level, names.get(name, ()))) for name, level in given["levels"].items() if level
    ]


def headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    proven = given["status"] == "optimal"
    variables = given["before_and_after"]["variables"]
    values = sum(given["records"] - one["missing_before"] for one in variables)
    done = [f"{of_all(given['cells'], values)} values of key variables suppressed", recoded(given)]
    said = f"{', '.join(filter(None, done))}: {_proof(given)}."
    if not (given["cells"] or recoded(given)):
        said = "Nothing had to be suppressed."
    if given["identifiers"]:
        columns = shown_names(given["identifiers"])
        said = (
            f"The file that is written names the records, as it has {columns}: leave such columns out. {said}"
        )
        return Headline("above", said, recounted(given), tuple(_reasons(given)))
    return Headline("below" if proven else "open", said, recounted(given), tuple(_reasons(given)))


def _proof(given: Json) -> str:
    """What is known of a better answer."""
    if given["status"] == "optimal":
        if given["cost_of"] == "one" and not recoded(given):
            return "proven, no fewer will do"
        return f"proven least, at a cost of {count(round(given['cost'], 6))}"
    if given["answer_given"]:
        return "as a given answer says; nothing was searched or proven"
    cost, bound = given["cost"], given["bound"]
    less = no_less("no other answer costs less than", cost, bound, count(round(bound, 6)))
    return f"at a cost of {count(round(cost, 6))}; {less}"


def recounted(given: Json) -> str:
    """What the independent count found."""
    if given["recounted"] is None:
        return "It was not counted again independently: there are too many different rows to compare."
    found = several(given["recounted"], "record")
    if given["problem"] == "cover":
        return (
            f"Counted again by independent code: {found} with an unsafe combination of the input still whole."
        )
    return (
        f"Counted again by independent code: {found} of the output with fewer than {given['k']} like them; "
        f"{given['missing_means']}."
    )


def _reasons(given: Json) -> Iterator[str]:
    """What is left, by what a missing value means to whoever counts."""
    records = given["records"]
    yield f"Before: {records_with_unsafe(given['unsafe_records'], records)}."
    again = [f"{of_all(given['after'][name], records)} records {COUNTED[name]}" for name in COUNTED]
    yield f"After, when all of the output is counted: {' and '.join(again)}."
    key, what = "expected", "Expected re-identifications by the key variables"
    risks = given["before_and_after"]["risk"]
    if risks["own-category"]["before"]["population"] is not None:
        key, what = "population", f"{what}, in the population"
    before, after = (risks["own-category"][when][key] for when in ("before", "after"))
    loose = risks["matches-anything"]["after"][key]
    yield (
        f"{what}: {count(before)} records before; after, {count(after)} {COUNTED['own-category']} and "
        f"{count(loose)} {COUNTED['matches-anything']}."
    )
    if given["problem"] == "cover" and max(given["after"].values()):
        yield (
            "This problem takes a combination that has lost a value for safe. To have k records alike in the "
            "output, use the problem recount."
        )
