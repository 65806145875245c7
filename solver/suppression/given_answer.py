"""An answer that was found before: kept in a file, and taken again instead of a search."""

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
from linkrisk.formulations.suppression.recodings import Recodings
from linkrisk.solver.suppression.anonymity.joint import Recoded
from linkrisk.solver.suppression.answer import Answer
from linkrisk.solver.suppression.problem import Problem

PROOF = "none: the answer was given"
_KEYS = {"format", "version", "records", "taken", "levels"}
_ANSWER = "suppression-answer"


@dataclass(frozen=True, eq=False)
class GivenAnswer:
    """What is taken from which records, and levels of recoding.

    Attributes
    ----------
    records : int
        Of the table that it is for.
    taken : mapping of str to ndarray of int64
        Rows from 0, by key variable.
    levels : mapping of str to int
        By key variable; empty but for the joint problem.
    """

    records: int
    taken: Mapping[str, LongArray]
    levels: Mapping[str, int]

    @classmethod
    def of(cls, names: Sequence[str], cells: BoolArray, levels: Mapping[str, int]) -> GivenAnswer:
        """Of what was taken, shape (n, q)."""
        taken = {name: np.flatnonzero(cells[:, at]) for at, name in enumerate(names)}
        return cls(len(cells), {name: rows for name, rows in taken.items() if rows.size}, dict(levels))

    def to_json(self) -> str:
        """As a file: rows are counted from 1."""
        lists = {name: (rows + 1).tolist() for name, rows in self.taken.items()}
        content = {"records": self.records, "levels": dict(self.levels), "taken": lists}
        return json.dumps(headed(_ANSWER, content), ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> GivenAnswer:
        """Read what `to_json` has made.

        Raises
        ------
        DataError
            If it cannot be read, or is no such file.
        """
        try:
            found = parse(Path(path).read_bytes())
        except OSError as error:
            raise DataError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is not valid JSON: {error}") from error
        if kind_of(found) != _ANSWER or set(found) != _KEYS or not _whole(found["records"]):
            raise DataError(f"{path} is no answer of suppress: name what `suppress --write-answer` wrote")
        levels = _mapping(found, "levels", path)
        if not all(_whole(level) for level in levels.values()):
            raise DataError(f"{path}: a level is no whole number")
        return cls(found["records"], _rows(found, path), levels)

    def answer(self, problem: Problem, recodings: Recodings | None) -> Answer:
        """The same for a problem, with its costs.

        Raises
        ------
        DataError
            If it is of another table, or takes what the problem leaves untouched.
        """
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
            return Answer(taken=taken, cost=cost, bound=0, proof=PROOF)
        return self._recoded(problem, recodings, taken)

    def _recoded(self, problem: Problem, recodings: Recodings, taken: LongArray) -> Recoded:
        levels = tuple(self.levels.get(name, 0) for name in problem.table.names)
        for name, level, top in zip(problem.table.names, levels, recodings.top, strict=True):
            if not 0 <= level <= top:
                raise DataError(f"the answer has level {level} of {name!r}, which its hierarchy lacks")
        gone = Answer(taken=taken, cost=0, bound=0, proof=PROOF).cells(len(levels))
        lost = recodings.lost(problem.table.codes, levels)
        cost = int(lost[~gone].sum()) + int((gone * problem.cost).sum())
        return Recoded(
            taken=taken,
            cost=cost,
            bound=0,
            proof=PROOF,
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
    """Rows from 0, by key variable."""
    taken = {}
    for name, rows in _mapping(found, "taken", path).items():
        if not isinstance(rows, list) or not all(
            _whole(row) and 1 <= row <= found["records"] for row in rows
        ):
            raise DataError(
                f"{path}: what is taken of {name!r} is no list of rows from 1 to {found['records']}"
            )
        taken[name] = np.unique(np.array(rows, dtype=np.int64)) - 1
    return taken


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
