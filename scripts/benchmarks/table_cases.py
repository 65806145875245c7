"""Tables of benchmarks: those of reference lists with what is known of them, and drawn ones of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from linkrisk import make_table
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.stored_table import StoredTable, read_cells_and_relations
from linkrisk.datasets.tables.tabulating import Roles, tabulate
from linkrisk.formulations.tables.cell_table import CellTable
from linkrisk.formulations.tables.contributions import Contributions
from linkrisk.formulations.tables.primary_rules import PPercentRule, sensitive
from linkrisk.solver.tables.operations.make import MadeTable
from linkrisk.solver.tables.operations.source import cell_table

_RULES = {"P(10,1)": "P10-1", "NK(2,75)": "NK2-75"}
_COSTS = {"OPTvalue": "value", "OPTunit": "unit"}


@dataclass(frozen=True)
class Case:
    """A table with a way of counting costs, and what is known of it."""

    name: str
    cost: str
    cells: Path
    relations: Path
    known: float
    proven: bool


def cases(folder: Path, most: float = np.inf) -> Iterator[Case]:
    """The tables of a folder with at most so many cells."""
    if folder.name == "ref":
        wanted = pd.read_csv(folder / "reference.csv")
        wanted = wanted[wanted["method"].isin(_COSTS) & (wanted["cells"] <= most)]
        for row in wanted.itertuples():
            name = f"{row.table}_{_RULES[row.rule]}"
            relations = folder / f"{row.table}_equations.csv.gz"
            known, proven = row.objective_secondaries, row.status == "proven optimal"
            yield Case(name, _COSTS[row.method], folder / f"{name}_cells.csv", relations, known, proven)
        return
    known = pd.read_csv(folder / "suppression_reference.csv").set_index(["instance", "cost"])
    for row in pd.read_csv(folder / "instances.csv").itertuples():
        for cost in _COSTS.values() if row.cells <= most else ():
            there = (row.instance, cost) in known.index
            best = known.loc[(row.instance, cost), "objective_secondaries"] if there else np.nan
            proven = there and known.loc[(row.instance, cost), "status"] == "proven optimal"
            yield Case(row.instance, cost, folder / row.cells_file, folder / row.equations_file, best, proven)


def stored(case: Case) -> StoredTable:
    """Cells whose bounds leave nothing open are always published; costs are whole, as the reference's."""
    cells = pd.read_csv(case.cells)
    if "status" not in cells:
        sensitive_, decided = cells["sensitive"] == 1, cells["lower_bound"] == cells["upper_bound"]
        cells["status"] = np.where(sensitive_, "u", np.where(decided, "z", "s"))
        for side, room in (
            ("lower", cells["value"] - cells["lower_bound"]),
            ("upper", cells["upper_bound"] - cells["value"]),
        ):
            cells[f"{side}_protection"] = np.minimum(cells[f"{side}_protection"], room)
    whole = np.maximum(1.0, np.round(np.abs(cells["value"])))
    cells["cost"] = whole if case.cost == "value" else 1.0
    wanted = ["value", "status", "lower_protection", "upper_protection", "lower_bound", "upper_bound", "cost"]
    relations = pd.read_csv(case.relations)
    return read_cells_and_relations(cells[[name for name in wanted if name in cells]], relations)


def tree(variable: str, size: int, groups: int = 0) -> CodeTree:
    """Codes below so many groups; right below the total where there are none."""
    parents = [-1, *[0] * groups, *(1 + code % groups if groups else 0 for code in range(size))]
    codes = ("Total", *(f"g{group}" for group in range(groups)), *(f"c{code}" for code in range(size)))
    return CodeTree(variable, codes, np.array(parents, dtype=np.int64))


def deep_tree(variable: str, branches: tuple[int, ...]) -> tuple[CodeTree, list[str]]:
    """A tree with so many codes below each one, level by level, and its leaves."""
    codes, parents, level = ["Total"], [-1], [0]
    for many in branches:
        above, level = level, []
        for parent in above:
            for _ in range(many):
                level.append(len(codes))
                codes.append(f"{variable}{len(codes)}")
                parents.append(parent)
    return CodeTree(variable, tuple(codes), np.array(parents, dtype=np.int64)), [codes[at] for at in level]


def crossed(sizes: tuple[int, ...], groups: tuple[int, ...]) -> tuple[list[CodeTree], pd.DataFrame]:
    """Trees of variables, and a record for each combination of their codes."""
    trees = [tree(f"v{at}", *one) for at, one in enumerate(zip(sizes, groups, strict=True))]
    leaves = [[f"c{code}" for code in range(size)] for size in sizes]
    return trees, pd.DataFrame(product(*leaves), columns=[one.variable for one in trees])


def tabulated(frame: pd.DataFrame, trees: list[CodeTree], largest: int = 1) -> tuple[Any, sparse.csr_array]:
    """The table of the column `value`, and its relations."""
    made = tabulate(frame, trees, Roles(response="value"), largest)
    terms = made.terms()
    places = (terms["coefficient"].to_numpy(dtype=float), (terms["relation"], terms["cell"]))
    shape = (int(terms["relation"].max()) + 1, made.total.size)
    return made, sparse.csr_array(places, shape=shape)


LARGE = {
    "2500": (((4, 3, 3), (4, 3, 3)), 9_000),
    "10000": (((5, 4, 4), (5, 4, 4)), 40_000),
    "100000": (((6, 7, 6), (5, 8, 7)), 400_000),
}
"""Seeded tables of two variables with trees of three levels below the total: branches, and records."""


