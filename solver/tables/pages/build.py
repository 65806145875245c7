"""Builds documents of tables: from the JSON of an action of `tables` to pages and short answers."""

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
from linkrisk.solver.documents.wording import agreement, conflicts, numbers, table, texts
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.number_format import several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables import tolerances
from linkrisk.solver.tables.pages import changed, making, outside, shown, suppressed
from linkrisk.solver.tables.pages.words import Attacked, are, attacked, exactly, in_words, moved, size


def check(given: Json) -> None:
    """Refuse results that contradict themselves, with the first contradiction."""
    for fault in _FAULTS[given["protection"]](given):
        raise UsageError(f"these results contradict themselves, {fault}: give the JSON as it was written")


def _of_suppression(given: Json) -> Iterator[str]:
    suppressed, sensitive, named = given["suppressed"], given["sensitive"], len(given["pattern"])
    counted = {name: one["cells"] for name, one in given["table"]["statuses"].items()}
    if sum(counted.values()) != given["cells"]:
        yield f"they have {given['cells']:,} cells and {sum(counted.values()):,} statuses"
    if counted["u"] + counted["m"] != suppressed or counted["u"] != sensitive:
        by_status = f"by status {counted['u']:,} and {counted['m']:,} with them"
        yield f"of {suppressed:,} suppressed cells {sensitive:,} are sensitive, and {by_status}"
    if named != suppressed or len(given["table"]["intervals"]["cell"]) != suppressed:
        yield f"{suppressed:,} cells are suppressed and {named:,} are named"
    short, undecided = set(given["under_protected"]), set(given["undecided"])
    others = [given[name]["protected"] for name in ("insiders", "respondents", "exact") if given.get(name)]
    if given["protected"] != (not short and not undecided and all(others)):
        yield "the verdict is not that of the cells that are short of a level"
    yield from _of_search(given)
    for one in attacked(given):
        yield from _of_cell(one, one.number in short)
        if one.undecided != (one.number in undecided):
            yield f"whether {one.cell:.80} was decided is said in two ways"
    if given.get("respondents"):
        yield from _of_suppression(given["respondents"])
        if given["respondents"]["pattern"] != given["pattern"]:
            yield "values and numbers of respondents are suppressed in other cells"


def _of_search(given: Json) -> Iterator[str]:
    cost, bound = given["cost"], given["bound"]
    if cost is None:
        return
    if not 0.0 <= bound <= cost:
        yield f"the cost is {cost:g} and none is less than {bound:g}"
    least = bound >= cost * (1.0 - tolerances.INTERVAL_END) if given["status"] == "optimal" else bound < cost
    if not least:
        yield f"the status is {given['status']!s:.20}, the cost {cost:g} and its bound {bound:g}"


def _of_cell(one: Attacked, listed: bool) -> Iterator[str]:
    slack = tolerances.INTERVAL_END * max(1.0, abs(one.value), abs(one.low), abs(one.high))
    if not one.low - slack <= one.value <= one.high + slack:
        yield f"the value of {one.cell:.80} is outside of its interval, {one.interval}"
    found = f"and its interval, {one.interval}"
    if one.audited and not listed and one.reached < 1.0 - 2.0 * tolerances.AUDITED:
        around = f"is short of a level around {exactly(one.value)}"
        yield f"{one.cell:.80} counts as protected, {found}, {around}"
    if listed and one.reached >= 1.0 + tolerances.AUDITED:
        yield f"{one.cell:.80} counts as not protected, {found}, reaches its levels"


def _of_changes(given: Json) -> Iterator[str]:
    """Check the counts of changes by size."""
    changes, cells = given["table"]["changes"], given["cells"]
    counted = sum(many for _, many, *_ in changes)
    if counted != cells:
        yield f"they have {cells:,} cells, and of {counted:,} is said by how much they changed"
    changed = sum(many for by, many, *_ in changes if by != 0)
    if changed != given["changed"]:
        yield f"{given['changed']:,} cells changed, and by how much is said of {changed:,}"


def _of_rounding(given: Json) -> Iterator[str]:
    yield from _of_search(given)
    yield from _of_changes(given)
    far = max((abs(by) for by, _ in given["table"]["changes"]), default=0.0)
    if abs(far - given["largest_change"]) > tolerances.INTERVAL_END * max(1.0, far):
        yield f"the largest change is {given['largest_change']:g}, and one cell changed by {far:g}"
    base = given["base"]
    if any(abs(value / base - round(value / base)) > tolerances.INTERVAL_END for value in given["rounded"]):
        yield f"a rounded value is no multiple of {base}"


def _of_adjustment(given: Json) -> Iterator[str]:
    yield from _of_search(given)
    yield from _of_changes(given)
    for one in moved(given):
        if one["short"]:
            yield f"{one['cell']:.80} is nearer to its value, {exactly(one['value'])}, than its level"


def _of_noise(given: Json) -> Iterator[str]:
    yield from _of_changes(given)
    if given["not_adding_up"] > given["relations"]:
        yield f"of {given['relations']:,} relations {given['not_adding_up']:,} do not add up"
    if given["protection"] == "counts":
        far = max((abs(by) for by, many, _ in given["table"]["changes"] if many), default=0)
        if far > given["largest_noise"]:
            yield f"the largest noise is {given['largest_noise']:g}, and one cell has {far:g}"


