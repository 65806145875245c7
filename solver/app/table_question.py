"""What is asked of a table: which one it is, who attacks it, how it is searched; and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from linkrisk.datasets.tables.opening import WHOLE
from linkrisk.solver.app.project import Project
from linkrisk.solver.run.errors import UsageError

AUTOMATIC = "auto"
"""The method that fits the size of a table."""

OUTSIDERS, SINGLETONS, EVERYBODY, LISTED = "", "singletons", "contributors", "file"
"""Who attacks: outsiders alone, or insiders, too."""

FILES = (
    *("cells", "relations", "metadata", "apriori", "microdata", "manual"),
    *("listed", "contributors", "coalitions"),
)
"""Fields that name a file of the project."""


@dataclass(frozen=True)
class TableQuestion:
    """A table, and how it is to be protected.

    Attributes
    ----------
    cells, relations : str
        Names of files of the project; without relations they follow from the codes of the cells, or the file
        of cells says them itself (``.jj``, or cells of ARGUS).
    microdata : str
        Instead of them, a file with a record for each respondent.
    by : tuple of str
        Its explanatory variables.
    linked : tuple of tuple of str
        Those of further tables of the same microdata, which are linked.
    response : str
        What is summed; empty where records are counted.
    rules : tuple of str
        What is sensitive, as `tables make --rule` reads it.
    hierarchies : tuple of (str, str)
        Variables or columns of codes, each with the file of its tree; a variable that is grouped in several
        ways stands several times.
    metadata : str
        What the columns of cells of ARGUS are, where that is not beside them.
    codes : tuple of str
        Columns of codes of a table that is there; empty for those before its values.
    value : str
        Its column of values, where that has another name.
    totals : tuple of (str, str)
        Columns of codes, each with the code of its total, where it is not ``Total``.
    apriori : str
        The file of what is known of some cells.
    recompute : bool
        Whether totals are computed again from what is below them.
    holding, weight, shadow, cost_column, request : str
        Columns of microdata, as `tables make` has them; empty where there is none.
    weights_in_rules, protection, empty, manual, manual_range, negative
        As `tables make` has them.
    insiders : str
        `OUTSIDERS`, `SINGLETONS`, `EVERYBODY` or `LISTED`.
    listed : str
        The file of insiders, where these are `LISTED`.
    contributors : str
        The file of contributions to a table that is there.
    coalitions : str
        The file of respondents who tell one another everything.
    respondent : str
        The column of microdata that names them; empty where records have numbers.
    partly : bool
        Whether levels that cannot be kept from somebody are lowered.
    method : str
        As `tables suppress --method` reads it.
    cost : str
        Of a cell that is suppressed.
    exact : bool
        Whether levels are decided in rational numbers.
    seconds : float
        Time limit.
    seed : int
    """

    cells: str = ""
    relations: str = ""
    microdata: str = ""
    by: tuple[str, ...] = ()
    linked: tuple[tuple[str, ...], ...] = ()
    response: str = ""
    rules: tuple[str, ...] = ("p=10",)
    hierarchies: tuple[tuple[str, str], ...] = ()
    metadata: str = ""
    codes: tuple[str, ...] = ()
    value: str = ""
    totals: tuple[tuple[str, str], ...] = ()
    apriori: str = ""
    recompute: bool = False
    holding: str = ""
    weight: str = ""
    weights_in_rules: str = "expanded"
    shadow: str = ""
    cost_column: str = ""
    request: str = ""
    negative: bool = False
    protection: str = "both"
    empty: str = "published"
    manual: str = ""
    manual_range: float = 20.0
    insiders: str = OUTSIDERS
    listed: str = ""
    contributors: str = ""
    coalitions: str = ""
    respondent: str = ""
    partly: bool = False
    method: str = AUTOMATIC
    cost: str = "value"
    exact: bool = False
    seconds: float = 60.0
    seed: int = 0

    @classmethod
    def again(cls, asked: Mapping[str, Any], project: Project) -> TableQuestion:
        """What was asked before, without files that are not there any more."""
        known = {one.name: asked[one.name] for one in fields(cls) if one.name in asked}
        files = set(project.readable)
        for what in FILES:
            if known.get(what) not in files:
                known.pop(what, None)
        known["linked"] = tuple(tuple(names) for names in known.get("linked", ()))
        for what in ("hierarchies", "totals"):
            known[what] = tuple((name, said) for name, said in known.get(what, ()))
        known["hierarchies"] = tuple(one for one in known["hierarchies"] if one[1] in files)
        for what in ("by", "codes", "rules"):
            if what in known:
                known[what] = tuple(known[what])
        return cls(**known)

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        made = bool(self.microdata)
        named = {
            "cells": self.cells,
            "relations": "" if self.whole else self.relations,
            "metadata": self.metadata if self.whole else "",
            "apriori": "" if made else self.apriori,
            "microdata": self.microdata,
            "manual": self.manual if made else "",
            "insiders": self.listed if self.insiders == LISTED else "",
            "contributors": "" if made else self.contributors,
            "coalitions": self.coalitions,
        }
        for name, file in self.trees:
            what = f"hierarchy {name}"
            at = sum(one == what or one.startswith(f"{what}, ") for one in named)
            named[what if not at else f"{what}, {at + 1}"] = file
        return {what: name for what, name in named.items() if name}

    @property
    def variables(self) -> tuple[str, ...]:
        """The explanatory variables of all its tables, each once."""
        return tuple(dict.fromkeys(name for names in (self.by, *self.linked) for name in names))

    @property
    def whole(self) -> bool:
        """Whether the file of cells says itself which relations there are."""
        return bool(self.cells) and (bool(self.metadata) or Path(self.cells).suffix.lower() in WHOLE)

    @property
    def by_codes(self) -> bool:
        """Whether relations follow from codes: of a table that is there, with neither relations nor ARGUS."""
        return not (self.microdata or self.whole or self.relations)

    @property
    def attacked(self) -> bool:
        """Whether anybody but outsiders attacks."""
        return bool(self.insiders or self.coalitions)

    @property
    def contributing(self) -> bool:
        """Whether it has to be known who contributed what."""
        return self.insiders in (SINGLETONS, EVERYBODY) or bool(self.coalitions)

    @property
    def trees(self) -> tuple[tuple[str, str], ...]:
        """The hierarchies that count: those of chosen variables, or of codes that relations follow from."""
        if self.microdata:
            return tuple(one for one in self.hierarchies if one[0] in self.variables and one[1])
        chosen = self.codes or [name for name, _ in self.hierarchies]
        return tuple(one for one in self.hierarchies if self.by_codes and one[0] in chosen and one[1])

    def check(self) -> None:
        """Refuse a question of which something is missing.

        Raises
        ------
        UsageError, FormulationError
            With what is missing, or which rule is none.
        """
        if not (self.cells or self.microdata):
            raise UsageError("choose a file of cells, or one of microdata")
        if self.microdata:
            self._check_making()
        if self.insiders == LISTED and not self.listed:
            raise UsageError("choose the file of insiders, or other attackers")
        if not self.microdata and not self.contributors and (self.insiders == EVERYBODY or self.coalitions):
            raise UsageError("who attacks knows what it contributed: choose the file of contributions")

    def _check_making(self) -> None:
        from linkrisk.formulations.tables.primary_rules import RequestRule
        from linkrisk.solver.api.tables.rules import primary_rule

        if not self.by:
            raise UsageError("a table of microdata needs explanatory variables: choose one or more")
        if not self.rules and not self.manual:
            raise UsageError("a table of microdata needs a rule, such as p=10: write at least one")
        known = [primary_rule(rule) for rule in self.rules]
        if not self.request and any(isinstance(rule, RequestRule) for rule in known):
            raise UsageError("the request rule needs a column: choose who asked for protection")
        if self.cost == "given" and not self.cost_column and not self.manual:
            raise UsageError(
                "the cost of a cell is in a column: choose that of the microdata, or another cost"
            )
