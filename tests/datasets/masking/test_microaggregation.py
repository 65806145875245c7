"""Microaggregation: means of groups, groups of attributes, protections of D11.2, bad parameters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from point_sets import points_and_k

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.microaggregation import (
    PROTECTIONS,
    Microaggregation,
    OptimalMicroaggregation,
    group_means,
)
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.microdata.formats.registry import read_table

FOLDER = os.environ.get("LINKRISK_DATA")
PAIRS = Path(FOLDER).parent / "bench" / "pairs" if FOLDER else Path("no folder of pairs")


def test_masking_does_not_depend_on_units():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=pd.Index(["a", "b"]))
    masked = Microaggregation().apply(frame)
    scaled = Microaggregation().apply(frame.assign(b=frame["b"] * 1024))
    assert scaled["a"].to_list() == masked["a"].to_list()
    assert (scaled["b"] / 1024).to_list() == masked["b"].to_list()


@given(points_and_k())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_masked_values_are_group_means_and_keep_the_mean(case):
    points, k = case
    names = [f"x{number}" for number in range(points.shape[1])]
    frame = pd.DataFrame(points, columns=pd.Index(names))
    masked = Microaggregation(attributes=tuple(names), k=k).apply(frame).to_numpy()
    scale = max(1.0, np.abs(points).max())
    np.testing.assert_allclose(masked.mean(axis=0), points.mean(axis=0), atol=1e-12 * scale)
    _, sizes = np.unique(masked, axis=0, return_counts=True)
    assert sizes.min() >= k
    # The total variance is the variance between groups and within them.
    within = ((points - masked) ** 2).sum()
    between = ((masked - points.mean(axis=0)) ** 2).sum()
    total = ((points - points.mean(axis=0)) ** 2).sum()
    np.testing.assert_allclose(within + between, total, rtol=1e-9, atol=1e-9 * scale**2)


def test_groups_of_attributes_are_masked_by_themselves():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(50, 4)), columns=pd.Index(list("abcd")))
    both = Microaggregation(groups=(AttributeGroup(("a", "c"), 3), AttributeGroup(("b", "d"), 5))).apply(
        frame
    )
    first = Microaggregation(attributes=("a", "c"), k=3).apply(frame)
    second = Microaggregation(attributes=("b", "d"), k=5).apply(frame)
    pd.testing.assert_frame_equal(both[["a", "c"]], first[["a", "c"]])
    pd.testing.assert_frame_equal(both[["b", "d"]], second[["b", "d"]])
    pd.testing.assert_frame_equal(first[["b", "d"]], frame[["b", "d"]])


def test_a_group_without_k_takes_that_of_the_method():
    frame = pd.DataFrame({"a": np.arange(12.0), "b": np.arange(12.0) ** 2})
    spelled = Microaggregation(groups=(AttributeGroup(("a",), 4), AttributeGroup(("b",), 2)))
    short = Microaggregation(k=4, groups=(AttributeGroup(("a",)), AttributeGroup(("b",), 2)))
    assert short.describe(frame) == "microaggregation (MDAV) of a with k = 4; of b with k = 2"
    pd.testing.assert_frame_equal(short.apply(frame), spelled.apply(frame))


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("a,b:3", AttributeGroup(("a", "b"), 3)),
        ("a, b", AttributeGroup(("a", "b"))),
        ("odd:name:12", AttributeGroup(("odd:name",), 12)),
        ("odd:name,b", AttributeGroup(("odd:name", "b"))),
    ],
)
def test_groups_as_text(text, group: AttributeGroup):
    assert AttributeGroup.parse(text) == group


@pytest.mark.skipif(
    not PAIRS.is_dir(), reason="needs the bench pairs beside the public data: set LINKRISK_DATA"
)
@pytest.mark.parametrize("name", PROTECTIONS)
@pytest.mark.parametrize("records", [400, 1080])
def test_protections_reproduce_files_masked_by_other_code(name, records):
    original = read_table(PAIRS / f"{name}_{records}_s0_original.csv")
    masked = read_table(PAIRS / f"{name}_{records}_s0_masked.csv")
    made = PROTECTIONS[name].apply(original)
    # The other code sums in another order; the groups are the same.
    np.testing.assert_allclose(made.to_numpy(), masked.to_numpy(), rtol=2e-14)


def test_protections_are_those_of_d11_2():
    frame = pd.DataFrame(np.arange(70.0).reshape(10, 7) % 11, columns=pd.Index(list("abcdefg")))
    assert [protection.describe(frame) for protection in PROTECTIONS.values()] == [
        "M4-33, microaggregation (MDAV) of a, b with k = 3; of c, d with k = 3",
        "M4-28, microaggregation (MDAV) of a, b with k = 2; of c, d with k = 8",
        "M4-82, microaggregation (MDAV) of a, b with k = 8; of c, d with k = 2",
        "M5-38, microaggregation (MDAV) of a, b, c with k = 3; of d, e with k = 8",
        "M6-385, microaggregation (MDAV) of a, b with k = 3; of c, d with k = 8; of e, f with k = 5",
        "M6-853, microaggregation (MDAV) of a, b with k = 8; of c, d with k = 5; of e, f with k = 3",
    ]
    assert PROTECTIONS["M4-33"].masked_attributes(frame) == ("a", "b", "c", "d")


def test_group_means_are_exactly_rounded():
    values = np.array([[0.1], [0.2], [0.3], [1e16], [1.0], [-1e16]])
    means = group_means(values, [np.array([0, 1, 2]), np.array([3, 4, 5])])
    assert means.ravel().tolist() == [0.6 / 3] * 3 + [1 / 3] * 3


FRAME = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, 5, 3], "t": ["x", "y", "z"]})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Microaggregation(k=1), "k is 1; a group needs at least 2 records"),
        (lambda: OptimalMicroaggregation(k=0), "k is 0; a group needs at least 2 records"),
        (
            lambda: Microaggregation(groups=(AttributeGroup(("a",), 1),)),
            "k is 1; a group needs at least 2 records",
        ),
        (
            lambda: Microaggregation(groups=(AttributeGroup(("a", "b")), AttributeGroup(("b",)))),
            "the attribute 'b' is given twice in groups; give it once",
        ),
        (
            lambda: Microaggregation(attributes=("a",), groups=(AttributeGroup(("b",)),)),
            "give either attributes or groups, not both",
        ),
        *(
            (
                lambda k=k: Microaggregation(
                    k=k, groups=(AttributeGroup(("a",), 3), AttributeGroup(("b",), 3))
                ),
                "k has no effect where every one of groups has its own k; leave k out",
            )
            for k in (3, 4)
        ),
        *(
            (
                lambda k=k: AttributeGroup.parse(f"a,b:{k}"),
                f"'a,b:{k}' has '{k}' for k after the colon, which is not a whole number of at least 2; "
                "write A,B:3, or A,B for the k of k",
            )
            for k in ("x", "3.5", "-1", "", "\u00b2")
        ),
        (
            lambda: AttributeGroup.parse("a,,b:3"),
            "'a,,b' has an empty attribute name; write names separated by single commas",
        ),
        (
            lambda: Microaggregation(k=4).apply(FRAME),
            "the table: k is 4, but there are only 3 records; choose a smaller k",
        ),
        (
            lambda: OptimalMicroaggregation(k=4).apply(FRAME),
            "the table: k is 4, but there are only 3 records; choose a smaller k",
        ),
        (
            lambda: Microaggregation(attributes=("c",)).apply(FRAME),
            "the table has no column 'c' (attribute); there are: a, b, t",
        ),
        (
            lambda: Microaggregation(attributes=("a", "a")).apply(FRAME),
            "the attribute 'a' is given twice in attributes; give it once",
        ),
        (
            lambda: Microaggregation(attributes=("t",), k=2).apply(FRAME),
            "the table, column 't', row 1: 'x' is not a number; fix it or choose other attributes",
        ),
        (
            lambda: Microaggregation(k=2).apply(FRAME[["t"]]),
            "the table has no numeric attribute to mask; name at least one with attributes",
        ),
        (
            lambda: PROTECTIONS["M4-33"].apply(FRAME),
            "the table: M4-33 masks 4 attributes but there are 2 (a, b); name more with attributes or "
            "choose another protection",
        ),
        (
            lambda: Microaggregation(k=2).apply(FRAME, seed=-1),
            "the seed -1 is negative; give a whole number of at least 0",
        ),
    ],
)
def test_bad_parameters(make: Any, message):
    with pytest.raises(DataError) as caught:
        make()
    assert str(caught.value) == message