def _of_recoding(given: Json) -> Iterator[str]:
    for one in given["effects"]:
        name = f"{one['recoding']!s:.80}"
        if one["sensitive"] > one["cells"]:
            yield f"{name} has {one['cells']:,} cells, of which {one['sensitive']:,} are sensitive"
        if one["cost"] is not None and not 0.0 <= one["bound"] <= one["cost"]:
            yield f"the cost of {name} is {one['cost']:g}, and none is less than {one['bound']:g}"
    last = given["effects"][-1 if given["recodings"] else 0]
    if last["cells"] != given["cells"]:
        yield f"the table has {given['cells']:,} cells, and {last['cells']:,} with all recodings"


_FAULTS: dict[str, Callable[[Json], Iterator[str]]] = {
    "suppression": _of_suppression,
    "rounding": _of_rounding,
    "adjustment": _of_adjustment,
    "counts": _of_noise,
    "sums": _of_noise,
    "recoding": _of_recoding,
}


KEY = "protection"
"""Key that only the JSON of a table has."""


@dataclass(frozen=True)
class Kind:
    """Page for tables with the same operation."""

    title: str  # of the page, as it begins
    about: str  # the texts around the page
    headline: Callable[[Json], Headline]
    asked: Callable[[Json], Iterable[document.Number]]  # the request
    # sections of the page, except how it was made and its limits
    parts: tuple[Callable[[Json], Section | Iterable[Section]], ...]
    # blocks shared with the short answer; the request by default
    found: Callable[[Json], tuple[Block, ...]] | None = None

    def brief(self, given: Json) -> tuple[Block, ...]:
        """Return the short answer below its headline."""
        return (Numbers("", tuple(self.asked(given))),) if self.found is None else self.found(given)

    def sections(self, given: Json) -> Iterator[Section]:
        """Return all sections of the page."""
        for part in self.parts:
            made = part(given)
            yield from (made,) if isinstance(made, Section) else made
        yield making.made(given, self.asked(given))
        yield making.limits(given)


@document.page("what `tables suppress` or another action of `tables` of this version wrote with --json")
def table_document(given: Mapping[str, Any], audience: Audience = Audience.INTERNAL) -> Document:
    """Build the report of a protected table; external readers see only what `for_external` keeps."""
    kind = KINDS[given[KEY]]
    check(given)
    given = in_words(given)
    if audience is Audience.EXTERNAL:
        kept = outside.for_external(given)
        title, head = outside.KINDS[given[KEY]].title, outside.outside_headline(kept)
        sections = tuple(outside.outside_sections(kept))
    else:
        # linked tables are named by all of their names, without folders
        title = f"{kind.title} {' and '.join(PurePath(part).name for part in given['name'].split(' + '))}"
        head, sections = kind.headline(given), tuple(kind.sections(given))
    return Document(title, audience, head, sections, given["linkrisk"], about=kind.about)


def _found_by_attackers(given: Json) -> tuple[Block, ...]:
    """Summarise the audit, and the heuristic for a large table."""
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


# ---- short answers


_COLUMNS = [
    *texts(name="backend", status="status", limit="limit"),
    *numbers(cost="cost", bound="at least", gap="gap"),
    *texts(proven="proven", audit="audit"),
    *numbers(rows_added="rows added", build_seconds="build s", solve_seconds="solve s"),
    *(*numbers(peak_memory_mb="peak MB"), *texts(version="version")),
]


def protected(result: Json) -> Document:
    """Answer for a table that was protected, audited, changed or recoded."""
    given = in_words(result)
    records = f"{several(given['records'], 'record')} in " if "records" in given else ""
    return short(
        *_found(given),
        said=KINDS[given[KEY]].headline(given),
        asked=[f"{given['name']}: {records}{size(given)}"],
        notes=[*_of_counts(given), *_of_records(given)],
    )


def _found(given: Json) -> Iterator[list[Block]]:
    """List the numbers of the page, part by part."""
    yield [_in_lines(one) for one in KINDS[given[KEY]].brief(given)]
    if beside := given.get("respondents"):
        found = (suppressed.audit_numbers(beside), *suppressed.known_of_counts(beside))
        yield [Items("Numbers of respondents", (suppressed.beside_values(beside),)), *map(_in_lines, found)]


def _in_lines(block: Block) -> Block:
    """Put the meaning of each number behind its value."""
    if not isinstance(block, Numbers):
        return block
    return pairs(*((one.words, f"{one.value}{_meaning(one.meaning)}") for one in block.numbers))


def _meaning(text: str) -> str:
    """Format the meaning behind a value: a list unchanged, a sentence as a part of one."""
    if not text.endswith("."):
        return text and f": {text}"
    return f": {text[:1].lower()}{text[1:-1]}"


def _of_counts(given: Json) -> Iterator[str]:
    """Note options for counts, for published respondent counts, and for statuses."""
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
    """Note records without a code or a response, renamed columns of codes, and steps omitted after a stop."""
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
    """Answer for a table made of microdata."""
    said = f"{' and '.join(_sizes(result))}: {are(result['sensitive'], 'cell')} sensitive"
    return short(said=said, notes=_of_records(result))


def _sizes(given: Json) -> tuple[str, str]:
    return several(given["cells"], "cell"), several(given["relations"], "relation")


def comparison(result: Json) -> Document:
    """Answer for `tables compare`."""
    rows, model = result["backends"], result["model"]
    claims = f"{sum(row['proven'] for row in rows)} of {len(rows)} prove the optimum"
    more = ", more rows when they are violated" if result["separated"] else ""
    return short(
        [table("", _COLUMNS, rows)],
        said=agreement(conflicts(result), claims),
        asked=[
            f"{result['name']}: {', '.join(_sizes(result))}",
            f"model: {result['problem']}, {model['rows']} rows, {model['columns']} columns{more}",
        ],
    )


def batch(result: Json) -> Document:
    """Answer for `tables run-batch`: its tables one by one, and the files written."""
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
