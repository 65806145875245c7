"""What is said of `sweep` in short: a line for each masking, and what has to be known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from linkrisk.errors import called
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.documents.document import Document
from linkrisk.solver.documents.formats import count
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.run.counts import several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import held_out_of, loss_words, run_ends, sweep_sentence, upper_end

_RUNS = {
    "masking": Column("masking", "Masking"),
    "low": Column("low", "Worst case", Of.SHARE),
    "high": Column("high", "At most", Of.SHARE),
    "held_out": Column("held_out", "Held-out", Of.SHARE),
    "loss": Column("loss", "", Of.NUMBER),
    "seconds": Column("seconds", "Seconds", Of.NUMBER),
    "place": Column("place", "Place"),
}

_SHORT = ("low", "high", "held_out", "loss", "seconds", "place", "masking")
"""The masking last, as its text may be long."""


def swept(result: Json) -> Document:
    """Of the JSON of `sweep`."""
    runs = result["runs"]
    done = [run for run in runs if run["status"] == "done"]
    failed = [(run["masking"], str(run["reason"])) for run in runs if run["status"] != "done"]
    kept = f", {count(result['kept_before'])} of them measured before" if result["kept_before"] else ""
    many = several(result["maskings"], "masking")
    workers = result["scheduler"] or several(result["workers"] or 0, "worker")
    return short(
        [runs_table(result["loss"], done, _SHORT)],
        [pairs(*failed, title="Not measured")] if failed else [],
        said=sweep_sentence(runs, len(runs) + len(result["unfinished"])),
        asked=(f"{result['name']}: {count(result['records'])} records; {many}{kept}",),
        notes=[*_notes(result, done), *result["notes"]],
        how=f"seed {result['seed']}, {workers}, {result['seconds']:.1f} s",
    )


def runs_table(loss: str, runs: Sequence[Json], names: Sequence[str], caption: str = "") -> Table:
    """The risk and the loss of maskings; why there is none of those that were not measured."""
    rows = [[_cells(run, loss)[name] for name in names] for run in runs]
    columns = (_RUNS[name] for name in names)
    titled = (Column(one.name, one.title or loss_words(loss), one.of) for one in columns)
    return Table(tuple(titled), rows, caption)


def _cells(run: Json, loss: str) -> dict[str, Any]:
    low, high = (run_ends(run) if run["status"] == "done" else None) or (None, None)
    return {
        "masking": run["masking"],
        "low": low,
        "high": upper_end(low, high),
        "held_out": held_out_of(run),
        "loss": loss_of(run, loss),
        "seconds": round(run["seconds"], 1),
        "place": run["pareto"] or run["reason"] or "no loss known",
    }


def loss_of(run: Json, name: str) -> float | None:
    """One information loss of a masking; None where it does not have it."""
    if name == "il1s_of_all":
        loss: float | None = run["loss"]
        return loss
    found = run["findings"].get("information-loss", ())
    return next((one["value"] for one in found if one["key"] == name), None)


def _notes(result: Json, done: Sequence[Json]) -> Iterator[str]:
    """What has to be known."""
    if left := len(result["unfinished"]):
        again = "the same command goes on"
        if result["folder"] is None:
            again = f"give {called('folder')}, and the next sweep could go on"
        yield f"stopped: {count(left)} of {several(result['maskings'], 'masking')} are not measured; {again}"
    if lacking := sum(run["pareto"] is None for run in done):
        loss = result["loss"]
        yield f"{count(lacking)} without {loss} are not on the map; {called('loss')} takes another one"
    if twins := [run for run in done if run["with_twins"]]:
        where = twins[0]["masking"] if len(twins) == 1 else f"{len(twins)} maskings"
        many = ("" if len(twins) == 1 else "up to ") + count(max(run["with_twins"] for run in twins))
        yield (
            f"after {where}, {many} records are nearest to several identical records, and so not counted; "
            f"{called('ties', 'share')} counts each with its chance"
        )
    if any(one["confidence"] is not None for run in done for one in run["families"]):
        yield f"upper ends hold with the confidence of the samples that were searched (see {called('table')})"
