"""The experiments of Domingo-Ferrer and Torra (2002) on attributes whose values are categories.

Four masking methods with nine parameters each make 36 masked files of the same records. Every linker links
the masked records to the original ones on five groups of attributes: 180 experiments.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.end_coding import BottomCoding, TopCoding
from linkrisk.datasets.masking.global_recoding import GlobalRecoding
from linkrisk.datasets.masking.pram import Pram
from linkrisk.datasets.microdata.categories import occurring
from linkrisk.datasets.microdata.schema import Attribute, Scale, Schema
from linkrisk.datasets.microdata.values import spelled
from linkrisk.datasets.public.registry import load
from linkrisk.solver.linkage.distance_based import DistanceBased
from linkrisk.solver.linkage.evaluator import Evaluation
from linkrisk.solver.linkage.judging import judge
from linkrisk.solver.linkage.linker import LinkageTask, Linker, Truth
from linkrisk.solver.linkage.probabilistic.comparisons import parse_comparison
from linkrisk.solver.linkage.probabilistic.linker import Probabilistic

RECORDS = 1000
PARAMETERS = tuple(range(1, 10))
METHODS: Mapping[str, type[BottomCoding] | type[GlobalRecoding] | type[Pram] | type[TopCoding]] = (
    MappingProxyType({"Bottom": BottomCoding, "Global": GlobalRecoding, "PRAM": Pram, "Top": TopCoding})
)
"""The masking methods, in the order of the paper's tables."""

LINKERS = ("PRL", "DBRL", "aware")
"""Probabilistic, distance-based, and distance-based with the distance that knows the masking method."""


@dataclass(frozen=True)
class Source:
    """Where records come from.

    Attributes
    ----------
    left_out : tuple of str
        Attributes that are amounts rather than categories, repeat another one, or are the class to predict.
    ordered : tuple of str
        Attributes whose categories have an order, if they are among those that are used.
    """

    left_out: tuple[str, ...]
    ordered: tuple[str, ...]


SOURCES = {
    "german-credit": Source(
        left_out=("credit_amount", "class"),
        ordered=("duration_months", "employment_since", "installment_rate", "residence_since", "age"),
    ),
    "adult": Source(
        left_out=("fnlwgt", "capital-gain", "capital-loss", "education", "class"),
        ordered=("age", "education-num", "hours-per-week"),
    ),
}


@dataclass(frozen=True, eq=False)
class Survey:
    """Records whose attributes are all categories.

    Attributes
    ----------
    frame : DataFrame
        Names of categories as text.
    schema : Schema
        The categories that occur, those of ordinal attributes in their order.
    groups : mapping of str to tuple of str
        Attributes of the groups s, m, l (few, medium, many categories), u (m and l) and o (ordinal).
    """

    frame: pd.DataFrame
    schema: Schema
    groups: Mapping[str, tuple[str, ...]]


def survey(name: str, records: int = RECORDS, *, nominal: bool = False) -> Survey:
    """The first complete records of a data set of `SOURCES`; if `nominal`, none of them ordinal."""
    source = SOURCES[name]
    table = load(name).drop(columns=list(source.left_out)).dropna().head(records).reset_index(drop=True)
    data = survey_of(table, source.ordered)
    return replace(data, schema=without_order(data.schema)) if nominal else data


def without_order(schema: Schema) -> Schema:
    """The same categories, in the same places, compared for equality only."""
    return Schema(tuple(replace(attribute, scale=Scale.NOMINAL) for attribute in schema.attributes))


def survey_of(table: pd.DataFrame, ordered: tuple[str, ...]) -> Survey:
    """Ten attributes with most categories, in groups as many as in Table 1 of the paper.

    Parameters
    ----------
    table : DataFrame
        Complete records; of attributes with equally many categories the first come first.
    ordered : tuple of str
        Attributes whose categories have an order.
    """
    ranked = sorted(table.columns, key=lambda name: -table[name].nunique())[:10]
    many, medium, few = tuple(ranked[:3]), tuple(ranked[3:6]), tuple(ranked[6:])
    frame = pd.DataFrame({name: [spelled(value) for value in table[name]] for name in ranked}, dtype=object)
    schema = Schema(
        tuple(
            Attribute(
                name,
                scale=Scale.ORDINAL if name in ordered else Scale.NOMINAL,
                categories=occurring(frame[name]).names,
            )
            for name in ranked
        )
    )
    groups = {"s": few, "m": medium, "u": medium + many, "o": schema.select(scale=Scale.ORDINAL), "l": many}
    return Survey(frame, schema, groups)


