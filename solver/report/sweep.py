"""Documents of `sweep`: a line for each masking, the risk-utility map, the cheapest tolerated one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from linkrisk.errors import called
from linkrisk.solver.charts.chart import Of, Table
from linkrisk.solver.documents.document import Block, Document, Paragraph
from linkrisk.solver.documents.short import pairs, short
from linkrisk.solver.documents.wording import count
from linkrisk.solver.measures.verdict import Severity
from linkrisk.solver.report.results import Results
from linkrisk.solver.run.number_format import percent, several
from linkrisk.solver.schemas.keys import Json
from linkrisk.solver.schemas.reading import held_out_of, loss_words, run_ends, sweep_sentence, upper_end

_ENDS = Of.SHARE.columns(low="Worst case", high="At most")
_HELD_OUT = Of.SHARE.columns(held_out="Held-out")
_MASKING, _PLACE = Of.TEXT.columns(masking="Masking", place="Place")


def swept(result: Json) -> Document:
    """Of the JSON of `sweep`."""
    runs = result["runs"]
    done = [run for run in runs if run["status"] == "done"]
    failed = [(run["masking"], str(run["reason"])) for run in runs if run["status"] != "done"]
    kept = f", {count(result['kept_before'])} of them measured before" if result["kept_before"] else ""
    many = several(result["maskings"], "masking")
    workers = result["scheduler"] or several(result["workers"] or 0, "worker")
    loss = Of.NUMBER.columns(loss=loss_words(result["loss"]), seconds="Seconds")
    columns = (*_ENDS, *_HELD_OUT, *loss, _PLACE, _MASKING)  # the last one may be long
    return short(
        [Table.of(columns, (_cells(run, result["loss"]) for run in done))],
        [pairs(*failed, title="Not measured")] if failed else [],
        said=sweep_sentence(runs, len(runs) + len(result["unfinished"])),
        asked=(f"{result['name']}: {count(result['records'])} records; {many}{kept}",),
        notes=[*_notes(result, done), *result["notes"]],
        how=f"seed {result['seed']}, {workers}, {result['seconds']:.1f} s",
    )


def _cells(run: Json, loss: str) -> dict[str, Any]:
    """The risk and the loss of a masking; why there is none of one that was not measured."""
    low, high = (run_ends(run) if run["status"] == "done" else None) or (None, None)
    return {
        "masking": run["masking"],
        "low": low,
        "high": upper_end(low, high),
        "held_out": held_out_of(run),
        "loss": _loss(run, loss),
        "seconds": round(run["seconds"], 1),
        "place": run["pareto"] or run["reason"] or "no loss known",
    }


def _loss(run: Json, name: str) -> float | None:
    """One information loss of a masking; None where it does not have it."""
    found = run["findings"].get("information-loss", ())
    by_key = {"il1s_of_all": run["loss"], **{one["key"]: one["value"] for one in found}}
    return by_key.get(name)


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


# ---- on a page


def the_map(results: Results) -> Iterator[str | Block]:
    """Open the report of a sweep alone; beside a worst case the map belongs to the cost of protection."""
    if not results.families:
        yield ""
        yield from map_blocks(results)


def map_blocks(results: Results) -> Iterator[Block]:
    """Draw the map, name the cheapest tolerated masking, and list all, the undominated first."""
    assert results.sweep is not None
    runs, unfinished, loss = (results.sweep[name] for name in ("runs", "unfinished", "loss"))
    yield from results.drawn("risk-utility", tolerated=results.tolerated)
    yield Paragraph(cheapest(results)[1])
    held_out = any(held_out_of(run) is not None for run in runs)
    lost = Of.NUMBER.columns(loss=loss_words(loss))
    rows = [_cells(run, loss) for run in runs]
    rows += ({"masking": one, "loss": None, "place": "stopped before it was done"} for one in unfinished)
    shown = Table.of(
        (_MASKING, *_ENDS, *(_HELD_OUT if held_out else ()), *lost, _PLACE), sorted(rows, key=_order)
    )
    yield replace(shown, caption="Maskings: their risk and their loss")
    yield Paragraph(
        "A masking is on the front when no other one has both less risk and less loss, whatever the risks "
        "are within their intervals.",
        quiet=True,
    )
    if held_out:
        yield Paragraph(
            "Held-out is what the strongest intruder re-identifies of other records, who has learned from a "
            "share of them.",
            quiet=True,
        )


def _order(row: Json) -> tuple[bool, float]:
    return row["place"] != "on the front", math.inf if row["loss"] is None else row["loss"]


def cheapest(results: Results) -> tuple[bool, str]:
    """Describe the tolerated masking of least loss, or of least risk where no loss is known."""
    assert results.sweep is not None
    allowed = percent(results.tolerated)
    choices = [
        (math.inf if run["loss"] is None else float(run["loss"]), ends[1], str(run["masking"]))
        for run in results.sweep["runs"]
        if (ends := run_ends(run)) is not None and ends[1] <= results.tolerated and not _against(run)
    ]
    if not choices:
        return False, (
            f"No masking keeps its worst case within the {allowed} that are tolerated and has nothing else "
            "against it, such as columns that are neither masked nor compared."
        )
    loss, most, masking = min(choices)
    within = f"whose worst case is within the {allowed} that are tolerated is {masking}"
    risk = f"at most {percent(most)} of its records can be re-identified"
    if loss == math.inf:
        return True, f"The safest masking {within}: {risk}. What it loses was not measured."
    return True, f"The cheapest masking {within}: it loses {loss:.3g}, and {risk}."


def _against(run: Json) -> bool:
    """Whether a masking is rejected for a reason that is no share of records."""
    findings = (run.get("verdict") or {}).get("findings", ())
    return any(one["low"] is None and one["severity"] != Severity.INFORMATION for one in findings)
