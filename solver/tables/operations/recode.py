"""Function `recode_table`: a table of coarser codes, and the effects of each recoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.attributes import known_values
from linkrisk.datasets.masking.release import version
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.options.option import recorded_of
from linkrisk.datasets.tables.code_trees import CodeTree, Hierarchies, codes_of_column
from linkrisk.datasets.tables.explanatory_variables import cut_at_level, recoded
from linkrisk.solver.inputs.source import read_source
from linkrisk.solver.options.table_making import RecodeOptions
from linkrisk.solver.options.taking import taking
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.run.interruption import Halt, interruptible
from linkrisk.solver.run.result import Reported
from linkrisk.solver.tables.operations.figures import all_cells, codes_by
from linkrisk.solver.tables.operations.make import MadeTable, make_table
from linkrisk.solver.tables.operations.suppress_and_audit import suppress_table

AS_IT_IS, ALL = "as it is", "all together"


@dataclass(frozen=True)
class RecodingEffect:
    """Size of a table with some recodings, and the cost of its suppression."""

    recoding: str
    cells: int
    relations: int
    empty: int  # cells without respondents
    sensitive: int
    # secondary suppressions, if requested and possible
    secondary: int | None = None
    # cost, bound: of these, with the dual bound
    cost: float | None = None
    bound: float | None = None


@dataclass(frozen=True, eq=False)
class RecodedTable(Reported):
    r"""Table of coarser codes.

    Attributes
    ----------
    made : MadeTable
        With all recodings.
    effects : tuple of RecodingEffect
        The table as it is, with each recoding by itself, and with all.
    details : dict
        Everything else of the JSON.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> from pathlib import Path
    >>> written = Path("any.csv").write_text("code,becomes\na,any\nb,any\n")
    >>> coarser = {"size": "any.csv"}
    >>> found = linkrisk.recode_table(firms, ["region", "size"], response="sales", recode=coarser)
    >>> found.to_dict()["format"]
    'linkrisk-recoded-table'
    """

    kind: ClassVar[str] = "recoded-table"

    made: MadeTable = field(repr=False)
    effects: tuple[RecodingEffect, ...]
    details: dict[str, Any] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a line for each effect."""
        return pd.DataFrame([asdict(one) for one in self.effects])

    def content(self) -> dict[str, Any]:
        """The JSON of `tables recode --json` as a dictionary."""
        return {**self.details, "effects": [asdict(one) for one in self.effects]}

    def write(self, cells: str | Path, relations: str | Path) -> None:
        """Write the table with all recodings, as `make_table` does."""
        self.made.write(cells, relations)


@taking(RecodeOptions)
def recode_table(asked: RecodeOptions) -> RecodedTable:
    r"""Make a table of coarser codes, and compute the effect of each recoding.

    Parameters
    ----------
    {options}

    Returns
    -------
    RecodedTable
        Where nothing is asked for, with every cut of every tree by itself.

    Raises
    ------
    TypeError
        If there is no such keyword.
    UsageError, DataError, FormulationError
        If the request or the data cannot be used.

    Examples
    --------
    >>> import linkrisk
    >>> import pandas as pd
    >>> firms = pd.DataFrame(
    ...     {"region": list("NNNNSSSS"), "size": list("aabbaabb"), "sales": [90, 5, 20, 30, 40, 50, 60, 70]}
    ... )
    >>> from pathlib import Path
    >>> written = Path("any.csv").write_text("code,becomes\na,any\nb,any\n")
    >>> coarser = {"size": "any.csv"}
    >>> found = linkrisk.recode_table(firms, ["region", "size"], response="sales", recode=coarser)
    >>> len(found.made.cells)
    6
    """
    by = asked.by
    source = read_source(asked.data, (), None, list(by))
    check_known(list(by), list(source.known.columns), source.name, what="by")
    known = known_values(source.known, source.known.columns, schema_of(asked.schema))
    trees = {name: _tree(known, name, asked.hierarchies or {}) for name in by}
    wanted = _recodings(asked.recode or {}, asked.cut or {}, trees)
    more = {name: getattr(asked, name) for name in ("response", "rules", "holding", "weight", "missing")}

    def made(chosen: Mapping[str, _Recoding]) -> MadeTable:
        frame, coarser = known, dict(trees)
        for name, (_, tree, becomes) in chosen.items():
            coarser[name] = tree
            frame = with_columns(frame, {name: _mapped(frame[name], becomes)})
        return make_table(frame, by, hierarchies=coarser, **more)

    plain = made({})
    alone = wanted or _every_cut(trees)
    last = made({each[1].variable: each for each in wanted}) if wanted else plain
    tables = [(AS_IT_IS, plain), *((each[0], made({each[1].variable: each})) for each in alone)]
    tables += [(ALL, last)] if len(wanted) > 1 else []
    effects, not_begun = [_effect(*one) for one in tables], []
    halt = Halt(asked.cancel)
    with interruptible(halt):
        for at, (name, one) in enumerate(tables if asked.suppress else []):
            if halt.cancelled:
                not_begun.append(name)
            else:
                effects[at] = _suppressed(effects[at], one, asked.time_limit, halt)
    details = {
        "protection": "recoding",
        "linkrisk": version(),
        "name": source.name,
        "by": list(by),
        "suppressed": asked.suppress,
        "time_limit": asked.time_limit if asked.suppress else None,
        "not_begun": not_begun,
        "response": asked.response,
        "holding": asked.holding,
        "weight": asked.weight,
        "rules": list(last.rules),
        "recodings": [_described(each, trees[each[1].variable]) for each in wanted],
        **last.of_records(),
        **_figures(last),
        **recorded_of(asked),
    }
    return RecodedTable(last, tuple(effects), details)


