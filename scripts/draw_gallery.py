"""Draw the gallery of charts: docs/gallery/*.svg, from results that are kept beside it.

    python scripts/draw_gallery.py --measure     take the measures again (ten minutes), then draw
    python scripts/draw_gallery.py               draw

Pictures depend on the kept results alone, so that drawing them again changes nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from linkrisk import mask, risk, sweep  # noqa: E402
from linkrisk.datasets.public.embedded import load_wdbc  # noqa: E402
from linkrisk.solver.charts.chart import Chart  # noqa: E402
from linkrisk.solver.charts.gallery import GALLERY, draw  # noqa: E402
from linkrisk.solver.run.result import dump_json  # noqa: E402

PICTURES = ROOT / "docs" / "gallery"
RESULTS = PICTURES / "results.json"

RECORDS = 150
ATTRIBUTES = ["radius_mean", "texture_mean", "smoothness_mean", "symmetry_mean"]
MEASURES = [
    *("worst-case", "releases", "references", "attributes", "records", "held-out", "link-reliability"),
    *("interval-disclosure", "information-loss"),
]
LEFT_OUT = ("out_of_reach", "trials", "chance", "records_table", "versions", "certificate")
"""Long lists that no chart shows."""


def measured() -> dict[str, Any]:
    """The results that charts are drawn from: two releases of embedded data, and a sweep."""
    frame = load_wdbc().head(RECORDS)
    original = frame[ATTRIBUTES].assign(
        diagnosis=frame["diagnosis"],
        size=pd.qcut(frame["radius_mean"], 4, labels=["a", "b", "c", "d"]).astype(str),
    )
    masked = [
        mask(original[ATTRIBUTES], "noise percent=35", seed=seed).table.assign(
            **original[["diagnosis", "size"]]
        )
        for seed in (1, 2)
    ]
    taken = risk(
        original, masked, measures=MEASURES, attributes=ATTRIBUTES, groups=["diagnosis", "size"],
        time_limit=300, row_by_row=True,
    )  # fmt: skip
    maskings = ["noise percent=20..60:20", "rank-swapping percent=10,25", "microaggregation k=3"]
    swept = sweep(original[ATTRIBUTES], maskings, time_limit=24, aggregator="weighted-mean,choquet")
    return {"risk": shortened(taken.to_dict()), "sweep": shortened(swept.to_dict())}


def shortened(value: Any) -> Any:
    """A result without long lists and with five digits."""
    if isinstance(value, dict):
        left_out = {key for key in LEFT_OUT if isinstance(value.get(key), dict | list | tuple)}
        return {key: shortened(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def drawn(results: dict[str, Any]) -> dict[str, Chart | None]:
    """Every chart of the gallery, by name."""
    return {name: draw(name, results["risk"]) or draw(name, results["sweep"]) for name in GALLERY}


def main() -> None:
    """Measure if asked to, and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measure", action="store_true", help="take the measures again")
    PICTURES.mkdir(exist_ok=True)
    if parser.parse_args().measure:
        RESULTS.write_text(dump_json(measured()), encoding="utf-8")
    for name, chart in drawn(json.loads(RESULTS.read_text(encoding="utf-8"))).items():
        if chart is None:
            print(f"nothing to draw: {name}")
        else:
            chart.save(PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
