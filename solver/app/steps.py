"""What is clicked of files of records, as commands: a run is a list of them with files of its folder.

All paths are relative to the project folder, so the same lines do the same again when they are typed there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.datasets.options.option import options_of
from linkrisk.solver.app.asking import Step, operation
from linkrisk.solver.app.project import MASKED, RUNS, Project, read_json
from linkrisk.solver.app.run_folder import (
    CERTIFICATE,
    OUTSIDE,
    RECORD,
    REPORT,
    RESULT,
    SEED,
    VERIFICATION,
    Run,
)
from linkrisk.solver.app.run_queue import Queue
from linkrisk.solver.options.pair import ALL
from linkrisk.solver.run.errors import UsageError

if TYPE_CHECKING:
    from linkrisk.solver.app.table_steps import TableAsked

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
    """What is asked of a file, or of a pair of them.

    Attributes
    ----------
    kind : str
        The command that answers: ``fit``, ``risk``, ``sweep``, ``link``, `UNSAFE` or `SUPPRESS`.
    values : mapping
        Of its options.
    certified : bool
        Whether `fit` proves its bound for others, and `verify` checks it.
    small : bool
        Whether small cells of tables of a few key variables are unsafe, and not what is rare in all of
        them; a recount goes by all of them.
    """

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    certified: bool = False
    small: bool = False

    answers: ClassVar[tuple[int, ...]] = (0,)
    """Exit codes of commands that have answered."""

    @property
    def by_k(self) -> bool:
        """Whether only `k` says what is unsafe."""
        recounted = self.kind == SUPPRESS and self.values.get("problem", COVER) != COVER
        return not self.small or recounted

    @property
    def leveled(self) -> bool:
        """Whether hierarchies are used: counted by level, or chosen from together with suppression."""
        return self.kind == UNSAFE or self.values.get("problem") == JOINT

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        named = {"original": "data" if self.kind in (UNSAFE, SUPPRESS) else "original", "schema": "schema"}
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
        known = options_of(operation("verify"))
        same = {name: value for name, value in self.values.items() if name in known}
        proof = f"{folder}/{CERTIFICATE}"
        checked = {"result": f"{folder}/{RESULT}", "certificate": proof, **same}
        return [Step(self.kind, {**values, "certificate_file": proof}), Step("verify", checked)]

    @property
    def _idle(self) -> tuple[str, ...]:
        """Options that were given a value and do not matter now."""
        if self.kind == "sweep":  # it has no masked file that could have been shuffled
            return ("id",) if str(self.values.get("id")).startswith(f"{RUNS}/") else ()
        if self.kind not in (UNSAFE, SUPPRESS):
            return ()
        rare = ("dimension", "threshold") if self.by_k else ("k",)
        return rare if self.leveled else (*rare, "hierarchies")

    def check(self) -> None:
        """Refuse what cannot be answered, or is not whole yet.

        Raises
        ------
        LinkriskError
        """
        for name, said in _NEEDED.get(self.kind, {}).items():
            if not self.values.get(name):
                raise UsageError(said)
        if self.kind in (UNSAFE, SUPPRESS):
            self._check_keys()
        elif self.kind != "sweep" and ("original" in self.values) != ("masked" in self.values):
            missing = "masked" if "original" in self.values else "original"
            raise UsageError(f"choose the {missing} file, too")
        for step in self.steps(RUNS):
            step.check()

    def _check_keys(self) -> None:
        if not self.values.get("data"):
            raise UsageError("choose a file")
        if self.values.get("problem") == JOINT and not {"hierarchies", "schema"} & self.values.keys():
            raise UsageError(
                "levels of recoding need a hierarchy of at least one key variable: choose its file"
            )

    def each(self) -> list[Asked]:
        """What is asked in runs of their own: each family has its certificate."""
        from linkrisk.formulations.linkage.aggregators import AGGREGATORS

        if not self.certified or self.values.get("aggregator") != ALL:
            return [self]
        return [replace(self, values={**self.values, "aggregator": name}) for name in AGGREGATORS]


def add(queue: Queue, asked: Asked | TableAsked) -> list[Run]:
    """Put a question into the queue; LinkriskError, and nothing is made, where it cannot be answered."""
    asked.check()
    runs = []
    for one in asked.each():
        run = queue.folder(one.kind)
        steps = [step.argv for step in one.steps(f"{RUNS}/{run.name}")]
        outputs = {len(steps) - 1: VERIFICATION} if one.certified else {}
        queue.add(
            one.kind,
            one.title,
            steps,
            run=run,
            outputs=outputs,
            inputs=one.inputs,
            answers=one.answers,
        )
        runs.append(run)
    return runs


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


def _mask_step(file: str, methods: Sequence[str], folder: str, **values: Any) -> Step:
    """`mask`; the masked file has the format of the original and lies in the folder of the run."""
    written = {"output": f"{folder}/{masked_name(file)}", "record": f"{folder}/{RECORD}"}
    return Step("mask", {**values, "data": file, "method": list(methods), **written})


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


def shuffled_by(project: Project, masked: str) -> str:
    """The record that says who is who in a file that a run has shuffled; empty where there is none."""
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
        value = values.get(key)
        if not value:
            continue
        if one.kind.parse is None:
            words.append(key)
        elif one.kind.repeated:
            words += [f"{key}={each}" for each in value]
        else:
            words.append(f"{key}={shown_names(value, ',') if isinstance(value, list) else value}")
    return shlex.join(words)
