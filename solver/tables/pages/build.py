"""From the JSON of an action of `tables` to documents: pages and answers in short, by what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called
from linkrisk.solver.documents import document
from linkrisk.solver.documents.document import Audience, Block, Document, Headline, Items, Numbers, Section
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import agreement, contradictions, numbers, table, texts
from linkrisk.solver.run.counts import several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages import changed, making, outside, shown, suppressed
from linkrisk.solver.tables.pages.consistency import check
from linkrisk.solver.tables.pages.words import are, in_words, size

KEY = "protection"
"""What the JSON of a table has and no other."""


@dataclass(frozen=True)
class Kind:
    """What is said of tables with which the same was done.

    Attributes
    ----------
    title : str
        Of the page, as it begins.
    about : str
        Which words stand around the page.
    headline : callable
    asked : callable
        What was asked.
    parts : tuple of callables
        Sections of the page, but for how it was made and what it does not tell.
    found : callable, optional
        The blocks of the page that an answer in short has, too; what was asked when absent.
    """

    title: str
    about: str
    headline: Callable[[Json], Headline]
    asked: Callable[[Json], Iterable[document.Number]]
    parts: tuple[Callable[[Json], Section | Iterable[Section]], ...]
    found: Callable[[Json], tuple[Block, ...]] | None = None

    def brief(self, given: Json) -> tuple[Block, ...]:
        """What an answer in short has below its headline."""
        return (Numbers("", tuple(self.asked(given))),) if self.found is None else self.found(given)

    def sections(self, given: Json) -> Iterator[Section]:
        """All of the page."""
        for part in self.parts:
            made = part(given)
            yield from (made,) if isinstance(made, Section) else made
        yield making.made(given, self.asked(given))
        yield making.limits(given)


@document.page("what `tables suppress` or another action of `tables` of this version wrote with --json")
def table_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """What the report of a protected table says.

    Parameters
    ----------
    given : mapping
        The JSON of `tables suppress`, `audit`, `round`, `adjust`, `recode`, `perturb-counts` or
        `perturb-sums`.
    audience : Audience
        For external readers nothing is written but what `for_external` keeps: no values of suppressed cells,
        levels, intervals or parameters, and nothing of which suppressed cells are the sensitive ones.

    Raises
    ------
    UsageError
        If it is no such JSON, or contradicts itself.
    """
    kind = KINDS[given[KEY]]
    check(given)
    given = in_words(given)
    if audience is Audience.EXTERNAL:
        kept = outside.for_external(given)
        title, head = outside.KINDS[given[KEY]].title, outside.outside_headline(kept)
        sections = tuple(outside.outside_sections(kept))
    else:
        # linked tables are called by all of their names, without folders
        title = f"{kind.title} {' and '.join(PurePath(part).name for part in given['name'].split(' + '))}"
        head, sections = kind.headline(given), tuple(kind.sections(given))
    return Document(title, audience, head, sections, given["linkrisk"], about=kind.about)


def _found_by_attackers(given: Json) -> tuple[Block, ...]:
    """What the audit found, and how a large table was protected."""
    found = suppressed.audit_numbers(given).numbers if given["sensitive"] else ()
    how = tuple(making.method(given)) if "added_by_repair" in given else ()
    known = suppressed.known_of_counts(given) if given.get("counts") else ()
    return (Numbers("", (*found, *how)), *known) if (*found, *how) else known


_NOISY = (shown.the_table, changed.changes, changed.utility, shown.changes_by_category)
KINDS = {
    "suppression": Kind(
        *("Protection of", "table", suppressed.headline, making.of_suppression),
        (shown.the_table, shown.loss, suppressed.what_attackers_find, suppressed.audited, suppressed.counted),
        _found_by_attackers,
    ),
    "rounding": Kind(
        *("Rounding of", "rounding", changed.rounding_headline, making.of_rounding),
        (shown.the_table, changed.changes, shown.changes_by_category),
    ),
    "adjustment": Kind(
        *("Adjustment of", "adjustment", changed.adjustment_headline, making.of_adjustment),
        (shown.the_table, changed.moved_cells, changed.changes, shown.changes_by_category),
        lambda given: (changed.sensitive_numbers(given),),
    ),
    "counts": Kind("Counts with noise, of", "noise", changed.noise_headline, making.of_counts, _NOISY),
    "sums": Kind("Sums with noise, of", "noise", changed.noise_headline, making.of_sums, _NOISY),
    "recoding": Kind(
        *("Coarser codes of", "recoding", changed.recoding_headline, making.of_recoding),
        (changed.effects, changed.codes, shown.the_table),
        lambda given: changed.effects(given).shown,
    ),
}


# In short


_COLUMNS = [
    *texts(name="backend", status="status", limit="limit"),
    *numbers(cost="cost", bound="at least", gap="gap"),
    *texts(proven="proven", audit="audit"),
    *numbers(rows_added="rows added", build_seconds="build s", solve_seconds="solve s"),
    *(*numbers(peak_memory_mb="peak MB"), *texts(version="version")),
]


def protected(result: Json) -> Document:
    """Of the JSON of a table that was protected, audited, changed or recoded: as on its page."""
    given = in_words(result)
    records = f"{several(given['records'], 'record')} in " if "records" in given else ""
    return short(
        *_found(given),
        said=KINDS[given[KEY]].headline(given),
        asked=[f"{given['name']}: {records}{size(given)}"],
        notes=[*_of_counts(given), *_of_records(given)],
    )


def _found(given: Json) -> Iterator[list[Block]]:
    """What is on the page, too, each part by itself."""
    yield [_in_lines(one) for one in KINDS[given[KEY]].brief(given)]
    if beside := given.get("respondents"):
        found = (suppressed.audit_numbers(beside), *suppressed.known_of_counts(beside))
        yield [Items("Numbers of respondents", (suppressed.beside_values(beside),)), *map(_in_lines, found)]


def _in_lines(block: Block) -> Block:
    """What each number of the page means, behind its value."""
    if not isinstance(block, Numbers):
        return block
    return pairs(*((one.words, f"{one.value}{_meaning(one.meaning)}") for one in block.numbers))


def _meaning(text: str) -> str:
    """What stands behind a value: a list as it is, a sentence as a part of one."""
    if not text.endswith("."):
        return text and f": {text}"
    return f": {text[:1].lower()}{text[1:-1]}"


def _of_counts(given: Json) -> Iterator[str]:
    """What can be said of values that may count, of numbers of respondents, and of statuses."""
    if given[KEY] == "suppression" and not given["sensitive"]:
        yield "sensitive cells are those of status u: there was nothing to protect"
    if given.get("counts_unsaid"):
        values = "the values are whole numbers, and taken for amounts"
        yield f"{values}; if they count, say so: {called('counts', True)}"
    if (given.get("counts") or {}).get("guessed"):
        guess = "readers know whole numbers, as was guessed from the values"
        yield f"{guess}; if they do not count, say so: {called('counts', False)}"
    if given.get("respondents_known") and given["sensitive"] and not given.get("respondents"):
        publish = called("publish_respondents", True)
        yield f"numbers of respondents can be published beside the values: make the table with {publish}"


def _of_records(given: Json) -> Iterator[str]:
    """Records without a code or a response, columns of codes with other names, and what a stop left out."""
    for title, more in (("coded", f": their code is {given.get('missing_code')!r}"), ("left_out", "")):
        if given.get(title):
            each = (f"{count:,} without {shown_name(name)}" for name, count in given[title].items())
            yield f"{title.replace('_', ' ')} records, {', '.join(each)}{more}"
    for name, column in given.get("renamed", {}).items():
        yield f"codes of {shown_name(name)} are in the column {column}: {name} is a column of its own there"
    if left := given.get("not_begun"):
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        yield f"stopped by the user; not suppressed: {left[0]}{more}"


def made(result: Json) -> Document:
    """Of a table that was made of microdata."""
    said = f"{' and '.join(_sizes(result))}: {are(result['sensitive'], 'cell')} sensitive"
    return short(said=said, notes=_of_records(result))


def _sizes(given: Json) -> tuple[str, str]:
    return several(given["cells"], "cell"), several(given["relations"], "relation")


def comparison(result: Json) -> Document:
    """Of the JSON of `tables compare`."""
    rows, model = result["backends"], result["model"]
    claims = f"{sum(row['proven'] for row in rows)} of {len(rows)} prove the optimum"
    more = ", more rows when they are violated" if result["separated"] else ""
    return short(
        [table("", _COLUMNS, rows)],
        said=agreement(contradictions(result), claims),
        asked=[
            f"{result['name']}: {', '.join(_sizes(result))}",
            f"model: {result['problem']}, {model['rows']} rows, {model['columns']} columns{more}",
        ],
    )


def batch(result: Json) -> Document:
    """Of the JSON of `tables run-batch`: its tables one by one, and what was written."""
    said = [
        *(("written", path) for path in result["files"]),
        *(("withheld", f"{path}: its table is not protected") for path in result["withheld"]),
        *(("said", one) for one in result["said"]),
    ]
    if result["not_begun"]:
        first, *others = result["not_begun"]
        more = f", and {several(len(others), 'line')} more" if others else ""
        said.append(("stopped", f"by the user; not begun: {result['batch']}, {first}{more}"))
    found = short([Items("", tuple(f"{name:<11} {text}" for name, text in said))], asked=[result["batch"]])
    tables = (_of_batch(number, one) for number, one in enumerate(result["tables"], start=1))
    return replace(found, sections=(*tables, *found.sections))


def _of_batch(number: int, given: Json) -> Section:
    named = f"{' x '.join(given['by'])}, {given['response'] or 'frequencies'}"
    said, blocks = [several(given["sensitive"], "sensitive cell")], []
    if given["method"]:
        said = [f"{given['method']}: {said[0]}"]
    if (found := given["found"]) is not None:
        head = KINDS[found[KEY]].headline(found)
        shared = ("It is protected with all linked tables.",) if found["cells"] > given["cells"] else ()
        said += [*head.sentences, *head.reasons, *shared]
        blocks = [one for part in _found(found) for one in part]
    title = f"table {number}: {named}: {', '.join(_sizes(given))}"
    return Section("", title, "", (Items("", tuple(said)), *blocks))
