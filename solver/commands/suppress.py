"""`python -m solver suppress`: take values out of a file so that no unsafe combination is left whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from linkrisk.datasets.options.option import keywords
from linkrisk.solver.commands.protocol_steps import check_protocol, step_of
from linkrisk.solver.commands.unsafe import checked_line, constant_lines
from linkrisk.solver.options.operations.suppress import SuppressCommand, SuppressOptions
from linkrisk.solver.run.counts import several

if TYPE_CHECKING:
    from linkrisk.solver.suppression.operations.result import SuppressionResult


ASKED = SuppressCommand
DESCRIPTION = (
    "Take the values of least cost out of key variables that leave no unsafe combination of them whole, "
    "with a bound that proves it. What is taken out becomes missing."
)
EXAMPLE = "example: suppress --input people.csv --keys town,sex,trade --k 3 --output safe.csv"

_KEPT = ("answer", "backend", "seed", "time_limit")
"""What a protocol does not say, as it keeps what was taken."""


def run(asked: SuppressCommand) -> int:
    """Suppress, write, and print what was done."""
    from linkrisk.datasets.microdata.formats.registry import with_suffix_of
    from linkrisk.datasets.microdata.writing import SECRET, write_all, write_whole
    from linkrisk.solver.commands.progress import limit_of, progress_line, reporter
    from linkrisk.solver.commands.recodings import recoding_files
    from linkrisk.solver.inputs.source import check_targets
    from linkrisk.solver.run.errors import UsageError
    from linkrisk.solver.suppression.operations.suppress import suppress

    if asked.output is None and (asked.shuffle or asked.renumber):
        raise UsageError("--shuffle and --renumber are for --output: say what to write, or leave them out")
    if asked.output is not None:
        asked = replace(asked, output=with_suffix_of(asked.output, str(asked.data)))
        check_targets(str(asked.data), str(asked.output), None)
    check_protocol(asked.protocol, str(asked.data), asked.output)
    with progress_line("counting combinations", limit_of(asked)) as line:
        result = suppress(**keywords(SuppressOptions, asked, on_progress=reporter(line)))
    recodings = recoding_files(asked.write_recodings, result.details["recodings"])
    about = _about(asked, result) | recodings  # all is made before anything is written
    if asked.output is not None:
        _write(asked, asked.output, result)
    if about:
        write_all(about)
    if asked.write_answer is not None:
        write_whole(asked.write_answer, result.answer.to_json(), mode=SECRET)  # undoes the suppression
    print(_summary(asked, result))
    return 0


def _write(asked: SuppressCommand, output: str, result: SuppressionResult) -> None:
    """Write the table and, where asked for, add the step to a protocol."""
    from linkrisk.datasets.masking.base import new_seed
    from linkrisk.solver.protocol.keeping import add_step

    order = new_seed() if asked.shuffle else None
    result.write(output, shuffle=asked.shuffle, renumber=asked.renumber, seed=order)
    if asked.protocol is not None:
        step = step_of("suppress", asked, leave_out=_KEPT)
        step |= {} if order is None else {"order_seed": str(order)}
        add_step(asked.protocol, str(asked.data), output, step, result.answer.to_json())


def _about(asked: SuppressCommand, result: SuppressionResult) -> dict[Path, bytes]:
    """What is written of the result besides the table."""
    makers: dict[str, Callable[[], str]] = {
        "json": result.to_json,
        "report": result.to_html,
        "external_report": lambda: result.to_html(external=True),
    }
    wanted = {name: path for name in makers if (path := getattr(asked, name)) is not None}
    return {Path(path): makers[name]().encode("utf-8") for name, path in wanted.items()}


def _summary(asked: SuppressCommand, result: SuppressionResult) -> str:
    from linkrisk.datasets.microdata.names import level_in_words, shown_name, shown_names
    from linkrisk.solver.run.counts import count

    details, keys = result.details, result.details["keys"]
    variables = several(len(keys), "key variable")
    lines = [
        f"input       {asked.data}: {count(len(result.table))} records, {variables}",
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
            ("output", asked.output),
            ("report", asked.report),
            ("external", asked.external_report),
            ("answer", asked.write_answer),
            ("recodings", asked.write_recodings),
        ]
        if path is not None
    ]
    if asked.protocol is not None:
        lines.append(f"protocol    {asked.protocol}: this step was added")
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
