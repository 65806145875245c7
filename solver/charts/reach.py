"""What attackers find of a sensitive cell, for lists and charts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reach:
    """What attackers find of a sensitive cell."""

    label: str
    # `below`, `above`: how far an attacker must think that the value could be below and above
    below: float
    above: float
    # `lower_level`, `upper_level`, `sliding_level`: how far that must be: each way, and both together
    lower_level: float
    upper_level: float
    sliding_level: float
    said: str  # its interval, for people
    short: bool  # whether a level is missed

    @property
    def units(self) -> tuple[float, float]:
        """What is 100 % below and above."""
        usual = max(self.lower_level, self.upper_level) or self.sliding_level / 2.0 or 1.0
        return self.lower_level or usual, self.upper_level or usual

    @property
    def share(self) -> float:
        """The worst of its levels: 1 where it is just reached."""
        pairs = (
            (self.below, self.lower_level),
            (self.above, self.upper_level),
            (self.below + self.above, self.sliding_level),
        )
        return min((reach / level for reach, level in pairs if level > 0), default=float("inf"))
