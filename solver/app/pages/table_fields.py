"""A question about a table while it is asked: fields that change it, and what follows from each change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from linkrisk.datasets.microdata.formats.argus_files import DATA, METADATA
from linkrisk.datasets.tables.argus.jj_files import SUFFIX as JJ
from linkrisk.datasets.tables.opening import WHOLE
from linkrisk.solver.app.run_folder import INTERNAL_STEM
from linkrisk.solver.app.state import State
from linkrisk.solver.app.table_question import SUPPRESS, TableQuestion

ALSO = "also"
"""The part of the question that is other releases."""

CELLS, MICRODATA = "cells", "microdata"
"""Kinds of tables: one that is there, or one of microdata."""


class Asking:
    """The question as it is now; `changed` is called with the name of what was changed.

    Parameters
    ----------
    state : State
    question : TableQuestion
        To begin with.
    changed : callable
    """

    def __init__(self, state: State, question: TableQuestion, changed: Callable[[str], None]) -> None:
        self.state, self.question, self._follow = state, question, changed
        self._shown: list[tuple[ui.element, Callable[[Asking], bool]]] = []
        self._chosen = MICRODATA if question.microdata else CELLS
        self.grouped: dict[str, list[str]] = {}

    @property
    def kind(self) -> str:
        """The kind of table: what is audited or verified is there already."""
        return self._chosen if self.question.task == SUPPRESS else CELLS

    @property
    def asked(self) -> TableQuestion:
        """What is asked: of a table that is there, or of microdata."""
        names = self.grouped.get(self.kind)
        kept = self.question
        if names is not None:  # hierarchies of a file that was chosen before are not asked for
            kept = replace(
                kept,
                hierarchies=tuple(one for one in kept.hierarchies if one[0] in names),
                totals=tuple(one for one in kept.totals if one[0] in names),
            )
        if self.kind == CELLS:
            return replace(kept, microdata="")
        return replace(kept, cells="", relations="", further=(), metadata="", contributors="", made="")

    def set(self, key: str, value: Any) -> None:
        """Change a part of the question."""
        self.question = replace(self.question, **{key: value})
        self.follow(key)

    def follow(self, key: str) -> None:
        """Show what follows from a change."""
        for element, when in self._shown:
            element.set_visibility(when(self))
        self._follow(key)

    def choose_kind(self, kind: str) -> None:
        """Ask of the other kind of table."""
        self._chosen = kind
        self.follow("kind")

    def files(self, none: str = "none", more: Sequence[str] = ()) -> dict[str, str]:
        """The files of the project to choose from: those of records, and `more`."""
        listed = [*more, *self.state.project.data_files]
        return {"": none, **{name: name for name in listed if not name.lower().endswith(METADATA)}}

    def tables(self) -> dict[str, str]:
        """Files that may hold the cells of a table."""
        project = self.state.project
        left = project.left(INTERNAL_STEM, (".csv", *WHOLE))
        listed = self.files(more=[*project.for_tables("tables"), *left])
        return {name: words for name, words in listed.items() if not name.lower().endswith(DATA)}

    def parts(self, key: str) -> dict[str, str]:
        """Those of them that are linked by their codes, which JJ files have not.

        Cells of ARGUS can be another release, and are not linked with files of cells and relations.
        """
        left_out = JJ if key == ALSO else WHOLE
        return {name: words for name, words in self.tables().items() if not name.lower().endswith(left_out)}

    def descriptions(self) -> dict[str, str]:
        """Files that say what the columns of others are."""
        project = self.state.project
        listed = [*project.for_tables("metadata"), *project.data_files]
        names = [name for name in listed if name.lower().endswith(METADATA)]
        return {"": "the one beside a .tab, if any", **{name: name for name in names}}

    def select(
        self, label: str, options: Mapping[str, str], key: str, when: Callable[[Asking], bool] | None = None
    ) -> ui.select:
        """A field with a list of answers; shown only `when` it matters."""
        value = getattr(self.question, key)
        known = value if value in options else next(iter(options))
        field = ui.select(
            dict(options), value=known, label=label, on_change=lambda event: self.set(key, event.value)
        ).mark(key)
        if when is not None:
            self.shown(field, when)
        return field

    def several(self, label: str, key: str, hint: str = "") -> ui.select:
        """A field with a list of which any number are chosen; what there is is not known yet."""
        chosen = list(getattr(self.question, key))
        return several(label, chosen, chosen, lambda names: self.set(key, names), hint).mark(key)

    def number(self, label: str, key: str, least: float) -> ui.number:
        """A field of a number."""
        kind = type(getattr(self.question, key))

        def change(event: Any) -> None:
            if event.value is not None and event.value >= least:
                self.set(key, kind(event.value))

        return ui.number(label, value=getattr(self.question, key), min=least, on_change=change).mark(key)

    def checkbox(self, label: str, key: str) -> ui.checkbox:
        """A field of yes or no."""
        return ui.checkbox(
            label, value=getattr(self.question, key), on_change=lambda event: self.set(key, bool(event.value))
        ).mark(key)

    def shown(self, element: ui.element, when: Callable[[Asking], bool]) -> ui.element:
        """Show an element only while something holds."""
        self._shown.append((element, when))
        element.set_visibility(when(self))
        return element


class ColumnFields:
    """Fields for columns of a file whose names are not known before it was looked at.

    Parameters
    ----------
    asking : Asking
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._fields: list[tuple[str, ui.select, str | None]] = []

    def one(self, label: str, none: str, key: str, when: Callable[[Asking], bool] | None = None) -> ui.select:
        """A field for one column; `none` says what it means that none is chosen."""
        chosen = getattr(self._asking.question, key)
        options = {"": none, **({chosen: chosen} if chosen else {})}
        field = self._asking.select(label, options, key, when)
        self._fields.append((key, field, none))
        return field

    def several(self, label: str, key: str, hint: str = "") -> ui.select:
        """A field for any number of columns."""
        field = self._asking.several(label, key, hint)
        self._fields.append((key, field, None))
        return field

    def offer(self, names: Mapping[str, Sequence[str]], usual: Sequence[str] = ()) -> None:
        """Offer the columns of a file; `names` are those of single fields, `usual` those of all others."""
        for key, field, none in self._fields:
            offered, chosen = list(names.get(key, usual)), getattr(self._asking.question, key)
            if none is None:
                field.set_options(offered, value=[name for name in chosen if name in offered])
            else:
                options = {"": none, **{name: name for name in offered}}
                field.set_options(options, value=chosen if chosen in options else "")


def several(
    label: str,
    options: Sequence[str] | Mapping[str, str],
    chosen: Sequence[str],
    change: Callable[[tuple[str, ...]], None],
    hint: str,
) -> ui.select:
    """A field with a list of which any number are chosen."""
    field = ui.select(
        dict(options) if isinstance(options, Mapping) else list(options),
        value=list(chosen),
        label=label,
        multiple=True,
        on_change=lambda event: change(tuple(event.value)),
    ).props("use-chips")
    return field.props(f'hint="{hint}"') if hint else field
