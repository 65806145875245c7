"""Domains of parameters as types: simplex, polytope, spectrahedron. Nothing about attribute distances.

May import numpy, scipy and the rest of `formulations` but aggregators. Engines register what they can do for
a type of domain, so an aggregator whose domain is one of these needs nothing of theirs.
"""

from __future__ import annotations

from linkrisk.formulations.linkage.domains.base import Domain, DomainRows
from linkrisk.formulations.linkage.domains.measures import Measures, MoebiusMeasures
from linkrisk.formulations.linkage.domains.polytope import Polytope
from linkrisk.formulations.linkage.domains.simplex import Simplex
from linkrisk.formulations.linkage.domains.spectrahedron import Spectrahedron

__all__ = ["Domain", "DomainRows", "Measures", "MoebiusMeasures", "Polytope", "Simplex", "Spectrahedron"]
