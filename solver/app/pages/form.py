"""Forms of the declared options of a command, with a field for each.

A page places the fields that it knows, side by side or in parts of its own; all others that the command has
stand below, under more options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from linkrisk.datasets.options.kinds import Kind
from linkrisk.datasets.options.option import REQUIRED, Option
from linkrisk.datasets.options.typed import NotSoError
from linkrisk.errors import LinkriskError
from linkrisk.solver.app.looking import look
from linkrisk.solver.app.pages import layout
from linkrisk.solver.app.runs import State
from linkrisk.solver.app.steps import fields_of
from linkrisk.solver.backends.registry import available_backends
from linkrisk.solver.options.command_line import read_word

Shown = Callable[[], bool]
"""Whether a field matters as things are."""


class Form:
    """The fields of a command, and their values by keyword.

    `values`: to begin with. `changed`: told of the keyword whose value was changed. `columns`: columns of the
    file, as far as it has been looked at. `offered`: what is offered besides the declared choices, by
    keyword: each with what it is called.
    """

    def __init__(self, state: State, values: Mapping[str, Any], changed: Callable[[str], None]) -> None:
        self.state, self.values, self._changed = state, dict(values), changed
        self.columns: list[str] = []
        self.offered: dict[str, Mapping[str, str]] = {}
        self._options: dict[str, Option] = {}
        self._left: dict[str, Option] = {}
        self._wrong: dict[str, LinkriskError] = {}
        self._fields: dict[str, ui.element] = {}
        self._shown: list[tuple[ui.element, Shown]] = []

    def begin(self, options: str | Mapping[str, Option]) -> None:
        """Ask for the options of a command from now on, or for these; what was shown before is gone."""
        self._options = dict(fields_of(options) if isinstance(options, str) else options)
        self._left = dict(self._options)
        for known in (self._wrong, self._fields, self._shown):
            known.clear()

    def place(self, *names: str, **when: Shown) -> None:
        """Fields side by side, of options that the command has; some are shown only `when` they matter."""
        known = [name for name in names if name in self._left]
        if known:
            with ui.element("div").classes("fields"):
                for name in known:
                    self.field(name, when.get(name))

    def field(self, name: str, when: Shown | None = None, hint: str = "", **changes: Any) -> ui.element:
        """A field; `changes` are what is otherwise than declared."""
        one = self._options[name] = replace(self._left.pop(name), **changes)
        made = self._fields[name] = _DRAWN[one.kind.field](self, one).mark(name)
        if hint:
            made.props(f'hint="{hint}"')
        return self.shown(made, when) if when else made

    @property
    def placed(self) -> set[str]:
        """The options that have a field."""
        return set(self._fields)

    def __contains__(self, name: str) -> bool:
        return name in self._options

    def words(self, name: str) -> list[str]:
        """Words of a repeated option, one for each value."""
        kind = self._options[name].kind
        return [kind.spell(each) for each in kind.apart(self.values[name])] if name in self.values else []

    def more(self, *besides: str) -> None:
        """All other options, with what they mean, but those that the page asks for `besides`."""
        groups: dict[str, list[str]] = {}
        for name, one in self._left.items():
            if name not in besides:
                groups.setdefault(one.group, []).append(name)
        if not groups:
            return
        with layout.folded("More options"):
            for title, names in groups.items():
                words = title.partition("(")[0].partition(":")[0].strip()
                if words:
                    layout.text("h3", words[:1].upper() + words[1:])
                with ui.element("div").classes("fields"):
                    for name in names:
                        self.explained(name)

    def explain_all(self) -> None:
        """A field for each option that has none, with what it means."""
        for name in list(self._left):
            self.explained(name)

    def explained(self, name: str) -> None:
        """Make a field with its help below; one that qualifies another option shows with that."""
        one, labels = self._left[name], {other: f"'{each.label}'" for other, each in self._options.items()}
        with ui.element("div") as place:
            self.field(name)
            if one.help not in (one.label, ""):
                layout.text("div", one.filled(one.help, _Named(labels)), "quiet small")
        if any(other in self._options for other in one.needs):
            self.shown(place, lambda: any(other in self.values for other in one.needs))

    def shown(self, element: ui.element, when: Shown) -> ui.element:
        """Show an element only while something holds."""
        self._shown.append((element, when))
        element.set_visibility(when())
        return element

    def choices(self, one: Option) -> dict[str, str]:
        """What there is to choose from, by its word; of backends those that are installed."""
        known = {**one.offered, **self.offered.get(one.name, {})}
        there = {*one.named, *available_backends()} if one.name == "backend" else known.keys()
        return {word: words for word, words in known.items() if word in there}

    def set(self, name: str, value: Any) -> None:
        """Change a value, which is left to the command where it is empty or the usual one."""
        one = self._options[name]
        empty = isinstance(value, str | list | tuple | dict) and not value
        said = one.kind.field == "columns" and one.default is None and bool(one.kind.spell([]))  # as "none"
        if value == one.default or (empty and not said):
            self.values.pop(name, None)
        else:
            self.values[name] = value
        self._wrong.pop(name, None)
        self.follow(name)

    def take(self, name: str, words: Sequence[str]) -> None:
        """Parse words into a value; an error is shown in place of the command."""
        one = self._options[name]
        try:
            values = [read_word(one, word, f"'{one.label or name}'") for word in words if word]
        except LinkriskError as error:
            self._wrong[name] = error
            self.follow(name)
            return
        first = values[0] if values else one.default
        self.set(name, one.kind.together(values) if one.kind.repeated else first)

    def put(self, name: str, word: str) -> None:
        """Choose another answer of a list."""
        field = self._fields.get(name)
        if isinstance(field, ui.select):
            field.set_value(word)
        elif word:
            self.values[name] = word

    def refresh(self) -> None:
        """Show the fields that matter, and no others."""
        for element, when in self._shown:
            element.set_visibility(when())

    def follow(self, name: str = "") -> None:
        """Show what follows from a change."""
        self.refresh()
        self._changed(name)

    def check(self) -> None:
        """Raise what is wrong with what was typed."""
        for error in self._wrong.values():
            raise error

    def offer(self, columns: Sequence[str], **by_name: Sequence[str]) -> None:
        """Offer columns of a file that was read; some options have their own."""
        self.columns = list(columns)
        for name, field in self._fields.items():
            one, chosen = self._options[name], self.values.get(name)
            if not (isinstance(field, ui.select) and one.kind.field.startswith("column")):
                continue
            known = {**{column: column for column in by_name.get(name, columns)}, **self.choices(one)}
            if one.kind.field == "columns":
                field.set_options(known, value=[each for each in chosen or () if each in known])
            else:
                known = _with_none(one, known)
                field.set_options(known, value=chosen if chosen in known else "")

    def look(self, name: str, told: Callable[[str], object]) -> None:
        """Offer the columns of the file of an option once it is read; `told` gets an error."""

        async def read() -> None:
            file = self.values.get(name, "")
            found = await look(self.state.project, file) if file else {}
            if file == self.values.get(name, ""):  # no other one was chosen meanwhile
                self.offer([str(one["name"]) for one in found.get("columns", ())])
                told(str(found.get("error", "")))

        ui.timer(0.01, read, once=True)


class _Named(dict[str, str]):
    """Labels of options; what has no field is called as functions have it."""

    def __missing__(self, name: str) -> str:
        return name


def _usual(one: Option) -> str:
    """Words for the default."""
    return one.filled("{default}", _Named()) if one.usual else ""


def _with_none(one: Option, options: Mapping[str, str]) -> dict[str, str]:
    """The answers of a list, first none of them where the usual one is not there."""
    usual = "" if one.default in (None, REQUIRED, ()) else one.kind.spell(one.default)
    none = _usual(one) or ("as usual" if one.kind.field == "choice" else "none")
    return dict(options) if usual in options else {"": none, **options}


def _select(form: Form, one: Option, options: Mapping[str, str]) -> ui.select:
    """A list of which one is chosen."""
    offered, value = _with_none(one, options), form.values.get(one.name, one.default)
    word = "" if value in (None, REQUIRED, ()) else one.kind.spell(value)
    if word not in offered:
        form.values.pop(one.name, None)
    return listed(one.label, offered, word, lambda chosen: form.take(one.name, [chosen]))


def listed(label: str, offered: Mapping[str, str], value: str, change: Callable[[str], None]) -> ui.select:
    """A field with a list of which one is chosen, the first where it is none of them."""
    known = value if value in offered else next(iter(offered))
    return ui.select(dict(offered), value=known, label=label, on_change=lambda event: change(event.value))


def one_of(
    label: str, files: Iterable[str], chosen: str, change: Callable[[str], None], none: str = "none"
) -> ui.select:
    """A field with a list of files of which one is chosen, or none."""
    return listed(label, {"": none, **{name: name for name in files}}, chosen, change)


def _radio(form: Form, one: Option) -> ui.radio:
    word = one.kind.spell(form.values.get(one.name, one.default))
    return ui.radio(form.choices(one), value=word, on_change=lambda event: form.take(one.name, [event.value]))


def _list(form: Form, one: Option) -> ui.select:
    """A list of files, columns or choices, of which one or several are chosen."""
    chosen, known = form.values.get(one.name, ()), form.choices(one)
    if one.kind.field == "file":
        known = {name: name for name in form.state.project.offered(one.name)}
    elif one.kind.field.startswith("column"):
        columns = form.columns or ([chosen] if isinstance(chosen, str) else chosen)
        known = {**{name: name for name in columns}, **known}
    if one.kind.repeated or one.kind.field in ("choices", "columns"):
        hint = one.usual if one.kind.field == "choices" else ""
        return several(one.label, known, chosen, partial(form.set, one.name), hint)
    return _select(form, one, known)


def _number(form: Form, one: Option) -> ui.element:
    given, value = one.name in form.values, form.values.get(one.name, one.default)
    ends = _ends(one.kind)
    shown = value * one.kind.shown if isinstance(value, int | float) else 0 if given and ends else None

    def change(event: Any) -> None:
        number = event.value
        if number is None:
            form.take(one.name, [])
        elif number >= 0:
            number = round(number / one.kind.shown, 12)
            word = str(int(number)) if number == int(number) else repr(number)
            form.take(one.name, ["none" if ends and not number else word])

    label = f"{one.label}, 0 for none" if ends else one.label
    field = ui.number(label, value=shown, min=0, placeholder=_usual(one), on_change=change)
    return field.props("stack-label")


def _ends(kind: Kind) -> bool:
    """Whether a number can be none, as no limit."""
    try:
        return kind.parse is not None and kind.parse("none") is None
    except NotSoError:
        return False


def _check(form: Form, one: Option) -> ui.checkbox:
    value = bool(form.values.get(one.name, one.default))
    return ui.checkbox(one.label, value=value, on_change=lambda event: form.set(one.name, bool(event.value)))


def _text(form: Form, one: Option) -> ui.element:
    def change(event: Any) -> None:
        lines = (event.value or "").splitlines() if one.kind.repeated else [event.value or ""]
        form.take(one.name, [line.strip() for line in lines])

    value = form.values.get(one.name, () if one.kind.repeated else one.default)
    given = [] if value in (None, REQUIRED, ()) else one.kind.apart(value) if one.kind.repeated else [value]
    said = "\n".join(map(one.kind.spell, given))
    if one.kind.repeated:
        field: ui.element = ui.textarea(f"{one.label}, one a line", value=said, on_change=change)
        return field.props("stack-label rows=3")
    field = ui.input(one.label, value=said, placeholder=_usual(one), on_change=change)
    return field.props("stack-label")


_DRAWN: dict[str, Callable[[Form, Option], ui.element]] = {
    **dict.fromkeys(("choice", "choices", "column", "columns", "file"), _list),
    "check": _check,
    "number": _number,
    "pairs": _text,
    "radio": _radio,
    "text": _text,
}
"""How a kind of values is asked for."""


class _Several(ui.select):
    """A list of which any number are chosen, kept by the browser.

    Otherwise each choice starts from what the server has said last, and the first of two quick ones is lost.
    """

    LOOPBACK = False

    def __init__(self, *args: Any, **how: Any) -> None:
        super().__init__(*args, **how)
        # The browser would keep a list inside another one: it takes all values for single ones.
        kept = f"(chosen) => mounted_app.elements[{self.id}].props['model-value'] = chosen"
        self.on("update:model-value", js_handler=kept)


def several(
    label: str,
    options: Iterable[str] | Mapping[str, str],
    chosen: Iterable[str],
    change: Callable[[list[str]], None],
    hint: str = "",
) -> ui.select:
    """A field with a list of which any number are chosen."""
    field = _Several(
        dict(options) if isinstance(options, Mapping) else list(options),
        value=[each for each in chosen if each in options],
        label=label,
        multiple=True,
        on_change=lambda event: change(list(event.value)),
    ).props("use-chips")
    return field.props(f'hint="{hint}"') if hint else field
