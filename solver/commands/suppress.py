"""`python -m solver suppress`: take values out of a file so that no unsafe combination is left whole."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkrisk.solver.commands.arguments import add_drop, dropped, names, number
from linkrisk.solver.commands.protocol_steps import add_to_protocol, check_protocol, suppress_step
from linkrisk.solver.commands.unsafe_options import (
    add_hierarchies,
    add_unsafe,
    checked_line,
    constant_lines,
    pairs,
    unsafe_keywords,
    whole,
)
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.api.suppression_result import SuppressionResult


_ABOUT = ("json", "report", "external_report", "write_answer")
"""Options that name files about the result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Take the values of least cost out of key variables that leave no unsafe combination of them whole, "
        "with a bound that proves it. What is taken out becomes missing."
    )
    parser.epilog = "example: suppress --input people.csv --keys town,sex,trade --k 3 --output safe.csv"
    parser.add_argument(
        "--input", required=True, metavar="FILE", help="file of any format, or the name of a data set"
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="file to write, in the format that its suffix says; without it nothing is written",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found and taken as JSON")
    parser.add_argument(
        "--write-recodings",
        metavar="FOLDER",
        help="of joint: write the levels that were chosen as recoding files of mu-ARGUS (.grc)",
    )
    parser.add_argument("--write-answer", metavar="FILE", help="write what is taken from which record")
    parser.add_argument(
        "--answer", metavar="FILE", help="such a file: take that again, and count again, instead of a search"
    )
    parser.add_argument(
        "--protocol",
        metavar="FILE",
        help="TOML file to which this step is added; `run-protocol` does all steps again or undoes "
        "the last ones",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write what was done as one HTML page, with risk and frequencies before and after",
    )
    parser.add_argument(
        "--external-report",
        metavar="FILE",
        help="the same for readers outside, without anything that would help an intruder",
    )
    add_drop(parser)
    parser.add_argument(
        "--shuffle", action="store_true", help="write records in random order, whole households together"
    )
    parser.add_argument(
        "--renumber", metavar="A,B", help="columns of ids that are written as 1, 2, 3, ... in that order"
    )
    add_unsafe(parser.add_argument_group("what is unsafe (default: --k 3)"))
    _add_choice(parser.add_argument_group("what is taken"))
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="highs",
        help="what solves the programs of recount and joint; default: highs",
    )
    parser.add_argument(
        "--seed", metavar="N", default="0", help="of the choice of what these look at; default: 0"
    )
    parser.add_argument("--time-limit", metavar="S", default="60", help="seconds, or 'none'; default: 60")
    parser.set_defaults(run=run)


def _add_choice(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--problem",
        metavar="NAME",
        default="cover",
        help="cover (default): every unsafe combination of the input loses a value; recount: every record "
        "has K like it in the output, where missing values are own-category or matches-anything; joint: that "
        "by levels of recoding together with suppression",
    )
    add_hierarchies(group, "for joint")
    group.add_argument(
        "--cost",
        metavar="HOW",
        help="of a value: one each (default), the entropy of its variable, or by priority",
    )
    group.add_argument(
        "--priority", metavar="A=5,B=2", help="costs of values by key variable; 1 for all others"
    )
    group.add_argument("--untouched", metavar="A,B", help="key variables that keep all values")
    group.add_argument(
        "--ghost",
        metavar="A=B",
        action="append",
        help="column B, no key variable, loses its value wherever A does; once for each",
    )
    group.add_argument("--household", metavar="COLUMN", help="column of household numbers")
    group.add_argument(
        "--head",
        metavar="A=V",
        help="who is the head of a household: each has exactly one member whose A is V",
    )
    group.add_argument(
        "--household-keys", metavar="A,B", help="key variables taken from all members of a household or none"
    )


