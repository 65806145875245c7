"""Dates from file to file: compared and masked by days, recoded, keys of suppression, variables of tables."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from linkrisk import WorstCaseLinkage, evaluate, fit, link, make_table, suppress, unsafe, verify
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.registry import masking_method
from linkrisk.datasets.microdata.dates import read_dates
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.schema_files import read_schema
from linkrisk.datasets.microdata.tables import load_table
from linkrisk.datasets.pairs.file_pair import make_file_pair
from linkrisk.solver.commands.program import main

FIRST = dt.date(1950, 1, 1)


def people(records: int = 60, form: str = "%d.%m.%Y", seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    days = [FIRST + dt.timedelta(int(day)) for day in generator.integers(0, 20000, records)]
    return pd.DataFrame(
        {
            "birth": [day.strftime(form) for day in days],
            "amount": np.round(generator.lognormal(7, 1, records), 2),
            "sex": generator.choice(["m", "w"], records),
        }
    )


def in_days(column: pd.Series) -> np.ndarray:
    return read_dates([(column, "x")])[0].days


def test_noise_is_in_days_and_written_as_the_dates_were():
    original = people()
    masked = masking_method("noise percent=10 attributes=birth").apply(original, 3)
    moved = in_days(masked["birth"]) - in_days(original["birth"])
    deviation = in_days(original["birth"]).std()
    assert 0.05 * deviation < moved.std() < 0.2 * deviation
    assert (moved == np.round(moved)).all()
    assert masked["birth"].str.fullmatch(r"\d\d\.\d\d\.\d{4}").all()
    swapped = masking_method("rank-swapping percent=10 attributes=birth").apply(original, 3)
    assert sorted(swapped["birth"]) == sorted(original["birth"])
    everything = masking_method("microaggregation k=3").apply(original)
    assert set(everything["birth"].value_counts()) <= {3, 4, 5, 6}


def test_a_fit_of_dates_is_that_of_their_days_and_is_verified():
    original = people(form="%d.%m.%Y")
    masked = masking_method("noise percent=5 attributes=birth,amount").apply(original, 3)
    found = fit(original, masked, certificate=True, time_limit=20)
    numbers = [frame.assign(birth=in_days(frame["birth"])) for frame in (original, masked)]
    assert found.linked == fit(*numbers, time_limit=20).linked
    assert {"name": "birth", "role": "key", "scale": "date"} in found.to_dict()["schema"]["attributes"]
    checked = verify(found, original, masked)
    assert checked, checked.rejected
    written = masked.assign(birth=pd.to_datetime(masked["birth"], dayfirst=True).dt.strftime("%Y-%m-%d"))
    assert fit(original, written, time_limit=20).linked == found.linked
    again = evaluate(original, written, parameters=found.to_dict())
    assert again.linked == found.linked
    model = WorstCaseLinkage(time_limit=20).fit(original, masked)
    assert model.score(original, masked) == found.linked / 60
    assert (model.predict(original, written) == np.arange(60)).sum() == found.linked


@pytest.mark.parametrize(("level", "codes"), [("year", 4), ("quarter", 7)])
def test_recoding_to_a_level_is_a_map_that_the_intruder_knows(level, codes):
    original = people(200)
    masked = masking_method(f"recode level={level}").apply(original)
    assert list(masked["amount"]) == list(original["amount"])
    assert set(masked["birth"].str.len()) == {codes}
    moments = pd.to_datetime(original["birth"], dayfirst=True)
    assert (masked["birth"].str[:4] == moments.dt.year.astype(str)).all()
    pair = make_file_pair(original, masked, attributes=["birth", "sex"])
    assert set(pair.recoded) == {"birth"}
    assert np.array_equal(pair.compared_values[:, 0], pair.masked_values[:, 0])


def test_a_declared_form_is_read_and_what_is_not_clear_is_refused_in_one_line(tmp_path):
    original = people(form="%Y%m%d")
    masked = masking_method("noise percent=5 attributes=amount").apply(original, 3)
    for name, frame in (("o", original), ("m", masked)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "s.toml").write_text('[[attributes]]\nname = "birth"\nscale = "date"\nform = "YYYYMMDD"\n')
    schema = read_schema(tmp_path / "s.toml")
    pair = make_file_pair(tmp_path / "o.csv", tmp_path / "m.csv", schema=schema)
    days = in_days(pd.to_datetime(original["birth"], format="%Y%m%d"))
    assert np.array_equal(pair.original_values[:, 0], days)
    moved = masking_method(f"noise percent=5 attributes=birth schema={tmp_path / 's.toml'}")
    table = load_table(tmp_path / "o.csv", "o", ["birth"]).frame
    assert moved.apply(table, 1)["birth"].str.fullmatch(r"\d{8}").all()
    unclear = pd.DataFrame({"birth": ["01/02/2026", "03/04/2026"] * 30, "x": range(60)})
    with pytest.raises(
        DataError, match="dates such as '01/02/2026' may be DD/MM/YYYY or MM/DD/YYYY; declare"
    ):
        make_file_pair(unclear, unclear)
    known = Schema((Attribute("birth", Role.KEY, Scale.DATE, form="MM/DD/YYYY"), Attribute("x", Role.KEY)))
    assert make_file_pair(unclear, unclear, schema=known).original_values[0, 0] == 20455
    assert "birth" in make_file_pair(unclear, unclear, nominal=["birth"]).categorical


def test_keys_links_and_tables_take_dates():
    original = people(200)
    assert unsafe(original, keys=["birth", "sex"], k=2).to_dict()["records"] == 200
    yearly = masking_method("recode level=year").apply(original)
    left = suppress(yearly, keys=["birth", "sex"], k=2).table
    assert left.groupby(["birth", "sex"]).size().min() >= 2
    masked = masking_method("noise percent=1 attributes=birth").apply(original, 5)
    found = link(original, masked, method="dbrl", attributes=["birth", "sex"])
    assert found.linked > 100
    made = make_table(original, ["birth", "sex"], hierarchies={"birth": "quarter"})
    cells = made.cells.set_index(["birth", "sex"])["value"]
    moments = pd.to_datetime(original["birth"], dayfirst=True)
    assert cells[("1960", "Total")] == (moments.dt.year == 1960).sum()
    assert cells[("1960-Q2", "Total")] == ((moments.dt.year == 1960) & (moments.dt.quarter == 2)).sum()
    assert cells[("Total", "Total")] == 200


def test_levels_of_dates_are_chosen_together_with_suppression(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    born = ["03.01.1980", "17.01.1980", "02.05.1980", "30.06.1980", "01.11.1981", "24.12.1981"]
    pd.DataFrame({"born": born, "sex": list("ffmmff")}).to_csv("p.csv", index=False)
    ask = ["--input", "p.csv", "--keys", "born,sex", "--k", "2", "--hierarchy", "born=month"]
    assert main(["suppress", *ask, "--problem", "joint", "--output", "safe.csv"]) == 0
    assert "born recoded to quarter:" in capsys.readouterr().out
    safe = pd.read_csv("safe.csv")
    assert safe.groupby(["born", "sex"], dropna=False).size().min() >= 2
    assert safe["born"].dropna().astype(str).str.len().max() < len("03.01.1980")
    by_hand = suppress("p.csv", keys=["born", "sex"], k=2, problem="joint", hierarchies=["born=month"])
    assert by_hand.to_dict()["levels"]["born"] > 0
    assert by_hand.to_dict()["level_names"] == {"born": ["month", "quarter", "year"]}
    assert main(["unsafe", *ask[:6], "--k", "2", "--hierarchy", "born=quarter"]) == 0
    assert "born to quarter" in (out := capsys.readouterr().out)
    assert "born to year" in out
    assert main(["unsafe", *ask[:6], "--k", "2", "--hierarchy", "sex=year"]) == 2
