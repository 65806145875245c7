"""Forms as commands: values of options, their words, and the runs on microdata."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.options.kinds import COLUMN, NAME, NAMES, TEXT
from linkrisk.datasets.options.option import APP, COMMAND, Option, options_of
from linkrisk.errors import called, plain
from linkrisk.solver.app.project import MASKED, RUNS, Project, read_json
from linkrisk.solver.app.runs import (
    CERTIFICATE,
    OUTSIDE,
    RECORD,
    REPORT,
    RESULT,
    SEED,
    Queue,
    Run,
)
from linkrisk.solver.options.command_line import flag, values_of, words
from linkrisk.solver.options.operations import OPERATIONS, operation
from linkrisk.solver.options.pair import ALL
from linkrisk.solver.run.errors import UsageError

OF_NUMBERS = {"decimal": "Before decimals", "thousands": "Between thousands"}
"""Fields that are no options of an operation: how numbers are written in all files of the project."""

_ASKED: ContextVar[str] = ContextVar("asked", default="")


def fields_of(command: str) -> dict[str, Option]:
    """The options of a command that a form asks for, by their keywords: those that have a label."""
    known = options_of(operation(command), COMMAND)
    return {name: one for name, one in known.items() if one.label and APP in one.faces}


@contextlib.contextmanager
def about(command: str) -> Iterator[None]:
    """Options in messages are those of a command meanwhile."""
    token = _ASKED.set(command)
    try:
        yield
    finally:
        _ASKED.reset(token)


def label(name: str, value: Any = None) -> str:
    """Spell an option as the form shows it; one without a field as a command does, as commands are shown."""
    known = options_of(operation(_ASKED.get())) if _ASKED.get() else {}
    shown = OF_NUMBERS.get(name) or (known[name].label if name in known else "")
    if not shown:
        return flag(name, value)
    return f"'{shown}'" if value is None or value is True else f"'{shown}' set to {plain(value)!r}"


@dataclass(frozen=True)
class Step:
    """A command, and the values of its options."""

    command: str  # such as ``tables suppress``
    # by the keywords of its options. What another command would be told, or what says something of an option
    # that has no value, is passed over.
    values: Mapping[str, Any]

    @property
    def given(self) -> dict[str, Any]:
        """Values that are passed to the command."""
        known = options_of(operation(self.command), COMMAND)
        found = {name: value for name, value in self.values.items() if name in known}
        for name in list(found):
            needs = [other for other in known[name].needs if other in known]
            if needs and not any(other in self.values for other in needs):
                del found[name]
            elif known[name].kind.repeated and isinstance(found[name], str):
                found[name] = [found[name]]
        return found

    @property
    def argv(self) -> list[str]:
        """Its words."""
        return [*self.command.split(), *words(operation(self.command), self.given)]

    def check(self) -> None:
        """Refuse what the command would refuse of its words, with options called as their fields are."""
        with about(self.command):
            for name, one in fields_of(self.command).items():
                if one.required and name not in self.values:
                    raise UsageError(f"choose {called(name)}", option=name)
            values_of(operation(self.command), self.argv[len(self.command.split()) :])

    @classmethod
    def read(cls, argv: Sequence[str]) -> Step:
        """The step that a command line is; UsageError if it is none of this version."""
        command = next((name for name in (" ".join(argv[:2]), argv[0]) if name in OPERATIONS), "")
        if not command:
            raise UsageError(f"there is no command {argv[0]}")
        return cls(command, values_of(operation(command), argv[len(command.split()) :]))


UNSAFE, SUPPRESS, JOINT, COVER = "unsafe", "suppress", "joint", "cover"
"""Commands about key variables, and problems of the second: with levels of recoding, and the usual one."""

SEARCHED = {"aggregator": ALL, "time_limit": 120.0}
"""With which values searches are asked for where nothing else is chosen."""

_WRITTEN = {
    "fit": {"json": RESULT, "report": REPORT},
    "risk": {"json": RESULT, "report": REPORT},
    "sweep": {"json": RESULT, "report": REPORT, "folder": "maskings"},
    "link": {"json": RESULT},
    UNSAFE: {"json": RESULT},
    SUPPRESS: {"json": RESULT, "report": REPORT, "external_report": OUTSIDE},
}
"""What runs leave in their folder: their numbers, and the page about them."""

_NEEDED = {
    "sweep": {
        "original": "a sweep needs an original file: choose one",
        "methods": "a sweep needs maskings: write at least one",
    },
    "link": dict.fromkeys(
        ("original", "masked"), "a linker needs a file pair: choose an original and a masked file"
    ),
    UNSAFE: {"data": "choose a file"},
    SUPPRESS: {"data": "choose a file"},
}
"""What is said where an option has no value without which a command is none."""

_TITLES = {
    "fit": "Worst case of {pair}, {family}",
    "risk": "All measures of {pair}",
    "sweep": "Sweep of {file}",
    "link": "{pair} linked by {linker}",
    UNSAFE: "Unsafe combinations of {file}",
    SUPPRESS: "Values of {file} suppressed",
}


@dataclass(frozen=True)
class Asked:
    """What is asked of a file, or of a pair of them."""

    kind: str  # the command that answers, of `_TITLES`
    values: Mapping[str, Any] = field(default_factory=dict)  # of its options
    certified: bool = False  # whether `fit` proves its bound for others, and `verify` checks it
    # whether small cells of tables of a few key variables are unsafe, and not what is rare in all of them; a
    # recount goes by all of them
    small: bool = False

    answers: ClassVar[tuple[int, ...]] = (0,)
    """Exit codes of commands that have answered."""

    @property
    def about_keys(self) -> bool:
        """Whether it is about key variables of one file."""
        return self.kind in (UNSAFE, SUPPRESS)

    @property
    def by_k(self) -> bool:
        """Whether unsafe combinations are defined by `k` alone."""
        recounted = self.kind == SUPPRESS and self.values.get("problem", COVER) != COVER
        return not self.small or recounted

    @property
    def leveled(self) -> bool:
        """Whether hierarchies are used: counted by level, or chosen from together with suppression."""
        return self.kind == UNSAFE or self.values.get("problem") == JOINT

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        named = {"original": "data" if self.about_keys else "original", "schema": "schema"}
        named |= {"masked": "masked"} if self.kind != "sweep" else {}
        return {what: self.values[name] for what, name in named.items() if name in self.values}

    @property
    def title(self) -> str:
        """What people call it."""
        files = [Path(self.inputs[what]).name for what in ("original", "masked") if what in self.inputs]
        family = self.values.get("aggregator", ALL)
        return _TITLES[self.kind].format(
            pair=" and ".join(files) or "the embedded pair",
            file=files[0] if files else "",
            family="all families" if family == ALL else family,
            linker=self.values.get("method"),
        )

    def steps(self, folder: str) -> list[Step]:
        """Its command, and `verify` of a certificate."""
        values = {name: value for name, value in self.values.items() if name not in self._idle}
        values |= {name: f"{folder}/{file}" for name, file in _WRITTEN[self.kind].items()}
        if self.kind == SUPPRESS:
            values["output"] = f"{folder}/{masked_name(self.values['data'])}"
        if not self.certified:
            return [Step(self.kind, values)]
        proof = f"{folder}/{CERTIFICATE}"
        checked = {**self.values, "result": f"{folder}/{RESULT}", "certificate": proof}
        return [Step(self.kind, {**values, "certificate_file": proof}), Step("verify", checked)]

    @property
    def _idle(self) -> tuple[str, ...]:
        """Options that were given a value and do not matter now."""
        if self.kind == "sweep":  # it has no masked file that could have been shuffled
            return ("id",) if str(self.values.get("id")).startswith(f"{RUNS}/") else ()
        if not self.about_keys:
            return ()
        rare = ("dimension", "threshold") if self.by_k else ("k",)
        return rare if self.leveled else (*rare, "hierarchies")

    def check(self) -> None:
        """Raise LinkriskError for a question that is incomplete or has no answer."""
        for name, said in _NEEDED.get(self.kind, {}).items():
            if not self.values.get(name):
                raise UsageError(said)
        known = self.values.keys()
        if self.values.get("problem") == JOINT and self.about_keys and not {"hierarchies", "schema"} & known:
            raise UsageError(
                "levels of recoding need a hierarchy of at least one key variable: choose its file"
            )
        if not self.about_keys and self.kind != "sweep" and ("original" in known) != ("masked" in known):
            raise UsageError(f"choose the {'masked' if 'original' in known else 'original'} file, too")
        for step in self.steps(RUNS):
            step.check()

    def each(self) -> list[Asked]:
        """What is asked in runs of their own: each family has its certificate."""
        from linkrisk.formulations.linkage.aggregators import AGGREGATORS

        if not self.certified or self.values.get("aggregator") != ALL:
            return [self]
        return [replace(self, values={**self.values, "aggregator": name}) for name in AGGREGATORS]


def add_masked_risk(queue: Queue, values: Mapping[str, Any], methods: Sequence[str]) -> Run:
    """Mask the original and take every measure of what comes out, in one run.

    Its seed is a new one: those of a sweep follow from that of the sweep, which anybody may guess.
    """
    run, original = queue.folder("risk"), values["original"]
    folder = f"{RUNS}/{run.name}"
    mask = _mask_step(original, methods, folder)
    asked = Asked("risk", {**SEARCHED, **values, "masked": mask.values["output"]})
    title = f"All measures of {Path(original).name} masked by {' + '.join(methods)}"
    argv = [step.argv for step in (mask, *asked.steps(folder))]
    return queue.add("risk", title, argv, run=run, inputs=asked.inputs)


def add_mask(queue: Queue, file: str, methods: Sequence[str], *, seed: str = "", **values: Any) -> Run:
    """Mask a file; a seed is in a file of its own, which the command names instead of it."""
    run = queue.folder("mask")
    folder = f"{RUNS}/{run.name}"
    if seed:
        run.keep(SEED, {"seed": seed})
        values["seed"] = f"{folder}/{SEED}"
    step = _mask_step(file, methods, folder, **values)
    title = f"{Path(file).name} masked by {' + '.join(methods)}"
    return queue.add("mask", title, [step.argv], run=run, inputs={"original": file})


def _mask_step(file: str, methods: Sequence[str], folder: str, **values: Any) -> Step:
    """`mask`; the masked file has the format of the original and lies in the folder of the run."""
    written = {"output": f"{folder}/{masked_name(file)}", "record": f"{folder}/{RECORD}"}
    return Step("mask", {**values, "data": file, "method": list(methods), **written})


def shuffled_by(project: Project, masked: str) -> str:
    """Find the record of the order in which a run has shuffled a file; empty where there is none."""
    record = f"{Path(masked).parent.as_posix()}/{RECORD}"
    content = read_json(project.folder / record) if masked.startswith(f"{RUNS}/") else None
    return record if isinstance(content, dict) and content.get("order") else ""


def masked_name(file: str) -> str:
    """What the masked version of a file is called: in its format, or as CSV where that cannot be written."""
    from linkrisk.datasets.microdata.formats.registry import known_suffixes

    path = Path(file)
    suffix = path.suffix if path.suffix.lower() in known_suffixes(to_write=True) else ".csv"
    return f"{path.stem}{MASKED}{suffix}"


def spelled_method(name: str, values: Mapping[str, Any]) -> str:
    """A masking method as one text, from the values of its parameters."""
    words = [name]
    for key, one in METHODS[name].parameters.items():
        if not (value := values.get(key)):
            continue
        if one.kind.parse is None:
            words.append(key)
        elif one.kind.repeated:
            words += [f"{key}={each}" for each in value]
        else:
            words.append(f"{key}={in_a_word(one, value)}")
    return shlex.join(words)


def in_words(parameters: Mapping[str, Option], *, checked: bool = False) -> dict[str, Option]:
    """The parameters of a method as options whose values are words, which the method reads itself.

    Of those that are `checked`, words are refused that it would refuse.
    """
    return {key: _in_words(key, one, checked) for key, one in parameters.items() if APP in one.faces}


def _in_words(key: str, one: Option, checked: bool) -> Option:
    text, kind = one.help.replace("{", "{{").replace("}", "}}"), one.kind
    if kind.parse is None:
        return replace(one, help=text, label=one.help)
    named = {"columns": NAMES, "column": COLUMN, "choice": NAME}.get(kind.field)
    title = key.replace("_", " ")
    title = title if named else f"{title} ({kind.metavar})" + (", needed" if one.required else "")
    words = replace(named or TEXT, repeated=kind.repeated)
    read = kind.parse
    if checked and not named:
        words = replace(words, parse=lambda word: (read(word), word)[1])
    return replace(one, help=text, label=title, kind=words)


def in_a_word(one: Option, value: Any) -> Any:
    """The value of such an option as the word that it is given as, or the words."""
    return shown_names(value, ",") if isinstance(value, list) and not one.kind.repeated else value
