"""What a notebook shows of a result, made from its JSON: the headline with a bar, then a short table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.charts.markup import bar, card, paragraph, table, written
from linkrisk.solver.charts.reading import run_ends, sweep_sentence, upper_end
from linkrisk.solver.charts.table import Column, Of, Table
from linkrisk.solver.run.results import (
    WEIGHTED,
    guessed_ends,
    least_of,
    limit_key,
    may_say_proven,
    meets,
    objective,
    says_more,
)
from linkrisk.solver.run.worst_sentence import ends_said, shares_of, worst_sentence

Json = Mapping[str, Any]

_FAMILIES = (
    Column("family", "Family of distances"),
    Column("low", "Linked", Of.COUNT),
    Column("high", "At most", Of.COUNT),
    Column("state", "State"),
)
_FINDINGS = (
    Column("finding", "Finding"),
    Column("value", "Value"),
    Column("interval", "Interval"),
)
_UNITS = {"share": Of.SHARE, "records": Of.COUNT, "persons": Of.COUNT}
_RUNS = (
    Column("masking", "Masking"),
    Column("low", "Worst case, at least", Of.SHARE),
    Column("high", "At most", Of.SHARE),
    Column("loss", "Loss", Of.NUMBER),
    Column("pareto", "Place"),
)


def fit_card(result: Json) -> str:
    """Of the JSON of `fit`, of one family or several."""
    families = result.get("families", (result,))
    found = [one for one in families if "reason" not in one]
    worst = max(found, key=lambda one: _ends(one)[0])
    rows = [_family_row(one) for one in families]
    return card(
        *_worst(found),
        table(Table(_FAMILIES, rows)),
        _parameters(worst),
        quiet=_quiet(result),
    )


def _worst(found: Sequence[Json]) -> tuple[str, str]:
    """The interval of all families in a sentence and as a bar; its upper end is of those with a bound."""
    worst = max(found, key=lambda one: _ends(one)[0])
    bounded = [one for one in found if _bounded(one)]
    (low, _, total), high = _ends(worst), max(_ends(one)[1] for one in bounded or found)
    high = max(low, high)
    guessed = guessed_ends(found, low, high, total)
    said = worst_sentence(
        low,
        high,
        total,
        weighted=objective(worst) == WEIGHTED,
        confidence=worst.get("confidence"),
        kinds=[words_of(one["aggregator"]).title for one in bounded] if 0 < len(bounded) < len(found) else (),
        guessed=guessed,
    )
    return said, bar(*shares_of(*(guessed or (low, high)), total))


def _bounded(fit: Json) -> bool:
    """Whether more is known than that it links no more than all, or nearly all."""
    low, high, total = _ends(fit)
    met = may_say_proven(fit) and fit.get("confidence") is None and meets(low, high)
    return met or says_more(low, high, total)


def _ends(fit: Json) -> tuple[float, float, float]:
    """What is linked, what is not exceeded, and what both are part of."""
    keys = objective(fit)
    high = fit[keys[1] if fit.get("confidence") is None else limit_key(keys)]
    return least_of(fit), high, fit["total_weight"] if keys == WEIGHTED else fit["records"]


def _family_row(fit: Json) -> list[Any]:
    title = words_of(fit["aggregator"]).title
    title = title[:1].upper() + title[1:]
    if "reason" in fit:
        return [title, None, None, fit["reason"]]
    low, high, _ = _ends(fit)
    confidence, most = fit.get("confidence"), high if _bounded(fit) else None
    proven = fit["status"] == "optimal" and may_say_proven(fit)
    state = "proven" if proven else "not proven"
    return [title, low, most, state if confidence is None else f"{100.0 * confidence:.4g} % confidence"]


def _parameters(fit: Json) -> str:
    """Importance of attributes, or weights of ranks, the largest first."""
    importance, words = fit.get("importance"), words_of(fit["aggregator"])
    numbers = fit["parameters"]["weights"] if importance is None else importance
    rows = sorted(numbers.items(), key=lambda item: -item[1])
    columns = (Column("owner", words.owner), Column("value", "Weight", Of.NUMBER))
    return table(Table(columns, [list(row) for row in rows], f"{words.title}: {words.numbers}"))


def _quiet(result: Json) -> str:
    seconds = result.get("seconds")
    files = f"{result.get('name', '')}, seed {result.get('seed')}"
    said = files if seconds is None else f"{files}, {seconds:.1f} s"
    return "; ".join([said, *result.get("notes", ())])


def risk_card(result: Json) -> str:
    """Of the JSON of `risk`: verdict, bar of the worst case, and the first finding of every measure."""
    found = [one for one in result["worst_case"]["families"] if "reason" not in one]
    said, drawn = _worst(found)
    rows = [
        [name, *_finding_row(one)]
        for name, measure in result["measures"].items()
        for one in measure["findings"][:1]
    ]
    rows += [[name, f"not measured: {why}", None, None] for name, why in result["not_measured"].items()]
    verdict = result["verdict"]["sentence"]
    return card(
        f"{verdict[:1].upper()}{verdict[1:]}.",
        drawn,
        paragraph(said),
        table(Table((Column("measure", "Measure"), *_FINDINGS), rows)),
        quiet=_quiet(result),
    )


def measure_card(name: str, words: str, result: Json) -> str:
    """Of the JSON of one measure: its paragraph and its findings."""
    rows = [_finding_row(one) for one in result["findings"]]
    return card(name, paragraph(words), table(Table(_FINDINGS, rows)), quiet="; ".join(result["notes"]))


def _finding_row(finding: Json) -> list[str | None]:
    """A number with the ends of its interval, as texts."""
    of = _UNITS.get(finding["unit"], Of.NUMBER)
    value, low, high = (finding[key] for key in ("value", "low", "high"))
    kind = finding["kind"]
    said = "" if kind is None else ends_said(
        low, high, kind, lambda end: written(end, of), certain=kind == "certain", share=of is Of.SHARE
    )  # fmt: skip
    return [finding["words"], written(value, of), said]


def sweep_card(result: Json) -> str:
    """Of `sweep`: how many maskings are not dominated, and the table of all."""
    runs = result["runs"]
    rows = [_run_row(run, result["loss"]) for run in runs]
    rows += [[text, None, None, None, "not finished"] for text in result["unfinished"]]
    sentence = sweep_sentence(runs, len(rows))
    said = f"{result['name']}, loss {result['loss']}, seed {result['seed']}"
    return card(sentence, table(Table(_RUNS, rows)), quiet="; ".join([said, *result["notes"]]))


def _run_row(run: Json, loss: str) -> list[Any]:
    if run["status"] != "done":
        return [run["masking"], None, None, None, f"{run['status']}: {run['reason']}"]
    low, high = run_ends(run) or (None, None)
    place = run["pareto"] or "loss not measured"
    return [run["masking"], low, upper_end(low, high), _loss(run, loss), place]


def _loss(run: Json, name: str) -> float | None:
    if name == "il1s_of_all":
        value: float | None = run["loss"]
        return value
    findings = run["findings"].get("information-loss", ())
    return next((one["value"] for one in findings if one["key"] == name), None)


def verification_card(result: Json) -> str:
    """Of `verify`: whether the certificate proves what the fit claims, and what it proves."""
    proved = result["proved"]
    sentence = "Verified." if result["verified"] else f"Rejected: {result['rejected']}"
    quiet = f"{result['name']}, {result['seconds']:.1f} s"
    if proved is None:
        return card(sentence, quiet=quiet)
    low, high, total = _ends(proved)
    said = worst_sentence(low, high, total, weighted=objective(proved) == WEIGHTED)
    return card(sentence, bar(*shares_of(low, high, total)), paragraph(f"Proved: {said}"), quiet=quiet)
