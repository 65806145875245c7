"""Defines search tasks of suppression and their answers, also as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray, LongArray
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.strict_json import headed, kind_of, parse
from linkrisk.formulations.suppression.nodes import Levels, Recodings
from linkrisk.solver.backends.base import Backend
from linkrisk.solver.run.clock import Clock
from linkrisk.solver.run.progress import Progress, Reporter
from linkrisk.solver.suppression.problem import SCALE, Problem

_PHASE = "suppressing"
_ANSWER = "suppression-answer"
_KEYS = {"format", "version", "records", "taken", "levels"}

GIVEN = "none: the answer was given"


@dataclass(frozen=True, eq=False)
class SearchTask:
    """Problem with the clock, backend and seed of its search."""

    problem: Problem
    clock: Clock  # when it has expired, a search returns its best answer, with its bound
    backend: Backend  # solves the mixed-integer programs
    report: Reporter | None = None
    seed: int = 0  # of random choices

    def tell(self, work: str) -> None:
        """Report the current step."""
        if self.report is not None:
            self.report(Progress.uncounted(_PHASE, work))

    def tell_answer(self, cost: int, bound: int, work: str = "") -> None:
        """Report the incumbent with the current step."""
        self.tell(f"cost {cost / SCALE:,.6g}, at least {bound / SCALE:,.6g}{'; ' + work if work else ''}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """Suppressed values of each record."""

    taken: LongArray  # (n,): key variables, as bits
    cost: int  # in parts of `problem.SCALE`
    bound: int  # no other answer costs less
    proof: str  # of the bound

    def cells(self, keys: int) -> BoolArray:
        """The suppressed cells (n, q)."""
        return (self.taken[:, None] >> np.arange(keys) & 1).astype(np.bool_)


@dataclass(frozen=True, eq=False, kw_only=True)
class Priced(Answer):
    """Answer with prices that prove its dual bound."""

    prices: LongArray  # (T,): of a record of each row type; see `node_prices.bound_of`
    by_prices: int  # the bound that they prove


@dataclass(frozen=True, eq=False, kw_only=True)
class Recoded(Answer):
    """Answer to the joint problem, whose cost includes the loss by recoding."""

    levels: Levels
    by_recoding: int  # loss by recoding alone
    points: int  # points of the lattice
    open_points: int  # points not yet excluded


@dataclass(frozen=True, eq=False)
class GivenAnswer:
    """Suppressed rows by key variable, and levels of recoding, to be used without a search."""

    records: int  # of its table
    taken: Mapping[str, LongArray]  # rows from 0
    levels: Mapping[str, int]  # empty but for the joint problem

    @classmethod
    def of(cls, names: Sequence[str], cells: BoolArray, levels: Mapping[str, int]) -> GivenAnswer:
        """List the rows of suppressed cells (n, q)."""
        taken = {name: np.flatnonzero(cells[:, at]) for at, name in enumerate(names)}
        return cls(len(cells), {name: rows for name, rows in taken.items() if rows.size}, dict(levels))

    def to_json(self) -> str:
        """Content of a file, with rows from 1."""
        lists = {name: (rows + 1).tolist() for name, rows in self.taken.items()}
        content = {"records": self.records, "levels": dict(self.levels), "taken": lists}
        return json.dumps(headed(_ANSWER, content), ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> GivenAnswer:
        """Read a file of `to_json`; a DataError if it is none."""
        try:
            found = parse(Path(path).read_bytes())
        except OSError as error:
            raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is not valid JSON: {error}") from error
        if kind_of(found) != _ANSWER or set(found) != _KEYS or not _is_integer(found["records"]):
            raise DataError(f"{path} is no answer of suppress: name what `suppress --write-answer` wrote")
        levels = _mapping(found, "levels", path)
        if not all(_is_integer(level) for level in levels.values()):
            raise DataError(f"{path}: a level is no whole number")
        return cls(found["records"], _rows(found, path), levels)

    def answer(self, problem: Problem, recodings: Recodings | None) -> Answer:
        """Return the answer to a problem, with its costs; a DataError if it belongs to another one."""
        names, many = problem.table.names, len(problem.table.codes)
        if self.records != many:
            raise DataError(f"the answer is for {self.records} records, not {many}: it is of another table")
        for name in (*self.taken, *self.levels):
            if name not in names:
                raise DataError(f"the answer is about {name!r}, no key variable: it is of another table")
        taken = np.zeros(many, dtype=np.int64)
        for name, rows in self.taken.items():
            taken[rows] |= 1 << names.index(name)
        if (taken & ~problem.allowed).any():
            raise DataError("the answer takes values of an untouched variable; leave that out of untouched")
        if recodings is None:
            cost = sum(int(problem.cost[names.index(name)]) * rows.size for name, rows in self.taken.items())
            return Answer(taken=taken, cost=cost, bound=0, proof=GIVEN)
        return self._recoded(problem, recodings, taken)

    def _recoded(self, problem: Problem, recodings: Recodings, taken: LongArray) -> Recoded:
        levels = tuple(self.levels.get(name, 0) for name in problem.table.names)
        for name, level, top in zip(problem.table.names, levels, recodings.top, strict=True):
            if not 0 <= level <= top:
                raise DataError(f"the answer has level {level} of {name!r}, which its hierarchy lacks")
        gone = Answer(taken=taken, cost=0, bound=0, proof=GIVEN).cells(len(levels))
        lost = recodings.lost(problem.table.codes, levels)
        cost = int(lost[~gone].sum()) + int((gone * problem.cost).sum())
        return Recoded(
            taken=taken,
            cost=cost,
            bound=0,
            proof=GIVEN,
            levels=levels,
            by_recoding=int(lost.sum()),
            points=0,
            open_points=0,
        )


def _mapping(found: Mapping[str, Any], key: str, path: str | Path) -> dict[str, Any]:
    if not isinstance(found[key], dict):
        raise DataError(f"{path}: {key} is no table by key variable")
    return dict(found[key])


def _rows(found: Mapping[str, Any], path: str | Path) -> dict[str, LongArray]:
    taken, last = {}, found["records"]
    for name, rows in _mapping(found, "taken", path).items():
        if not isinstance(rows, list) or not all(_is_integer(row) and 1 <= row <= last for row in rows):
            raise DataError(f"{path}: what is taken of {name!r} is no list of rows from 1 to {last}")
        taken[name] = np.unique(np.array(rows, dtype=np.int64)) - 1
    return taken


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
