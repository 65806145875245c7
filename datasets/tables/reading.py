"""Tables read in any format, and files about their cells: records of tabulation, statuses, insiders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.formats.argus_metadata import METADATA, find_file
from linkrisk.datasets.microdata.formats.registry import check_content_of, read_table
from linkrisk.datasets.microdata.names import labels_of
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.strict_json import headed
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.tables import pc_axis, sdmx_csv
from linkrisk.datasets.tables.argus import jj_files, ready_tables
from linkrisk.datasets.tables.argus.apriori import with_apriori
from linkrisk.datasets.tables.code_trees import Hierarchies
from linkrisk.datasets.tables.relations import relations_of_cells, trees_of_cells, with_sums
from linkrisk.datasets.tables.stored_table import (
    FIXED,
    SAFE,
    SENSITIVE,
    STATUS,
    StoredTable,
    code_columns,
    numbers_of,
    read_cells,
    read_cells_and_relations,
    refuse_rows,
    stored_table,
)
from linkrisk.errors import called

WHOLE = (jj_files.SUFFIX, ready_tables.SUFFIX)
"""Suffixes of files that say themselves which relations there are."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a table is read, where its file does not say it.

    `by`: columns of codes; by default those before the values. `hierarchies` of them (`parents_in`); the
    codes of a column without one are all below its total. `totals`: their codes, where not ``Total``.
    `value`: the column of values. `metadata`: of cells of ARGUS. `apriori`: a file of what is known of some
    cells. `recompute`: whether totals are computed again.
    """

    by: Sequence[str] | None = None
    hierarchies: Mapping[str, Hierarchies] | None = None
    totals: Mapping[str, str] | None = None
    value: str | None = None
    metadata: str | Path | None = None
    apriori: str | Path | None = None
    recompute: bool = False


def cells_of(source: Any) -> Any:
    """Read cells of a format of tables, SDMX-CSV or PC-Axis; other sources stay as they are."""
    if not isinstance(source, str | Path):
        return source
    path = Path(source)
    if path.suffix.lower() == pc_axis.SUFFIX:
        check_content_of(path, "PC-Axis")
        return pc_axis.read_px(path)
    return sdmx_csv.read_sdmx(path) if sdmx_csv.is_sdmx(path) else source


def opened(cells: Any, relations: Any = None, how: Reading | None = None) -> StoredTable:
    """Read a JJ file, cells of ARGUS, or a line for each cell; `relations` follow from codes by default."""
    how, cells = how or Reading(), cells_of(cells)
    suffix = Path(cells).suffix.lower() if isinstance(cells, str | Path) else ""
    if suffix == jj_files.SUFFIX:
        _refuse_others(cells, relations, how, ("by", "hierarchies", "totals", "value", "metadata"))
        stored = jj_files.read_jj(cells)
    elif _is_argus(cells, relations, how, suffix):
        _refuse_others(cells, relations, how, ("hierarchies", "totals"))
        stored = ready_tables.read_argus_table(cells, how.metadata, by=how.by, response=how.value)
    elif relations is not None:
        if how.hierarchies or how.totals:
            raise DataError("relations are given, or follow from hierarchies; leave one of them out")
        stored = read_cells_and_relations(cells, relations, how.by, how.value)
    else:
        stored = _of_codes(cells, how)
    if how.recompute:
        stored = with_sums(stored)
    return stored if how.apriori is None else with_apriori(stored, how.apriori)


def has_own_relations(path: str | Path) -> bool:
    """Tell whether a file says itself which relations there are: a JJ file, or cells of ARGUS."""
    file = Path(path)
    if file.suffix.lower() != ready_tables.SUFFIX:
        return file.suffix.lower() == jj_files.SUFFIX
    return file.is_file() and find_file(file.parent, f"{file.stem}{METADATA}") is not None


def _is_argus(cells: Any, relations: Any, how: Reading, suffix: str) -> bool:
    """Tell whether these are cells of ARGUS; others have files of the same suffix, with a heading."""
    if how.metadata is not None:
        return True
    return suffix == ready_tables.SUFFIX and (relations is None or has_own_relations(cells))


def _refuse_others(cells: Any, relations: Any, how: Reading, names: Sequence[str]) -> None:
    if relations is not None or any(getattr(how, name) for name in names):
        raise DataError(f"{cells} says itself which relations there are; leave the others out")


def _of_codes(cells: Any, how: Reading) -> StoredTable:
    said = cells.dialect if isinstance(cells, Table) else None
    said = said if isinstance(said, sdmx_csv.CellsDialect) else sdmx_csv.CellsDialect()
    by, hierarchies = how.by or said.by or None, {**said.trees, **(how.hierarchies or {})}
    frame, name, names = read_cells(cells, by, how.value, hierarchies)
    columns = code_columns(frame) if by is None else [names[one] for one in by]
    if not columns:
        raise DataError(
            f"{name}: give its relations, or columns of codes before 'value', or say which these are "
            f"({called('by', ['A', 'B'])}), from which they follow",
            option="by",
        )
    totals = {names.get(one, one): code for one, code in {**said.totals, **(how.totals or {})}.items()}
    known = {names.get(one, one): files for one, files in hierarchies.items()}
    apart = [names.get(one, one) for one in said.apart]
    trees = trees_of_cells(frame, columns, known, totals, name, apart=apart)
    made = stored_table(frame, relations_of_cells(frame, trees, name), name, by=columns, trees=trees)
    if not isinstance(cells, Table):
        return made
    labels = labels_of(columns, [{names.get(one, one): notes for one, notes in cells.notes.items()}])
    return replace(made, labels=labels, dataflow=said.dataflow)


def made_record(rules: Sequence[str], cells: int, more: dict[str, Any]) -> str:
    """Write the record of a tabulation as JSON."""
    return json.dumps(headed("made-table", {"rules": list(rules), "cells": cells, **more}), indent=2) + "\n"


def with_record(table: StoredTable, path: str | Path) -> StoredTable:
    """Add the rules and labels of its record to a table."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        found = None
    rules = found.get("rules") if isinstance(found, dict) else None
    if not isinstance(rules, list) or not all(isinstance(one, str) for one in rules):
        raise DataError(f"{path} is no record of a table; name what `tables make --record` has written")
    if found.get("cells") != len(table):
        raise DataError(
            f"{path} is of a table of {found.get('cells')} cells, not of {len(table)}; name its own"
        )
    labels = found.get("labels", {})
    if not isinstance(labels, dict) or not all(_is_label(one) for one in labels.values()):
        raise DataError(f"{path}: its labels are not what `tables make --record` writes")
    counts = True if table.counts is None and found.get("counts") is True else table.counts
    return replace(table, rules=tuple(rules), labels=labels, counts=counts)


