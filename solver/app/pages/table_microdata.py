"""A table of microdata: variables, what is summed, weights, holdings, and by which rules it is sensitive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from linkrisk.datasets.tables.contributing import EXPANDED, KNOWN, SAMPLE
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.pages.table_fields import MICRODATA, Asking, ColumnFields, several
from linkrisk.solver.app.pages.table_hierarchies import Hierarchies

NONE = "none"
WEIGHTS = {
    EXPANDED: "a record of weight w is w respondents",
    SAMPLE: "respondents do not know weights",
    KNOWN: "respondents know weights",
}
PROTECTIONS = {
    "both": "the level below and above",
    "upper": "the level above only",
    "sliding": "an interval as wide as both",
}
EMPTY = {"published": "always published", "suppressible": "suppressed like others"}
MISSING = {
    "refuse": "there must be none",
    "leave-out": "left out",
    "code": "in the table as 'missing'; without a response left out",
}
RULES = (
    ("p=10", "the p % rule; with prior knowledge of 50 % and two intruders p=10,q=50,m=2"),
    ("nk=2,75", "dominance: two respondents have more than 75 %"),
    ("frequency=3", "fewer than three respondents; with a level of 20 % of the value frequency=3,20"),
    ("zero=5", "all respondents have nothing; the level is 5, in units of the value"),
    ("request=70", "the largest respondent asked for protection and has more than 70 %"),
)


class Microdata:
    """The panel.

    Parameters
    ----------
    asking : Asking
    """

    def __init__(self, asking: Asking) -> None:
        self._asking, self._columns = asking, ColumnFields(asking)

    def show(self) -> None:
        """The panel."""
        asking = self._asking
        panel = asking.shown(ui.element("div").classes("panel"), lambda now: now.kind == MICRODATA)
        with panel:
            layout.text("h2", "Microdata")
            with ui.element("div").classes("fields"):
                asking.select("File of microdata", asking.files(), "microdata")
            self._wrong = layout.text("p", "", "bad").props("role=alert")
            self._table()
            self._hierarchies = Hierarchies(asking, MICRODATA)
            self._hierarchies.offer(asking.question.variables)
            self._rules()
            self._further()
        if asking.question.microdata:
            self._look_soon()

    def _table(self) -> None:
        columns = self._columns
        with ui.element("div").classes("fields"):
            columns.several("By", "by", "explanatory variables, one to six")
            self._linked = Linked(self._asking)
        with ui.element("div").classes("fields"):
            columns.one("What is summed", "records are counted", "response")
            columns.one("Sampling weights", NONE, "weight")
            self._asking.select(
                "Weights in rules", WEIGHTS, "weights_in_rules", lambda now: bool(now.asked.weight)
            )
            columns.one("Holdings", "none: each record is a respondent", "holding")
            columns.one(
                "Names of respondents",
                "none: records are numbered",
                "respondent",
                lambda now: now.asked.contributing,
            )
        hint = layout.text(
            "p",
            "Respondents of one holding count as one. With holdings and weights, rules can only look at what "
            "is in the sample: choose that respondents know weights, or do not.",
            "quiet small",
        )
        self._asking.shown(hint, lambda now: bool(now.asked.weight and now.asked.holding))

    def _rules(self) -> None:
        asking = self._asking
        layout.text("h3", "What is sensitive")
        ui.textarea(
            "Rules, one a line", value="\n".join(asking.question.rules), on_change=self._set_rules
        ).props("rows=3").style("width: 100%").mark("rules")
        with layout.text("dl", "", "rules quiet small"):
            for rule, words in RULES:
                layout.text("dt", rule)
                layout.text("dd", words)
        with ui.element("div").classes("fields"):
            self._columns.one("Who asked for protection", NONE, "request", _requested)
            self._columns.one("Rules look at (shadow variable)", "what is summed", "shadow")
            asking.select("Protection", PROTECTIONS, "protection")
            asking.select("File of statuses by hand", asking.files(), "manual")
            asking.shown(
                asking.number("Level of these, % of the value", "manual_range", 0),
                lambda now: bool(now.asked.manual),
            )
        layout.text(
            "p",
            "A cell is sensitive by any of the rules. A file of statuses has a line for a cell: its codes "
            "and status (u sensitive, s safe, z always published); it comes before the rules.",
            "quiet small",
        )

    def _further(self) -> None:
        asking = self._asking
        with ui.element("div").classes("fields"):
            asking.select("Cells without respondents", EMPTY, "empty")
            asking.select("Records without a code or a response", MISSING, "missing")
            self._columns.one("Column of costs", NONE, "cost_column", lambda now: now.asked.cost == "given")
        asking.checkbox("Amounts may be below zero; rules then take them without their sign", "negative")
        beside = asking.checkbox(
            "Numbers of respondents are published beside the sums, and protected with them",
            "publish_respondents",
        )
        asking.shown(beside, lambda now: bool(now.asked.response))

    def _set_rules(self, event: Any) -> None:
        lines = (line.strip() for line in (event.value or "").splitlines())
        self._asking.set("rules", tuple(line for line in lines if line))

    def changed(self, key: str) -> None:
        """Follow a change of the question."""
        if key == "microdata":
            self._look_soon()
        if key in ("by", "linked"):
            self._hierarchies.offer(self._asking.question.variables)

    def _look_soon(self) -> None:
        ui.timer(0.01, self._look, once=True)

    async def _look(self) -> None:
        """Find the columns of the file, and offer them."""
        asking, file = self._asking, self._asking.question.microdata
        found = await look(asking.state.project, file) if file else {}
        if file == asking.question.microdata:
            self._wrong.set_text(str(found.get("error", "")))
            names = [str(column["name"]) for column in found.get("columns", ())]
            self._columns.offer({}, names)
            self._linked.offer(names)


class Linked:
    """Fields for the variables of further tables of the same microdata: always one more than are used.

    Parameters
    ----------
    asking : Asking
    """

    def __init__(self, asking: Asking) -> None:
        self._asking, self._names = asking, list(asking.question.variables)
        self._place = ui.element("div").style("display: contents")
        self._fields: list[ui.select] = []
        for chosen in (*asking.question.linked, ()):
            self._add(chosen)

    def _add(self, chosen: Sequence[str]) -> None:
        with self._place:
            field = several(
                f"By, of table {len(self._fields) + 2}",
                self._names,
                chosen,
                self._changed,
                "if any: protected together",
            )
        self._fields.append(field.mark("linked"))

    def _changed(self, _: tuple[str, ...]) -> None:
        self._asking.set("linked", tuple(tuple(field.value) for field in self._fields if field.value))
        if self._fields[-1].value:
            self._add(())

    def offer(self, names: Sequence[str]) -> None:
        """Offer the columns of a file."""
        self._names = list(names)
        for field in list(self._fields):
            field.set_options(self._names, value=[name for name in field.value if name in names])


def _requested(now: Asking) -> bool:
    """Whether a rule asks who has asked for protection."""
    return bool(now.asked.request) or any(rule.startswith("request") for rule in now.asked.rules)
