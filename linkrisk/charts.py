"""Charts of results, as Vega-Lite: what a result can draw, and the drawing."""

from linkrisk.solver.charts.gallery import draw as draw
from linkrisk.solver.charts.gallery import offered as offered
