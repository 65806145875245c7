"""The benchmark of certificates runs: every family it asks for is certified and checked."""

from __future__ import annotations

import certificates
import numpy as np
import pandas as pd


def test_every_case_is_a_row(tmp_path, capsys):
    random = np.random.default_rng(3)
    original = random.normal(size=(25, 3))
    for case in certificates.CASES:
        for side, values in (("original", original), ("masked", original + 0.8 * np.sin(99 * original))):
            pd.DataFrame(values, columns=["A", "B", "C"]).to_csv(
                tmp_path / f"{case.pair}_{side}.csv", index=False
            )
    certificates.main(["--pairs", str(tmp_path)])
    head, _, *rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in capsys.readouterr().out.splitlines()
    ]
    assert [row[0].split(", ")[2] for row in rows] == [
        "weighted-mean", "weighted-mean", "owa", "choquet", "3-additive", "choquet", "mahalanobis",
    ]  # fmt: skip
    assert all(len(row) == len(head) for row in rows)
    assert all(0 < int(row[2]) <= int(row[1]) <= 25 for row in rows)
