"""The tables of `engines.py`, from its runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine_cases import AGGREGATORS, Known
from engine_runs import METHODS, PAPER_C, Run

Key = tuple[str, str, str]
_DIRECTIONS = {"original-to-masked": "o-m", "masked-to-original": "m-o"}


def part_tables(part: str, runs: Sequence[Run], known: Mapping[Key, Known]) -> Iterator[str]:
    """The lines on one part: a table for each size, and what follows from it."""
    if part == "growth":
        yield from ["Growing files (Census records resampled with noise, microaggregated)", ""]
        yield from [*growth_table(runs), ""]
        return
    for records in sorted({run.records for run in runs}):
        chosen = [run for run in runs if run.records == records]
        yield from [f"{part}, {records} records", ""]
        yield from [*case_table(chosen, known), "", *verdicts(chosen, known), "", *ratios(chosen), ""]


def by_method(runs: Sequence[Run], method: str) -> dict[Key, Run]:
    """The runs of a method by pair, direction and aggregator."""
    return {run.key: run for run in runs if run.method == method}


def case_table(runs: Sequence[Run], known: Mapping[Key, Known]) -> list[str]:
    """One line per case: what was known, then each method's interval and seconds."""
    shown = [method for method in METHODS if any(run.method == method for run in runs)]
    titles = ["pair", "way", "aggregator", "known"]
    for method in shown:
        titles += [method, "s"]
        titles += ["gap pp", "MB"] if method == "exact" else []
        titles += ["C needed"] if method == "pulp-paper-c" else []
    made = {method: by_method(runs, method) for method in shown}
    rows: list[list[object]] = []
    for pair, direction, aggregator in dict.fromkeys(run.key for run in runs):
        key = (pair, direction, aggregator)
        row: list[object] = [pair, _DIRECTIONS[direction], aggregator, _known(known.get(key))]
        for method in shown:
            run = made[method].get(key)
            row += [_interval(run), None if run is None or run.linked is None else round(run.seconds, 1)]
            if method == "exact":
                gap = None if run is None else run.gap
                row += [None if gap is None else round(gap, 2), None if run is None else round(run.peak_mb)]
            if method == "pulp-paper-c":
                row.append(None if run is None or run.needed_c is None else float(f"{run.needed_c:.3g}"))
        rows.append(row)
    return _table(titles, rows)


def _known(known: Known | None) -> str | None:
    if known is None:
        return None
    return f"{known.linked}" if known.linked == known.bound else f"{known.linked}..{known.bound}"


def _interval(run: Run | None) -> str | None:
    """The interval; one number when proven, and a mark where C was too small for a bound."""
    if run is None:
        return None
    if run.linked is None:
        return run.status
    if run.proven:
        return f"{run.linked}"
    if cut_off(run):
        return f">={run.linked}, {'C too small' if run.limit else 'solved, C too small'}"
    return f"{run.linked}..{run.bound}"


def cut_off(run: Run) -> bool:
    """Whether the constant C cut parameters off, so that the model's optimum is not a bound."""
    return run.method == "pulp-paper-c" and run.needed_c is not None and run.needed_c > PAPER_C


def verdicts(runs: Sequence[Run], known: Mapping[Key, Known]) -> list[str]:
    """What the exact engine has proven, and every answer that cannot be right."""
    exact = list(by_method(runs, "exact").values())
    answered = [run for run in exact if run.gap is not None]
    if not answered:
        return ["exact: no answer"]
    proven = [run for run in answered if run.proven]
    quick = [run for run in proven if run.seconds <= 60]
    widest = max(answered, key=lambda run: run.gap or 0.0)
    slowest = max(answered, key=lambda run: run.seconds)
    largest = max(answered, key=lambda run: run.peak_mb)
    lines = [
        f"exact: {len(proven)} of {len(exact)} proven, {len(quick)} of them within 60 s; "
        f"{len(exact) - len(answered)} without an answer",
        f"worst gap {widest.gap:.2f} percentage points ({_name(widest)}); worst time {slowest.seconds:.1f} s "
        f"({_name(slowest)}); most memory {largest.peak_mb:.0f} MB",
    ]
    groups = [[run for run in answered if run.aggregator == name] for name in AGGREGATORS]
    return [*lines, *(_of_aggregator(group, known) for group in groups if group), *_wrong(runs, known)]


def _of_aggregator(runs: Sequence[Run], known: Mapping[Key, Known]) -> str:
    """How many of an aggregator are proven, and its gaps beside what was known."""
    gaps = [run.gap or 0.0 for run in runs]
    compared = [run for run in runs if run.key in known]
    both = [run.gap or 0.0 for run in compared]
    before = [100.0 * (known[run.key].bound - known[run.key].linked) / run.records for run in compared]
    proven = sum(run.proven for run in runs)
    line = f"  {runs[0].aggregator}: {proven} of {len(runs)} proven, worst gap {max(gaps):.2f}"
    if sum(before):
        line += f"; gaps of {sum(both):.2f} in all where {sum(before):.2f} were known"
        halves = [gap <= old / 2 for gap, old in zip(both, before, strict=True) if old > 0]
        line += f", at most half of the known gap in {sum(halves)} of {len(halves)} open cases"
    return line


