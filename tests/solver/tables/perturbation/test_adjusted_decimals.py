"""Adjusted tables as they are written add up, and costs are proven however small they are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from random_tables import random_table

from linkrisk import adjust_table, open_table


def frames(table, scale=1.0, cost=1.0):
    """The two files of a table."""
    cells = pd.DataFrame(
        {
            "value": table.value * scale,
            "status": np.where(table.primary, "u", np.where(table.fixed, "z", "s")),
            "lower_protection": table.lower_level * scale,
            "upper_protection": table.upper_level * scale,
            "lower_bound": table.lower * scale,
            "upper_bound": table.upper * scale,
            "cost": cost,
        }
    )
    rows, columns = table.relations.tocoo().coords
    return cells, pd.DataFrame(
        {"relation": rows, "cell": columns, "coefficient": table.relations.tocoo().data}
    )


def table_of(seed, share=0.2):
    table = random_table(np.random.default_rng(seed), ((4, 2), (4, 2)), share=share)
    return replace(table, sliding_level=np.zeros(len(table)))


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.05, 1 / 3])
@pytest.mark.parametrize("seed", range(6))
def test_every_relation_adds_up_as_its_decimals_are_written(seed, squares, scale):
    """In whole numbers, in twentieths, and where values have more digits than anybody writes."""
    cells, relations = frames(table_of(seed), scale)
    found = adjust_table(cells, relations, squares=squares)
    assert found.bound <= found.cost
    if not squares or found.details["step"] is None:
        assert found.status.value == "optimal"
    adjusted = [Fraction(repr(float(one))) for one in found.cells["adjusted"]]
    sums: dict[int, Fraction] = {}
    for relation, cell, factor in relations.itertuples(index=False):
        sums[relation] = sums.get(relation, Fraction(0)) + int(factor) * adjusted[cell]
    assert max(abs(one) for one in sums.values()) <= Fraction(1, 10**11)


@pytest.mark.parametrize("scale", [1 / 3, 1e-3, 1e-6])
def test_what_is_written_can_be_read_again(scale):
    cells, relations = frames(table_of(2), scale)
    found = adjust_table(cells, relations)
    again = open_table(cells.assign(value=found.cells["adjusted"]), relations)
    assert len(again) == len(cells)
    still = found.cells["adjusted"] == cells["value"]
    assert still[cells["status"] == "z"].all()


@pytest.mark.parametrize("squares", [False, True])
def test_small_costs_are_proven_like_others(squares):
    """The first answer is not the best one: a bound of 0 is below both, and proves neither."""
    table = table_of(21, share=0.3)
    weights = np.random.default_rng(0).choice([1.0, 3.0, 20.0], len(table))
    found = [
        adjust_table(*frames(table, cost=weights * unit), cost="given", squares=squares)
        for unit in (1.0, 1e-13)
    ]
    assert [one.status.value for one in found] == ["feasible" if squares else "optimal"] * 2
    assert found[1].cost == pytest.approx(found[0].cost * 1e-13, rel=1e-5)
    assert found[1].bound == pytest.approx(found[0].bound * 1e-13, rel=1e-5)
