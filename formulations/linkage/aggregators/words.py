"""The words for a family of distances in summaries and reports: each aggregator has its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The words of an aggregator, for summaries, reports and messages.

    Attributes
    ----------
    title : str
        The family, as it stands after "the" or "no": ``weighted mean``.
    numbers : str
        Title of the one number that is printed for each attribute (or for each rank, or part):
        ``weight of each attribute``.
    column : str
        Heading of these numbers in a table: ``Weight``.
    owner : str
        Heading of what they belong to: ``Attribute``.
    owners : str
        The same as a key of the JSON: ``attributes``.
    """

    title: str
    numbers: str
    column: str = "Weight"
    owner: str = "Attribute"
    owners: str = "attributes"
