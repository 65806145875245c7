"""`python -m solver unsafe`: unsafe combinations of key variables, and what recodings make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.options.operations.unsafe import UnsafeCommand, UnsafeOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.datasets.microdata.names import Labels
    from linkrisk.solver.suppression.operations.unsafe_result import UnsafeCount, UnsafeResult

_MOST = 10
"""Categories that are listed."""


ASKED = UnsafeCommand
DESCRIPTION = (
    "Count unsafe combinations of key variables, by variable and category, and say what trial recodings "
    "would make of them. Nothing is masked."
)
EXAMPLE = "example: unsafe --input people.csv --k 3 --recode 'top-coding categories=3 attributes=age'"


def run(asked: UnsafeCommand) -> int:
    """Count, write, and print."""
    from linkrisk.datasets.microdata.writing import write_whole
    from linkrisk.solver.commands.progress import progress_line
    from linkrisk.solver.suppression.operations.unsafe import unsafe

    with progress_line("counting combinations"):
        result = unsafe(**keywords(UnsafeOptions, asked))
    if asked.json is not None:
        write_whole(asked.json, result.to_json())
    print("\n".join(_summary(str(asked.data), result)))
    return 0


def _summary(name: str, result: UnsafeResult) -> list[str]:
    details = result.details
    records, keys = several(details["records"], "record"), several(len(details["keys"]), "key variable")
    lines = [
        f"input       {name}: {records}, {keys}",
        *constant_lines(details),
        f"checked     {checked_line(len(result.checked), details)}",
        f"unsafe      {_totals(result.before)}",
    ]
    lines += [f"trial       {what}" for what in result.recoded]
    if result.after is not None:
        lines.append(f"then        {_totals(result.after)}")
    lines += ["", "minimal unsafe combinations of records", *_variables(result), "", *_categories(result)]
    return [*lines, "", *_levels(result)] if result.levels else lines


def _totals(count: UnsafeCount) -> str:
    minimal, records = several(count.minimal, "minimal one"), several(count.records, "record")
    return f"{several(count.combinations, 'combination')}; {minimal} of {records}"


def _variables(result: UnsafeResult) -> list[str]:
    from linkrisk.datasets.microdata.names import shown_name

    before, after = result.before, result.after
    order = sorted(before.by_variable, key=lambda name: -before.by_variable[name])
    rows = [
        [shown_name(name), before.by_variable[name], *([] if after is None else [after.by_variable[name]])]
        for name in order
    ]
    return _table(["by variable", "before", *([] if after is None else ["after"])], rows)


def _in_words(name: str, category: str, labels: Labels) -> str:
    """A category in the words of its file, with the code beside them."""
    from linkrisk.datasets.microdata.names import code_in_words, name_in_words, shown_name

    said = code_in_words(name, category, labels)
    return f"{shown_name(name)} = {said}" if said == category else f"{name_in_words(name, labels)}: {said}"


def _categories(result: UnsafeResult) -> list[str]:
    found = [
        (many, name, category)
        for name, by in result.before.by_category.items()
        for category, many in by.items()
    ]
    found.sort(key=lambda one: -one[0])
    labels = result.details["labels"]
    rows = [[_in_words(name, category, labels), many] for many, name, category in found[:_MOST]]
    head = "by category" if len(found) <= _MOST else f"the {_MOST} categories with most"
    return _table([head, "before"], rows)


def _levels(result: UnsafeResult) -> list[str]:
    from linkrisk.datasets.microdata.names import level_in_words, shown_name

    names = result.details.get("level_names", {})
    to = [
        f" to {level_in_words(one.level, names.get(one.variable, ()))}" if one.level else ""
        for one in result.levels
    ]
    rows = [
        [
            f"{shown_name(one.variable)}{level}",
            one.categories,
            f"{100.0 * one.lost:.1f} %",
            one.minimal,
            one.records,
        ]
        for one, level in zip(result.levels, to, strict=True)
    ]
    return _table(["one variable recoded", "categories", "lost", "minimal", "records"], rows)


def _table(head: list[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns of even width: the first to the left, numbers to the right."""
    from linkrisk.solver.run.counts import count

    shown = [head, *([count(cell) if isinstance(cell, int) else str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[at]) for row in shown) for at in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]


def checked_line(tables: int, details: Mapping[str, Any]) -> str:
    """What was checked, and what a missing value meant there."""
    which = "1 table and its" if tables == 1 else f"{several(tables, 'table')} and their"
    risk = "" if details["risk"] is None else f"unsafe is what is riskier than {details['risk']:g}; "
    return f"{which} parts; {risk}{details['missing_means']}"


def constant_lines(details: Mapping[str, Any]) -> list[str]:
    """A line on columns that are no key variables because their values do not differ."""
    from linkrisk.datasets.microdata.names import shown_names

    names = details["constant"]
    what = "a key variable" if len(names) == 1 else "key variables"
    said = f"constant    {shown_names(names)}: the same for all records, and not {what} unless named as such"
    return [said] if names else []
