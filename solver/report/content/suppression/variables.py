"""What became of each key variable, and its categories before and after."""

from __future__ import annotations

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Choice, Paragraph, Section
from linkrisk.solver.report.content.suppression.words import Json, frequency_tables, several
from linkrisk.solver.report.content.wording import joined, table


def key_variables(given: Json) -> Section:
    """Categories, missing values and suppressed ones by key variable; levels of recoding."""
    lines = given["before_and_after"]["variables"]
    columns = [
        ("variable", "Key variable", Of.TEXT),
        *(("suppressed", "Suppressed", Of.COUNT), ("share", "Share of its values", Of.SHARE)),
        *(("categories", "Categories", Of.COUNT), ("missing_before", "Missing before", Of.COUNT)),
        ("cost", _cost_title(given), Of.NUMBER),
    ]
    rows = [
        [
            f"{one['name']} (untouched)" if one["untouched"] else one["name"],
            *(one[name] for name in ("suppressed", "share", "categories", "missing_before", "cost")),
        ]
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
    touched = sum(one["suppressed"] > 0 for one in lines)
    of = f"{touched} of {several(len(lines), 'key variable')}"
    lead = f"{several(given['cells'], 'value')} of {of} suppressed."
    return Section("key-variables", "Key variables", lead, tuple(blocks))


def _cost_title(given: Json) -> str:
    how = {"entropy": "Cost of a value (entropy)", "priority": "Cost of a value (priority)"}
    return how.get(given["cost_of"], "Cost of a value")


def _recodings(given: Json) -> Block:
    columns = [
        ("variable", "Key variable", Of.TEXT),
        ("level", "Level", Of.COUNT),
        *(("before", "Categories before", Of.COUNT), ("after", "Categories after", Of.COUNT)),
    ]
    rows = [
        [one["name"], one["level"], one["categories"], one["categories_after"]]
        for one in given["before_and_after"]["variables"]
    ]
    return table("Recodings: the level of each key variable, 0 as it was", columns, rows)


def frequencies(given: Json) -> Section:
    """Records by category of every key variable, before and after."""
    lines = given["before_and_after"]["variables"]
    options = []
    for one in lines:
        tables = frequency_tables(one["frequencies"], one["level"])
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
