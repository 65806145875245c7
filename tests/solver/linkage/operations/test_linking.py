"""`link` and `relink`: every linker on a file pair, judged by one evaluator, and the declared parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from refusals import refusal

from linkrisk import evaluate, link
from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.parameters import PARAMETERS as MASKING
from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.options.option import options_of
from linkrisk.solver.linkage.linker import LearnedLinker, Linker
from linkrisk.solver.linkage.parameters import PARAMETERS
from linkrisk.solver.linkage.registry import LINKERS
from linkrisk.solver.run.errors import UsageError

TRAINED = {"bayes"}
BETTER_THAN_CHANCE = 3
APART = {name for name, linker in LINKERS.items() if not linker.common_attributes}


def files(seed=4, records=60, noise=0.3):
    """Six correlated attributes of some records, three for each file, and the same with noise."""
    random = np.random.default_rng(seed)
    common = random.normal(size=(records, 1))
    values = common + noise * random.normal(size=(records, 6))
    return pd.DataFrame(values, columns=list("ABCDEF"))


def apart(seed=4, **options):
    frame = files(seed, **options)
    return frame[list("ABC")], frame[list("DEF")]


def together(seed=4):
    frame = files(seed)[list("ABC")]
    masked = frame + np.random.default_rng(seed + 1).normal(scale=0.2, size=frame.shape)
    return frame, masked


def linked_by(name, **options):
    if name in TRAINED:
        options["training"] = files(9, records=400)
    pair = apart() if name in APART else together()
    return link(*pair, method=name, **options), pair


@pytest.mark.parametrize("name", sorted(LINKERS))
@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
def test_every_linker_links_and_is_restored(name, direction):
    result, pair = linked_by(name, direction=direction, one_to_one="hungarian")
    assert result.records == 60
    assert result.linked == result.table.to_frame()["linked"].sum()
    assert 0 <= result.one_to_one.correct <= result.one_to_one.claimed <= 60
    written = json.loads(result.to_json())
    assert written["linked"] == result.linked
    again = evaluate(*pair, parameters=written, one_to_one=True)
    assert again.table == result.table
    assert again.link.parameters == result.parameters
    assert again.link.one_to_one == result.one_to_one
    if name != "random":
        assert result.one_to_one.correct >= BETTER_THAN_CHANCE
        assert result.curve.average_precision > BETTER_THAN_CHANCE / 60


@pytest.mark.parametrize("name", sorted(LINKERS))
def test_without_a_curve_records_are_judged_the_same(name):
    whole, pair = linked_by(name)
    result, _ = linked_by(name, curve=False)
    written = json.loads(result.to_json())
    again = evaluate(*pair, parameters=written)
    assert result.table == again.table == whole.table
    assert result.parameters == whole.parameters
    assert result.curve is again.link.curve is None
    assert (written["precision_recall"], written["most_probable_claim"]) == (None, None)


@dataclass(frozen=True)
class _Euclid(Linker):
    """Euclidean distance of numbers as they are: a linker as short as one can be."""

    name: ClassVar[str] = "euclid"

    def learn(self, task):
        return _Distances(task)

    @classmethod
    def restored(cls, parameters, task):
        del parameters
        return _Distances(task)


class _Distances(LearnedLinker):
    parameters: ClassVar[dict] = {}

    def __init__(self, task):
        self._files = task.queries.to_numpy(), task.candidates.to_numpy()

    def scores(self, rows):
        queries, candidates = self._files
        return -((queries[rows, None, :] - candidates[None, :, :]) ** 2).sum(axis=2)


@pytest.mark.parametrize("direction", ["original-to-masked", "masked-to-original"])
@pytest.mark.parametrize("ties", ["strict", "share"])
def test_one_evaluator_for_distances_and_scores(direction, ties):
    """A linker of one's own counts what `evaluate` counts for equal weights, with twins and other records."""
    original, masked = (frame.assign(ID=range(60)) for frame in together())
    frames = original.iloc[5:], masked.round(0).iloc[::-1].iloc[:50]
    chosen = {"direction": direction, "ties": ties, "id": "ID"}
    result = link(*frames, method=_Euclid(), **chosen)
    weights = {"parameters": {"weights": dict.fromkeys("ABC", 1 / 3)}}
    expected = evaluate(*frames, parameters=weights, standardisation="none", **chosen)
    assert 2 < expected.linked < 45
    assert (result.linked, result.records) == (expected.linked, expected.records)
    assert result.details["expected_links"] == pytest.approx(expected.details["expected_links"])
    columns = ["record", "linked", "rank", "ties"]
    ours, theirs = (each.table.to_frame()[columns].to_dict("list") for each in (result, expected))
    assert ours == theirs


