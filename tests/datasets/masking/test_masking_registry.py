"""Masking methods by name: what exists, what each takes, and what is said when it does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.base import MaskingMethod
from linkrisk.datasets.masking.microaggregation import PROTECTIONS
from linkrisk.datasets.masking.noise import AdditiveNoise
from linkrisk.datasets.masking.parameters import all_options
from linkrisk.datasets.masking.registry import METHODS, make_method
from linkrisk.datasets.microdata.recoding_files import RecodingFile, RecodingLine
from linkrisk.datasets.options.kinds import NUMBER, WHOLE, percent

REQUIRED: dict[str, dict[str, Any]] = {
    "noise": {"percent": 5.0},
    "rank-swapping": {"percent": 20.0},
    "top-coding": {"categories": 3, "attributes": ("x1",)},
    "bottom-coding": {"percent": 50.0, "attributes": ("x2",)},
    "global-recoding": {"categories": 2, "attributes": ("x1", "x3")},
    "recode": {"file": (RecodingFile("x1", "x1.grc", (RecodingLine(1, "3", (("0", ""),)),)),)},
    "record-swapping": {"household": "home", "hierarchy": ("place",), "risk": ("x1",)},
    "rounding": {"base": 2.0},
    "weight-calibration": {"like": "like.csv", "margins": ("x1",), "attributes": ("w",)},
    "pram": {"change": 0.5, "attributes": ("x4",)},
}


def test_every_method_has_a_name_and_the_common_shape(tmp_path, monkeypatch):
    protections = ("M4-33", "M4-28", "M4-82", "M5-38", "M6-385", "M6-853")
    assert tuple(METHODS)[-len(protections) :] == protections
    frame = pd.DataFrame(
        {f"x{number}": [float(number * row % 7) for row in range(9)] for number in range(1, 7)}
    ).assign(w=range(1, 10), home=range(9), place=[0, 1, 2] * 3)
    monkeypatch.chdir(tmp_path)
    frame.to_csv("like.csv", index=False)
    for name in METHODS:
        method = make_method(name, REQUIRED.get(name, {}))
        assert isinstance(method, MaskingMethod)
        assert method.name == name
        masked = method.apply(frame, 1)
        changed = {column for column in frame if not masked[column].equals(frame[column])}
        assert changed <= set(method.masked_attributes(frame))


def test_parameters_reach_the_method():
    assert make_method("noise", {"percent": 3.0, "correlated": True}) == AdditiveNoise(
        percent=3, correlated=True
    )
    attributes = ("d", "c", "b", "a")
    protection = make_method("M4-82", {"attributes": attributes})
    frame = pd.DataFrame(np.arange(36.0).reshape(9, 4), columns=pd.Index(list("abcd")))
    assert protection.masked_attributes(frame) == attributes
    assert PROTECTIONS["M4-82"].attributes is None


def test_a_shared_option_says_what_it_means_to_each_method():
    options = all_options()
    own = {name for entry in METHODS.values() for name in entry.parameters}
    assert own == set(options) >= {"attributes", "k", "groups", "percent", "schema", "matrix", "invariant"}
    assert options["label"].help == (
        "global-recoding: name of the merged category (default: that of the most frequent one)"
    )
    assert options["percent"].help == (
        "noise: standard deviation of the noise in % of the attribute's; rank-swapping: window in percent of "
        "the records; record-swapping: share of households to be swapped in % (default: 5); top-coding, "
        "bottom-coding: categories to merge into one, in percent of those of the attribute"
    )
    attributes = options["attributes"].help
    assert "attributes to mask, separated by commas (default: all numeric)" in attributes
    assert attributes.endswith(
        "top-coding, bottom-coding, global-recoding, recode, pram: attributes to mask, separated by commas "
        "(default: all that are not numeric); local-suppression: attributes to mask, separated by commas "
        "(default: all key variables)"
    )


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("nois", {}, "there is no masking method 'nois'; did you mean 'noise'?"),
        ("noise", {}, "noise needs percent"),
        (
            "noise",
            {"k": 3},
            "noise has no parameter k; it takes attributes, schema, percent, correlated",
        ),
        ("M4-33", {"k": 3}, "M4-33 has no parameter k; it takes attributes, schema"),
        ("rank-swapping", {"percent": 200.0}, "percent is 200; it must be above 0 and at most 100"),
    ],
)
def test_what_does_not_fit(name, parameters, message):
    with pytest.raises(DataError) as caught:
        make_method(name, parameters)
    assert str(caught.value) == message


def test_numbers_as_text():
    assert (WHOLE.read("12"), percent("2.5%"), percent("2.5")) == (12, 2.5, 2.5)
    for kind, text, message in (
        (WHOLE, "2.5", "'2.5' is not a whole number"),
        (NUMBER, "many", "'many' is not a finite number"),
        (NUMBER, "inf", "'inf' is not a finite number"),
        (NUMBER, "2%", "'2%' is not a finite number"),
    ):
        with pytest.raises(DataError) as caught:
            kind.read(text)
        assert str(caught.value) == message
