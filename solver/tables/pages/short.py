"""What is said of tables in short: of one by what was done with it, of backends side by side, of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.errors import called
from linkrisk.solver.documents.document import Block, Document, Items, Numbers, Section
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import agreement, contradictions, numbers, table, texts
from linkrisk.solver.run.counts import several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.tables.pages.build import KEY, KINDS
from linkrisk.solver.tables.pages.suppressed import audit_numbers, beside_values, known_of_counts
from linkrisk.solver.tables.pages.words import are, in_words, size

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
        found = (audit_numbers(beside), *known_of_counts(beside))
        yield [Items("Numbers of respondents", (beside_values(beside),)), *map(_in_lines, found)]


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
