"""After several releases: how much more is at risk with all of them than with the first one."""

from __future__ import annotations

from collections.abc import Iterator

from linkrisk.solver.charts.reading import upper_end
from linkrisk.solver.charts.table import Of
from linkrisk.solver.documents.document import Block, Numbers, Section
from linkrisk.solver.report.content.drawn import drawn, drawn_or
from linkrisk.solver.report.content.meanings import meaning_of
from linkrisk.solver.report.content.results import Json, Results
from linkrisk.solver.report.content.wording import family_heading, number_of, table


def several_releases(results: Results) -> Section:
    """The worst case from release to release, and what intersecting candidates leaves."""
    title, found = "After several releases", results.measure("releases")
    if found is None:
        lead = "One release was measured. A further one can add to its risk: measure both together before."
        return Section("several-releases", title, lead)
    tell = "can tell" if found["way"] == "together" else "cannot tell"
    many = "" if found.get("releases") is None else f"{found['releases']} "
    lead = (
        f"An intruder who has all {many}releases, and {tell} which of their records belong together, "
        "beside one "
        "who has the first release alone."
    )
    return Section("several-releases", title, lead, tuple(_blocks(results, found)))


def _blocks(results: Results, found: Json) -> Iterator[Block]:
    lines = [
        number_of(one, one.get("words") or meaning_of(one["key"]).words, meaning_of(one["key"]).says)
        for one in found["findings"]
    ]
    if lines:
        yield Numbers("What the later releases add", tuple(lines))
    yield from drawn_or(drawn(results, "releases"), _risks(found))


def _risks(found: Json) -> Iterator[Block]:
    risks = found.get("risks") or ()
    if risks:
        columns = [
            ("number", "Releases" if found["way"] == "together" else "Release", Of.COUNT),
            ("family", "Family of distances", Of.TEXT),
            ("low", "Re-identified", Of.SHARE),
            ("high", "At most", Of.SHARE),
            ("rise_low", "Rise at least", Of.POINTS),
            ("rise_high", "Rise at most", Of.POINTS),
        ]
        rows = [
            [one["number"], family_heading(one["aggregator"]), *(one[name] for name, _, _ in columns[2:])]
            for one in ({**each, "high": upper_end(each["low"], each["high"])} for each in risks)
        ]
        yield table("Worst case from release to release", columns, rows)
