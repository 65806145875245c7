"""The default pair: real records, four attributes, two groups, the same on every machine."""

from __future__ import annotations

import numpy as np

from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.public.embedded import GROUPS, default_pair, load_wdbc


def test_default_pair_is_what_its_page_says() -> None:
    pair = default_pair()
    assert pair.attributes == ("radius_mean", "texture_mean", "smoothness_mean", "symmetry_mean")
    assert pair.partner.tolist() == list(range(400))
    assert pair.name == "wdbc, first 400 records, microaggregated"
    source = load_wdbc().loc[:399, list(pair.attributes)]
    assert (pair.original_values == source.to_numpy()).all()
    assert (pair.masked_values == Microaggregation(groups=GROUPS).apply(source).to_numpy()).all()


def test_every_masked_record_shares_each_group_of_attributes_with_others() -> None:
    pair = default_pair()
    start = 0
    for group in GROUPS:
        values = pair.masked_values[:, start : start + len(group.attributes)]
        _, sizes = np.unique(values, axis=0, return_counts=True)
        assert group.k is not None
        assert sizes.min() >= group.k
        start += len(group.attributes)


def test_attributes_have_many_values_and_do_not_repeat_each_other() -> None:
    values = default_pair().original_values
    assert min(len(np.unique(column)) for column in values.T) > 300
    correlation = np.abs(np.corrcoef(values.T)) - np.eye(4)
    assert correlation.max() < 0.6
