"""What `perturb_counts` can be asked, and `tables perturb-counts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options.kinds import FILE, NUMBER, SWITCH, WHOLE
from linkrisk.datasets.options.option import again, option
from linkrisk.solver.options.perturbing import Design, Keys
from linkrisk.solver.options.tables import About, OneForTheHouse, Published
from linkrisk.solver.options.tabulating import Gaps, Microdata, Trees, Weighted

if TYPE_CHECKING:
    from linkrisk.solver.options.types import File, Hierarchies


@dataclass(frozen=True, kw_only=True)
class CountNoise:
    """The noise."""

    hierarchies: Mapping[str, Hierarchies] | None = again(
        Trees, "hierarchies", None, help="see `tables make`; once for each variable"
    )
    most: int | None = option(None, "the largest noise", WHOLE, metavar="D", label="Largest noise")
    variance: float | None = option(None, "of the noise", NUMBER, metavar="V", label="Variance")
    small: int = option(
        0,
        "counts of 1 to N never appear; default: 0, all may",
        WHOLE,
        doc="js: counts of 1 to so many never appear",
        label="Counts that never appear",
    )
    stay: float | None = option(
        None,
        "the least probability that a count stays",
        NUMBER,
        doc="pstay: the least probability that a count stays",
        metavar="P",
        label="Probability to stay",
    )
    monotone: bool = option(
        True,
        "probabilities may fall on the way up to no noise",
        SWITCH,
        doc="whether probabilities do not fall on the way up to no noise (`formulations.tables.cell_key`)",
        label="Probabilities do not fall on the way up to no noise",
    )
    design: File | None = option(
        None,
        "a perturbation table instead of these: columns i, v and p",
        FILE,
        doc="a perturbation table instead of these, with the columns `i`, `v` and `p`, as package ptable has "
        "it",
        label="Perturbation table",
    )
    weight: str | None = again(
        Weighted,
        "weight",
        None,
        help="sampling weights: weighted counts, too",
        doc="column of sampling weights. A perturbed weighted count is the perturbed number of records times "
        "the mean weight of the cell, as in package cellKey; the noise does not depend on weights",
    )


@dataclass(frozen=True)
class PerturbCountsOptions(Microdata, CountNoise, Gaps, Keys):
    """What `perturb_counts` can be asked."""

    words: ClassVar[Mapping[str, str]] = {
        "microdata": ", whose records are counted",
        "house": "counts, cell keys and noise",
        "tables_written": "table",
    }


@dataclass(frozen=True)
class PerturbCountsCommand(PerturbCountsOptions, Published, OneForTheHouse, Design, About):
    """What `tables perturb-counts` can be asked."""
