"""Results that charts are tested on: a small one with everything in it, and one with awkward names."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

KEPT = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "results.json"

AWKWARD = "a \"quoted' <script>alert(1)</script> </script> a.b[c]:d \u2028 \\ "


def kept_results() -> dict[str, Any]:
    """The results of the gallery; a copy, which may be changed."""
    return copy.deepcopy(_KEPT)


_KEPT = json.loads(KEPT.read_text(encoding="utf-8"))


def wide_result(names: list[str]) -> dict[str, Any]:
    """A fit and measures with these attributes, of a million records; all that charts by attribute read."""
    many = len(names)
    each = dict.fromkeys(names, 1.0 / many)
    squares = [[0.01 * (i - j) for i in range(many)] for j in range(many)]
    fit = {
        "aggregator": "choquet", "records": 10**6, "linked": 3, "linked_upper_bound": 10**6,
        "parameters": {"measure": each, "matrix": squares}, "attributes": names, "interaction": squares,
        "importance": each, "trace": [[0.5, 3, 10**6]], "seconds": 0.5, "baselines": {"euclid": None},
    }  # fmt: skip
    weighted = {**fit, "aggregator": "weighted-mean", "parameters": {"weights": each}, "interaction": None}
    attack = {
        "attack": "choquet", "attributes": names, "linked": [True], "rank": [1], "to_partner": [[0.1] * many],
        "to_rival": [[None] * many],
    }  # fmt: skip
    group = {"column": names[0], "category": names[-1], "share": 0.5, "linked": 1, "records": 2, "by_any": 1}
    fall = {
        "aggregator": "choquet",
        "linked": 1,
        "most": None,
        "fall": 1.0,
        "fall_low": -1.0,
        "fall_high": None,
    }
    measures = {
        "attributes": {"total": 10.0, "withheld": [{**fall, "attribute": name} for name in names]},
        "records": {"record": ["1"], "attacks": [attack], "groups": [group]},
        "interval-disclosure": {
            "ranks": {"attributes": names, "each": [[0.5] * many] * 10, "jointly": [0.1] * 10}
        },
        "information-loss": {
            "numeric": {"rows": [["IL1s", name, None, None, None, 0.1] for name in names]},
            "categories": [
                {"attribute": names[0], "changed": 0.5, "total_variation": None, "hellinger": 0.0}
            ],
        },
    }
    return {"worst_case": {"families": [fit, weighted]}, "measures": measures}
