"""Selects the public part of a protected table by the marks of its schema; other keys are omitted.

The published table and its attackers are kept. Omitted are: values of suppressed cells and original values,
levels and intervals; which suppressed cells are sensitive, and how many; rules and bounds; cost, bound,
proof, seed and search, as an optimal pattern reveals that all others cost more; the name of the input. The
numbers of suppressed cells, in all and by category, are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from linkrisk.solver.documents.document import Block, Headline, Items, Paragraph, Section
from linkrisk.solver.documents.wording import counts, joined, of_all, shares, significant, table, texts
from linkrisk.solver.run.number_format import several
from linkrisk.solver.schemas import tables as schemas
from linkrisk.solver.schemas.keys import Json, outside, schema_of
from linkrisk.solver.schemas.tables import SuppressedTable
from linkrisk.solver.tables.pages.shown import by_variable, the_grid
from linkrisk.solver.tables.pages.words import EMPTY

_GONE = ("u", "m")
_WHO = {
    "singletons": "respondents who are alone in a cell",
    "contributors": "any respondent",
    "listed": "those whom the office has listed as knowing more",
    "coalitions": "respondents whom the office expects to tell one another",
}


@dataclass(frozen=True)
class Outside:
    """External page of tables protected in the same way."""

    schema: type  # of its JSON, with marks of public keys
    title: str
    said: str  # headline
    done: str
    # what readers may infer; of a pair only if its fact is true (`_facts`)
    inferred: tuple[str | tuple[str, str], ...]
    left_out: str  # what the page omits


def for_external(given: Json) -> dict[str, Any]:
    """Keep the public part of the JSON of a protected table."""
    found, kind = given["table"], given["protection"]
    kept: dict[str, Any] = outside(schema_of(KINDS[kind].schema), given)
    kept["variables"] = list(map(str, found["variables"]))
    if kind == "recoding":
        codes = [(one["variable"], one["codes"]) for one in given["recodings"]]
        pairs = [(str(name), [[str(code), str(other)] for code, other in own]) for name, own in codes]
        return {**kept, "recodings": [{"variable": name, "codes": own} for name, own in pairs]}
    if kind != "suppression":
        kept["table"] = _published(given, "became")
        if kind == "counts":
            kept["variance"] = max(outside(schema_of(list[float]), given["variances"]))
            kept["weighted"] = given["weight"] is not None
        return kept
    kept["from"]["left_out"] = given["from"]["left_out"] is not None
    beside = given.get("respondents")
    kept["none_beside"] = kept.pop("respondents_known", False) and not beside
    kept["least"] = kept.pop("counts", {}).get("least")
    kept["loss"] = {str(name): list(map(_category, lines)) for name, lines in found["loss"].items()}
    if kept["protected"]:
        kept["table"] = _published(given, "value")
        kept |= {"respondents": _published(beside, "value")} if beside else {}
    return kept


def _published(given: Json, column: str) -> dict[str, Any]:
    """Keep the published table: codes, and values of cells that are not suppressed."""
    found, cells = given["table"], given["table"]["all"]
    kept: dict[str, Any] = {
        "variables": list(map(str, found["variables"])),
        "loss": {
            str(name): [{"code": str(one["code"])} for one in lines] for name, lines in found["loss"].items()
        },
        "all": None,
    }
    if cells is not None:
        status = cells.get("status", [""] * len(cells[column]))
        kept["all"] = {
            "codes": [list(map(str, one)) for one in cells["codes"]],
            "shown": [
                None if one in _GONE else _number(value)
                for one, value in zip(status, cells[column], strict=True)
            ],
        }
    return kept


def _number(value: object) -> Any:
    return outside(schema_of(float), value)


def _category(one: Json) -> list[Any]:
    return [str(one["code"]), _number(one["cells"]), _number(one["sensitive"] + one["secondary"])]


def outside_headline(kept: Json) -> Headline:
    """Build the headline of the external page."""
    said = KINDS[kept["protection"]].said.format_map(_facts(kept))
    if kept["protection"] != "suppression":
        return Headline("unknown", said)
    if not kept["protected"]:
        return Headline("above", "This table is not protected, and must not be published.")
    if not kept["suppressed"]:
        return Headline("below", "No cell of this table is suppressed.")
    found = (
        "An independent audit found that none of them that has to be kept secret can be computed too closely"
    )
    return Headline("below", said, f"{found} {_by_whom(kept['from'])}.")


def _by_whom(known: Json) -> str:
    """List the attackers against whom the table is protected."""
    readers = "by readers who know what is published, and nothing more"
    if who := [_WHO[kind] for kind in known["who"]]:
        far = ", as far as any suppression could keep it from these" if known["in_part"] else ""
        readers += f", or by {joined(who)}{far}"
    if known["left_out"]:
        readers += ". Respondents who are alone in a cell, and subtract what they know, were not looked at"
    return readers


def _facts(kept: Json) -> dict[str, Any]:
    """Collect the values in sentences, and the conditions of optional ones."""
    small, least = kept.get("small", 0), kept.get("least")
    return {
        **kept,
        "near": kept.get("base", 0) - 1,
        "next": not kept.get("relaxed"),
        "far": significant(math.sqrt(kept.get("variance", 0.0)), 3),
        "gone": "1" if small == 1 else f"1 to {small}",
        "beside": "respondents" in kept,
        "counted": least is not None,
        "least": ", and that a suppressed one is not 0, as empty cells are shown" if least else "",
        "of_all": of_all(kept.get("suppressed", 0), kept["cells"]),
        "by_whom": _by_whom(kept["from"]) if "from" in kept else "",
    }


def outside_sections(kept: Json) -> Iterator[Section]:
    """Build the sections: table, method, inference, and suppressed cells by category."""
    beside = "As they are published beside the values, in the same cells."
    for name, title, lead in (
        ("table", "The table", "As it is published."),
        ("respondents", "Numbers of respondents", beside),
    ):
        if name in kept:
            yield Section(name, title, lead, the_grid({**kept, "table": kept[name]}))
    yield _done(kept, KINDS[kept["protection"]])
    columns = texts(code="Code") + counts(cells="Cells", suppressed="Suppressed") + shares(share="Share")
    gone = by_variable(
        (
            name,
            table(
                f"Suppressed cells by {name}",
                columns,
                [[code or EMPTY, cells, gone, gone / cells] for code, cells, gone in lines],
            ),
        )
        for name, lines in kept.get("loss", {}).items()
    )
    if gone:
        lead = "As everybody can count them in the published table."
        yield Section("loss", "Suppressed cells by category", lead, gone)


def _done(kept: Json, said: Outside) -> Section:
    facts = _facts(kept)
    inferred = [("cells", one) if isinstance(one, str) else one for one in said.inferred]
    columns = texts(code="Code", becomes="Is now in")
    blocks: tuple[Block, ...] = (
        Paragraph(said.done.format_map(facts)),
        Items(
            "What a reader may infer", tuple(one.format_map(facts) for fact, one in inferred if facts[fact])
        ),
        *by_variable(
            (one["variable"], table(f"Codes of {one['variable']}", columns, one["codes"]))
            for one in kept.get("recodings", ())
        ),
        Paragraph(f"This page leaves out {said.left_out}.", quiet=True),
    )
    by = f" by {joined(kept['variables'])}" if kept["variables"] else ""
    sums = f"{several(kept['relations'], 'sum')} hold between them"
    if "not_adding_up" in kept:
        sums = f"{of_all(kept['not_adding_up'], kept['relations'])} of the sums between them do not hold"
    lead = f"{several(kept['cells'], 'cell')}{by}, totals included; {sums}."
    return Section("done", "What was done", lead, blocks)


_INSIDERS = "It was not computed what those could find out who know more, such as respondents of a cell."
_SAME = (
    "The same records have the same noise in every table of this kind: asking again says nothing new.",
    "A total has noise of its own. Use the total that is published, and not the sum of its parts.",
)
KINDS = {
    "suppression": Outside(
        SuppressedTable,
        "A table with suppressed cells",
        "{of_all} cells of this table are suppressed.",
        "Cell suppression: some cells are not published, all others are, unchanged.",
        (
            "A cell is suppressed where its value would say too much of one of its contributors, or where it "
            "would help to compute such a cell. Nothing says which is which.",
            "What is suppressed is not missing: it is in the totals that are published.",
            "From what is published, every suppressed cell can be bounded. These bounds were computed "
            "before: none of those that have to be kept secret is tighter than the rules of this publication "
            "allow, {by_whom}.",
            (
                "counted",
                "Values are counts. Readers were taken to know that these are whole numbers{least}.",
            ),
            (
                "beside",
                "Numbers of respondents are suppressed where the value is. They were attacked as whole "
                "numbers: of those that have to be kept secret another one is possible.",
            ),
            (
                "none_beside",
                "That holds as long as numbers of respondents are not published beside the values.",
            ),
            "A suppressed cell says nothing of its size. Do not replace it by 0, and do not compare "
            "categories by how many of their cells are shown.",
        ),
        "what would help an intruder: values of suppressed cells, intervals, rules with their parameters, "
        "and how cells were chosen",
    ),
    "rounding": Outside(
        schemas.RoundedTable,
        "A rounded table",
        "Every value of this table is a multiple of {base}, and the table still adds up.",
        "Controlled rounding to base {base}: every cell is a multiple of it, and every sum holds.",
        (
            ("relaxed", "A value before rounding may be more than {near} away from what is published."),
            ("next", "A value before rounding is at most {near} away from what is published, either way."),
            "Sums were rounded together with their parts, so that they add up; a total is not nearer to its "
            "value than its parts are to theirs.",
            "Small differences between cells say nothing.",
            _INSIDERS,
        ),
        "values before it and changes, which would undo the rounding",
    ),
    "adjustment": Outside(
        schemas.AdjustedTable,
        "An adjusted table",
        "Values of this table were adjusted, and the table still adds up.",
        "Controlled tabular adjustment: values were changed as little as protection allows.",
        (
            "Every cell is shown, and no digit says whether its value was changed: all are written as they "
            "were. Most changes are small, or none; values of cells that would say too much of one "
            "contributor were moved further.",
            f"That keeps readers from taking a value for the true one. {_INSIDERS}",
            "Sums were adjusted together with their parts, so that they add up.",
        ),
        "which cells were changed, and by how much",
    ),
    "counts": Outside(
        schemas.PerturbedCounts,
        "Counts with noise",
        "Counts of this table have a little noise, the same wherever the same records are counted.",
        "Cell-key method: every count has a little noise, which follows from the records that it counts.",
        (
            "Noise is 0 in the mean, and its standard deviation {far} at most: differences of that size say "
            "nothing.",
            *_SAME,
            "A count of 0 has stayed 0; other counts may have become 0.",
            _INSIDERS,
            ("small", "Counts of {gone} do not appear, whether there were any or not."),
            ("weighted", "A weighted count moves by the noise of its records times their mean weight."),
        ),
        "the largest noise, its probabilities, counts before it, and all keys",
    ),
    "sums": Outside(
        schemas.PerturbedSums,
        "Sums with noise",
        "Sums of this table have noise, the same wherever the same records are summed.",
        "Cell-key method: every sum has noise, which follows from the records that it sums.",
        (
            "Noise is 0 in the mean, and in proportion to the contributions to a cell: the more a cell is "
            "that of a few, the more it moves.",
            *_SAME,
            "A sum of 0 has stayed 0.",
            _INSIDERS,
        ),
        "how large noise is, rules, values before it, and all keys",
    ),
    "recoding": Outside(
        schemas.RecodedTable,
        "A table of coarser codes",
        "Codes of this table were merged.",
        "Global recoding: codes were merged, so that cells are fewer and fuller.",
        (
            "A cell of merged codes has the values of all of them; it says nothing of each.",
            "From this table merged codes cannot be taken apart again.",
        ),
        "values, rules, and which cells they are about",
    ),
}
"""Pages by operation."""
