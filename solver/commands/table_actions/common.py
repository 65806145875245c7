"""Files and lines that the actions of `tables` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.options.option import keywords, options_of
from linkrisk.solver.commands.targets import files_about, named_paths, paths_of
from linkrisk.solver.options.tables import TableOptions

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.datasets.tables.stored_table import StoredTable
    from linkrisk.solver.run.result import Reported, Result
    from linkrisk.solver.tables.operations.adjust_and_round import ChangedTable
    from linkrisk.solver.tables.operations.perturb import NoisyTable


PAGES = ("report", "external_report")
"""Options that name pages about the result, where an action has them."""


def read_table(asked: TableOptions) -> StoredTable:
    """The table that is asked for."""
    from linkrisk.solver.tables.operations.source import open_table

    return open_table(**keywords(TableOptions, asked))


def of_table(operation: type[Any], asked: Any, table: StoredTable, **more: Any) -> dict[str, Any]:
    """What is asked of a table that was read, as keywords of a function."""
    known = options_of(TableOptions)
    found = {name: value for name, value in keywords(operation, asked).items() if name not in known}
    return {"cells": table, **found, **more}


def changed_table(operation: type[Any], asked: Any, change: Callable[..., Any], doing: str) -> int:
    """Change the values of the table that is asked for, write it, and print what was found.

    `operation`: what the function is asked. `asked`: of the command. `change`: the function, such as
    `round_table`. `doing`: what the line of progress says.
    """
    from linkrisk.solver.commands.progress import progress_line, reporter

    check_files(asked, lines=True)
    with progress_line(doing, asked.time_limit) as line:
        result = change(**of_table(operation, asked, read_table(asked), on_progress=reporter(line)))
    write_changed(asked, result)
    return 0


def check_files(asked: Any, *, lines: bool = False) -> None:
    """Refuse files whose format cannot be written.

    `lines` says that the internal file has a line for each cell, and can be no whole table.

    Raises UsageError, DataError with the file and how to fix it.
    """
    from linkrisk.datasets.microdata.formats.registry import writable_format
    from linkrisk.datasets.tables.writing import check_internal, check_published

    checks = (("output", check_published), ("internal", writable_format if lines else check_internal))
    for name, check in checks:
        for path in paths_of(asked, name):
            check(path)


def check_fits(asked: Any, table: StoredTable) -> None:
    """Refuse files whose format cannot hold a table, before anything is searched.

    Raises DataError.
    """
    from linkrisk.datasets.tables.writing import check_holds

    check_holds(table, asked.output, paths_of(asked, "internal"))


def write_about(asked: Any, result: Reported) -> None:
    """Write JSON and pages, all or none."""
    from linkrisk.datasets.microdata.writing import write_all

    if about := files_about(asked, result):
        write_all(about)


def write_changed(asked: Any, result: ChangedTable | NoisyTable, **more: pd.DataFrame) -> None:
    """Write a table whose values were changed: for readers and for the house; then print what was found.

    `more` are further frames, by the option that names their file. All are written, or none.
    """
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_table

    with together():
        if asked.output is not None:
            result.write(asked.output)
        with for_the_house():
            for option, frame in {"internal": result.to_frame(), **more}.items():
                if getattr(asked, option) is not None:
                    write_table(frame, getattr(asked, option))
        write_about(asked, result)
    show(asked, result, "output", "internal")


def show(asked: Any, result: Result, *names: str, withheld: str = "") -> None:
    """Print a result in short, and which files of these names, and which pages, were written.

    `withheld` says why there is no `output`.
    """
    lines = [f"{name.split('_')[0]:<11} {path}" for name, path in named_paths(asked, (*names, *PAGES))]
    lines += [f"output      none: {withheld}"] if withheld else []
    print(result, "".join(f"{line}\n" for line in (["", *lines] if lines else [])), sep="", end="")
