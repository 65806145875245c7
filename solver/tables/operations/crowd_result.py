"""What insiders find out of a table, in the words of results: columns, JSON, and a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from linkrisk.solver.tables.attackers.by_insider import CrowdAudit
from linkrisk.solver.tables.attackers.crowd_attacks import Unmet


@dataclass(frozen=True, eq=False)
class CrowdResult:
    """What everybody finds out.

    Attributes
    ----------
    audit : CrowdAudit
    beyond : tuple of Unmet
        Levels that no pattern could reach, and that were lowered.
    """

    audit: CrowdAudit
    beyond: tuple[Unmet, ...]

    def to_dict(self) -> dict[str, Any]:
        """The part `insiders` of the JSON."""
        found, names = self.audit, self.audit.names
        short = np.flatnonzero(found.short > 0)
        return {
            "attackers": len(names) - 1,
            "protected": found.passed,
            "audited": found.audited,
            "under_protected": found.cells[short].tolist(),
            "short_by": found.short[short].tolist(),
            "short_of": [names[int(found.short_of[at])] for at in short],
            "narrowest": [
                {"cell": int(cell), "low": float(low), "high": float(high), "attacker": names[int(who)]}
                for cell, low, high, who in zip(found.cells, found.low, found.high, found.who, strict=True)
                if not np.isnan(low)
            ],
            "without_interval": found.left,
            "unreachable": [
                {
                    "cell": one.demand.cell,
                    "attacker": names[one.owner],
                    "way": "sliding"
                    if one.demand.up and one.demand.down
                    else "up"
                    if one.demand.up
                    else "down",
                    "level": one.demand.level,
                    "reached": one.found,
                }
                for one in self.beyond
            ],
        }

    def columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The cells with the narrowest interval that anybody finds, and who it is."""
        low, high = (frame["value"].to_numpy(dtype=np.float64).copy() for _ in range(2))
        who = np.full(len(frame), "", dtype=object)
        low[self.audit.cells], high[self.audit.cells] = self.audit.low, self.audit.high
        who[self.audit.cells] = [
            "" if np.isnan(one) else self.audit.names[int(at)]
            for one, at in zip(self.audit.low, self.audit.who, strict=True)
        ]
        return frame.assign(narrowest_low=low, narrowest_high=high, narrowest_of=who)
