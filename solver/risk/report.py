"""The report of one `fit`: a plain static HTML page made from the result's JSON alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from solver.risk import charts, formats, making, sections
from solver.risk.fields import Fields
from solver.risk.headline import headline

# A longer table of records is cut on paper (1,000 rows are about 20 pages), never on screen.
PRINTED_ROWS = 1000


def render_report(result: Mapping[str, object]) -> str:
    """Make the page.

    Parameters
    ----------
    result
        What `fit --json` wrote, as `json.load` gives it.

    Returns
    -------
    str
        A whole HTML document without scripts or outside resources.

    Raises
    ------
    UsageError
        When a key is missing or its value is of another kind; the message names the key.
    """
    fields = Fields(result)
    head = headline(fields)
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            name=fields.text("name"),
            version=fields.text("linkrisk"),
            aggregator=making.aggregator_title(fields),
            attributes=fields.texts("attributes"),
            direction=fields.text("direction"),
            head=head,
            linked=fields.number("linked"),
            linked_upper_bound=fields.number("linked_upper_bound"),
            candidates=fields.number("candidates"),
            lost=fields.optional_number("lost"),
            margin=fields.optional_number("margin"),
            bars=sections.baseline_bars(fields, head),
            parameters=sections.learned_parameters(fields),
            records=sections.records_table(fields.nested("records_table")),
            trace=charts.step_chart(sections.progress(fields)),
            making=making.how_it_was_made(fields),
            command=fields.text("command"),
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for write in (formats.count, formats.percent, formats.significant, formats.decimals, formats.cell):
        environment.filters[write.__name__] = write
    environment.globals.update(
        bar_width=charts.bar_width,
        # Names of subsets may break after a comma.
        breakable_comma=Markup(",<wbr>"),
        chart_width=charts.WIDTH,
        trace_height=charts.TRACE_HEIGHT,
        trace_left=charts.LEFT,
        trace_right=charts.RIGHT,
        printed_rows=PRINTED_ROWS,
    )
    return environment