def _described(recoding: _Recoding, before: CodeTree) -> dict[str, Any]:
    """Describe a recoding with its merged codes."""
    how, after, becomes = recoding
    pairs = ((code, becomes.get(code, code)) for code in before.leaves)
    codes = [[code, other] for code, other in pairs if code != other]
    return {
        "variable": after.variable,
        "how": how,
        "before": len(before.codes),
        "after": len(after.codes),
        "codes": codes,
    }


def _figures(made: MadeTable) -> dict[str, Any]:
    """Return the table with all recodings."""
    cells, codes = made.cells, codes_by(made.cells, made.by)
    return {
        **made.sizes(),
        "table": {
            "variables": list(codes),
            "all": all_cells(codes, {"value": cells["value"], "status": cells["status"]}),
        },
    }


_Recoding = tuple[str, CodeTree, dict[str, str]]
"""Name, codes afterwards, and the new code of each old one."""


def _tree(frame: pd.DataFrame, name: str, files: Mapping[str, Hierarchies]) -> CodeTree:
    found = codes_of_column(frame[name], files)
    if not isinstance(found, CodeTree):
        raise UsageError(f"{name!r} has several hierarchies; give the one that is to be recoded")
    return found


def _mapped(column: pd.Series, becomes: Mapping[str, str]) -> pd.Series:
    return column.map(lambda code: becomes.get(spelled(code), spelled(code)), na_action="ignore")


def _recodings(
    recode: Mapping[str, str | Path], cut: Mapping[str, int], trees: Mapping[str, CodeTree]
) -> list[_Recoding]:
    found: list[_Recoding] = []
    for name in [*recode, *cut]:
        if name not in trees:
            raise UsageError(f"recode: {name!r} is no explanatory variable; these are {', '.join(trees)}")
        if name in recode and name in cut:
            raise UsageError(f"{name!r} is both recoded and cut; leave one out")
    for name, path in recode.items():
        if not isinstance(path, str | Path):
            raise UsageError(
                f"recode: {name!r} has a {type(path).__name__}; give a file of codes and what they become"
            )
        found.append((f"{name} by {path}", *_by_file(trees[name], Path(path))))
    for name, level in cut.items():
        if level < 1:
            raise UsageError(f"{name!r} cannot be cut at level {level}: levels are 1 and more")
        found.append((f"{name} cut at {level}", *cut_at_level(trees[name], level)))
    return found


def _by_file(tree: CodeTree, path: Path) -> tuple[CodeTree, dict[str, str]]:
    if path.suffix.lower() != ".csv":
        return recoded(tree, path)
    frame = read_table(path, text_columns=["code", "becomes"])
    check_known(["code", "becomes"], list(frame.columns), str(path), what="column")
    leaves = tree.leaves
    given = dict(zip(frame["code"], frame["becomes"], strict=True))
    for row, code in enumerate(frame["code"], start=1):
        if code not in leaves:
            raise DataError(f"{path}, row {row}: {code!r} is no code of {tree.variable!r}; correct it")
    becomes = {code: str(given.get(code, code)) for code in leaves}
    return CodeTree.flat(tree.variable, becomes.values(), tree.codes[0]), becomes


def _every_cut(trees: Mapping[str, CodeTree]) -> list[_Recoding]:
    return [
        (f"{name} cut at {level}", *cut_at_level(tree, level))
        for name, tree in trees.items()
        for level in range(max(tree.depths().values()) - 1, 0, -1)
    ]


def _effect(name: str, made: MadeTable) -> RecodingEffect:
    cells = made.cells
    return RecodingEffect(
        recoding=name,
        **made.sizes(),
        empty=int((cells["respondents"] == 0).sum()),
        sensitive=made.sensitive,
    )


def _suppressed(found: RecodingEffect, made: MadeTable, limit: float | None, halt: Halt) -> RecodingEffect:
    """Add the cost of suppression."""
    if not made.sensitive:
        return replace(found, secondary=0, cost=0.0, bound=0.0)
    try:
        pattern = suppress_table(made, time_limit=limit, cancel=halt)
    except UsageError:  # a cell cannot be protected: no suppression then
        return found
    assert pattern.pattern is not None
    secondary = int(pattern.suppressed.sum()) - made.sensitive
    return replace(found, secondary=secondary, cost=pattern.pattern.cost, bound=pattern.pattern.bound)