def large(name: str) -> CellTable:
    """One of `LARGE`: lognormal contributions, p % rule with p = 10; the cost is the value."""
    branches, records = LARGE[name]
    generator = np.random.default_rng(1)
    trees, leaves = zip(*(deep_tree(f"v{at}", one) for at, one in enumerate(branches)), strict=True)
    columns = {}
    for one, codes in zip(trees, leaves, strict=True):
        weight = generator.lognormal(0.0, 0.7, len(codes))
        columns[one.variable] = np.array(codes)[
            generator.choice(len(codes), records, p=weight / weight.sum())
        ]
    frame = pd.DataFrame(columns)
    frame["value"] = np.maximum(1.0, np.round(generator.lognormal(4.0, 1.2, records)))
    made, relations = tabulated(frame, list(trees), 2)
    seen = Contributions(made.seen.total, made.seen.largest, made.respondents)
    found = sensitive((PPercentRule(10.0),), seen)
    none = np.zeros(made.total.size)
    return CellTable(
        value=made.total,
        relations=relations,
        lower=none,
        upper=np.full(none.size, made.total.max()),
        primary=found.unsafe,
        fixed=made.respondents == 0,
        cost=np.maximum(made.total, 1.0),
        lower_level=found.lower,
        upper_level=found.upper,
        sliding_level=none,
    )


@dataclass(frozen=True)
class Enterprises:
    """Records of firms: variables with the columns of their levels, the coarsest first, and a rule."""

    name: str
    records: pd.DataFrame
    levels: tuple[tuple[str, ...], ...]
    rule: str  # as `tables make` has it
    response: str = "turnover"

    @property
    def by(self) -> list[str]:
        """The finest level of each variable."""
        return [one[-1] for one in self.levels]

    def hierarchies(self, folder: Path) -> dict[str, Path]:
        """Files of the variables with several levels, with @ for each level."""
        found = {}
        for levels in self.levels:
            if len(levels) > 1:
                found[levels[-1]] = folder / f"{self.name}_{levels[-1]}.hrc"
                lines = _lines(self.records[list(levels)].drop_duplicates(), levels, "")
                found[levels[-1]].write_text("\n".join(lines) + "\n")
        return found

    def table(self, folder: Path) -> MadeTable:
        """The table of all combinations of codes."""
        return make_table(
            self.records,
            self.by,
            response=self.response,
            rules=[self.rule],
            hierarchies=self.hierarchies(folder),
        )


def _lines(codes: pd.DataFrame, levels: tuple[str, ...], at: str) -> list[str]:
    if not levels:
        return []
    found = []
    for code, below in codes.groupby(levels[0]):
        found += [f"{at}{code}", *_lines(below, levels[1:], at + "@")]
    return found


_ACTIVITY = ("A10", "A21", "A88")


def enterprises(folder: Path) -> Iterator[Enterprises]:
    """Tables of the records in `rtauargus_indiv_dt.csv`, and of drawn ones under a dominance rule."""
    firms = pd.read_csv(folder / "rtauargus_indiv_dt.csv", dtype={"A88": str})
    firms["A88"] = "n" + firms["A88"].str.zfill(2)  # codes of two levels must differ
    firms["A21"] = "s" + firms["A21"]
    firms["turnover"] = firms["TURNOVER"].round(2)
    for name, activity, area, size in (
        ("activity-area", _ACTIVITY[1:], ("NUTS2", "NUTS3"), ()),
        ("activity-region-size", _ACTIVITY, ("NUTS1", "NUTS2"), (("SIZE",),)),
        ("activity-area-size", _ACTIVITY, ("NUTS2", "NUTS3"), (("SIZE",),)),
    ):
        yield Enterprises(name, firms, (activity, area, *size), "p=10")
    yield Enterprises(
        "drawn-dominance", _drawn_firms(4000), (("A1", "A2", "A3"), ("R1", "R2"), ("size",)), "nk=2,75"
    )


def _drawn_firms(records: int) -> pd.DataFrame:
    """Firms in 45 activities (5 x 3 x 3), 12 areas (3 x 4) and two sizes; few of them have most turnover."""
    generator = np.random.default_rng(1)
    weights = generator.lognormal(0.0, 0.2, 45), generator.lognormal(0.0, 0.2, 12)
    activity, area = (generator.choice(one.size, records, p=one / one.sum()) for one in weights)
    amount = generator.lognormal(6.0, 2.0, records)
    amount = np.maximum(1.0, np.round(amount * np.exp(generator.normal(0.0, 0.5, 45))[activity]))
    text = pd.Series(activity).astype(str).str.zfill(2)
    return pd.DataFrame(
        {
            "A1": [f"a{code // 9}" for code in activity],
            "A2": [f"b{code // 3:02}" for code in activity],
            "A3": "c" + text,
            "R1": [f"r{code // 4}" for code in area],
            "R2": [f"s{code:02}" for code in area],
            "size": np.where(amount > np.quantile(amount, 0.8), "l", "s"),
            "turnover": amount,
        }
    )


def large_tables(names: list[str], folder: Path | None = None) -> Iterator[tuple[str, CellTable]]:
    """Tables of `LARGE`, or those of a folder with 2,000 cells and more (all where no name is given)."""
    if folder is None:
        yield from ((name, large(name)) for name in names)
        return
    for case in cases(folder):
        if case.cost == "value" and (case.name in names or not names):
            table = cell_table(stored(case), "given")
            if len(table) > 2000:
                yield case.name, table
