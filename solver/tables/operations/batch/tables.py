"""Tables specified by a batch of tau-ARGUS: microdata or cells, recoded, with its safety rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.arrays import BoolArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus import Argus
from linkrisk.datasets.microdata.formats.argus_metadata import Variable, parse_metadata, read_text
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables.argus.batch_commands import MICRODATA, Batch, Opened, Recode, Rule, Specified
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS, read_argus_table, tree_of
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.explanatory_variables import cut_at_level, recoded
from linkrisk.datasets.tables.linking import link, with_beside
from linkrisk.datasets.tables.stored_table import (
    SAFE,
    SECONDARY,
    SENSITIVE,
    STATUS,
    StoredTable,
    stored_table,
)
from linkrisk.formulations.errors import FormulationError
from linkrisk.formulations.tables.contributions import Contributions
from linkrisk.formulations.tables.primary_rules import PrimaryRule, least_of, sensitive
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.adjust_and_round import ChangedTable
from linkrisk.solver.tables.operations.make import make_table
from linkrisk.solver.tables.operations.perturb import NoisyTable
from linkrisk.solver.tables.operations.result import TableResult
from linkrisk.solver.tables.operations.rules import primary_rule

_OF_HOLDINGS = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
"""Number of the rule of a kind from which it is about holdings, not respondents."""


@dataclass(frozen=True)
class SafetyRule:
    """Rule of a batch, by its name there."""

    name: str
    rule: PrimaryRule


def safety_rules(spec: Specified, where: str) -> tuple[list[SafetyRule], list[SafetyRule]]:
    """Return the rules of respondents and those of holdings; rules of zeros are ignored."""
    own: list[SafetyRule] = []
    held: list[SafetyRule] = []
    seen: dict[str, int] = {}
    for rule in spec.rules:
        at = seen[rule.name] = seen.get(rule.name, -1) + 1
        text = _spelled(rule, where)
        if text is not None:
            of_holdings = at >= _OF_HOLDINGS.get(rule.name, 99)
            (held if of_holdings else own).append(SafetyRule(rule.name, _made(text, where)))
    return own, held


def _made(text: str, where: str) -> PrimaryRule:
    try:
        return primary_rule(text)
    except (FormulationError, UsageError) as error:
        raise type(error)(f"{where}: {error}", option=error.option) from None


def width_of(rules: list[SafetyRule]) -> int:
    """Return the number of largest contributions that rules need."""
    return max((one.rule.width for one in rules), default=0)


def _spelled(rule: Rule, where: str) -> str | None:
    numbers = rule.numbers
    if numbers[0] == 0 and rule.name != "ZERO" and not (rule.name == "REQ" and numbers[2]):
        return None
    if rule.name == "P":
        prior = numbers[1] if len(numbers) == 3 else 100.0
        intruders = numbers[-1] if len(numbers) > 1 else 1.0
        if intruders != int(intruders):
            raise DataError(f"{where}: P has {intruders:g} intruders, which is no whole number")
        return f"p={numbers[0]:g},q={prior:g},m={int(intruders)}"
    word = {"NK": "nk", "FREQ": "frequency", "ZERO": "zero", "REQ": "request"}[rule.name]
    return f"{word}={','.join(f'{one:g}' for one in numbers)}"


_OF_FIRMS = ("holding", "request")
"""Columns that stay text, as their codes are names."""


@dataclass(frozen=True, eq=False)
class BatchSource:
    """Microdata of a batch, with the codes of its variables."""

    opened: Opened
    frame: pd.DataFrame
    variables: dict[str, Variable]
    trees: dict[str, CodeTree]

    def named(self, name: str, what: str) -> str:
        """Find the column of a name, ignoring case."""
        found = next((one for one in self.variables if one.lower() == name.lower()), None)
        if found is None:
            raise DataError(f"{what}: there is no variable {name!r}; there are: {', '.join(self.variables)}")
        return found

    def of_kind(self, word: str) -> str | None:
        """Find the column that metadata marks with a word, such as ``weight``."""
        return next((name for name, one in self.variables.items() if word in one.words), None)

    def with_requests(self) -> pd.DataFrame:
        """Replace the codes of requests by 1 and 2."""
        name = self.of_kind("request")
        if name is None:
            return self.frame
        codes = self.variables[name].words["request"].split()
        kinds = {code: number for number, code in enumerate(codes[:2], start=1)}
        return with_columns(self.frame, {name: [kinds.get(str(one), 0) for one in self.frame[name]]})


def source_of(batch: Batch, opened: Opened) -> BatchSource:
    """Read the microdata of some tables of a batch, recoded for all of them."""
    own = [number for number, one in enumerate(batch.tables, start=1) if one.opened == opened]
    steps = [one for one in batch.steps if isinstance(one, Recode) and one.table in own]
    return _recoded(_read(opened, (name for at in own for name in batch.tables[at - 1].by)), steps, batch)


def _read(opened: Opened, by: Iterable[str]) -> BatchSource:
    known = parse_metadata(read_text(opened.metadata)[0], opened.metadata)
    names = {name.lower() for name in by}
    codes = [one.name for one in known.variables if one.name.lower() in names]
    texts = [one.name for one in known.variables if set(_OF_FIRMS) & set(one.words)]
    frame = Argus().read_pair(opened.metadata, opened.data, text_columns=[*codes, *texts]).frame
    variables = {one.name: one for one in known.variables}
    trees = {name: tree_of(variables[name], _codes(frame, name), opened.metadata) for name in codes}
    return BatchSource(opened, frame, variables, trees)


def _codes(frame: pd.DataFrame, name: str) -> list[str]:
    return [spelled(code) for code in frame[name].dropna().unique()]


def _recoded(source: BatchSource, steps: Iterable[Recode], batch: Batch) -> BatchSource:
    for step in steps:
        where = f"{batch.path}, line {step.line}"
        name = source.named(step.variable, where)
        if name.lower() not in {one.lower() for one in batch.tables[step.table - 1].by}:
            raise DataError(f"{where}: {name!r} is no variable of table {step.table}")
        tree = source.trees[name]
        if step.level is not None:
            made, becomes = cut_at_level(tree, step.level)
        else:
            assert step.file is not None
            made, becomes = recoded(tree, step.file)
        column = source.frame[name].map(lambda code, to=becomes: to.get(spelled(code), code))
        source = replace(
            source, frame=with_columns(source.frame, {name: column}), trees={**source.trees, name: made}
        )
    return source


MANUAL = 20.0

_BY_FREQUENCY, _UNITY, _BY_DISTANCE = "-1", "-2", "-3"


@dataclass(eq=False)
class BatchTable:
    """Table of a batch with the results of its commands so far."""

    spec: Specified
    stored: StoredTable  # with its current statuses
    method: str = ""  # method applied to it, in the words of the batch; empty for none
    result: TableResult | None = None  # of suppression; of linked tables, that of all of them
    changed: ChangedTable | None = None  # of rounding or adjustment
    noisy: NoisyTable | None = None  # with noise by cell keys
    source: BatchSource | None = None  # its microdata
    known: bool = False  # whether a file set statuses of its cells

    @property
    def suppressed(self) -> BoolArray:
        """Cells that are not published, shape (n,)."""
        if self.changed is not None or self.noisy is not None:
            return np.zeros(len(self.stored), dtype=np.bool_)
        return np.asarray(np.isin(self.stored.status, (SENSITIVE, SECONDARY)), dtype=np.bool_)


def tables_of(batch: Batch, *, publish_respondents: bool = False) -> list[BatchTable]:
    """Make the tables of a batch, recoded, with sensitive cells by its rules."""
    _check_recodings(batch)
    if publish_respondents and not any(spec.response for spec in batch.tables):
        raise UsageError(
            f"{batch.path}: numbers of respondents are published beside sums, and no table has a response; "
            "leave them out"
        )
    sources: dict[Opened, BatchSource] = {}
    found = []
    for spec in batch.tables:
        where, opened = f"{batch.path}, line {spec.line}", spec.opened
        if opened.kind == MICRODATA:
            if opened not in sources:
                sources[opened] = source_of(batch, opened)
            source = sources[opened]
            stored = _of_records(source, spec, where, publish_respondents)
            found.append(BatchTable(spec, stored, source=source))
        else:
            found.append(BatchTable(spec, _of_cells(spec, where, publish_respondents)))
    return found


def manual_share(table: Specified) -> float:
    """Return the levels of a cell set unsafe by hand, in percent of its value."""
    return table.settings.get("MAN", MANUAL)


def _check_recodings(batch: Batch) -> None:
    for step in (one for one in batch.steps if isinstance(one, Recode)):
        if batch.tables[step.table - 1].opened.kind != MICRODATA:
            raise UsageError(
                f"{batch.path}, line {step.line}: <RECODE> is of microdata; cells have the codes that they "
                "have"
            )


def _of_records(source: BatchSource, spec: Specified, where: str, publish: bool) -> StoredTable:
    by = [source.named(name, where) for name in spec.by]
    response = None if spec.response is None else source.named(spec.response, where)
    own, held = safety_rules(spec, where)
    holding = source.of_kind("holding")
    if held and holding is None:
        raise DataError(f"{where}: its rules are of holdings, but no variable is <HOLDING>")
    if response is None and any(one.name != "FREQ" for one in (*own, *held)):
        raise DataError(f"{where}: P, NK, ZERO and REQ look at a response; frequencies have FREQ only")
    frame = source.with_requests()
    parts: list[tuple[list[SafetyRule], str | None]] = []
    parts += [(own, None)] if own or not held else []
    parts += [(held, holding)] if held else []
    tables = []
    for at, (rules, column) in enumerate(parts):
        made = make_table(
            frame,
            by,
            response=response,
            rules=[one.rule for one in rules],
            hierarchies={name: source.trees[name] for name in by},
            holding=column,
            publish_respondents=publish and response is not None and at == 0,
            **columns_of(source, spec, where, request=any(one.name == "REQ" for one in rules)),
        )
        tables.append(replace(_with_largest(made.stored(), made.tabulated.seen.largest, rules), name=where))
    stored = tables[0] if len(tables) == 1 else _joined(tables)
    return _with_costs(_missing_safe(stored, source, spec, by), spec, where)


def _joined(tables: Sequence[StoredTable]) -> StoredTable:
    """Join the same table by rules of respondents and of holdings: the stricter applies."""
    totals = {tree.variable: tree.codes[0] for tree in tables[0].trees}
    return replace(link(tables, totals), trees=tables[0].trees, name=tables[0].name)


def columns_of(source: BatchSource, spec: Specified, where: str, *, request: bool = False) -> dict[str, Any]:
    """Return the other columns that `make_table` needs."""
    found: dict[str, Any] = {}
    if spec.settings.get("WGT"):
        found["weight"] = source.of_kind("weight")
        if found["weight"] is None:
            raise DataError(f"{where}: WGT needs weights, but no variable is <WEIGHT>")
    if request:
        found["request"] = source.of_kind("request")
        if found["request"] is None:
            raise DataError(f"{where}: REQ needs requests, but no variable is <REQUEST>")
    response = None if spec.response is None else source.named(spec.response, where)
    if spec.shadow is not None and source.named(spec.shadow, where) != response:
        found["shadow"] = source.named(spec.shadow, where)
    if spec.cost is not None and not spec.cost.startswith("-"):
        cost = source.named(spec.cost, where)
        if cost != response:
            found["cost_column"] = cost
    return found


def _with_largest(
    stored: StoredTable, largest: npt.NDArray[np.float64], rules: list[SafetyRule]
) -> StoredTable:
    """Add the largest contributions that rules need."""
    columns = {f"largest_{at + 1}": largest[:, at] for at in range(width_of(rules))}
    return replace(stored, cells=with_columns(stored.cells, columns))


def _missing_safe(
    stored: StoredTable, source: BatchSource, spec: Specified, by: Sequence[str]
) -> StoredTable:
    """With MIS(1), make cells of missing codes safe, whatever the rules say."""
    if not spec.settings.get("MIS"):
        return stored
    missing = np.zeros(len(stored), dtype=np.bool_)
    for column, name in zip(stored.by, by, strict=True):
        missing |= stored.codes[column].isin(source.variables[name].missing).to_numpy()
    return _with_status(stored, missing & (stored.status == SENSITIVE), SAFE)


def _with_status(stored: StoredTable, cells: npt.NDArray[np.bool_], status: str) -> StoredTable:
    frame = with_columns(stored.cells, {STATUS: np.where(cells, status, stored.status)})
    for level in ("lower_protection", "upper_protection"):
        if status != SENSITIVE and level in frame:
            frame[level] = np.where(cells, 0.0, frame[level])
    return stored_table(frame, stored.relations, stored.name, by=stored.by, trees=stored.trees)


def _of_cells(spec: Specified, where: str, publish: bool) -> StoredTable:
    opened = spec.opened
    known = parse_metadata(read_text(opened.metadata)[0], opened.metadata, cells=True)
    frequency = next((one.name for one in known.variables if "frequency" in one.words), None)
    response = spec.response or frequency
    if response is None:
        raise DataError(f"{where}: no variable of the cells is <FREQUENCY>")
    stored = read_argus_table(
        opened.data,
        opened.metadata,
        by=spec.by,
        response=response,
        recompute=spec.recompute,
        manual=manual_share(spec),
    )
    own, held = safety_rules(spec, where)
    if held:
        raise DataError(f"{where}: rules of holdings look at microdata; cells have no holdings")
    if own:
        stored = _by_rules(stored, own, where)
    if publish and spec.response is not None:
        stored = _published(stored, own, where)
    return _with_costs(stored, spec, where, own_column=spec.cost != spec.response)


def _by_rules(stored: StoredTable, rules: list[SafetyRule], where: str) -> StoredTable:
    """Apply rules to ready-made cells, by their counts and largest contributions."""
    names = [name for name in stored.cells.columns if name.startswith("largest_")]
    width = width_of(rules)
    if any(one.name == "REQ" for one in rules):
        raise DataError(f"{where}: REQ looks at microdata; cells do not say who asked for protection")
    if any(one.name in ("P", "NK") for one in rules) and width > len(names):
        raise DataError(
            f"{where}: its rules look at the {width} largest, but {len(names)} variables are <MAXSCORE>"
        )
    _check_counted(stored, where, "its rules look at counts")
    value = stored.numbers["value"]
    largest = stored.cells[names].to_numpy(dtype=np.float64) if names else np.zeros((value.size, 1))
    counts = stored.cells[RESPONDENTS].to_numpy(dtype=np.float64)
    seen = Contributions(value, largest, counts)
    found = sensitive(tuple(one.rule for one in rules), seen)
    unsafe = found.unsafe & (counts > 0) & (stored.status != SENSITIVE)
    frame = with_columns(stored.cells, {STATUS: np.where(unsafe, SENSITIVE, stored.status)})
    frame["lower_protection"] = np.where(unsafe, found.lower, frame["lower_protection"])
    frame["upper_protection"] = np.where(unsafe, found.upper, frame["upper_protection"])
    return stored_table(frame, stored.relations, stored.name, by=stored.by, trees=stored.trees)


def _published(stored: StoredTable, rules: list[SafetyRule], where: str) -> StoredTable:
    """Publish respondent counts beside the values of ready-made cells."""
    _check_counted(stored, where, "numbers of respondents are published")
    cells = with_beside(stored.cells, least_of([one.rule for one in rules]))
    return stored_table(cells, stored.relations, stored.name, by=stored.by, trees=stored.trees)


def _check_counted(stored: StoredTable, where: str, why: str) -> None:
    if RESPONDENTS not in stored.cells:
        raise DataError(f"{where}: {why}, but no variable is <FREQUENCY>")


def _with_costs(stored: StoredTable, spec: Specified, where: str, *, own_column: bool = False) -> StoredTable:
    """Add the column of costs: a variable, the value, counts or 1 each, to some power."""
    value = np.maximum(np.abs(stored.numbers["value"]), 1.0)
    if spec.cost == _BY_DISTANCE:
        raise UsageError(
            f"{where}: costs by distance are not here; leave them out, or give a column of costs"
        )
    if spec.cost == _UNITY:
        base = np.ones(len(stored))
    elif spec.cost == _BY_FREQUENCY:
        base = np.maximum(stored.cells[RESPONDENTS].to_numpy(dtype=np.float64), 1.0)
    elif "cost" in stored.numbers and (own_column or spec.cost not in (None, spec.response)):
        base = np.where(np.isnan(stored.numbers["cost"]), value, stored.numbers["cost"])
    else:
        base = value
    cost = np.log1p(base) if spec.power == 0 else base**spec.power  # by the manual, the power 0 means log
    numbers = {**stored.numbers, "cost": cost}
    return replace(stored, numbers=numbers, cells=stored.cells.assign(cost=cost))
