"""What the page of a suppression and its answer in short have in common: the headline, and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linkrisk.datasets.microdata.names import level_in_words, shown_name, shown_names
from linkrisk.solver.documents.document import Headline
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.wording import joined, of_all, sentence
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


UNSAFE = ("unsafe_combinations", "minimal_unsafe_combinations", "unsafe_records")


def is_inside(given: Json) -> bool:
    """Whether it is the whole JSON of `suppress`, and not what readers outside may know of it."""
    return "cost" in given


def levels_taken(given: Json) -> list[tuple[str, str]]:
    """The variables that were recoded, each with its level in words."""
    names = given.get("level_names", {})
    return [
        (name, level_in_words(level, names.get(name, ()))) for name, level in given["levels"].items() if level
    ]


def recoded(given: Json) -> str:
    """``town recoded to level 1 and age recoded to level 2``; empty where nothing was."""
    return joined([f"{shown_name(name)} recoded to {level}" for name, level in levels_taken(given)])


def ghosts(given: Json) -> str:
    """``income with sex``: what loses its value with which key variable; empty where nothing does."""
    with_them = [(ghost, name) for name, them in given["ghosts"].items() for ghost in them]
    return joined([f"{shown_name(ghost)} with {shown_name(name)}" for ghost, name in with_them])


def constant(given: Json) -> list[str]:
    """Say which columns are no key variables because their values do not differ, where there are some."""
    names = given.get("constant", ())
    what = "a key variable" if len(names) == 1 else "key variables"
    same = f"{shown_names(names)}: the same for all records, and not {what} unless named as such"
    return [same] if names else []


def totals(given: Json, names: Sequence[str] = ("combinations", "minimal", "records")) -> str:
    """``5 combinations; 3 minimal ones of 4 records``."""
    combinations, minimal, records = (given[name] for name in names)
    said = f"{several(minimal, 'minimal one')} of {several(records, 'record')}"
    return f"{several(combinations, 'combination')}; {said}"


def records_with_unsafe(many: int, records: int) -> str:
    """``9 of 12 (75.0 %) records have an unsafe combination``."""
    return f"{of_all(many, records)} records have an unsafe combination"


def headline(given: Json) -> Headline:
    """What stands at the head of the report, and of what readers outside have of it."""
    inside, levels = is_inside(given), recoded(given)
    amount = of_all(given["cells"], _values(given)) if inside else sentence(given["cells"])
    done = ", ".join(filter(None, [f"{amount} values of key variables suppressed", levels]))
    said = f"{done}: {_proof(given)}."
    if inside and not (given["cells"] or levels):
        said = "Nothing had to be suppressed."
    reasons = tuple(_reasons(given)) if inside else ()
    if not given["identifiers"]:
        return Headline("below" if given["status"] == "optimal" else "open", said, _recounted(given), reasons)
    if not inside:
        many = several(given["identifiers"], "direct identifier")
        return Headline("above", f"The file names the records: it has {many}.")
    columns = f"as it has {shown_names(given['identifiers'])}: leave such columns out"
    said = f"The file that is written names the records, {columns}. {said}"
    return Headline("above", said, _recounted(given), reasons)


def _values(given: Json) -> int:
    """Values of key variables in the input."""
    return sum(given["records"] - one["missing_before"] for one in given["before_and_after"]["variables"])


def _proof(given: Json) -> str:
    """What is known of a better answer."""
    proven = given["status"] == "optimal"
    if not is_inside(given):
        return "proven, nothing that does the same costs less" if proven else "the best that was found"
    if proven and given["cost_of"] == "one" and not recoded(given):
        return "proven, no fewer will do"
    cost, bound = (count(round(given[name], 6)) for name in ("cost", "bound"))
    if proven:
        return f"proven least, at a cost of {cost}"
    if given["answer_given"]:
        return "as a given answer says; nothing was searched or proven"
    less = no_less("no other answer costs less than", given["cost"], given["bound"], bound)
    return f"at a cost of {cost}; {less}"


def _recounted(given: Json) -> str:
    """What the independent count found."""
    if given["recounted"] is None:
        return "It was not counted again independently: there are too many different rows to compare."
    found = f"Counted again by independent code: {several(given['recounted'], 'record')}"
    if given["problem"] == "cover":
        return f"{found} with an unsafe combination of the input still whole."
    means = f"; {given['missing_means']}" if is_inside(given) else ""
    return f"{found} of the output with fewer than {given['k']} like them{means}."


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
    after = [f"{count(risks[name]['after'][key])} {counted}" for name, counted in COUNTED.items()]
    before = count(risks["own-category"]["before"][key])
    yield f"{what}: {before} records before; after, {' and '.join(after)}."
    if given["problem"] == "cover" and max(given["after"].values()):
        yield (
            "This problem takes a combination that has lost a value for safe. To have k records alike in the "
            "output, use the problem recount."
        )