def test_scales_and_missing_values():
    original, masked = together()
    for frame in (original, masked):
        frame["B"] = np.where(frame["B"] > 0, "high", "low")
        frame["C"] = frame["C"].round(0)
    masked.loc[3, "A"] = np.nan
    masked.loc[4, "B"] = None
    result = link(original, masked, method="prl", ordinal=["C"])
    schema = {row["name"]: row for row in result.details["schema"]["attributes"]}
    assert [schema[name]["scale"] for name in "ABC"] == ["numeric", "nominal", "ordinal"]
    assert "categories" not in schema["B"]
    assert [float(value) for value in schema["C"]["categories"]] == sorted({*original["C"], *masked["C"]})
    assert result.linked > 5


def in_words():
    return [frame.assign(B=np.where(frame["B"] > 0, "high", "low")) for frame in together()]


def changed(row, **values):
    original, masked = together()
    for name, value in values.items():
        original[name] = original[name].astype(object if isinstance(value, str) else float)
        original.loc[row, name] = value
    return original, masked


LISTED = {"attributes": [{"name": "B", "scale": "nominal", "categories": ["low"]}]}


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (together, {"parameters": {"alpha": 1}}, "prl takes no alpha; it takes compare, "),
        (together, {"original_attributes": ["A"]}, "prl compares attributes that both files have"),
        (together, {"method": "owa", "attributes": ["A"]}, "owa compares files without attributes in common"),
        (together, {"attributes": ["A", "X"]}, "original has no column 'X'"),
        (together, {"attributes": ["A", "A"]}, "the attribute 'A' is given twice"),
        (together, {"nominal": ["X"]}, "nominal: 'X' is not among the attributes to compare"),
        (together, {"id": "A"}, "original and masked have no id in common in column 'A'"),
        (together, {"method": "bayes"}, "bayes links files without attributes in common, and both have 'A'"),
        (apart, {}, "original has no attribute in common with the other file"),
        (lambda: changed(2, A=np.inf), {}, "original, column 'A', row 3: 'inf' is not a finite number"),
        (
            lambda: changed(1, A="much"),
            {"schema": {"attributes": [{"name": "A"}]}},
            "original, column 'A', row 2: 'much' is not a finite number",
        ),
        (in_words, {"ordinal": ["B"]}, "the ordinal attribute 'B' has categories in words"),
        (
            in_words,
            {"schema": LISTED},
            "original, column 'B', row 2: 'high' is none of the categories in the schema; fix the cell or",
        ),
    ],
)
def test_bad_requests(files, options, message):
    assert refusal(lambda: link(*files(), **{"method": "prl", **options})).startswith(message)


def test_a_threshold_leaves_links_out():
    result, pair = linked_by("prl", one_to_one="greedy")
    above = link(*pair, method="prl", one_to_one="greedy", threshold=4.0)
    assert result.one_to_one.claimed == 60
    assert 0 < above.one_to_one.claimed < 60
    assert above.one_to_one.precision >= result.one_to_one.precision
    nothing = link(*pair, method="prl", one_to_one="greedy", threshold=1e6).one_to_one
    assert (nothing.claimed, nothing.precision, nothing.recall) == (0, None, 0.0)


def test_huge_weights_are_shares_like_others():
    weights = [{"weights": (("A", 2 * unit), ("B", unit), ("C", unit))} for unit in (8e307, 1.0)]
    huge, small = (link(*together(), method="dbrl", parameters=each) for each in weights)
    assert (huge.parameters, huge.linked) == (small.parameters, small.linked)


