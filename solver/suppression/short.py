"""Writes the short answers of `suppress` and `unsafe`, with the headline of their page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linkrisk.datasets.microdata.names import (
    Labels,
    code_in_words,
    level_in_words,
    name_in_words,
    shown_name,
    shown_names,
)
from linkrisk.solver.charts.chart import Table
from linkrisk.solver.documents.document import Document, Headline
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import (
    counts,
    joined,
    left_in,
    of_all,
    sentence,
    shares,
    size_line,
    table,
    texts,
)
from linkrisk.solver.run.number_format import count, no_less, several
from linkrisk.solver.schemas.keys import Json

MOST = 10
"""Categories that are listed."""

MEANS = {
    "own-category": "missing as a category of its own",
    "matches-anything": "missing matches anything",
}
"""Meaning of a missing value, as a column header."""

COUNTED = {
    "own-category": "where a missing value is a category of its own",
    "matches-anything": "where it matches anything",
}
"""The same within a sentence."""

PROBLEMS = {
    "cover": "cover: every minimal unsafe combination of the input loses a value",
    "recount": "recount: every record has k like it when the output is counted",
    "joint": "joint: every record has k like it in the output, by recoding together with suppression",
}


UNSAFE = ("unsafe_combinations", "minimal_unsafe_combinations", "unsafe_records")


def is_inside(given: Json) -> bool:
    """Tell whether a JSON is complete, not its public part."""
    return "cost" in given


def levels_taken(given: Json) -> list[tuple[str, str]]:
    """Recoded variables with their levels in words."""
    names = given.get("level_names", {})
    return [
        (name, level_in_words(level, names.get(name, ()))) for name, level in given["levels"].items() if level
    ]


def recoded(given: Json) -> str:
    """``town recoded to level 1 and age recoded to level 2``; empty if there are none."""
    return joined([f"{shown_name(name)} recoded to {level}" for name, level in levels_taken(given)])


def ghosts(given: Json) -> str:
    """``income with sex``: ghosts with their key variables; empty if there are none."""
    with_them = [(ghost, name) for name, them in given["ghosts"].items() for ghost in them]
    return joined([f"{shown_name(ghost)} with {shown_name(name)}" for ghost, name in with_them])


def constant(given: Json) -> list[str]:
    """Note on constant columns, which are no key variables; empty if there are none."""
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
    """Headline of the page and the answer in short."""
    inside, levels = is_inside(given), recoded(given)
    amount = given["cells"]
    if inside:
        variables = given["before_and_after"]["variables"]
        amount = of_all(amount, sum(given["records"] - one["missing_before"] for one in variables))
    done = ", ".join(filter(None, [f"{sentence(amount)} values of key variables suppressed", levels]))
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
    """Result of the audit."""
    if given["recounted"] is None:
        return "It was not counted again independently: there are too many different rows to compare."
    found = f"Counted again by independent code: {several(given['recounted'], 'record')}"
    if given["problem"] == "cover":
        return f"{found} with an unsafe combination of the input still whole."
    means = f"; {given['missing_means']}" if is_inside(given) else ""
    return f"{found} of the output with fewer than {given['k']} like them{means}."


def _reasons(given: Json) -> Iterator[str]:
    """Unsafe records and risk before and after, by the meaning of a missing value."""
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


# ---- answers in short


def suppression(result: Json) -> Document:
    """The answer in short: headline and key variables."""
    taken = [f"{count(many)} of {shown_name(name)}" for name, many in result["suppressed"].items() if many]
    rows = {
        "checked": _checked(result),
        "unsafe": totals(result, UNSAFE),
        "suppressed": ", ".join(taken),
        "recoded": "nothing" if result["levels"] and not recoded(result) else "",
        "ghosts": ghosts(result),
        "dropped": shown_names(result["dropped"]),
        "names": left_in(result["identifiers"]),
    }
    return short([pairs(*rows.items())], said=headline(result), asked=_asked(result), notes=constant(result))


def unsafe(result: Json) -> Document:
    """The answer in short: unsafe combinations, and the effect of recodings."""
    before, after = result["before"], result["after"]
    rows = [("checked", _checked(result)), ("unsafe", totals(before))]
    rows += [("trial", what) for what in result["recoded"]]
    rows += [] if after is None else [("then", totals(after))]
    by = f", counted in the population by {shown_name(result['weight'])}" if result["weight"] else ""
    return short(
        [pairs(*rows)],
        [_by_variable(before, after)],
        [_by_category(before, result["labels"])],
        [_by_level(result)] if result["levels"] else [],
        said=f"{records_with_unsafe(before['records'], result['records'])}{by}.",
        asked=_asked(result),
        notes=constant(result),
    )


def _asked(result: Json) -> tuple[str]:
    return (size_line(result["name"], result["records"], len(result["keys"]), "key variable"),)


def _checked(result: Json) -> str:
    """Checked tables, and the meaning of a missing value in them."""
    tables = len(result["tables"])
    which = "1 table and its" if tables == 1 else f"{several(tables, 'table')} and their"
    risk = "" if result["risk"] is None else f"unsafe is what is riskier than {result['risk']:g}; "
    return f"{which} parts; {risk}{result['missing_means']}"


def _by_variable(before: Json, after: Json | None) -> Table:
    whens = {"before": before} if after is None else {"before": before, "after": after}
    order = sorted(before["by_variable"], key=lambda name: -before["by_variable"][name])
    rows = [[shown_name(name), *(one["by_variable"][name] for one in whens.values())] for name in order]
    columns = [*texts(variable="by variable"), *counts(**{when: when for when in whens})]
    return table("minimal unsafe combinations of records", columns, rows)


def _by_category(before: Json, labels: Labels) -> Table:
    found = [
        [_in_words(name, category, labels), many]
        for name, by in before["by_category"].items()
        for category, many in by.items()
    ]
    found.sort(key=lambda one: -one[1])
    head = "by category" if len(found) <= MOST else f"the {MOST} categories with most"
    return table("", [*texts(category=head), *counts(before="before")], found[:MOST])


def _in_words(name: str, category: str, labels: Labels) -> str:
    """A category with its label and code."""
    said = code_in_words(name, category, labels)
    return f"{shown_name(name)} = {said}" if said == category else f"{name_in_words(name, labels)}: {said}"


def _by_level(result: Json) -> Table:
    """Table of each level of each hierarchy by itself."""
    names = result.get("level_names", {})
    rows = []
    for one in result["levels"]:
        to = level_in_words(one["level"], names.get(one["variable"], ()))
        name = f"{shown_name(one['variable'])}{f' to {to}' if one['level'] else ''}"
        rows.append({**one, "variable": name})
    columns = [*texts(variable="one variable recoded"), *counts(categories="categories")]
    columns += [*shares(lost="lost"), *counts(minimal="minimal", records="records")]
    return table("", columns, rows)
