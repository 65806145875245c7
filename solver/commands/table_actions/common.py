"""Arguments and lines that the actions of `tables` share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.datasets.microdata.names import shown_name
from linkrisk.solver.commands.arguments import number, whole_number
from linkrisk.solver.commands.targets import named_paths

if TYPE_CHECKING:
    import pandas as pd

    from linkrisk.solver.api.tables.changed import ChangedTable
    from linkrisk.solver.api.tables.noisy import NoisyTable
    from linkrisk.solver.api.tables.reported import Reported


PAGES = ("report", "external_report")
"""Options that name pages about the result, where an action has them."""


def add_written(parser: argparse.ArgumentParser, internal: str, *, formats: bool = False) -> None:
    """Declare what can be written.

    Parameters
    ----------
    parser : ArgumentParser
    internal : str
        What the file of the house holds.
    formats : bool
        Whether there may be several of these, in formats of their own.
    """
    parser.add_argument("--output", metavar="FILE", help="write the table as it may be published")
    several = "; once for each format" if formats else ""
    parser.add_argument(
        "--internal",
        metavar="FILE",
        action="append" if formats else "store",
        help=f"write {internal}: for the house{several}",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found as JSON")


def add_reports(parser: argparse.ArgumentParser) -> None:
    """Declare the pages about the result."""
    parser.add_argument("--report", metavar="FILE", help="write what was done and found as one HTML page")
    parser.add_argument(
        "--external-report",
        metavar="FILE",
        help="the same for readers outside, without anything that would help an intruder",
    )


def write_about(arguments: argparse.Namespace, result: Reported) -> None:
    """Write JSON and pages, all or none."""
    from linkrisk.datasets.microdata.writing import write_all

    makers: dict[str, Callable[[], str]] = {
        "json": result.to_json,
        "report": result.to_html,
        "external_report": lambda: result.to_html(external=True),
    }
    wanted = {name: path for name in makers if (path := getattr(arguments, name)) is not None}
    if wanted:
        write_all({Path(path): makers[name]().encode("utf-8") for name, path in wanted.items()})


def write_changed(
    arguments: argparse.Namespace, result: ChangedTable | NoisyTable, **more: pd.DataFrame
) -> None:
    """Write a table whose values were changed: for readers, for the house, and what is said about it.

    `more` are further frames, by the option that names their file. All are written, or none.
    """
    from linkrisk.datasets.microdata.writing import for_the_house, together, write_table

    with together():
        if arguments.output is not None:
            result.write(arguments.output)
        with for_the_house():
            for option, frame in {"internal": result.to_frame(), **more}.items():
                if getattr(arguments, option) is not None:
                    write_table(frame, getattr(arguments, option))
        write_about(arguments, result)


class Once(argparse.Action):
    """Takes one value: of who attacks, or what is known, nothing is left out without a word."""

    def __call__(
        self, _: object, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Keep the value, or refuse a second one."""
        from linkrisk.solver.run.errors import UsageError

        if getattr(namespace, self.dest) is not None:
            raise UsageError(f"{option_string} is given twice; give it once, with all in one file")
        setattr(namespace, self.dest, values)


def refuse_alone(arguments: argparse.Namespace, option: str, *partners: str, what: str) -> None:
    """Refuse an option that says something of another one which is not given: it would do nothing.

    Parameters
    ----------
    arguments : Namespace
    option : str
        As it is written, such as ``--manual-range``.
    *partners : str
        The options that it belongs to, one of which suffices.
    what : str
        What the option says of them.

    Raises
    ------
    UsageError
        If it is given without any of these.
    """
    from linkrisk.solver.run.errors import UsageError

    def given(name: str) -> bool:
        return getattr(arguments, name[2:].replace("-", "_")) not in (None, False)

    if given(option) and not any(map(given, partners)):
        raise UsageError(f"{option} {what}; give {' or '.join(partners)}, or leave {option} out")


CERTIFICATE = ("certificate",)
"""The option that names it."""


def add_exact(parser: argparse.ArgumentParser) -> None:
    """Declare that levels are decided in rational numbers."""
    parser.add_argument(
        "--exact", action="store_true", help="decide every level in rational numbers, without tolerance"
    )
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        help="write what proves it, for `tables verify` (with .gz compressed); implies --exact",
    )


def exact_of(arguments: argparse.Namespace) -> bool:
    """Whether levels are decided in rational numbers."""
    return bool(arguments.exact or arguments.certificate is not None)


def add_search(parser: argparse.ArgumentParser, backend: str) -> None:
    """Declare what solves the program, and for how long; `backend` says which there are."""
    parser.add_argument("--backend", metavar="NAME", help=f"what solves the program: {backend}")
    parser.add_argument("--seed", metavar="N", help="of the backend; default: 0")
    parser.add_argument("--time-limit", metavar="S", help="seconds, or 'none'; default: 60")


def seed_of(arguments: argparse.Namespace) -> int:
    """The seed."""
    return whole_number(arguments.seed, "--seed") or 0


def time_limit_of(arguments: argparse.Namespace, usual: str | None = None) -> float | None:
    """The time limit in seconds, `usual` where none is given; None for none."""
    from linkrisk.solver.api.tables.suppress import DEFAULT_TIME_LIMIT

    limit = arguments.time_limit or usual or str(DEFAULT_TIME_LIMIT)
    return None if limit == "none" else number(limit, "--time-limit")


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Declare what is missing, and what becomes of records without a code or a response."""
    parser.add_argument(
        "--schema", metavar="FILE", help="JSON or TOML file: missing codes, labels and forms of dates"
    )
    parser.add_argument(
        "--missing",
        metavar="HOW",
        default="refuse",
        help="records without a code or a response: refuse (default), leave-out, or code (code=NAME): those "
        "without a code have the code missing (NAME) below the total, those without a response are left out",
    )


def incomplete_lines(
    arguments: argparse.Namespace, coded: Mapping[str, int], left_out: Mapping[str, int]
) -> list[str]:
    """What became of records without a code or a response, and their code, where there are such."""
    from linkrisk.datasets.tables.incomplete import Incomplete

    lines = []
    code = f": their code is {Incomplete.parse(arguments.missing).code!r}"
    for title, counts, more in (("coded", coded, code), ("left out", left_out, "")):
        if counts:
            each = (f"{count:,} without {shown_name(name)}" for name, count in counts.items())
            lines.append(f"{title:<11} records, {', '.join(each)}{more}")
    return lines


def renamed_lines(names: Mapping[str, str]) -> list[str]:
    """A line for each variable whose column of codes has another name in what is written."""
    return [
        f"codes       of {shown_name(name)} are in the column {column}: {name} is a column of its own there"
        for name, column in names.items()
    ]


def written_lines(arguments: argparse.Namespace, *names: str) -> list[str]:
    """A line for each file that was written."""
    given = named_paths(arguments, (*names, *PAGES))
    return [f"{name.split('_')[0]:<11} {path}" for name, path in given]