def test_numbers_as_text_are_numbers_where_the_other_file_has_numbers():
    original, masked = together()
    text = masked.assign(B=masked["B"].map("{:.17g}".format))
    assert link(original, text, method="prl").table == link(original, masked, method="prl").table


@pytest.mark.parametrize("name", sorted(set(LINKERS) - {"dbrl", "prl"}))
def test_a_column_of_missing_values_is_no_evidence(name):
    frames = [frame.assign(**{frame.columns[0]: np.nan}) for frame in apart()]
    training = {"training": files(9, records=400)} if name in TRAINED else {}
    assert link(*frames, method=name, **training).records == 60


def test_what_is_written_of_linkers_is_not_for_distances_nor_for_overflow():
    result, pair = linked_by("prl")
    message = "the parameters is the result of a linker, which takes no aggregator"
    with pytest.raises(UsageError, match=message):
        evaluate(*pair, parameters=result.to_dict(), aggregator="owa")
    result, pair = linked_by("zscore")
    written = result.to_dict()
    loadings = written["parameters"]["loadings"]
    loadings["queries"] = dict.fromkeys(loadings["queries"], 1e300)
    with pytest.raises(UsageError, match="these are not parameters of zscore"):
        evaluate(*pair, parameters=written)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dbrl", "original, column 'A' has no value at all and cannot be compared; choose other attributes"),
        ("prl", "original has no value of attribute 'A'; leave it out"),
    ],
)
def test_a_column_of_missing_values_cannot_be_compared(name, message):
    files = [frame.assign(A=np.nan) for frame in together()]
    assert refusal(lambda: link(*files, method=name, attributes=list("ABC"))).startswith(message)
    found = link(*files, method=name).to_dict()
    assert found["attributes"] == ["B", "C"]
    assert "not compared: A (ignored, as it has no value)" in " ".join(found["notes"])


def test_numbers_that_became_texts_and_dates_that_became_years_are_known_to_linkers():
    random = np.random.default_rng(1)
    born = pd.Series(pd.to_datetime("1950-01-01") + pd.to_timedelta(random.integers(0, 9000, 80), unit="D"))
    original = pd.DataFrame({"age": random.integers(20, 80, 80), "born": born.dt.strftime("%Y-%m-%d")})
    original["income"] = random.integers(1000, 9000, 80)
    masked = original.assign(
        age=[f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in original["age"]],
        born=born.dt.strftime("%Y"),
        income=original["income"] + random.integers(-2000, 2000, 80),
    )
    texts = {"masking": ["recode level=year attributes=born"]}
    for name in ("dbrl", "prl"):
        found = link(original, masked, method=name, row_by_row=True)
        assert any("columns age, born are recoded" in note for note in found.details["notes"])
        without = link(original, masked, method=name, attributes=["income"], row_by_row=True)
        assert found.linked > without.linked
    known = link(original, masked, method="dbrl", parameters=texts, row_by_row=True)
    distances = link(original, masked, method="dbrl", row_by_row=True)
    assert (
        known.linked
        == distances.linked
        == evaluate(original, masked, parameters=known, row_by_row=True).linked
    )
    assert known.parameters["masking"] == texts["masking"]
    # With nothing read off the files, the level that is said is still known.
    alone = {"attributes": ["born", "income"], "method": "dbrl", "row_by_row": True}
    said = link(original, masked, parameters={"masking": ["none", *texts["masking"]]}, **alone)
    assert said.linked == link(original, masked, **alone).linked
    assert evaluate(original, masked, parameters=said, row_by_row=True).linked == said.linked
    with pytest.raises(DataError, match="is not a number, and original has numbers there"):
        link(original, masked, method="dbrl", parameters={"masking": ["none"]}, row_by_row=True)


def test_methods_and_linkers_have_the_parameters_that_are_declared_for_their_names():
    assert [name for name in LINKERS if options_of(LINKERS[name])] == list(PARAMETERS)
    for declared, known in (
        (PARAMETERS, LINKERS),
        (MASKING, {name: entry.kind for name, entry in METHODS.items()}),
    ):
        for name, group in declared.items():
            assert issubclass(known[name], group), name
            assert options_of(known[name]) == options_of(group), name