def _wrong(runs: Sequence[Run], known: Mapping[Key, Known]) -> list[str]:
    """Answers below what was known, and bounds that an answer refutes; each must be explained."""
    exact = by_method(runs, "exact")
    below, refuted, above = [], [], []
    for key, run in exact.items():
        if run.linked is None or run.bound is None:
            continue
        before = known.get(key)
        if before is not None and run.linked < before.linked:
            below.append(f"{_name(run)}: {run.linked} < {before.linked}")
        if before is not None and run.linked > before.bound:
            above.append(f"{_name(run)}: {run.linked} > {before.bound}")
        reached = [other.linked for other in runs if other.key == key and other.linked is not None]
        most = max([*reached, *([before.linked] if before is not None else [])])
        if run.bound < most:
            refuted.append(f"{_name(run)}: at most {run.bound}, but {most} are linked")
    return [
        f"answers below best_known.csv: {_listed(below)}",
        f"answers above the bound of best_known.csv: {_listed(above)}",
        f"bounds that some answer refutes: {_listed(refuted)}",
    ]


def ratios(runs: Sequence[Run]) -> list[str]:
    """How many times longer the other methods take."""
    exact = by_method(runs, "exact")
    lines = []
    for method, title in METHODS.items():
        others = by_method(runs, method)
        if method == "exact" or not others:
            continue
        pairs = [(exact[key], other) for key, other in others.items() if key in exact]
        lines.append(f"{method} ({title}): seconds in multiples of the exact engine's")
        both = [(mine, other) for mine, other in pairs if mine.proven and other.proven]
        # A stopped run is counted with its limit: what it took beyond that to end says nothing.
        stopped = [
            (mine, replace(other, seconds=min(other.seconds, other.time_limit)))
            for mine, other in pairs
            if mine.proven and other.limit == "time"
        ]
        lines.append(f"  both prove: {_multiples(both)}")
        if any(other.attack_seconds for other in others.values()):
            lines.append(
                f"  both prove, without the attack that both begin with: {_multiples(both, attack=False)}"
            )
        lines.append(f"  exact proves, the other not within its limit, so at least: {_multiples(stopped)}")
        if method == "pulp-paper-c":
            solved = [(mine, other) for mine, other in pairs if cut_off(other) and not other.limit]
            lines.append(
                "  C cuts parameters off, so that it proves nothing, but the model was solved to the end: "
                + _multiples([(mine, other) for mine, other in solved if mine.proven])
            )
        backwards = [_name(other) for mine, other in pairs if other.proven and not mine.proven]
        narrow = [_name(mine) for mine, other in both if (mine.linked or 0) > (other.linked or 0)]
        lines += [
            f"  proven by it and not by exact: {_listed(backwards)}",
            f"  both prove, and exact links more, by less than the model's margin: {_listed(narrow)}",
        ]
    return lines


def _multiples(pairs: Sequence[tuple[Run, Run]], *, attack: bool = True) -> str:
    """The geometric mean and the range of the ratios of seconds, of a hundredth of a second at least."""
    seconds = [
        [max(0.01, run.seconds - (0.0 if attack else run.attack_seconds)) for run in pair] for pair in pairs
    ]
    times = [other / mine for mine, other in seconds]
    if not times:
        return "no case"
    mean = math.exp(math.fsum(map(math.log, times)) / len(times))
    cases = "1 case" if len(times) == 1 else f"{len(times)} cases"
    return f"{mean:.1f} in the geometric mean of {cases} ({min(times):.1f} to {max(times):.1f})"


def growth_table(runs: Sequence[Run]) -> list[str]:
    """Time and memory by size."""
    titles = ["records", "way", "aggregator", "linked", "at most", "gap pp", "status", "s", "peak MB", "note"]
    rows: list[list[object]] = []
    for run in runs:
        gap = None if run.gap is None else round(run.gap, 2)
        rows.append(
            [run.records, _DIRECTIONS[run.direction], run.aggregator, run.linked, run.bound, gap, run.status,
             round(run.seconds, 1), round(run.peak_mb), run.note[:60] if run.linked is None else None]
        )  # fmt: skip
    return _table(titles, rows)


def _name(run: Run) -> str:
    return f"{run.pair} {_DIRECTIONS[run.direction]} {run.aggregator}"


def _listed(texts: Sequence[str]) -> str:
    return "none" if not texts else f"{len(texts)}\n" + "\n".join(f"    {text}" for text in texts)


def _table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns as wide as they need to be, numbers to the right; a dash for what is missing."""
    kinds = [{type(row[at]) for row in rows if row[at] is not None} for at in range(len(titles))]
    cells = [list(titles), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(titles))]
    return [
        "  ".join(
            text.rjust(width) if kind and kind <= {int, float} else text.ljust(width)
            for text, width, kind in zip(line, widths, kinds, strict=True)
        ).rstrip()
        for line in cells
    ]


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
