"""Options of noise by cell keys, in tables of counts and of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from linkrisk.datasets.options import typed
from linkrisk.datasets.options.kinds import (
    COLUMN,
    FILE,
    NAME,
    NUMBER,
    SWITCH,
    TEXT,
    WHOLE,
    Range,
    names,
    number,
)
from linkrisk.datasets.options.option import again, declared, option, written
from linkrisk.solver.options.tables import (
    About,
    Gaps,
    Microdata,
    Negative,
    OneForTheHouse,
    Published,
    Rules,
    Trees,
    Weighted,
)

if TYPE_CHECKING:
    from linkrisk.solver.options.types import File, GivenNoise, Hierarchies, Rule


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Keys:
    """Keys of records."""

    record_key: str | None = option(
        None,
        "record keys, from 0 to less than 1",
        COLUMN,
        doc="column of record keys, from 0 to less than 1; drawn where absent",
        label="Record keys",
    )
    seed: int = option(
        0,
        "of the keys that are drawn; default: {default}",
        replace(WHOLE, within=Range(0, whole=True)),
        label="Seed",
    )


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class Design:
    """Files about the noise; the `words` of an operation count its perturbation tables."""

    write_design: str | None = written("write the perturbation {tables_written}", after="internal")
    json: str | None = again(
        About, "json", None, help="write design and changes as JSON", after="write_design"
    )


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
    """Options of `perturb_counts`."""

    words: ClassVar[Mapping[str, str]] = {
        "microdata": ", whose records are counted",
        "house": "counts, cell keys and noise",
        "tables_written": "table",
    }


@dataclass(frozen=True)
class PerturbCountsCommand(PerturbCountsOptions, Published, OneForTheHouse, Design, About):
    """Options of `tables perturb-counts`."""


SCALES = ("largest", "mean", "range", "sum")
_DESIGN = replace(TEXT, metavar="DESIGN")


def _numbers(text: str) -> list[float]:
    return [number(one) for one in names(text)]


def _spelled(values: Sequence[float]) -> str:
    return ",".join(f"{value:g}" for value in values)


_FACTORS = replace(NUMBER, parse=_numbers, metavar="1,E,E", spell=_spelled, typed=typed.texts, field="text")


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What is summed."""

    response: str = field(metadata=declared("what is summed", COLUMN, label="Response"))
    hierarchies: Mapping[str, Hierarchies] | None = again(
        Trees, "hierarchies", None, help="see `tables make`; once for each variable"
    )


@dataclass(frozen=True, kw_only=True)
class SumNoise:
    """The noise, and how fine the sums are."""

    title = "the noise"

    noise: GivenNoise = field(
        metadata=declared(
            "most=D,variance=V[,steps=N][,levels=1/5/D][,stay=P], or a file with columns i, v, p and type",
            _DESIGN,
            doc='the relative noise: ``"most=10,variance=3,steps=2,levels=1/5/10"``, or a perturbation table '
            "with the columns `i`, `v`, `p` and if need be `type`, as package ptable has it",
            label="Noise",
        )
    )
    odd: GivenNoise | None = option(
        None,
        "of cells with an odd number of records",
        _DESIGN,
        doc="of cells with an odd number of records; `noise` then is of those with an even one",
        label="Noise of odd numbers of records",
    )
    small: GivenNoise | None = option(
        None,
        "of what is too small for relative noise",
        _DESIGN,
        doc="of what is too small for relative noise (`formulations.tables.magnitude_noise`)",
        label="Noise of small values",
    )
    share: float = field(
        metadata=declared(
            "of a contribution, that a noise of 1 stands for",
            NUMBER,
            doc="by which share of a contribution one unit of noise moves a sum; with `flex_point` of small "
            "ones",
            metavar="P",
            label="Share",
        )
    )
    least: float | None = option(
        None, "the share of very large ones, with {flex_point}", NUMBER, metavar="P", label="Least share"
    )
    flex_point: float | None = option(
        None, "from where on the share falls", NUMBER, metavar="X", label="Flex point"
    )
    power: float = option(
        3.0,
        "how fast it falls; default: {default}",
        NUMBER,
        doc="how fast it falls, at least 1",
        metavar="Q",
        label="Power",
        needs=("least",),
        because="says how fast the share falls to the least",
    )
    scale: str = option(
        "largest",
        "what noise is in proportion to: largest (contributions), mean, range or sum; default: {default}",
        NAME,
        doc="what noise is in proportion to: the ``largest`` contributions, the ``mean`` of the cell, the "
        "``range`` of its contributions (without weights), or its ``sum``",
        choices=SCALES,
        metavar="WHAT",
        label="In proportion to",
    )
    factors: Sequence[float] = option(
        (1.0,),
        "of the largest contribution, the second, ...; default: {default}",
        _FACTORS,
        doc="for the largest contribution, the second, ...: 1, 0.5, ... takes two of them",
        label="Factors",
    )
    rules: Sequence[Rule] = again(Rules, "rules", (), help="what is sensitive: see `tables make`")
    extra: float = option(
        0.0,
        "more absolute noise of sensitive cells",
        NUMBER,
        doc="added to the absolute noise of the largest contribution of sensitive cells",
        label="Extra noise",
    )
    same_key: bool = option(
        True,
        "look the largest up by another key than counts",
        SWITCH,
        doc="whether the largest contribution is looked up by the cell key that counts are looked up by",
        label="Same key as counts",
    )
    turn_digits: int | None = option(
        None,
        "make other keys by turning N digits round, not by mixing bits",
        WHOLE,
        doc="the next contributions are looked up by cell keys with so many digits turned round, as "
        "tau-ARGUS and cellKey have it; by default by cell keys with mixed bits",
        label="Digits turned round",
    )
    zeros: bool = option(
        False, "keys of records that contribute 0 count, too", SWITCH, label="Keys of zeros count"
    )
    decimals: int | None = option(
        None,
        "of the perturbed sums; default: on the grid of all sums",
        WHOLE,
        doc="to how many the perturbed sums are rounded. Where absent, to the grid that all sums are on "
        "(whole numbers, cents, thousands): more digits show which sums have no noise, and how it was made",
        label="Decimals",
    )


@dataclass(frozen=True)
class PerturbSumsOptions(Microdata, Sums, Weighted, Gaps, Negative, SumNoise, Keys):
    """Options of `perturb_sums`."""

    words: ClassVar[Mapping[str, str]] = {
        "microdata": ", whose records are summed",
        "house": "sums, cell keys and noise",
        "tables_written": "tables",
    }


@dataclass(frozen=True)
class PerturbSumsCommand(PerturbSumsOptions, Published, OneForTheHouse, Design, About):
    """Options of `tables perturb-sums`."""
