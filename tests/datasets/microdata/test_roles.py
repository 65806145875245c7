"""Which columns are ids and weights: by name and value together, and nothing else is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import NotANumberError
from linkrisk.datasets.microdata.column_descriptions import Frequency, described_columns, guesses
from linkrisk.datasets.microdata.formats.base import ColumnNotes
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.microdata.missing import MissingRange
from linkrisk.datasets.microdata.role_recognition import household, recognised, stratum
from linkrisk.datasets.microdata.scale_inference import MOST_CATEGORIES, category_notes, undeclared_scale
from linkrisk.datasets.microdata.schema import Attribute, Role, Scale, Schema
from linkrisk.datasets.microdata.tables import Table

DATA = os.environ.get("LINKRISK_DATA")

COUNT = list(range(101, 131))
GAPS = [7 * at * at + 3 for at in range(30)]
HOUSEHOLDS = [at // 3 for at in range(30)]
LIVING_TOGETHER = [10 * (at // 2) + 7 for at in range(30)]
REGIONS = [1] * 29 + [2]
AMOUNTS = [100.5 + at * at for at in range(30)]
TEXT = [f"record {at:03}" for at in range(30)]


def roles(**columns: Any) -> dict[str, str]:
    schema = Schema.from_frame(pd.DataFrame(columns))
    return {attribute.name: attribute.role.value for attribute in schema.attributes}


def role(name: str, values: Any) -> Role:
    return Schema.from_frame(pd.DataFrame({name: values}))[name].role


IDS = """id ID rec_id recId REC.ID person_id pid record id_person hhid HHNUM householdId famid UtilityID RB030
 Laufnummer lfdnr Personennummer identifiant Kennung"""


@pytest.mark.parametrize("name", [*IDS.split(), "serial no"])
@pytest.mark.parametrize("values", [GAPS, TEXT, [f"{at}" for at in GAPS], [float(at) for at in GAPS]])
def test_ids_by_name_with_values_that_all_differ(name: str, values: list[Any]) -> None:
    assert role(name, values) is Role.RECORD_ID


@pytest.mark.parametrize("name", ["ssn_id", "soc_sec_id", "PassportNo", "tax_number", "phone id"])
def test_numbers_that_people_have_outside_of_the_file_are_identifiers(name: str) -> None:
    assert role(name, TEXT) is Role.IDENTIFIER
    assert role(name, [*TEXT[:-1], TEXT[0]]) is Role.IDENTIFIER
    if name != "phone id":  # a phone of many is none of words for what few share
        assert role(name, ["a", "b"] * 20) is Role.KEY


HOUSEHOLD_IDS = """hhid HH_ID hid fam_no dwelling_nr DB030 hb030 RX030 Haushaltsnummer HaushaltsNr
 hhnr Haushalts-ID numero_menage id_hogar NumeroFamiglia huishoudnummer hushållsnummer nummer_haushalt"""


@pytest.mark.parametrize("name", HOUSEHOLD_IDS.split())
def test_ids_of_households_may_repeat(name: str) -> None:
    assert role(name, HOUSEHOLDS) is role(name, LIVING_TOGETHER) is Role.HOUSEHOLD
    assert role(name, REGIONS * 2) is Role.KEY


@pytest.mark.parametrize("name", ["patient_id", "firmId", "UtilityID", "student_no", "person_household_id"])
def test_ids_of_other_units_may_repeat(name: str) -> None:
    assert role(name, HOUSEHOLDS) is Role.IDENTIFIER
    assert role(name, REGIONS * 2) is Role.KEY


@pytest.mark.parametrize("name", ["stratum", "STRATA", "Strat", "stratum_id"])
def test_strata_by_name_with_few_values(name: str) -> None:
    found = stratum(name, pd.Series(HOUSEHOLDS))
    assert found is not None
    assert found.role is Role.STRATUM
    assert found.why == "has the name of a stratum, and few different values"
    assert stratum(name, pd.Series(["north", "south"] * 15)) is not None
    for values in (GAPS, [1] * 30, AMOUNTS, [None] * 30, [1.5, 2.5] * 15):
        assert stratum(name, pd.Series(values)) is None
    for other in ("region", "stratification", "substrate", "layer"):
        assert stratum(other, pd.Series(HOUSEHOLDS)) is None
    # Masking leaves strata alone only where a schema says what they are.
    assert role(name, HOUSEHOLDS) is Role.KEY


@pytest.mark.parametrize("name", ["household", "HH", "Family", "dwelling"])
def test_households_by_name_whose_records_stand_together(name: str) -> None:
    found = household(name, pd.Series(HOUSEHOLDS))
    assert found is not None
    assert found.role is Role.HOUSEHOLD
    assert found.why == "has the name of a household, and equal values are adjacent"
    sizes = [1, 2, 2, 1, 3, 3, 3] * 4
    for values in (sizes, GAPS, [1] * 30, AMOUNTS, [None, *HOUSEHOLDS], ["a", "a", "b"]):
        assert household(name, pd.Series(values)) is None
    assert role(name, HOUSEHOLDS) is Role.KEY


def test_a_first_column_that_counts_and_text_that_never_repeats_are_ids_under_any_name() -> None:
    found = roles(x=range(1, 31), line=COUNT[::-1], name=TEXT, income=GAPS)
    assert list(found.values()) == ["record-id", "record-id", "identifier", "key"]


@pytest.mark.parametrize(
    "columns",
    [
        {"age": range(20, 60), "income": range(1000, 1040)},
        {"age": range(1, 41), "rank": range(40, 0, -1)},
        {"Alter": range(40), "Einkommen": range(900, 940)},
        {"x": range(20, 60), "y": range(1, 41)},
        {"y": range(40, 0, -1)},
        {"x": [1000 + 3 * at + at % 2 for at in range(40)]},
        {"jours_travail": range(40), "salaire": range(40)},
        {"hours": [*map(str, range(1, 40)), "n.a."], "turnover": [*map(str, range(900, 939)), "?"]},
        {"nr_persons": [1, 2, 3, 4] * 10, "person_no": [1, 2, 3, 4] * 10, "HHLINK": [1, 2, 3, 5] * 10},
        {"mobile_phone": ["yes", "no"] * 20, "pesos": range(40)},
        {"weight": range(50, 90), "pulse": range(60, 100)},
    ],
    ids=lambda columns: ",".join(columns),
)
@pytest.mark.parametrize("order", range(3))
def test_a_small_file_of_measurements_has_no_ids_however_they_are_sorted(columns, order):
    """What is guessed to be an id is left out of the comparison, so that a release looks safer than it is."""
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()})
    if order:
        frame = frame.sample(frac=1, random_state=order).reset_index(drop=True)
    schema = Schema.from_frame(frame)
    assert {each.name: each.role.value for each in schema.attributes} == dict.fromkeys(columns, "key")


@pytest.mark.parametrize("name", ["nr", "Nummer", "line", "lfd. Nr.", "Unnamed: 0", "id"])
def test_a_name_that_counts_records_is_an_id_anywhere(name: str) -> None:
    assert roles(age=GAPS, **{name: COUNT[::-1]}) == {"age": "key", name: "record-id"}


@pytest.mark.parametrize(
    "values",
    [
        COUNT[:19],
        [*COUNT[:-2], 131, 130],
        [at * at for at in range(len(COUNT))],
        [*COUNT[:-1], 101],
        [float(at) for at in COUNT],
        [*COUNT[:-1], None],
        TEXT[:19],
        [*TEXT[:-1], TEXT[0]],
        [*TEXT[:-1], None],
        AMOUNTS,
        [*map(str, AMOUNTS[:-1]), "n.a."],
        np.random.default_rng(1).normal(size=1000),
        np.random.default_rng(1).permutation(10**6)[:1000],
    ],
)
def test_all_else_under_such_a_name_is_none(values: Any) -> None:
    assert role("x", values) is Role.KEY


WEIGHTS = """weight WEIGHT wgt wgh sampling_weight samplingWeight WEIGHT1 hh_weight person.weight HHWT perwt
 final_wt pweight rep_wgt_12 DB090 RB050 PB040 COEFF Gewicht Personengewicht Haushaltsgewicht HRF poids
 pondération peso Hochrechnungsfaktor waga vikt ponderación facexp"""


@pytest.mark.parametrize("name", [*WEIGHTS.split(), "Survey Weight"])
def test_weights_by_name(name: str) -> None:
    assert role(name, AMOUNTS) is role(name, [None, *AMOUNTS]) is Role.WEIGHT
    assert role(name, [-1.0, *AMOUNTS]) is role(name, ["a", "b"]) is Role.KEY


NO_WEIGHTS = """AFNLWGT fnlwgt body_weight birthWeight Shell_weight Whole_weight wt weighted weight_loss
 weight_class overweight growth twt w"""
NO_IDS = "paid valid grid household_size number_of_persons income x"


@pytest.mark.parametrize(
    ("names", "values"),
    [(NO_WEIGHTS, AMOUNTS), (NO_IDS, GAPS), ("id rec_id region_id pid", HOUSEHOLDS)],
    ids=["weights", "ids", "record ids"],
)
def test_names_that_only_look_like_roles(names: str, values: list[Any]) -> None:
    assert {name: role(name, values) for name in names.split()} == dict.fromkeys(names.split(), Role.KEY)


def test_weight_beside_height_is_that_of_a_body() -> None:
    assert roles(peso=AMOUNTS, altura=GAPS)["peso"] == "key"
    assert roles(poids=AMOUNTS, taille=GAPS)["poids"] == "key"
    assert set(roles(weight=AMOUNTS, Height=AMOUNTS, age=GAPS).values()) == {"key"}
    assert roles(weight=AMOUNTS, age=GAPS)["weight"] == "weight"


def test_roles_that_are_given_count() -> None:
    frame = pd.DataFrame({"id": GAPS, "w": AMOUNTS, "age": GAPS})
    schema = Schema.from_frame(frame, weights=["w"], confidential=["id"], identifiers=["age"])
    given = [attribute.role.value for attribute in schema.attributes]
    assert given == ["confidential", "weight", "identifier"]
    assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    ("label", "values", "expected"),
    [
        ("Haushaltsnummer", LIVING_TOGETHER, Role.HOUSEHOLD),
        ("Personal ID", GAPS, Role.RECORD_ID),
        ("Household cross-sectional weight", AMOUNTS, Role.WEIGHT),
        ("Weight of the person in kg", AMOUNTS, Role.KEY),
        ("Age of the person", range(1, 41), Role.KEY),
        ("", range(1, 41), Role.RECORD_ID),
    ],
)
def test_labels_of_variables_suggest_roles_too(label: str, values: list[Any], expected: Role) -> None:
    found = recognised("v17", pd.Series(values), ["v17"], label)
    assert (Role.KEY if found is None else found.role) is expected


PERSONAL = "Nachname Vorname surname first_name LastName prénom apellidos e_mail Telefon Straße name"


@pytest.mark.parametrize("name", PERSONAL.split())
def test_names_of_persons_and_where_they_are_found_are_identifiers_though_they_repeat(name: str) -> None:
    assert role(name, ["Meyer", "Schulz", "Meyer", "Kunz"]) is Role.IDENTIFIER


def test_a_name_is_an_identifier_where_it_hardly_repeats() -> None:
    assert role("name", ["north", "south"] * 10) is Role.KEY
    assert role("region_name", ["north", "south"] * 10) is Role.KEY


def test_many_whole_numbers_that_hardly_all_differ_by_chance_are_ids_unless_they_measure() -> None:
    increasing = [1000 + 3 * at + at % 2 for at in range(200)]
    gapless = [*range(100, 200), *range(100)]
    found = roles(first=AMOUNTS[:1] * 200, x=increasing, y=gapless)
    assert list(found.values()) == ["key", "record-id", "record-id"]
    for values in (increasing[:199], gapless[:100] + gapless[101:], [*increasing[:-1], increasing[-2]]):
        assert role("x", values) is Role.KEY
    assert role("x", [1000 * at for at in range(200)]) is Role.KEY
    assert roles(income=increasing, ages=increasing, age=gapless)["income"] == "key"
    assert role("age", gapless) is Role.KEY


FEBRL = ("given_name", "surname", "address_1", "address_2", "soc_sec_id")
SPLINK = ("first_name", "surname", "email")


@pytest.mark.skipif(DATA is None, reason="needs public data: set LINKRISK_DATA to its folder")
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("muargus_samhh", {"hhnum": Role.HOUSEHOLD, "weight": Role.WEIGHT}),
        ("muargus_demodata", {"WEIGHT": Role.WEIGHT}),
        ("casc_tarragona", {}),
        ("casc_census", {}),
        ("casc_eia", {"UTILITYID": Role.IDENTIFIER}),
        ("rtauargus_indiv_dt", {"WEIGHT": Role.WEIGHT}),
        ("tauargus_testw", {"Wgt": Role.WEIGHT}),
        ("febrl4a", {"rec_id": Role.RECORD_ID, **dict.fromkeys(FEBRL, Role.IDENTIFIER)}),
        ("splink_fake_1000", {"unique_id": Role.RECORD_ID, **dict.fromkeys(SPLINK, Role.IDENTIFIER)}),
        ("uci_abalone", {}),
        ("uci_adult_train", {}),
        ("uci_wdbc", {"id": Role.RECORD_ID}),
    ],
)
def test_real_files(file: str, expected: dict[str, Role]) -> None:
    schema = Schema.from_frame(read_table(Path(DATA or "") / f"{file}.csv"))
    found = {item.name: item.role for item in schema.attributes if item.role is not Role.KEY}
    assert found == expected


# The first guess of a schema, and what is said of the columns beside it


RECORDS = 40
NUMBERS = [7.5 * at for at in range(RECORDS)]


def guess(values: Any, name: str = "x", **notes: Any) -> Attribute:
    return only(values, name, **notes).attribute


def only(values: Any, name: str = "x", **notes: Any) -> Any:
    """The guess of one column beside another."""
    frame = pd.DataFrame({name: values, "income": NUMBERS[: len(values)]})
    return guesses(frame, {name: ColumnNotes(**notes)} if notes else {})[0]


@pytest.mark.parametrize(
    ("values", "scale", "why"),
    [
        (NUMBERS, Scale.NUMERIC, "holds numbers"),
        ([at * at for at in range(RECORDS)], Scale.NUMERIC, "holds whole numbers"),
        (
            [at % 5 for at in range(RECORDS)],
            Scale.NUMERIC,
            "holds whole numbers, few of them different: nominal or ordinal if these are codes",
        ),
        (["1", "2", "3", "n.a."] * 10, Scale.NUMERIC, "holds numbers, except for 10 cells"),
        (["a", "b"] * 20, Scale.NOMINAL, "holds text with few different values"),
        (["01", "02"] * 20, Scale.NOMINAL, "holds codes with leading zeros"),
        ([f"w{at // 1.5}" for at in range(RECORDS)], Scale.TEXT, "holds text with many different values"),
        ([True, False] * 20, Scale.NOMINAL, "holds logical values"),
        (pd.date_range("2024-01-01", periods=RECORDS), Scale.DATE, "holds dates"),
        (pd.Categorical(["a", "b"] * 20), Scale.NOMINAL, "has categories"),
        (
            pd.Categorical(["lo", "hi"] * 20, categories=["lo", "hi"], ordered=True),
            Scale.ORDINAL,
            "has ordered categories",
        ),
    ],
)
def test_scale_by_the_values(values: Any, scale: Scale, why: str) -> None:
    found = only(values)
    assert (found.attribute.scale, found.why_scale) == (scale, why)


@pytest.mark.parametrize(
    ("name", "values", "role", "why"),
    [
        ("person_id", range(100, 140), Role.RECORD_ID, "has the name of a record id, and no value occurs"),
        ("x", [f"p{at}" for at in range(40)], Role.IDENTIFIER, "holds text that never repeats"),
        ("hhid", [at // 3 for at in range(40)], Role.HOUSEHOLD, "has the name of a household number, which"),
        ("weight", NUMBERS, Role.WEIGHT, "has the name of a sampling weight, and no negative value"),
        ("stratum", ["n", "s"] * 20, Role.STRATUM, "has the name of a stratum, and few different values"),
        ("x", [3] * 40, Role.IGNORED, "is the same for all records"),
        ("x", [None] * 40, Role.IGNORED, "has no value"),
        ("x", [f"w{at // 1.5}" for at in range(40)], Role.IGNORED, "cannot be compared as it is"),
        ("x", ["a", "b"] * 20, Role.KEY, "can be compared"),
        ("x", NUMBERS, Role.KEY, "can be compared"),
    ],
)
def test_role_by_name_and_values(name: str, values: Any, role: Role, why: str) -> None:
    found = only(values, name)
    assert found.attribute.role is role
    assert found.why_role.startswith(why)


def test_one_column_of_a_role_only() -> None:
    columns = {
        "hh_weight person_weight": NUMBERS,
        "id line": range(RECORDS),
        "stratum strata": ["n", "s"] * 20,
    }
    found = guesses(pd.DataFrame({name: one for names, one in columns.items() for name in names.split()}))
    kept = [Role.WEIGHT, Role.IGNORED, Role.RECORD_ID, Role.IDENTIFIER, Role.STRATUM, Role.IGNORED]
    assert [each.attribute.role for each in found] == kept
    assert found[1].why_role == (
        "has the name of a sampling weight, and no negative value; 'hh_weight' is the sampling weight already"
    )


def test_what_the_file_says_of_a_column() -> None:
    labels = {"1": "male", "2": "female", "9": "no answer"}
    made = guess([1, 2, 9, 1], label="Sex", value_labels=labels, missing=("9",))
    assert made == Attribute("x", Role.KEY, Scale.NOMINAL, label="Sex", labels=labels, missing=("9",))
    assert only([1, 2], value_labels=labels).why_scale == "has a label for every code"
    # Labels of some values only are those of special ones.
    assert guess([1, 2, 3, 9], value_labels={"9": "none"}, missing=("9",)).scale is Scale.NUMERIC


def test_an_ordinal_column_lists_its_codes() -> None:
    labels = {"1": "low", "3": "high", "9": "unknown"}
    made = guess(
        [3, 1, 2, 9, 97], measure="ordinal", value_labels=labels, missing=("9", MissingRange(97.0, 99.0))
    )
    assert (made.scale, made.categories) == (Scale.ORDINAL, ("1", "2", "3"))
    assert made.labels == labels
    assert guess(["a", "b", "a", "b"], measure="ordinal").scale is Scale.NOMINAL
    assert guess([1, 2, 1, 2], measure="nominal").scale is Scale.NOMINAL
    assert guess(["a", "b", "a", "b"], measure="numeric").scale is Scale.NOMINAL
    ordered = pd.Categorical(["lo", "hi"], categories=["lo", "none", "hi"], ordered=True)
    assert guess(ordered, missing=("none",)).categories == ("lo", "hi")


@pytest.mark.parametrize(("word", "role"), [("weight", Role.WEIGHT), ("household_id", Role.HOUSEHOLD)])
def test_a_role_that_the_file_marks(word: str, role: Role) -> None:
    found = only(NUMBERS, settings={f"argus.{word}": ""})
    assert (found.attribute.role, found.why_role) == (role, "is marked so in the file")


def test_counts_and_values() -> None:
    frame = pd.DataFrame(
        {
            "age": [20, 30, np.nan, 99],
            "town": ["b", "a", "b", "a"],
            "id": [4, 3, 2, 1],
            "note": ["w", "x", "y", "z"],
            "far": [1.0, np.inf, 2.0, 3.0],
        }
    )
    notes = {"age": ColumnNotes(missing=("99",)), "town": ColumnNotes(value_labels={"a": "Aha"})}
    age, town, number, note, far = described_columns(frame, notes)
    assert (age.different, age.empty, age.coded_missing, age.missing) == (2, 1, 1, 2)
    assert (age.lowest, age.highest, age.frequent) == (20.0, 30.0, ())
    assert town.frequent == (Frequency("a", "Aha", 2), Frequency("b", "", 2))
    assert (town.lowest, town.highest) == (None, None)
    assert (far.lowest, far.highest) == (1.0, 3.0)
    for hidden in (number, note):
        assert (hidden.lowest, hidden.highest, hidden.frequent) == (None, None, ())


# Columns of which nobody said what they are: numbers, few categories, or to be declared


DOUBLES = [1.0, 2.5, 3.0, 4.0]
WORDS = ["a", "b", "a", "b"]


def tables(*columns: Any) -> list[Table]:
    names = ("original", "masked", "training")
    return [Table(pd.DataFrame({"x": column}), name) for name, column in zip(names, columns, strict=False)]


@pytest.mark.parametrize(
    ("columns", "scale"),
    [
        ((DOUBLES, DOUBLES), Scale.NUMERIC),
        ((DOUBLES, [str(value) for value in DOUBLES]), Scale.NUMERIC),
        ((["1", "2", "3", "x"], ["1", "2", "3", "4"]), Scale.NUMERIC),  # a typing error, to be named later
        (([True, False, True, False], DOUBLES), Scale.NUMERIC),
        (([None] * 4, DOUBLES), Scale.NUMERIC),
        (([None] * 4, [None] * 4), Scale.NUMERIC),
        ((WORDS, WORDS), Scale.NOMINAL),
        ((WORDS, ["a", None, "a", None]), Scale.NOMINAL),
        ((WORDS, WORDS, WORDS), Scale.NOMINAL),
        ((["01", "02", "01", "02"], ["01", "01", "01", "01"]), Scale.NOMINAL),
        ((["01", "02", "01", "02"], WORDS), Scale.NOMINAL),
        # Codes that the other file has as numbers are compared as numbers.
        ((["01", "02", "01", "02"], [1, 2, 1, 2]), Scale.NUMERIC),
        ((["0", "0.5", "1", "10"], ["+1", "0", "1", "1e3"]), Scale.NUMERIC),
        ((pd.Categorical(["a", "b", "a", "b"]), pd.Categorical(["a", "a", "a", "b"])), Scale.NOMINAL),
    ],
)
def test_what_the_values_say(columns: Any, scale: Scale) -> None:
    assert undeclared_scale("x", tables(*columns)) is scale


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["a", "b", "c", "a"], WORDS), "original, column 'x', row 1: 'a' is not a number, and with 3"),
        ((WORDS, [None, "a", "b", "c"]), "masked, column 'x', row 2: 'a' is not a number, and with 3"),
        (
            (["001", "002", "003", "003"], ["001"] * 4),
            "original, column 'x', row 1: '001' is not a number, and with 3 different values in 4 records "
            "the column is not treated as categorical; declare it with nominal or schema, or choose "
            "other attributes",
        ),
        (
            (DOUBLES, ["1", "w" * 50, "x", "y"]),
            f"masked, column 'x', row 2: '{'w' * 37}...' is not a number, and original has numbers there; "
            "fix it, choose other attributes, or compare categories with nominal",
        ),
    ],
)
def test_what_has_to_be_declared(columns: Any, message: str) -> None:
    with pytest.raises(NotANumberError) as caught:
        undeclared_scale("x", tables(*columns))
    assert message in str(caught.value)


def test_there_is_a_largest_number_of_categories() -> None:
    most = [f"c{at}" for at in range(MOST_CATEGORIES)] * 2
    assert undeclared_scale("x", tables(most, most)) is Scale.NOMINAL
    with pytest.raises(
        NotANumberError, match="with more than 2000 different values the column is not treated"
    ):
        undeclared_scale("x", tables([*most, "d", "d"], most))


def test_the_note_counts_the_categories_of_all_files() -> None:
    found = (Scale.NOMINAL, tables(WORDS, ["a", "c", "c", "a"]))
    assert category_notes({}) == ()
    assert category_notes({"x": found}) == (
        "column x holds text and is compared as nominal (3 categories); declare it with nominal, ordinal "
        "or schema",
    )
    renamed = [replace(one, frame=one.frame.rename(columns={"x": "y"})) for one in found[1]]
    assert category_notes({"x": found, "y": (Scale.NOMINAL, renamed)}) == (
        "columns that are compared as categories: x (text, nominal, 3 categories), y (text, nominal, 3 "
        "categories); declare them with nominal, ordinal or schema",
    )
