"""The table that an action of `tables` is given, in whatever form: options, and the table of them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import names
from linkrisk.solver.commands.unsafe_options import several

if TYPE_CHECKING:
    from linkrisk.datasets.tables.cells_and_relations import StoredTable


def add_table(parser: argparse.ArgumentParser) -> None:
    """Declare the files and options that say which table it is."""
    group = parser.add_argument_group("the table: --table, or --cells with --relations or codes")
    group.add_argument(
        "--table", metavar="FILE", help="a file that says itself which relations there are: .jj"
    )
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


def given_table(arguments: argparse.Namespace) -> StoredTable:
    """The table of the arguments.

    Raises
    ------
    UsageError, DataError
        If there is none, it cannot be read, or does not add up.
    """
    from linkrisk.solver.api.tables.source import open_table
    from linkrisk.solver.run.errors import UsageError

    cells, relations = arguments.cells or [], arguments.relations or []
    if (arguments.table is None) == (not cells):
        raise UsageError("give a table: --table FILE, or --cells FILE (and --relations FILE)")
    if arguments.table is not None:
        _refuse_beside_table(arguments)
        return open_table(arguments.table)
    if len(relations) > len(cells):
        raise UsageError("--relations is given more often than --cells; each table has one of both")
    by = names(arguments.by, "--by")
    trees, totals = hierarchies_of(arguments), pairs(arguments.total, "--total", "A=CODE")
    if len(cells) == 1:
        return _one(cells[0], relations[0] if relations else None, by, trees, totals)
    return _linked(list(zip_longest(cells, relations)), by, trees, totals)


def _one(
    cells: str,
    relations: str | None,
    by: Sequence[str] | None,
    trees: Mapping[str, list[str]],
    totals: Mapping[str, str],
) -> StoredTable:
    from linkrisk.solver.api.tables.source import open_table

    return open_table(cells, relations, by=by, hierarchies=trees, totals=totals)


def _linked(
    files: Sequence[tuple[str, str | None]],
    by: Sequence[str] | None,
    trees: Mapping[str, list[str]],
    totals: Mapping[str, str],
) -> StoredTable:
    """Several tables, each with those of the columns and hierarchies that it has."""
    from linkrisk.datasets.tables.cells_and_relations import code_columns, read_cells
    from linkrisk.solver.api.tables.source import link_tables
    from linkrisk.solver.run.errors import UsageError

    tables, seen = [], set()
    for cells, relations in files:
        frame = read_cells(cells)[0]
        mine = [name for name in by or code_columns(frame) if name in frame.columns]
        seen |= set(mine)
        follow = set(mine) if relations is None else set()
        own_trees = {name: one for name, one in trees.items() if name in follow}
        own_totals = {name: one for name, one in totals.items() if name in follow}
        tables.append(_one(cells, relations, mine, own_trees, own_totals))
    unknown = next((name for name in (*(by or ()), *trees, *totals) if name not in seen), None)
    if unknown is not None:
        raise UsageError(f"no table has a column {unknown!r} of codes; there are: {', '.join(sorted(seen))}")
    return link_tables(tables, totals=totals)


def _refuse_beside_table(arguments: argparse.Namespace) -> None:
    from linkrisk.solver.run.errors import UsageError

    for option in ("relations", "by", "hierarchy", "total"):
        if getattr(arguments, option):
            raise UsageError(f"--table says itself which relations there are; leave --{option} out")


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
        name, mark, value = text.partition("=")
        if not mark or not name or not value:
            raise UsageError(f"{option}: {text!r} is none; write {form}")
        found[name] = value
    return found


def check_outputs(arguments: argparse.Namespace, *outputs: str) -> None:
    """Refuse output files that cannot be written, or would overwrite what the table is read from.

    Raises
    ------
    UsageError
        With the option, the file and how to fix it.
    """
    from linkrisk.solver.commands import targets
    from linkrisk.solver.run.errors import UsageError

    targets.check_targets(arguments, *outputs)
    taken = {Path(path).resolve(): option for option, path in _inputs(arguments)}
    for name in outputs:
        path = getattr(arguments, name)
        other = None if path is None else taken.get(Path(path).resolve())
        if other is not None:
            raise UsageError(f"--{name} {path} would overwrite the --{other} file: give another name")


def _inputs(arguments: argparse.Namespace) -> list[tuple[str, Any]]:
    listed = [(name, path) for name in ("cells", "relations") for path in getattr(arguments, name) or ()]
    return [*listed, *([("table", arguments.table)] if arguments.table is not None else [])]


def table_line(arguments: argparse.Namespace, cells: int, relations: int) -> str:
    """The line that says which table it is."""
    name = arguments.table if arguments.table is not None else " + ".join(arguments.cells)
    return f"table       {name}: {several(cells, 'cell')}, {several(relations, 'relation')}"