def _is_label(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("codes"), dict)


LEVELS = ("lower_protection", "upper_protection", "sliding_protection")
_GIVEN = (SENSITIVE, SAFE, FIXED)


@dataclass(frozen=True, eq=False)
class ManualStatuses:
    """Statuses, levels and costs of k cells, set by hand."""

    cell: npt.NDArray[np.int64]  # (k,)
    status: npt.NDArray[np.str_]  # (k,): ``u``, ``s`` or ``z``; empty where only the cost is given.
    # (k,): Levels and `cost`, those that the file has; NaN where one is empty.
    numbers: dict[str, npt.NDArray[np.float64]]


def read_manual_statuses(path: str | Path, codes: pd.DataFrame) -> ManualStatuses:
    """Read a line for each cell: codes, `status`, and if need be levels and `cost`."""
    by, name = list(codes.columns), str(path)
    frame = read_table(path, text_columns=[*by, STATUS])
    check_known([*by, STATUS], list(frame.columns), name, what="column")
    status = frame[STATUS].fillna("").astype(str).str.strip().to_numpy(dtype=np.str_)
    _refuse_statuses(status, name)
    given = [column for column in (*LEVELS, "cost") if column in frame.columns]
    matrix = numbers_of(frame, given, name, allow_missing=True)
    if (matrix < 0).any():
        row, at = (int(one[0]) for one in np.nonzero(matrix < 0))
        raise DataError(f"{name}, row {row + 1}, column {given[at]!r}: it is below 0")
    numbers = {column: matrix[:, at] for at, column in enumerate(given)}
    return ManualStatuses(_cells_by_codes(frame, by, codes, name), status, numbers)


