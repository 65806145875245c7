"""What `sweep` prints: one line per masking, the front, and what has to be known."""

from __future__ import annotations

from linkrisk.solver.documents.formats import count
from linkrisk.solver.risk_utility.results import OF_ALL, SweepResult, loss_of, strongest
from linkrisk.solver.risk_utility.runs import Status, SweepRun
from linkrisk.solver.run.percent import percent
from linkrisk.solver.run.worst_sentence import percents

_LOSSES = {OF_ALL: "IL1s", "pmse": "pMSE"}

_NUMBERS = 4
"""Columns of numbers, before those of words."""


def summary(result: SweepResult) -> str:
    """The map as text."""
    details = result.details
    head = f"{details['name']}: {count(details['records'])} records; {_many(details['maskings'], 'masking')}"
    if details["kept_before"]:
        head += f", {count(details['kept_before'])} of them measured before"
    lines = [head, "", *_table(result)]
    failed = [run for run in result.runs if run.status is not Status.DONE]
    if failed:
        lines += ["", "Not measured", *(f"  {run.masking}: {run.reason}" for run in failed)]
    lines += ["", *_notes(result)]
    workers = details["scheduler"] or _many(details["workers"] or 0, "worker")
    lines.append(f"seed {details['seed']}, {workers}, {details['seconds']:.1f} s")
    return "\n".join(lines) + "\n"


def _many(number: int, what: str) -> str:
    return f"{count(number)} {what}" if number == 1 else f"{count(number)} {what}s"


def _table(result: SweepResult) -> list[str]:
    """A line for each masking that was measured; its text last, as that may be long."""
    titles = ["worst case", "held-out", _LOSSES.get(result.loss, result.loss), "seconds", "front", "masking"]
    rows = [titles, *(_row(result, run) for run in result.done)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(titles))]
    return [
        "  ".join(
            cell.ljust(width) if at >= _NUMBERS else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _row(result: SweepResult, run: SweepRun) -> list[str]:
    held_out, loss = strongest(run), loss_of(run, result.loss)
    place = result.places.get(run.masking)
    return [
        percents(*run.interval).replace(" % to", " to"),
        "-" if held_out is None or held_out.value is None else percent(held_out.value),
        "-" if loss is None else f"{loss:.4f}",
        f"{run.seconds:.1f}",
        "-" if place is None else place.value,
        run.masking,
    ]


def _notes(result: SweepResult) -> list[str]:
    """What has to be known, a line each."""
    said = []
    if result.unfinished:
        kept = result.details["folder"] is not None
        again = "the same command goes on" if kept else "give --folder, and the next sweep could go on"
        said.append(
            f"stopped: {count(len(result.unfinished))} of {_many(result.details['maskings'], 'masking')} are "
            f"not measured; {again}"
        )
    lacking = [run for run in result.done if run.masking not in result.places]
    if lacking:
        said.append(
            f"{count(len(lacking))} without {result.loss} are not on the map; --loss takes another one"
        )
    if twins := [run for run in result.done if run.with_twins]:
        where = twins[0].masking if len(twins) == 1 else f"{len(twins)} maskings"
        many = ("" if len(twins) == 1 else "up to ") + count(max(run.with_twins for run in twins))
        said.append(
            f"after {where}, {many} records are nearest to several identical records, and so not counted; "
            "--ties share counts each with its chance"
        )
    if any(run.confidence is not None for run in result.done):
        said.append("upper ends hold with the confidence of the samples that were searched (see --table)")
    return [f"note: {note}" for note in (*said, *result.notes)]
