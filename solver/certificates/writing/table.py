"""Writes the certificate of a table as JSON that `core.tables` reads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from linkrisk.arrays import BoolArray
from linkrisk.solver.certificates.core.tables import BESIDE, FORMAT
from linkrisk.solver.tables.attackers.certified import Certified


def table_certificate(
    suppressed: BoolArray, found: Certified, beside: Certified | None = None
) -> dict[str, Any]:
    """Return the certificate as a dictionary; `beside` is that of published respondent counts."""
    return {
        "format": FORMAT,
        "suppressed": np.flatnonzero(suppressed).tolist(),
        **({"counts": True} if found.whole else {}),
        "protected": found.protected,
        "missed": sorted({one.cell for one in found.missed}),
        "undecided": sorted({one.cell for one in found.undecided}),
        "witnesses": [_numbers(one) for one in found.witnesses],
        "bounds": [[one.cell, one.sign, *_numbers(one.multipliers)] for one in found.bounds],
        **({} if beside is None else {BESIDE: table_certificate(suppressed, beside)}),
    }


def certificate_bytes(certificate: Mapping[str, Any], path: str | Path) -> bytes:
    """Encode a certificate as JSON, compressed if the name ends with ``.gz``."""
    content = (json.dumps(certificate, separators=(",", ":")) + "\n").encode("ascii")
    return gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content


def _numbers(sparse: Mapping[int, Fraction]) -> list[list[Any]]:
    """Return positions and numbers: integers, or fractions as text."""
    items = sorted(sparse.items())
    numbers = [one.numerator if one.denominator == 1 else str(one) for _, one in items]
    return [[at for at, _ in items], numbers]
