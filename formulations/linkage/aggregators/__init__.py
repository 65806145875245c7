"""One file per aggregator: feature map, domain of parameters, decode, and its words; nothing about solving.

May import numpy, scipy and the rest of `formulations`.
"""

from __future__ import annotations

from linkrisk.formulations.linkage.aggregators.base import Aggregator, Words
from linkrisk.formulations.linkage.aggregators.registry import AGGREGATORS, make_aggregator, words_of

__all__ = ["AGGREGATORS", "Aggregator", "Words", "make_aggregator", "words_of"]
