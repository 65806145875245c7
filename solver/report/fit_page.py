"""The report of one `fit`: a plain static HTML page made from the result's JSON alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from linkrisk.solver.report import charts, formats, making, sections
from linkrisk.solver.report.families import families, families_headline
from linkrisk.solver.report.fields import Fields
from linkrisk.solver.report.headline import headline
from linkrisk.solver.run.errors import UsageError

# A longer table of records is cut on paper (1,000 rows are about 20 pages), never on screen.
PRINTED_ROWS = 1000


def render_report(result: Mapping[str, object]) -> str:
    """Make the page.

    Parameters
    ----------
    result
        What `fit --json` wrote, for one family of distances or for several, as `json.load` gives it.

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
    if "families" in fields:
        return _environment().get_template("families.html.jinja").render(several(fields))
    context = one_result(fields)
    head = context["interval"]
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(context, head=head, title=context["aggregator"])
    )


def one_result(fields: Fields) -> dict[str, Any]:
    """What the sections about one family need."""
    interval = headline(fields)
    return {
        "name": fields.text("name"),
        "version": fields.text("linkrisk"),
        "aggregator": making.aggregator_title(fields),
        "attributes": fields.texts("attributes"),
        "direction": fields.text("direction"),
        "interval": interval,
        "blocks": fields.number("records"),
        "weight": fields.text("weight") if interval.weighted else None,
        "linked": fields.number("linked"),
        "linked_upper_bound": fields.number("linked_upper_bound"),
        "candidates": fields.number("candidates"),
        # Of samples, nobody has looked for them in the whole file.
        "lost": fields.optional_number("lost") if interval.confidence is None else None,
        "margin": fields.optional_number("margin"),
        "notes": sections.notes(fields),
        "bars": sections.baseline_bars(fields, interval),
        "beyond": sections.beyond(fields),
        "parameters": sections.learned_parameters(fields),
        "records": sections.records_table(fields.nested("records_table")),
        "trace": charts.step_chart(sections.progress(fields)),
        "making": making.how_it_was_made(fields),
        "command": None if fields.value("command") is None else fields.text("command"),
    }


def several(fields: Fields) -> dict[str, Any]:
    """What the page about several families needs: a row for each, and all about the worst."""
    rows = families(fields)
    found = [(row, row.fields) for row in rows if row.fields is not None]
    worst = next((result for row, result in found if row.worst), None)
    if worst is None:
        raise UsageError("the result's 'worst' names no family with a result: give what `fit --json` wrote")
    known = sections.notes(worst)
    return {
        **one_result(worst),
        "head": families_headline(fields, rows),
        "title": f"{len(found)} families of distances",
        "rows": rows,
        "others": [_other(result, known) for row, result in found if not row.worst],
    }


def _other(fields: Fields, known: list[str]) -> dict[str, Any]:
    """What a family relies on that is not the worst, without the notes that stand above."""
    return {
        "aggregator": making.aggregator_title(fields),
        "notes": [note for note in sections.notes(fields) if note not in known],
        "parameters": sections.learned_parameters(fields),
    }


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
    writers = (
        formats.count,
        formats.percent,
        formats.significant,
        formats.decimals,
        formats.weight,
        formats.small,
        formats.duration,
        formats.cell,
    )
    for write in writers:
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
