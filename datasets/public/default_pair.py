"""The file pair that comes with the project: real records, masked by the code, no network."""

from __future__ import annotations

from dataclasses import replace

from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.masking.parameters import AttributeGroup
from linkrisk.datasets.pairs.file_pair import FilePair, make_file_pair
from linkrisk.datasets.public.embedded import load_wdbc

RECORDS = 400

GROUPS = (
    AttributeGroup(("radius_mean", "texture_mean"), 3),
    AttributeGroup(("smoothness_mean", "symmetry_mean"), 8),
)
"""Four attributes that measure different things.

Size, grey-scale texture, smoothness of the outline and symmetry each take over 300 different values in 400
records, and no two of them correlate above 0.6 (perimeter and area, for example, repeat the radius).
"""


def default_pair() -> FilePair:
    """Make the default pair: the first 400 records of WDBC, four attributes, microaggregated by MDAV.

    radius_mean and texture_mean are masked together with k = 3, smoothness_mean and symmetry_mean with
    k = 8, as deliverable D11.2 masks its Census files (compare its M4-28). Records are aligned row by row.
    """
    attributes = [attribute for group in GROUPS for attribute in group.attributes]
    original = load_wdbc().loc[: RECORDS - 1, attributes]
    masked = Microaggregation(groups=GROUPS).apply(original)
    return replace(make_file_pair(original, masked), name="wdbc, first 400 records, microaggregated")
