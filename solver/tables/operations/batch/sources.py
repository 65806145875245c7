"""Microdata that a batch of tau-ARGUS opens, with the codes of its variables, recoded as it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.microdata.category_names import spelled
from linkrisk.datasets.microdata.formats.argus import Argus
from linkrisk.datasets.microdata.formats.argus_files import read_text
from linkrisk.datasets.microdata.formats.argus_metadata import Variable, parse_metadata
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.tables.argus.batch_commands import Batch, Opened, Recode
from linkrisk.datasets.tables.argus.trees import tree_of
from linkrisk.datasets.tables.code_trees import CodeTree
from linkrisk.datasets.tables.recoded_codes import cut_at_level, recoded

_OF_FIRMS = ("holding", "request")
"""Columns that stay text, since their codes are names."""


@dataclass(frozen=True, eq=False)
class BatchSource:
    """Microdata of a batch, with the codes of its variables."""

    opened: Opened
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

    def with_requests(self) -> pd.DataFrame:
        """The records with 1 and 2 in the place of the codes of requests."""
        name = self.of_kind("request")
        if name is None:
            return self.frame
        codes = self.variables[name].words["request"].split()
        kinds = {code: number for number, code in enumerate(codes[:2], start=1)}
        return with_columns(self.frame, {name: [kinds.get(str(one), 0) for one in self.frame[name]]})


def source_of(batch: Batch, opened: Opened) -> BatchSource:
    """The microdata of some tables of a batch, with its recodings, which hold in all of them.

    Raises
    ------
    DataError, FormulationError
        If it cannot be read, or a recoding does not fit.
    """
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
