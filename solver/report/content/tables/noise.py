"""The report of a table with noise by cell keys, of counts or sums: how much changed, what users lose."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Headline, Items, Number, Numbers, Paragraph, Section
from linkrisk.solver.documents.formats import significant
from linkrisk.solver.report.content.tables.adjustment import changes_by_share
from linkrisk.solver.report.content.tables.making import files
from linkrisk.solver.report.content.tables.rounding import by_category, changed_table
from linkrisk.solver.report.content.tables.words import Json, exactly, several
from linkrisk.solver.report.content.wording import of_all, table
from linkrisk.solver.run.percent import percent

COUNTS, SUMS = "counts", "sums"

_DISTANCES = {
    "absolute": ("By how much", Of.NUMBER),
    "relative": ("Of the value", Of.SHARE),
    "roots": ("Between the square roots", Of.NUMBER),
}
_QUANTILES = {
    "mean": "On average",
    "q50": "Half of them up to",
    "q90": "90 % of them up to",
    "q99": "99 % of them up to",
    "max": "At most",
}
_SCALES = {
    "largest": "the largest contributions of a cell",
    "mean": "the mean contribution of a cell",
    "range": "the range of the contributions of a cell",
    "sum": "the value of a cell",
}


def noise_headline(given: Json) -> Headline:
    """What stands at the head of the report."""
    found = given["changes"]
    said = f"{of_all(given['changed'], given['cells'])} cells have noise other than 0"
    far = f"{significant(found['absolute']['mean'])} on average, {exactly(found['absolute']['max'])} at most"
    worst = (
        "Nothing is proven here: whoever knows the perturbation table knows how likely each true value is. "
        "The same records have the same noise in every table."
    )
    return Headline("unknown", f"{said}: by {far}.", worst, tuple(_reasons(given)))


def _reasons(given: Json) -> Iterator[str]:
    mean = percent(given["changes"]["relative"]["mean"])
    yield f"On average a cell changed by {mean} of its value."
    yield f"{of_all(given['not_adding_up'], given['relations'])} sums do not add up any more."
    if given["protection"] == COUNTS:
        gone = several(given["changes"]["false_zeros"], "count")
        yield f"{gone} became 0; counts of 0 have stayed."
    elif given["sensitive"]:
        yield f"{several(given['sensitive'], 'cell is', 'cells are')} sensitive by the rules."


def noise_sections(given: Json) -> tuple[Section, ...]:
    """All of it."""
    changes = _changes(given) if given["protection"] == COUNTS else changes_by_share(given)
    return changed_table(given), changes, _utility(given), by_category(given), _made(given), _limits(given)


def _changes(given: Json) -> Section:
    """The noise that there is beside that which was to be expected."""
    columns = [
        *(("by", "Noise", Of.NUMBER), ("cells", "Cells", Of.COUNT), ("share", "Share", Of.SHARE)),
        ("expected", "Expected share", Of.SHARE),
    ]
    rows = [[by, many, many / given["cells"], share] for by, many, share in given["table"]["changes"]]
    lead = "How many cells have which noise, and which share of these counts was to have it."
    records = "Noise is in records; a weighted count moves by it times the mean weight of its cell."
    weighted: tuple[Block, ...] = (Paragraph(records, quiet=True),) if given["weight"] else ()
    return Section("changes", "Noise", lead, (table("", columns, rows), *weighted))


def _utility(given: Json) -> Section:
    """Distances between values before and after."""
    known = [name for name in _DISTANCES if name in given["changes"]]
    columns = [("cells", "Cells", Of.TEXT), *((name, *_DISTANCES[name]) for name in known)]
    rows = [[words, *(given["changes"][name][one] for name in known)] for one, words in _QUANTILES.items()]
    lead = "What users lose: distances between the values before and after, of all cells."
    return Section("utility", "Distances", lead, (table("", columns, rows),))


def _made(given: Json) -> Section:
    asked = _of_counts(given) if given["protection"] == COUNTS else _of_sums(given)
    blocks: list[Block] = [Numbers("What the noise is like", tuple(asked)), files(given, "Microdata")]
    if given["protection"] == COUNTS:
        blocks.append(_design(given["design"]))
    lead = "What is needed to make this again, with the records and their keys."
    return Section("making", "How it was made", lead, tuple(blocks))


def _shared(given: Json) -> Iterator[Number]:
    yield Number("Largest noise", exactly(given["largest_noise"]))
    yield Number("Variance", significant(given["variance"]), meaning="Of the noise of large values.")
    keys = given["keys"]
    drawn = f"drawn with the seed {given['seed']}"
    yield Number("Record keys", drawn if keys is None else f"the column {keys}")
    yield Number("Sampling weights", "none" if given["weight"] is None else f"the column {given['weight']}")


def _of_counts(given: Json) -> Iterator[Number]:
    yield from _shared(given)
    small = given["small"]
    words = {0: "all may appear", 1: "1 never appears"}
    yield Number("Small counts", words.get(small, f"1 to {small} never appear"))


def _of_sums(given: Json) -> Iterator[Number]:
    yield Number("What is summed", str(given["response"]))
    yield from _shared(given)
    turned = "mixed bits" if given["digits"] is None else f"{given['digits']} digits turned round"
    yield Number("Keys of the next contributions", turned)
    yield Number("In proportion to", _SCALES.get(given["scale"], str(given["scale"])))
    share = f"{percent(given['share'])} of it"
    if given["least"] is not None:
        share += f", falling to {percent(given['least'])} from {exactly(given['flex_point'])} on"
    yield Number("A noise of 1 is", share)
    if len(given["factors"]) > 1:
        factors = ", ".join(exactly(one) for one in given["factors"])
        yield Number("Of the largest, the second, ...", factors)
    if given["separation_point"]:
        yield Number("Values of their own noise", f"below {significant(given['separation_point'])}")
    if given["extra"]:
        yield Number("More noise of sensitive cells", exactly(given["extra"]))
    yield Number("Rule", "; ".join(map(str, given["rules"])) or "none: no cell is sensitive")


def _design(design: Json) -> Block:
    columns = [
        *(("i", "Count", Of.NUMBER), ("v", "Noise", Of.NUMBER), ("p", "Probability", Of.SHARE)),
        *(("p_int_lb", "Keys from", Of.NUMBER), ("p_int_ub", "to", Of.NUMBER)),
    ]
    rows = [list(row) for row in zip(*(design[name] for name, _, _ in columns), strict=True)]
    return table("Perturbation table; larger counts have the noise of the last one", columns, rows)


def _limits(given: Json) -> Section:
    items = [
        "Many tables with common parts narrow a true value down: a total and all its parts have noise each.",
        "Cells do not add up. Where they have to, round or adjust the table instead.",
        "Largest noise, variance and keys are not to be published together; keys never.",
    ]
    if given["protection"] == SUMS:
        items.append("A cell of few records can have noise 0, but for sensitive cells with extra noise.")
    references = (
        "J. K. Marley, V. L. Leaver, A method for confidentialising user-defined tables: statistical "
        "properties and a risk-utility analysis, 58th World Statistical Congress, 2011.",
        "S. Giessing, R. Tent, Concepts for generalising tools implementing the cell key method to the case "
        "of continuous variables, UNECE work session on statistical data confidentiality, 2019.",
    )
    blocks = (Items("", tuple(items)), Items("References", references))
    return Section("limits", "What it does not tell", "", blocks)
