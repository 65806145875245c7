"""Measures of a release by themselves; `linkrisk.risk` takes all of them."""

from linkrisk.solver.inputs.link_tasks import read_checked_links as read_checked_links
from linkrisk.solver.measures.base import MeasureResult as MeasureResult
from linkrisk.solver.measures.link_reliability import link_reliability as link_reliability
from linkrisk.solver.measures.registry import MEASURES as MEASURES
from linkrisk.solver.measures.verdict import Verdict as Verdict
