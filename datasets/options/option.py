"""Options of operations, and parameters of methods, as fields of frozen dataclasses.

Options about one subject are a group, a dataclass with a `title`; an operation inherits its groups, in the
order in which they are shown, and whatever it has of its own. Every face is made from these declarations.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

from linkrisk.datasets.options.kinds import NAME, SWITCH, WRITTEN, Kind
from linkrisk.errors import LinkriskError, called

T = TypeVar("T")
A = TypeVar("A")
R = TypeVar("R")
P = ParamSpec("P")

REQUIRED = object()
"""The default of what has to be given."""

PYTHON, COMMAND, PROTOCOL, APP = "python", "command", "protocol", "app"
FACES = frozenset({PYTHON, COMMAND, PROTOCOL, APP})


@dataclass(frozen=True)
class Option:
    """One option, as a field declares it."""

    # what it means, with its unit, in a line. In braces stand ``choices``, ``default``, the `words` of the
    # operation, and other options by their keywords: ``{work_limit}``
    help: str
    kind: Kind  # how its value is read and written
    doc: str = ""  # what functions say of it where that is more than the line; the same may stand in braces
    # names to choose from, or ``module:NAME`` of a mapping or sequence of them that is costly to import
    choices: tuple[str, ...] | str = ()
    usual: str = ""  # what the default is called; its value as a word, when empty
    # what a form calls choices, those first; of others it shows the name
    named: Mapping[str, str] = field(default_factory=dict)
    flag: str = ""  # what a command calls it, without dashes, where that is not its keyword
    metavar: str = ""  # what a command calls its value, where that is not what its kind says
    label: str = ""  # what a form calls it, which offers no option without one
    faces: frozenset[str] = FACES  # where it is offered; everywhere by default
    after: str = ""  # the option of a later group that it stands behind
    record: bool = False  # whether results keep its value by its keyword
    bare: bool = False  # whether a command takes it as a word without a flag
    once: bool = False  # whether a command refuses a second value, as all of them are meant to be in one
    # other options of which it says something, by their keywords: one of them has to be given with it
    needs: tuple[str, ...] = ()
    because: str = ""  # what it says of them
    group: str = ""  # filled in from the dataclass
    name: str = ""  # filled in from the dataclass
    default: Any = REQUIRED  # filled in from the dataclass
    annotation: str = ""  # filled in from the dataclass
    positional: bool = False  # filled in from the dataclass
    words: Mapping[str, str] = field(default_factory=dict)  # filled in from the dataclass

    @property
    def required(self) -> bool:
        """Whether it has to be given."""
        return self.default is REQUIRED

    @property
    def switched_off(self) -> bool:
        """Whether it is a switch that is on unless a command says no."""
        return self.kind.parse is None and self.default is True

    @property
    def names(self) -> tuple[str, ...]:
        """The names to choose from."""
        if not isinstance(self.choices, str):
            return self.choices
        module, _, name = self.choices.partition(":")
        return tuple(getattr(import_module(module), name))

    @property
    def offered(self) -> dict[str, str]:
        """The names to choose from, each with what a form calls it."""
        return {**self.named, **{name: name for name in self.names if name not in self.named}}

    def filled(self, text: str, others: Mapping[str, str], name: str = "{}") -> str:
        """A text about it with all that stands in braces.

        `others` are options as a face spells them, and `name` how it writes each of the choices.
        """
        usual = self.usual or ("" if self.default in (None, (), REQUIRED) else self.kind.spell(self.default))
        words = {name: word.format_map(others) for name, word in {**self.words, "default": usual}.items()}
        if "{choices}" in text:
            words["choices"] = ", ".join(map(name.format, self.names))
        return text.format_map({**others, **words})


def option(default: T, help: str, kind: Kind, **more: Any) -> T:  # noqa: A002 - the name that argparse uses
    """Declare an option as a field with a default; `more` are other attributes of `Option`."""
    made: T = field(default=default, metadata=declared(help, kind, **more))
    return made


def written(help: str, **more: Any) -> str | None:  # noqa: A002
    """Declare an option of commands alone that names a file to be written."""
    return option(None, help, WRITTEN, faces=frozenset({COMMAND}), **more)


def declared(help: str, kind: Kind, **more: Any) -> dict[str, Option]:  # noqa: A002
    """The metadata of a field that is an option, for one that has to be given: `field(metadata=...)`."""
    return {"option": Option(help, kind, **more)}


def again(owner: type[Any], name: str, default: T, **changes: Any) -> T:
    """Declare an option of another group again, with another default and what else is not as there."""
    known = options_of(owner)[name]
    changes = {"usual": known.usual if default == known.default else "", **changes}
    made: T = field(default=default, metadata={"option": replace(known, **changes)})
    return made


def options_of(operation: type[Any], face: str = "") -> Mapping[str, Option]:
    """The options of an operation by their keywords, in the order in which they are shown."""
    found: dict[str, Option] = {}
    by_name = {one.name: one for one in fields(operation) if "option" in one.metadata}
    for owner in _groups(operation):
        for name in vars(owner).get("__annotations__", {}):
            if name in by_name and name not in found:
                one = by_name[name]
                found[name] = replace(
                    one.metadata["option"],
                    name=name,
                    default=_default_of(one),
                    annotation=str(one.type),
                    positional=not one.kw_only,
                    group=one.metadata["option"].group or vars(owner).get("title", ""),
                    words=getattr(operation, "words", {}),
                )
    offered = {name: one for name, one in found.items() if not face or face in one.faces}
    for name, late in list(offered.items()):
        if late.after in offered:
            del offered[name]
            place = list(offered).index(late.after) + 1
            ordered = list(offered.items())
            offered = dict([*ordered[:place], (name, late), *ordered[place:]])
    return offered


def _default_of(one: Field[Any]) -> Any:
    """That of a field; None where it is costly to make."""
    if one.default is not MISSING:
        return one.default
    return REQUIRED if one.default_factory is MISSING else None


def _groups(operation: type[Any]) -> Iterator[type[Any]]:
    """The classes that an operation is made of, those that it inherits first, in their order."""
    for base in operation.__bases__:
        yield from _groups(base)
    yield operation


def check_choices(known: Mapping[str, Option], given: Mapping[str, Any], error: type[LinkriskError]) -> None:
    """Refuse a value that is none of the choices of its option, or has one among others that is none."""
    for name, one in known.items():
        if not one.choices or one.kind.chosen is None or name not in given:
            continue
        value = given[name]
        offered = list(dict.fromkeys([*one.names, *one.named]))
        for each in () if value is None and "None" in one.annotation else one.kind.chosen(value):
            if not isinstance(each, str) or each not in offered:
                close = get_close_matches(str(each), offered, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(offered)}"
                raise error(f"unknown {called(name)} {each!r}: {hint}", option=name)


def part(kind: type[T], asked: Any, **changes: Any) -> T:
    """What is asked of one subject: the options of a group, or of several, taken from a larger request."""
    known = options_of(kind)
    return kind(**{name: getattr(asked, name) for name in known} | changes)


def keywords(operation: type[Any], asked: Any, **more: Any) -> dict[str, Any]:
    """What a request says, as keywords of the function that takes the operation; `more` holds besides."""
    return {name: getattr(asked, name) for name in options_of(operation, PYTHON)} | more


def recorded_of(asked: Any) -> dict[str, Any]:
    """What results keep of a request: the values of options that say so, by their keywords."""
    return {name: getattr(asked, name) for name, one in options_of(type(asked)).items() if one.record}


def given_of(asked: Any, group: type[Any]) -> dict[str, Any]:
    """Options of a group that need not be given, and whose values are not the defaults of the request."""
    known = options_of(type(asked))
    return {
        name: getattr(asked, name)
        for name in options_of(group)
        if not known[name].required and getattr(asked, name) is not known[name].default
    }


def asking(request: Callable[P, A]) -> Callable[[Callable[[A], R]], Callable[P, R]]:
    """Have a function of one request called with what the request is made of, as its signature shows."""

    def made(body: Callable[[A], R]) -> Callable[P, R]:
        @functools.wraps(body)
        def call(*args: P.args, **given: P.kwargs) -> R:
            return body(request(*args, **given))

        result = body.__annotations__["return"]
        call.__signature__ = inspect.signature(request).replace(return_annotation=result)  # type: ignore[attr-defined]
        return call

    return made


_FORMS = {"A,B": "columns", "COLUMN": "column"}
"""What a form shows for values that are called so."""


def meant(
    help: str,  # noqa: A002 - the name that argparse uses
    parse: Callable[[str], Any] | None,
    *,
    metavar: str = "",
    repeated: bool = False,
    flag: str = "",
    choices: tuple[str, ...] = (),
    faces: frozenset[str] = FACES,
) -> dict[str, Option]:
    """Make the metadata of a field that is a parameter of a method; `parse` is None for a switch."""
    if parse is None:
        return declared(help, SWITCH, flag=flag)
    form = "choice" if choices else "text" if repeated else _FORMS.get(metavar, "text")
    kind = Kind(parse, metavar, repeated=repeated, field=form, chosen=NAME.chosen if choices else None)
    return declared(help, kind, flag=flag, choices=choices, faces=faces)


def parameter(default: T, help: str, parse: Callable[[str], Any] | None, **more: Any) -> T:  # noqa: A002
    """Declare a parameter of a method as a field with a default; the rest is as in `meant`."""
    made: T = field(default=default, metadata=meant(help, parse, **more))
    return made


@functools.cache
def later(place: str) -> Callable[[str], Any]:
    """Read text by a function that is costly to import, ``module:NAME``; it is imported when it reads."""
    module, _, name = place.partition(":")
    return lambda text: attrgetter(name)(import_module(f"linkrisk.{module}"))(text)


def shared_options(methods: Mapping[str, type[Any]]) -> dict[str, Option]:
    """The parameters of several methods by name, for a command line that offers each of them once.

    One that several have says what it means to each, has all forms of its value, and can be given several
    times where one of them takes several. How text is read is for each to say (`options_of`).
    """
    found: dict[str, list[tuple[str, Option]]] = {}
    for name, kind in methods.items():
        for key, each in options_of(kind).items():
            found.setdefault(key, []).append((name, each))
    return {key: _shared(several, len(several) == len(methods)) for key, several in found.items()}


def _shared(several: Sequence[tuple[str, Option]], everywhere: bool) -> Option:
    meanings: dict[str, list[str]] = {}
    for name, each in several:
        meanings.setdefault(each.help, []).append(name)
    said = "; ".join(f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items())
    kinds = [each.kind for _, each in several]
    return replace(
        several[0][1],
        help=next(iter(meanings)) if everywhere and len(meanings) == 1 else said,
        kind=replace(
            kinds[0],
            metavar="|".join({kind.parse: kind.metavar for kind in reversed(kinds)}.values()),
            repeated=any(kind.repeated for kind in kinds),
        ),
    )
