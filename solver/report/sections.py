"""The sections of the report as plain data: baselines, parameters, per-record outcomes, progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkrisk.formulations.linkage.aggregators import words_of
from linkrisk.solver.report.fields import Fields, is_number
from linkrisk.solver.report.headline import Headline
from linkrisk.solver.run.errors import UsageError

BASELINES = {"euclid": "Euclidean (equal weights)", "mahalanobis": "Classical Mahalanobis"}
COLUMNS = {
    "record": "Record",
    "linked": "Linked",
    "rank": "Rank of partner",
    "distance": "Distance to partner",
    "nearest_other": "Distance to nearest other",
    "margin": "Margin",
    "ties": "Ties",
}
# A k-additive measure of many attributes has no list of all subsets, but its Moebius coefficients.
FORMS = ("weights", "measure", "moebius", "matrix")
# Upper ends of the classes in which ranks of the partner are counted; the last class is open.
RANK_CLASSES = (1, 2, 3, 5, 10)


@dataclass(frozen=True)
class Bar:
    """One line of the comparison: a number of records, and how many fewer than the worst case found.

    `value` is None where there was no time to count; `more` for what links more, a distance of another
    family.
    """

    label: str
    value: float | None
    kind: str
    more: float | None


@dataclass(frozen=True)
class Parameters:
    """The learned parameters as tables; what the aggregator does not have is empty.

    `breaking` names what prints as zero without being idle: without it `linked_without` records are linked,
    not `linked`.
    """

    weight_title: str
    weights: Mapping[str, float]
    importance_title: str
    importance: Mapping[str, float]
    measure: Mapping[str, float]
    matrix: Sequence[Sequence[float]]
    interaction: Sequence[Sequence[float]]
    breaking: Sequence[str]
    linked_without: float | None
    linked: float


@dataclass(frozen=True)
class RecordsTable:
    """The per-record outcomes, which of them are linked, and how many partners stand at which rank.

    Of many records there is no row: `left_out` is their number, else 0.
    """

    titles: Sequence[str]
    rows: Sequence[Sequence[object]]
    left_out: int
    linked: Sequence[bool]
    ranks: Sequence[tuple[str, int]]


def baseline_bars(result: Fields, head: Headline) -> list[Bar]:
    """Return the baselines in their order, then the worst case found."""
    bars = [
        Bar(BASELINES.get(key, key), value, "baseline", _more(head.lower, value))
        for key, value in result.optional_numbers("baselines").items()
    ]
    worst = "Worst case" if head.proven else "Worst case found"
    return [*bars, Bar(worst, head.lower, "worst", None)]


def _more(worst: float, value: float | None) -> float | None:
    return None if value is None or value > worst else worst - value


@dataclass(frozen=True)
class Beyond:
    """A distance of another family that links more than the worst case found."""

    label: str
    linked: float
    above_bound: bool
    options: str | None


def beyond(result: Fields) -> Beyond | None:
    """Return the best known distance of other families, where a result names one."""
    known = result.optional_nested("best_known") if "best_known" in result else None
    if known is None:
        return None
    name = known.text("attack")
    options = None if known.value("options") is None else known.text("options")
    above = known.value("above_bound") is True
    return Beyond(BASELINES.get(name, name), known.number("linked"), above, options)


def notes(result: Fields) -> list[str]:
    """Return what a reader should know besides."""
    return result.texts("notes") if "notes" in result else []


def learned_parameters(result: Fields) -> Parameters:
    """Read whichever form the parameters have, under the headings that the aggregator gives its numbers.

    Raises
    ------
    UsageError
        When the parameters have none of the known forms.
    """
    size = len(result.texts("attributes"))
    found = result.optional_nested("parameters")
    if found is not None and not any(form in found for form in FORMS):
        raise UsageError(
            f"the result's 'parameters' has none of {', '.join(FORMS)}: give the JSON that `fit --json` wrote"
        )
    weights = found.numbers("weights") if found and "weights" in found else {}
    measure = found.numbers("measure") if found and "measure" in found else {}
    matrix = found.matrix("matrix", size) if found and "matrix" in found else []
    importance = None if result.value("importance") is None else result.numbers("importance")
    interaction = [] if result.value("interaction") is None else result.matrix("interaction", size)
    words = words_of(result.text("aggregator"))
    breaking = result.optional_nested("tie_breaking") if "tie_breaking" in result else None
    return Parameters(
        weight_title=words.owner,
        weights=weights,
        importance_title=words.column,
        # A weight is its own importance: one table says it all.
        importance=importance if found and importance and not weights else {},
        measure=measure,
        matrix=matrix,
        interaction=interaction,
        breaking=[] if breaking is None else _owners(breaking),
        linked_without=None if breaking is None else breaking.optional_number("linked_without"),
        linked=result.number("linked"),
    )


def _owners(breaking: Fields) -> list[str]:
    """Return what prints as zero and breaks ties: attributes, ranks or whatever the parameters belong to."""
    keys = [key for key in breaking if key != "linked_without"]
    return breaking.texts(keys[0]) if keys else []


def records_table(table: Fields) -> RecordsTable:
    """Return the outcomes under readable titles; every row must have a value per column."""
    columns = table.texts("columns")
    rows = table.rows("rows", len(columns))
    left_out = int(table.number("left_out")) if "left_out" in table else 0
    ranks = _counted_ranks(table) if left_out else None

    def column(name: str) -> list[object]:
        return [row[columns.index(name)] for row in rows] if name in columns else [None] * len(rows)

    return RecordsTable(
        titles=[COLUMNS.get(name, name) for name in columns],
        rows=rows,
        left_out=left_out,
        linked=[value is True for value in column("linked")],
        ranks=_rank_classes(_counted(column("rank")) if ranks is None else ranks),
    )


def _counted(ranks: Sequence[object]) -> Counter[float]:
    """How often each rank occurs; ranks that are not known are left out."""
    return Counter(rank for rank in ranks if is_number(rank))


def _counted_ranks(table: Fields) -> Counter[float]:
    """The same where records are not listed: a result counts ranks one by one, the last are all above."""
    numbers = [number if is_number(number) else 0 for number in table.sequence("ranks")]
    return Counter({rank: int(number) for rank, number in enumerate(numbers, start=1) if number})


def _rank_classes(ranks: Counter[float]) -> list[tuple[str, int]]:
    """Count the ranks in classes."""
    classes: Counter[int | None] = Counter()
    for rank, number in ranks.items():
        classes[next((top for top in RANK_CLASSES if rank <= top), None)] += number
    out, above = [], 0
    for top in RANK_CLASSES:
        label = f"{top}" if top == above + 1 else f"{above + 1} to {top}"
        out.append((label, classes[top]))
        above = top
    return [*out, (f"above {above}", classes[None])] if ranks else []


def progress(result: Fields) -> list[tuple[float, float, float]]:
    """Return `(seconds, linked, bound)` at the points where both ends were known, up to the end of the run.

    The time after the last improvement belongs to it: whether a longer run would help is read from there.
    """
    points = [
        (seconds, linked, bound)
        for seconds, linked, bound in result.rows("trace", 3)
        if is_number(seconds) and is_number(linked) and is_number(bound)
    ]
    end = result.number("seconds")
    if len(points) > 1 and end > points[-1][0]:
        points.append((end, *points[-1][1:]))
    return points
