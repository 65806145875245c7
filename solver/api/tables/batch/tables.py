"""The tables that a batch of tau-ARGUS specifies, from microdata or cells, with what its rules say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.argus import Argus
from linkrisk.datasets.microdata.formats.argus_files import read_text
from linkrisk.datasets.microdata.formats.argus_metadata import Variable, parse_metadata
from linkrisk.datasets.tables.argus.batch_commands import MICRODATA, Batch, Recode, Rule, Specified
from linkrisk.datasets.tables.argus.ready_tables import RESPONDENTS, read_argus_table
from linkrisk.datasets.tables.argus.trees import tree_of
from linkrisk.datasets.tables.cells_and_relations import SAFE, SENSITIVE, STATUS, StoredTable, stored_table
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.linking import link
from linkrisk.datasets.tables.recoded_codes import cut_at_level, recoded
from linkrisk.formulations.tables.primary_rules import Contributions, PrimaryRule, sensitive
from linkrisk.solver.api.tables.make import make_table
from linkrisk.solver.api.tables.rules import primary_rule
from linkrisk.solver.run.errors import UsageError

MANUAL = 20.0
_OF_HOLDINGS = {"P": 2, "NK": 2, "FREQ": 1, "REQ": 1}
"""From which one on a rule of a kind is of holdings, not of respondents."""

_BY_FREQUENCY, _UNITY, _BY_DISTANCE = "-1", "-2", "-3"


@dataclass(frozen=True, eq=False)
class BatchSource:
    """Microdata of a batch, with the codes of its variables."""

    frame: pd.DataFrame
    variables: dict[str, Variable]
    trees: dict[str, CodeTree]

    def named(self, name: str, what: str) -> str:
        """The column of a name, whose capital letters may be others.

        Raises
        ------
        DataError
            If there is none.
        """
        found = next((one for one in self.variables if one.lower() == name.lower()), None)
        if found is None:
            raise DataError(f"{what}: there is no variable {name!r}; there are: {', '.join(self.variables)}")
        return found

    def of_kind(self, word: str) -> str | None:
        """The column that metadata says is of a kind, such as ``weight``."""
        return next((name for name, one in self.variables.items() if word in one.words), None)


def tables_of(batch: Batch) -> list[StoredTable]:
    """The tables of a batch, recoded, with the cells that are sensitive by its rules.

    Raises
    ------
    UsageError, DataError, FormulationError
        If one cannot be made; the message names the line of the batch or the file.
    """
    if batch.tables[0].opened.kind == MICRODATA:
        source = _recoded(_source(batch), batch)
        return [_of_records(source, one, f"{batch.path}, line {one.line}") for one in batch.tables]
    if any(isinstance(one, Recode) for one in batch.steps):
        raise UsageError(f"{batch.path}: <RECODE> is of microdata; cells have the codes that they have")
    return [_of_cells(one, f"{batch.path}, line {one.line}") for one in batch.tables]


def manual_share(table: Specified) -> float:
    """Percent of the value that the levels of a cell unsafe by hand are."""
    return table.settings.get("MAN", MANUAL)


def _source(batch: Batch) -> BatchSource:
    opened = batch.tables[0].opened
    known = parse_metadata(read_text(opened.metadata)[0], opened.metadata)
    names = {name.lower() for one in batch.tables for name in one.by}
    codes = [one.name for one in known.variables if one.name.lower() in names]
    holdings = [one.name for one in known.variables if {"holding", "request"} & set(one.words)]
    frame = Argus().read_pair(opened.metadata, opened.data, text_columns=[*codes, *holdings]).frame
    variables = {one.name: one for one in known.variables}
    trees = {name: tree_of(variables[name], _codes(frame, name), opened.metadata) for name in codes}
    return BatchSource(frame, variables, trees)


def _codes(frame: pd.DataFrame, name: str) -> list[str]:
    return [spelled(code) for code in frame[name].dropna().unique()]


def _recoded(source: BatchSource, batch: Batch) -> BatchSource:
    """The microdata with recodings, which hold in all tables of the batch."""
    for step in (one for one in batch.steps if isinstance(one, Recode)):
        where = f"{batch.path}, line {step.line}"
        name = source.named(step.variable, where)
        table = batch.tables[step.table - 1]
        if name.lower() not in {one.lower() for one in table.by}:
            raise DataError(f"{where}: {name!r} is no variable of table {step.table}")
        tree = source.trees[name]
        if step.level is not None:
            made, becomes = cut_at_level(tree, step.level)
        else:
            assert step.file is not None
            made, becomes = recoded(tree, step.file)
        column = source.frame[name].map(lambda code, to=becomes: to.get(spelled(code), code))
        source = replace(
            source, frame=source.frame.assign(**{name: column}), trees={**source.trees, name: made}
        )
    return source


def _of_records(source: BatchSource, spec: Specified, where: str) -> StoredTable:
    by = [source.named(name, where) for name in spec.by]
    response = None if spec.response is None else source.named(spec.response, where)
    own, held = _rules(spec, where)
    holding = source.of_kind("holding")
    if held and holding is None:
        raise DataError(f"{where}: its rules are of holdings, but no variable is <HOLDING>")
    if response is None and any(name in ("P", "NK", "ZERO", "REQ") for name, _, _ in (*own, *held)):
        raise DataError(f"{where}: P, NK, ZERO and REQ look at a response; frequencies have FREQ only")
    frame = _with_requests(source)
    parts: list[tuple[list[tuple[str, Rule, PrimaryRule]], str | None]] = []
    parts += [(own, None)] if own or not held else []
    parts += [(held, holding)] if held else []
    tables = []
    for rules, column in parts:
        made = make_table(
            frame,
            by,
            response=response,
            rules=[rule for _, _, rule in rules],
            hierarchies={name: source.trees[name] for name in by},
            holding=column,
            **_columns(source, spec, response, where, request=any(name == "REQ" for name, _, _ in rules)),
        )
        stored = made.stored()
        tables.append(_with_largest(stored, made.tabulated.seen.largest, rules, where))
    stored = tables[0] if len(tables) == 1 else _joined(tables)
    return _with_costs(_missing_safe(stored, source, spec), spec, where)


def _joined(tables: Sequence[StoredTable]) -> StoredTable:
    """The same table by rules of respondents and of holdings: the stricter holds."""
    totals = {tree.variable: tree.codes[0] for tree in tables[0].trees}
    return replace(link(tables, totals), trees=tables[0].trees, name=tables[0].name)


def _rules(spec: Specified, where: str) -> tuple[list[tuple[str, Rule, PrimaryRule]], ...]:
    """The rules of respondents and those of holdings; one of zeros says nothing."""
    own: list[tuple[str, Rule, PrimaryRule]] = []
    held: list[tuple[str, Rule, PrimaryRule]] = []
    seen: dict[str, int] = {}
    for rule in spec.rules:
        at = seen[rule.name] = seen.get(rule.name, -1) + 1
        text = _spelled_rule(rule, where)
        if text is not None:
            of_holdings = at >= _OF_HOLDINGS.get(rule.name, 99)
            (held if of_holdings else own).append((rule.name, rule, primary_rule(text)))
    return own, held


def _spelled_rule(rule: Rule, where: str) -> str | None:
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


def _with_requests(source: BatchSource) -> pd.DataFrame:
    """The microdata with 1 and 2 in the place of the codes of requests."""
    name = source.of_kind("request")
    if name is None:
        return source.frame
    codes = source.variables[name].words["request"].split()
    kinds = {code: number for number, code in enumerate(codes[:2], start=1)}
    return source.frame.assign(**{name: [kinds.get(str(one), 0) for one in source.frame[name]]})


def _columns(
    source: BatchSource, spec: Specified, response: str | None, where: str, *, request: bool
) -> dict[str, Any]:
    """The other columns that `make_table` needs."""
    found: dict[str, Any] = {}
    if spec.settings.get("WGT"):
        found["weight"] = source.of_kind("weight")
        if found["weight"] is None:
            raise DataError(f"{where}: WGT needs weights, but no variable is <WEIGHT>")
    if request:
        found["request"] = source.of_kind("request")
        if found["request"] is None:
            raise DataError(f"{where}: REQ needs requests, but no variable is <REQUEST>")
    if spec.shadow is not None and source.named(spec.shadow, where) != response:
        found["shadow"] = source.named(spec.shadow, where)
    if spec.cost is not None and not spec.cost.startswith("-"):
        cost = source.named(spec.cost, where)
        if cost != response:
            found["cost"] = cost
    return found


def _with_largest(
    stored: StoredTable,
    largest: npt.NDArray[np.float64],
    rules: Sequence[tuple[str, Rule, PrimaryRule]],
    where: str,
) -> StoredTable:
    """The largest contributions that rules look at beside the cells."""
    width = max((rule.width for _, _, rule in rules), default=0)
    columns = {f"largest_{at + 1}": largest[:, at] for at in range(width)}
    return replace(stored, cells=stored.cells.assign(**columns), name=where)


def _missing_safe(stored: StoredTable, source: BatchSource, spec: Specified) -> StoredTable:
    """With MIS(1), cells of missing codes are safe whatever the rules say."""
    if not spec.settings.get("MIS"):
        return stored
    missing = np.zeros(len(stored), dtype=np.bool_)
    for name in stored.by:
        missing |= stored.codes[name].isin(source.variables[name].missing).to_numpy()
    return _with_status(stored, missing & (stored.status == SENSITIVE), SAFE)


def _with_status(stored: StoredTable, cells: npt.NDArray[np.bool_], status: str) -> StoredTable:
    frame = stored.cells.assign(**{STATUS: np.where(cells, status, stored.status)})
    for level in ("lower_protection", "upper_protection"):
        if status != SENSITIVE and level in frame:
            frame[level] = np.where(cells, 0.0, frame[level])
    return stored_table(frame, stored.relations, stored.name, by=stored.by, trees=stored.trees)


def _of_cells(spec: Specified, where: str) -> StoredTable:
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
    own, held = _rules(spec, where)
    if held:
        raise DataError(f"{where}: rules of holdings look at microdata; cells have no holdings")
    if own:
        stored = _by_rules(stored, own, where)
    return _with_costs(stored, spec, where, own_column=spec.cost != spec.response)


def _by_rules(stored: StoredTable, rules: Sequence[tuple[str, Rule, PrimaryRule]], where: str) -> StoredTable:
    """Ready cells by rules that look at their counts and largest contributions."""
    names = [name for name in stored.cells.columns if name.startswith("largest_")]
    width = max(rule.width for name, _, rule in rules if name != "REQ") if rules else 0
    if any(name == "REQ" for name, _, _ in rules):
        raise DataError(f"{where}: REQ looks at microdata; cells do not say who asked for protection")
    if any(name in ("P", "NK") for name, _, _ in rules) and width > len(names):
        raise DataError(
            f"{where}: its rules look at the {width} largest, but {len(names)} variables are <MAXSCORE>"
        )
    if RESPONDENTS not in stored.cells:
        raise DataError(f"{where}: its rules look at counts, but no variable is <FREQUENCY>")
    value = stored.numbers["value"]
    largest = stored.cells[names].to_numpy(dtype=np.float64) if names else np.zeros((value.size, 1))
    counts = stored.cells[RESPONDENTS].to_numpy(dtype=np.float64)
    seen = Contributions(value, largest, counts)
    found = sensitive(tuple(rule for _, _, rule in rules), seen)
    unsafe = found.unsafe & (counts > 0) & (stored.status != SENSITIVE)
    frame = stored.cells.assign(**{STATUS: np.where(unsafe, SENSITIVE, stored.status)})
    frame["lower_protection"] = np.where(unsafe, found.lower, frame["lower_protection"])
    frame["upper_protection"] = np.where(unsafe, found.upper, frame["upper_protection"])
    return stored_table(frame, stored.relations, stored.name, by=stored.by, trees=stored.trees)


def _with_costs(stored: StoredTable, spec: Specified, where: str, *, own_column: bool = False) -> StoredTable:
    """The column of costs as the batch says them: a variable, the value, counts or 1 each, to some power."""
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
    cost = base**spec.power
    numbers = {**stored.numbers, "cost": cost}
    return replace(stored, numbers=numbers, cells=stored.cells.assign(cost=cost))
