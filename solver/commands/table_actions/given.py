"""The table that an action of `tables` is given, in whatever form: options, and the table of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.microdata.names import parse_pair
from linkrisk.solver.commands.arguments import names
from linkrisk.solver.commands.table_actions.common import PAGES, Once
from linkrisk.solver.commands.targets import paths_of
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.datasets.tables.cells_and_relations import StoredTable


_SAID = {"yes": True, "no": False}


def add_table(parser: argparse.ArgumentParser) -> None:
    """Declare the files and options that say which table it is."""
    group = parser.add_argument_group("the table: --table, or --cells with --relations or codes")
    group.add_argument(
        "--table",
        metavar="FILE",
        action="append",
        help="a file that says itself which relations there are: .jj, or .tab of ARGUS with .rda beside it. "
        "Several .tab are joined where their codes are equal",
    )
    group.add_argument("--metadata", metavar="FILE", help="the .rda of --table, where it is not beside it")
    group.add_argument(
        "--cells",
        metavar="FILE",
        action="append",
        help="a line for each cell: value; status u (sensitive), m (suppressed with it), s or z (always "
        "published); lower_protection, upper_protection, sliding_protection; lower_bound, upper_bound; cost. "
        "Several tables are joined where their codes are equal",
    )
    group.add_argument(
        "--relations",
        metavar="FILE",
        action="append",
        help="a line for each term: relation, cell (from 0), coefficient; the terms of a relation sum to 0. "
        "Without it relations follow from codes",
    )
    group.add_argument("--by", metavar="A,B", help="columns of codes; default: those before value")
    group.add_argument(
        "--hierarchy",
        metavar="A=FILE",
        action="append",
        help="of a column of codes: code and parent, .hrc, or a column for each level; several for one "
        "column where codes are grouped in several ways",
    )
    group.add_argument(
        "--total", metavar="A=CODE", action="append", help="the total of a column of codes; default: Total"
    )
    group.add_argument("--value", metavar="COLUMN", help="the column of values; default: value")
    group.add_argument(
        "--apriori", metavar="FILE", action=Once, help="what is known of some cells: .hst of ARGUS"
    )
    group.add_argument(
        "--counts",
        metavar="yes|no",
        action=Once,
        help="whether the values count: attackers know whole numbers, and 1 or more where empty cells are "
        "shown; default: guessed, and said",
    )
    group.add_argument(
        "--recompute", action="store_true", help="compute totals again, where they do not add up"
    )
    group.add_argument(
        "--made",
        metavar="FILE",
        action=Once,
        help="what `tables make --record` has written of it: rules, labels, and whether the values count",
    )


def given_table(arguments: argparse.Namespace) -> StoredTable:
    """The table of the arguments, with what is recorded of it.

    Raises
    ------
    UsageError, DataError
        If there is none, it cannot be read, does not add up, or the record is of another table.
    """
    from linkrisk.datasets.tables.made_record import with_record

    table = _read(arguments)
    return table if arguments.made is None else with_record(table, arguments.made)


def _read(arguments: argparse.Namespace) -> StoredTable:
    from linkrisk.solver.api.tables.source import open_table
    from linkrisk.solver.run.errors import UsageError

    cells, relations = arguments.cells or [], arguments.relations or []
    if bool(arguments.table) == bool(cells):
        raise UsageError("give a table: --table FILE, or --cells FILE (and --relations FILE)")
    if arguments.apriori is not None and len(arguments.table or cells) > 1:
        raise UsageError("--apriori is of one table; give each table its own before they are linked")
    if arguments.table:
        return _whole(arguments)
    if arguments.metadata is not None:
        raise UsageError("--metadata describes the cells of --table; give that")
    if len(relations) > len(cells):
        raise UsageError("--relations is given more often than --cells; each table has one of both")
    by = names(arguments.by, "--by")
    trees, totals = hierarchies_of(arguments), pairs(arguments.total, "--total", "A=CODE")
    if len(cells) == 1:
        terms = relations[0] if relations else None
        return open_table(cells[0], terms, by=by, hierarchies=trees, totals=totals, **_rest(arguments))
    return _linked(arguments, list(zip_longest(cells, relations)), by, trees, totals)


def _whole(arguments: argparse.Namespace) -> StoredTable:
    """Tables whose files say themselves which relations there are."""
    from linkrisk.solver.api.tables.source import link_tables, open_table
    from linkrisk.solver.run.errors import UsageError

    for option in ("relations", "hierarchy", "total"):
        if getattr(arguments, option):
            raise UsageError(f"--table says itself which relations there are; leave --{option} out")
    files, rest = arguments.table, _rest(arguments)
    if len(files) == 1:
        by = names(arguments.by, "--by")
        return open_table(files[0], by=by, metadata=arguments.metadata, **rest)
    for option in ("by", "metadata"):
        if getattr(arguments, option):
            raise UsageError(f"--{option} is of one table; leave it out where several are linked")
    return link_tables([open_table(file, **rest) for file in files])


def _rest(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(arguments, name) for name in ("value", "apriori", "recompute")}
    return {**given, "counts": counts_of(arguments)}


def counts_of(arguments: argparse.Namespace) -> bool | None:
    """Whether it is said that values count.

    Raises
    ------
    UsageError
        If it is neither said nor denied.
    """
    from linkrisk.solver.run.errors import UsageError

    if arguments.counts not in (None, *_SAID):
        raise UsageError(f"--counts {arguments.counts}: write yes or no")
    return None if arguments.counts is None else _SAID[arguments.counts]


def _linked(
    arguments: argparse.Namespace,
    files: Sequence[tuple[str, str | None]],
    by: Sequence[str] | None,
    trees: Mapping[str, list[str]],
    totals: Mapping[str, str],
) -> StoredTable:
    """Several tables, each with those of the columns and hierarchies that it has."""
    from linkrisk.datasets.tables.cells_and_relations import code_columns, read_cells
    from linkrisk.solver.api.tables.source import link_tables, open_table
    from linkrisk.solver.run.errors import UsageError

    columns = []
    for cells, _ in files:
        frame = read_cells(cells, value=arguments.value)[0]
        columns.append([name for name in by or code_columns(frame) if name in frame.columns])
    seen = sorted({name for mine in columns for name in mine})
    unknown = next((name for name in (*(by or ()), *trees, *totals) if name not in seen), None)
    if unknown is not None:
        raise UsageError(f"no table has a column {unknown!r} of codes; there are: {', '.join(seen)}")
    tables = []
    for (cells, relations), mine in zip(files, columns, strict=True):
        follow = mine if relations is None else []
        own_trees = {name: one for name, one in trees.items() if name in follow}
        own_totals = {name: one for name, one in totals.items() if name in follow}
        how = {"by": mine, "hierarchies": own_trees, "totals": own_totals, **_rest(arguments)}
        tables.append(open_table(cells, relations, **how))
    return link_tables(tables, totals=totals)


def other_table(arguments: argparse.Namespace, text: str) -> StoredTable:
    """Another table of the same cells, by an option ``CELLS,RELATIONS``, ``CELLS`` or ``TABLE.tab``.

    Raises
    ------
    UsageError, DataError
        If it is none, cannot be read, or does not add up.
    """
    from linkrisk.datasets.tables.cells_and_relations import read_cells
    from linkrisk.datasets.tables.opening import is_whole
    from linkrisk.solver.api.tables.source import open_table
    from linkrisk.solver.run.errors import UsageError

    files = text.split(",")
    if len(files) > 2 or not all(files):
        raise UsageError(f"--with: {text!r} is none; write CELLS,RELATIONS, or CELLS alone")
    if len(files) == 1 and is_whole(files[0]):
        return open_table(files[0], value=arguments.value, counts=counts_of(arguments))
    columns = set(read_cells(files[0], value=arguments.value)[0].columns)
    by = [name for name in names(arguments.by, "--by") or () if name in columns] or None
    if len(files) == 2:
        return open_table(*files, by=by, counts=counts_of(arguments))
    trees, totals = hierarchies_of(arguments), pairs(arguments.total, "--total", "A=CODE")
    return open_table(
        files[0],
        by=by,
        hierarchies={name: one for name, one in trees.items() if name in columns},
        totals={name: one for name, one in totals.items() if name in columns},
        counts=counts_of(arguments),
    )


def hierarchies_of(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The files of each variable, by the options ``--hierarchy A=FILE``."""
    found: dict[str, list[str]] = {}
    for text in arguments.hierarchy or ():
        for name, path in pairs([text], "--hierarchy", "A=FILE").items():
            found.setdefault(name, []).append(path)
    return found


