"""Tables of small values: what is found is that of the same table in another unit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkrisk import audit_table, link_tables, make_table, open_table, suppress_table
from linkrisk.datasets.errors import DataError
from linkrisk.formulations.tables.units import in_units
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.tables.operations.source import cell_table

UNITS = [4.0, 2.0**-30, 1e-9, 1e-12]
TERMS = pd.DataFrame(
    {"relation": [0] * 3 + [1] * 3, "cell": [0, 1, 2, 0, 3, 4], "coefficient": [-1, 1, 1] * 2}
)


def cells(unit, *, hidden=True, level=3.0):
    return pd.DataFrame(
        {
            "value": np.array([10.0, 4.0, 6.0, 5.0, 5.0]) * unit,
            "status": ["s", "u", *["m" if hidden else "s"] * 3],
            "lower_protection": np.array([0.0, level, 0.0, 0.0, 0.0]) * unit,
            "upper_protection": np.array([0.0, level, 0.0, 0.0, 0.0]) * unit,
            "lower_bound": np.array([0.0, 1.0, 5.0, 0.0, 0.0]) * unit,
            "upper_bound": np.array([20.0, 8.0, 7.0, 10.0, 10.0]) * unit,
        }
    )


@pytest.mark.parametrize("unit", UNITS)
def test_an_audit(unit):
    someone = pd.DataFrame({"insider": ["a"], "cell": [3], "lower": [4.0 * unit], "upper": [6.0 * unit]})
    shown = cells(unit).assign(status=["z", "u", "m", "m", "m"])
    found = audit_table(shown, TERMS, insiders=someone, as_far_as_possible=True)
    assert not found.protected
    assert found.to_dict()["known_exactly"] == []
    np.testing.assert_allclose(found.audit.low / unit, [3.0, 5.0, 0.0, 0.0], rtol=1e-6)
    np.testing.assert_allclose(found.audit.high / unit, [5.0, 7.0, 10.0, 10.0], rtol=1e-6)
    np.testing.assert_allclose(found.audit.short / unit, [2.0, 0.0, 0.0, 0.0], rtol=1e-6)
    np.testing.assert_allclose(found.insiders.audit.low / unit, [3.0, 5.0, 4.0, 4.0], rtol=1e-6)
    assert [one.found / unit for one in found.insiders.beyond] == pytest.approx([1.0, 1.0], rel=1e-6)


@pytest.mark.parametrize("unit", UNITS)
def test_a_pattern(unit):
    found = suppress_table(cells(unit, hidden=False, level=1.0), TERMS, cost="unit")
    assert found.protected
    assert (found.pattern.cost, found.pattern.proven) == (1.0, True)
    assert found.suppressed.tolist() == [False, True, True, False, False]
    fixed = cells(unit, level=3.0).assign(status=["z", "u", "s", "z", "z"])
    with pytest.raises(UsageError, match=rf"short of its level by {2.0 * unit:g}"):
        suppress_table(fixed, TERMS)


def test_units_lose_no_digit():
    table, unit = in_units(cell_table(open_table(cells(1e-9), TERMS), "value"))
    assert 0.5 <= unit / 10e-9 <= 1.0
    assert (table.value * unit == cells(1e-9)["value"]).all()
    assert in_units(table) == (table, 1.0)


@pytest.mark.parametrize("unit", UNITS)
def test_what_does_not_add_up_common_cells_of_different_values_and_rules(unit):
    wrong = cells(unit)
    wrong.loc[1, "value"] *= 1.01
    with pytest.raises(DataError, match="does not add up"):
        audit_table(wrong, TERMS)

    regions = (
        pd.DataFrame({"region": ["Total", "N"], "value": np.array([one, one])}) for one in (10.0, 11.0)
    )
    with pytest.raises(DataError, match="the common cell"):
        link_tables([open_table(one.assign(value=one["value"] * unit)) for one in regions])
    firms = pd.DataFrame({"region": list("NNNSS"), "turnover": np.array([90.0, 5.0, 2.0, 8.0, 7.0]) * unit})
    made = make_table(firms, ["region"], response="turnover", rules=["p=10", "frequency=3", "nk=1,90"])
    levels = made.cells.set_index("region")["upper_protection"] / unit
    assert levels.round(6).to_dict() == {"Total": 0.0, "N": 7.0, "S": 3.0}