def _cells_by_codes(
    frame: pd.DataFrame, by: Sequence[str], codes: pd.DataFrame, name: str
) -> npt.NDArray[np.int64]:
    wanted = pd.MultiIndex.from_frame(frame[list(by)].map(spelled))
    found = pd.MultiIndex.from_frame(codes).get_indexer(wanted)
    if (found < 0).any():
        row = int(np.argmax(found < 0))
        cell = ", ".join(str(one) for one in wanted[row])
        raise DataError(f"{name}, row {row + 1}: there is no cell {cell}; correct its codes")
    twice = pd.Series(found).duplicated().to_numpy(dtype=bool)
    refuse_rows(twice, name, "the cell stands twice; give it one line")
    return np.asarray(found, dtype=np.int64)


def _refuse_statuses(status: npt.NDArray[np.str_], name: str) -> None:
    refuse_rows(
        ~np.isin(status, (*_GIVEN, "")),
        name,
        lambda row: f"there is no status {str(status[row])!r}; u is sensitive, s safe, z always published",
    )


Source = str | Path | pd.DataFrame


def read_contributions(source: Source, cells: int) -> pd.DataFrame:
    """Read who contributes how much to each cell: `cell` (from 0), `contributor`, `amount`."""
    frame, name = _read(source, ["contributor"], ["cell", "contributor", "amount"], "the contributions")
    amount = numbers_of(frame, ["amount"], name)[:, 0]
    who = _names(frame, "contributor", name)
    made = pd.DataFrame({"cell": _numbers_of_cells(frame, name, cells), "contributor": who, "amount": amount})
    twice = made.duplicated(["cell", "contributor"]).to_numpy(dtype=bool)
    refuse_rows(
        twice,
        name,
        lambda row: f"{who.iloc[row]} stands twice in cell {made['cell'].iloc[row]}; add its amounts",
    )
    return made


def read_coalitions(source: Source) -> dict[str, list[str]]:
    """Read coalitions: `coalition`, `contributor`; returns the members of each."""
    columns = ["coalition", "contributor"]
    frame, name = _read(source, columns, columns, "the coalitions")
    coalition, who = (_names(frame, column, name) for column in columns)
    found: dict[str, list[str]] = {}
    for group, member in zip(coalition, who, strict=True):
        found.setdefault(group, []).append(member)
    return found


def read_insiders(source: Source, cells: int) -> pd.DataFrame:
    """Read what insiders know: `insider`, `cell` (from 0), `lower`, `upper`; empty where they know no end.

    Several lines of an insider about one cell hold together, and come back as one.
    """
    frame, name = _read(source, ["insider"], ["insider", "cell", "lower", "upper"], "the insiders")
    ends = numbers_of(frame, ["lower", "upper"], name, allow_missing=True)
    lower = np.where(np.isnan(ends[:, 0]), -np.inf, ends[:, 0])
    upper = np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1])
    refuse_rows(
        lower > upper, name, lambda row: f"the lower end {lower[row]:g} is above the upper {upper[row]:g}"
    )
    made = pd.DataFrame(
        {
            "insider": _names(frame, "insider", name),
            "cell": _numbers_of_cells(frame, name, cells),
            "lower": lower,
            "upper": upper,
        }
    )
    each = made.groupby(["insider", "cell"], sort=False)
    joined = each.agg(lower=("lower", "max"), upper=("upper", "min")).reset_index()
    if (joined["lower"] > joined["upper"]).any():
        one = joined.loc[joined["lower"] > joined["upper"]].iloc[0]
        raise DataError(
            f"{name}: what {one['insider']} knows of cell {one['cell']} leaves nothing: at least "
            f"{one['lower']:g}, and at most {one['upper']:g}"
        )
    return joined


def _read(source: Source, text: list[str], columns: list[str], what: str) -> tuple[pd.DataFrame, str]:
    table = load_table(source, what, text_columns=text)
    check_known(columns, table.columns, table.source, what="column")
    return table.frame, table.source


def _names(frame: pd.DataFrame, column: str, name: str) -> pd.Series:
    missing = frame[column].isna().to_numpy(dtype=bool)
    refuse_rows(missing, name, "it is empty", column)
    number, names = pd.factorize(frame[column])
    return pd.Series([spelled(one) for one in names], dtype=object).take(number).set_axis(frame.index)


def _numbers_of_cells(frame: pd.DataFrame, name: str, cells: int) -> npt.NDArray[np.int64]:
    found = numbers_of(frame, ["cell"], name)[:, 0]
    wrong = (found != np.floor(found)) | (found < 0) | (found >= cells)
    refuse_rows(wrong, name, lambda row: f"{found[row]:g} is no cell; they are 0 to {cells - 1}", "cell")
    return found.astype(np.int64)