def pairs(texts: list[str] | None, option: str, form: str) -> dict[str, str]:
    """What options of the form ``A=B`` say.

    Raises
    ------
    UsageError
        If one is none.
    """
    from linkrisk.solver.run.errors import UsageError

    found = {}
    for text in texts or ():
        name, value = parse_pair(text)
        if not value:
            raise UsageError(f"{option}: {text!r} is none; write {form}")
        found[name] = value
    return found


def check_outputs(arguments: argparse.Namespace, *outputs: str, lines: bool = False) -> None:
    """Refuse output files that cannot be written, or would overwrite what is read.

    `lines` says that the internal file has a line for each cell, and can be no whole table.

    Raises
    ------
    UsageError
        With the option, the file and how to fix it.
    """
    from linkrisk.datasets.microdata.formats.registry import writable_format
    from linkrisk.datasets.tables.writing import check_internal, check_published
    from linkrisk.solver.commands import targets

    outputs = (*outputs, *(name for name in PAGES if hasattr(arguments, name)))
    targets.check_targets(arguments, *outputs)
    checks = (("output", check_published), ("internal", writable_format if lines else check_internal))
    for name, check in checks:
        for path in paths_of(arguments, name) if name in outputs else ():
            check(path)


def fitting_table(arguments: argparse.Namespace) -> StoredTable:
    """The table of the arguments, which the files hold that are asked for.

    Raises
    ------
    UsageError, DataError
        As `given_table`, or if a format cannot hold it.
    """
    table = given_table(arguments)
    check_fits(arguments, table)
    return table


def check_fits(arguments: argparse.Namespace, table: StoredTable) -> None:
    """Refuse files whose format cannot hold a table, before anything is searched.

    Raises
    ------
    DataError
    """
    from linkrisk.datasets.tables.writing import check_holds

    check_holds(table, arguments.output, paths_of(arguments, "internal"))


def table_line(arguments: argparse.Namespace, cells: int, relations: int) -> str:
    """The line that says which table it is."""
    name = " + ".join(arguments.table or arguments.cells)
    return f"table       {name}: {several(cells, 'cell')}, {several(relations, 'relation')}"
