"""What is asked of a table: which one it is, what is done with it, who attacks it, how it is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from linkrisk.datasets.tables.opening import WHOLE
from linkrisk.solver.app.project import Project

SUPPRESS, AUDIT, VERIFY = "suppress", "audit", "verify"
"""What is done with a table, as actions of `tables`: verified is a certificate of it."""

AUTOMATIC, OPTIMAL = "auto", "optimal"
"""The method that fits the size of a table, and the one that proves its pattern."""

OWN = "exact"
"""The backend of our own."""

USUAL, NOBODY, SINGLETONS, EVERYBODY, LISTED = "", "none", "singletons", "contributors", "file"
"""Who attacks besides outsiders: singletons where they are known, nobody, or insiders who are asked for."""

FILES = (
    *("cells", "relations", "metadata", "apriori", "microdata", "manual"),
    *("listed", "contributors", "coalitions", "proof", "made"),
)
"""Fields that name a file of the project."""


@dataclass(frozen=True)
class TableQuestion:
    """A table, and what is to be done with it.

    Attributes
    ----------
    cells, relations : str
        Names of files of the project; without relations they follow from the codes of the cells, or the file
        of cells says them itself (``.jj``, or cells of ARGUS).
    further : tuple of (str, str)
        Cells and relations of further tables, which are linked to the first one by their common cells.
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
    made : str
        By which rules a table that is there was made, what its codes mean, and whether its values count.
    counts : str
        Whether the values of a table that is there count: ``yes``, ``no``, or empty where that is guessed.
    publish_respondents : bool
        Whether numbers of respondents are published beside the sums of microdata.
    holding, weight, shadow, cost_column, request : str
        Columns of microdata, as `tables make` has them; empty where there is none.
    weights_in_rules, protection, empty, manual, manual_range, negative, missing
        As `tables make` has them.
    insiders : str
        `USUAL`, `NOBODY`, `SINGLETONS`, `EVERYBODY` or `LISTED`.
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
    backend : str
        What solves the program of the optimal method.
    seconds, audit_seconds : float
        Time limit of a search, and of an audit; 0 for none.
    seed : int
    also : tuple of (str, str)
        Cells and relations of other releases of the same cells, which attackers of an audit know.
    workers : int
        Processes that share an audit.
    certified : bool
        Whether what is found is proven to others, and that proof checked.
    proof : str
        The certificate that is verified.
    published : str
        How the name of the published table ends, which says its format.
    house : tuple of str
        How those of further files for the house end.
    task : str
        `SUPPRESS`, `AUDIT` or `VERIFY`.
    """

    cells: str = ""
    relations: str = ""
    further: tuple[tuple[str, str], ...] = ()
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
    made: str = ""
    counts: str = ""
    publish_respondents: bool = False
    holding: str = ""
    weight: str = ""
    weights_in_rules: str = "expanded"
    shadow: str = ""
    cost_column: str = ""
    request: str = ""
    negative: bool = False
    protection: str = "both"
    empty: str = "published"
    missing: str = "refuse"
    manual: str = ""
    manual_range: float = 20.0
    insiders: str = USUAL
    listed: str = ""
    contributors: str = ""
    coalitions: str = ""
    respondent: str = ""
    partly: bool = False
    method: str = AUTOMATIC
    cost: str = "value"
    exact: bool = False
    backend: str = OWN
    seconds: float = 60.0
    audit_seconds: float = 0.0
    seed: int = 0
    also: tuple[tuple[str, str], ...] = ()
    workers: int = 1
    certified: bool = False
    proof: str = ""
    published: str = ".csv"
    house: tuple[str, ...] = ()
    task: str = SUPPRESS

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
        for what in ("further", "also"):
            pairs = [tuple(name if name in files else "" for name in pair) for pair in known.get(what, ())]
            known[what] = tuple(pair for pair in pairs if pair[0])
        for what in ("by", "codes", "rules", "house"):
            if what in known:
                known[what] = tuple(known[what])
        return cls(**known)

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        made, attacked = bool(self.microdata), self.task != VERIFY
        named = {
            "cells": self.cells,
            "relations": "" if self.whole else self.relations,
            **_numbered(self.ready[1:], "table", 2),
            **(_numbered(self.also, "another release", 1) if self.task == AUDIT else {}),
            "certificate": self.proof if self.task == VERIFY else "",
            "metadata": self.metadata if self.whole else "",
            "apriori": "" if made or self.linked_ready else self.apriori,
            "rules": "" if made else self.made,
            "microdata": self.microdata,
            "manual": self.manual if made else "",
            "insiders": self.listed if attacked and self.insiders == LISTED else "",
            "contributors": self.contributors if attacked and not made else "",
            "coalitions": self.coalitions if attacked else "",
        }
        for name, file in self.trees:
            what = f"hierarchy {name}"
            at = sum(one == what or one.startswith(f"{what}, ") for one in named)
            named[what if not at else f"{what}, {at + 1}"] = file
        return {what: name for what, name in named.items() if name}

    @property
    def beside(self) -> bool:
        """Whether numbers of respondents are published beside the sums of microdata."""
        return bool(self.publish_respondents and self.microdata and self.response)

    @property
    def variables(self) -> tuple[str, ...]:
        """The explanatory variables of all its tables, each once."""
        return tuple(dict.fromkeys(name for names in (self.by, *self.linked) for name in names))

    @property
    def whole(self) -> bool:
        """Whether the file of cells says itself which relations there are."""
        return bool(self.cells) and (bool(self.metadata) or Path(self.cells).suffix.lower() in WHOLE)

    @property
    def ready(self) -> tuple[tuple[str, str], ...]:
        """Cells and relations of each table that is there, but for one that says itself what it is."""
        if self.microdata or self.whole:
            return ()
        return ((self.cells, self.relations), *(pair for pair in self.further if pair[0]))

    @property
    def linked_ready(self) -> bool:
        """Whether there are several of these."""
        return len(self.ready) > 1

    @property
    def by_codes(self) -> bool:
        """Whether relations follow from codes: of a table that is there, with neither relations nor ARGUS."""
        return any(not relations for _, relations in self.ready)

    @property
    def attacked(self) -> bool:
        """Whether insiders are asked for."""
        return self.insiders not in (USUAL, NOBODY) or bool(self.coalitions)

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


def _numbered(pairs: Sequence[tuple[str, str]], of: str, first: int) -> dict[str, str]:
    """The files of further tables, by what they are, counted from `first`."""
    return {
        f"{what} of {of} {at}": file
        for at, pair in enumerate(pairs, first)
        for what, file in zip(("cells", "relations"), pair, strict=True)
    }