@dataclass(frozen=True)
class Links:
    """Correct links of one experiment by three rules for candidates that are as near as the right one.

    Attributes
    ----------
    nearest : int
        The right one is among the nearest: the paper's figures.
    expected : float
        On average, when one of the nearest is taken at random.
    strict : int
        The right one is nearer than all others: the rule of this project.
    """

    nearest: int
    expected: float
    strict: int

    @classmethod
    def of(cls, evaluation: Evaluation) -> Links:
        """Count what the evaluator found."""
        among = (evaluation.rank == 1) & (evaluation.distance < np.inf)
        return cls(int(among.sum()), float((1.0 / (1.0 + evaluation.ties[among])).sum()), evaluation.count)


@dataclass(frozen=True)
class Experiment:
    """What one linker finds on one masked file and one group of attributes."""

    group: str
    method: str
    parameter: int
    linker: str
    links: Links
    notes: tuple[str, ...]


def experiments(
    data: Survey,
    parameters: tuple[int, ...] = PARAMETERS,
    linkers: tuple[str, ...] = LINKERS,
    draw: int = 0,
) -> Iterator[Experiment]:
    """Mask, link and count: 180 experiments for each linker, unless there are fewer parameters.

    `draw` tells repetitions of PRAM from each other, the only method with chance.
    """
    truth = Truth.of(np.arange(len(data.frame)), len(data.frame))
    for method, kind in METHODS.items():
        for p in parameters:
            masking = replace(kind.paper_parameter(p), schema=data.schema, attributes=data.schema.names)
            masked = masking.apply(data.frame, seed=len(PARAMETERS) * draw + p)
            for group, attributes in data.groups.items():
                task = linkage_task(data, masked, attributes)
                for name in linkers:
                    learned = linker(name, as_text(masking), attributes).learn(task)
                    links = Links.of(judge(learned, truth))
                    yield Experiment(group, method, p, name, links, learned.notes)


def linkage_task(data: Survey, masked: pd.DataFrame, attributes: tuple[str, ...]) -> LinkageTask:
    """Masked records to be linked to the original ones."""
    rows = Schema(tuple(data.schema[name] for name in attributes))
    return LinkageTask(
        queries=masked[list(attributes)],
        candidates=data.frame[list(attributes)],
        query_attributes=attributes,
        candidate_attributes=attributes,
        schema=rows,
        bijection=True,
        masked_queries=True,
    )


def linker(name: str, masking: str, attributes: tuple[str, ...]) -> Linker:
    """One of `LINKERS`, with the distance of the paper's Definition 1 or agreement by equality."""
    if name == "PRL":
        return Probabilistic(
            compare=tuple(parse_comparison(f"{attribute}=equal") for attribute in attributes)
        )
    known = (masking,) if name == "aware" else ()
    return DistanceBased(differences="absolute", masking=known)


def as_text(masking: BottomCoding | GlobalRecoding | Pram | TopCoding) -> str:
    """A masking method as users write it for the linker; it masks all attributes that are compared."""
    if isinstance(masking, Pram):
        return f"{masking.name} theta={masking.theta}"
    return f"{masking.name} categories={masking.categories}"


def figures() -> Iterator[str]:
    """How long all experiments take, and what each linker finds on average: a part of the benchmark."""
    for name in SOURCES:
        try:
            data = survey(name)
        except DataError as problem:
            yield f"{name}: left out: {problem}"
            continue
        begin = time.perf_counter()
        found = list(experiments(data))
        seconds = time.perf_counter() - begin
        means = (np.mean([each.links.nearest for each in found if each.linker == one]) for one in LINKERS)
        links = ", ".join(f"{one} {mean:.2f}" for one, mean in zip(LINKERS, means, strict=True))
        yield f"{name}: {len(found)} experiments in {seconds:.1f} s; average links: {links}"