def run(arguments: argparse.Namespace) -> int:
    """Suppress, write, and print what was done."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.datasets.microdata.writing import SECRET, write_all, write_whole
    from linkrisk.solver.api.masking_source import check_targets
    from linkrisk.solver.api.suppress import suppress
    from linkrisk.solver.commands import targets
    from linkrisk.solver.commands.progress import limit_shown, progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.run.errors import UsageError

    targets.check_targets(arguments, "output", *_ABOUT)
    if arguments.output is None and (arguments.shuffle or arguments.renumber):
        raise UsageError("--shuffle and --renumber are for --output: say what to write, or leave them out")
    if arguments.output is not None:
        arguments.output = with_suffix_of(arguments.output, arguments.input)
        check_targets(arguments.input, arguments.output, None)
    check_protocol(arguments)
    request = _request(arguments)
    with progress_line("counting combinations", limit_shown(arguments, None)) as line:
        result = suppress(arguments.input, on_progress=reporter(line), **request)
    recodings = recoding_files(arguments.write_recodings, result.details["recodings"])
    about = _about(arguments, result) | recodings  # all is made before anything is written
    if arguments.output is not None:
        _write(arguments, request, result)
    if about:
        write_all(about)
    if arguments.write_answer is not None:
        write_whole(arguments.write_answer, result.answer.to_json(), mode=SECRET)  # undoes the suppression
    print(_summary(arguments, result))
    return 0


def _write(arguments: argparse.Namespace, request: dict[str, Any], result: SuppressionResult) -> None:
    """Write the table and, where asked for, add the step to a protocol."""
    from linkrisk.datasets.masking.base import new_seed

    renumber = names(arguments.renumber, "--renumber") or ()
    order = new_seed() if arguments.shuffle else None
    result.write(arguments.output, shuffle=arguments.shuffle, renumber=renumber, seed=order)
    if arguments.protocol is not None:
        written: dict[str, Any] = {"renumber": list(renumber)} if renumber else {}
        written |= {} if order is None else {"order_seed": str(order)}
        step = {**suppress_step(arguments, request), **written}
        add_to_protocol(arguments, step, result.answer.to_json())


def _about(arguments: argparse.Namespace, result: SuppressionResult) -> dict[Path, bytes]:
    """What is written of the result besides the table."""
    makers: dict[str, Callable[[], str]] = {
        "json": result.to_json,
        "report": result.to_html,
        "external_report": lambda: result.to_html(external=True),
    }
    wanted = {name: path for name in makers if (path := getattr(arguments, name)) is not None}
    return {Path(path): makers[name]().encode("utf-8") for name, path in wanted.items()}


def _request(arguments: argparse.Namespace) -> dict[str, Any]:
    """The keywords of the function."""
    cost = arguments.cost or ("one" if arguments.priority is None else "priority")
    limit, priorities = arguments.time_limit, pairs(arguments.priority, "--priority")
    return {
        **unsafe_keywords(arguments),
        "drop": dropped(arguments.drop),
        "problem": arguments.problem,
        "answer": arguments.answer,
        "backend": arguments.backend,
        "seed": whole(arguments.seed, "--seed"),
        "cost": cost,
        "priorities": {name: number(value, "--priority") for name, value in priorities},
        "untouched": names(arguments.untouched, "--untouched") or (),
        "ghosts": _ghosts(arguments.ghost or ()),
        "household": arguments.household,
        "head": arguments.head,
        "household_keys": names(arguments.household_keys, "--household-keys") or (),
        "time_limit": None if limit == "none" else number(limit, "--time-limit"),
    }


def _ghosts(given: Sequence[str]) -> dict[str, list[str]]:
    """``A=B`` as the ghosts of each key variable."""
    found: dict[str, list[str]] = {}
    for text in given:
        for name, ghost in pairs(text, "--ghost"):
            found.setdefault(name, []).append(ghost)
    return found


def _summary(arguments: argparse.Namespace, result: SuppressionResult) -> str:
    from linkrisk.datasets.microdata.names import level_in_words, shown_name, shown_names
    from linkrisk.solver.run.counts import count

    details, keys = result.details, result.details["keys"]
    variables = several(len(keys), "key variable")
    lines = [
        f"input       {arguments.input}: {count(len(result.table))} records, {variables}",
        *constant_lines(details),
        f"checked     {checked_line(len(result.checked), details)}",
        f"unsafe      {several(result.unsafe_combinations, 'combination')}; "
        f"{several(result.minimal, 'minimal one')} of {several(result.unsafe, 'record')}",
        f"suppressed  {_suppressed(result)}",
    ]
    recoded = [
        f"{shown_name(name)} to {level_in_words(level, details.get('level_names', {}).get(name, ()))}"
        for name, level in result.levels.items()
        if level
    ]
    if result.levels:
        lines.insert(-1, f"recoded     {', '.join(recoded) or 'nothing'}")
    taken = [f"{count(many)} of {shown_name(name)}" for name, many in result.suppressed.items() if many]
    if taken:
        lines.append(f"            {', '.join(taken)}")
    ghosts = [
        f"{shown_name(ghost)} with {shown_name(name)}"
        for name, them in details["ghosts"].items()
        for ghost in them
    ]
    if ghosts:
        lines.append(f"ghosts      {', '.join(ghosts)}")
    if details["dropped"]:
        lines.append(f"dropped     {shown_names(details['dropped'])}")
    if details["identifiers"]:
        named = shown_names(details["identifiers"])
        lines.append(f"names       {named}: left in, and name the records; --drop leaves them out")
    lines.append(f"recounted   {_recounted(result)}")
    words = {"own-category": "as a category of its own", "matches-anything": "as one that matches anything"}
    again = "; ".join(f"{words[name]}: {count(records)}" for name, records in result.after.items())
    lines.append(f"again       records with an unsafe combination in the output, what is missing {again}")
    lines += [
        f"{what:<12}{path}"
        for what, path in [
            ("output", arguments.output),
            ("report", arguments.report),
            ("external", arguments.external_report),
            ("answer", arguments.write_answer),
            ("recodings", arguments.write_recodings),
        ]
        if path is not None
    ]
    if arguments.protocol is not None:
        lines.append(f"protocol    {arguments.protocol}: this step was added")
    return "\n".join(lines)


def _suppressed(result: SuppressionResult) -> str:
    from linkrisk.solver.run.counts import count
    from linkrisk.solver.run.gaps import no_less

    values = several(result.cells, "value")
    cost = "" if result.cost == result.cells else f", cost {count(round(result.cost, 6))}"
    if result.proven:
        return f"{values}{cost}: proven, no fewer will do" if not cost else f"{values}{cost}: proven least"
    if result.answer_given:
        return f"{values}{cost}, as the given answer says: nothing was searched or proven"
    shown = count(round(result.bound, 6))
    return f"{values}{cost}; {no_less('none costs less than', result.cost, result.bound, shown, '{} % less')}"


def _recounted(result: SuppressionResult) -> str:
    if result.recounted is None:
        return "not: there are too many different rows to compare them all"
    records, details = several(result.recounted, "record"), result.details
    if details["problem"] == "cover":
        return f"{records} with an unsafe combination of the input still whole"
    return f"{records} of the output with fewer than {details['k']} like them; {details['missing_means']}"
