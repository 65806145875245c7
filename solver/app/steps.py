"""What is clicked, as commands: each kind of run is a list of command lines with files of its folder.

All paths are relative to the project folder, so the same lines do the same again when they are typed there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from linkrisk.datasets.masking.registry import METHODS
from linkrisk.datasets.masking.releasing import KEEP_ALL
from linkrisk.datasets.microdata.names import shown_names
from linkrisk.solver.app.project import MASKED, RUNS, Project, read_json
from linkrisk.solver.app.run_folder import CERTIFICATE, RECORD, REPORT, RESULT, SEED, VERIFICATION, Run
from linkrisk.solver.app.run_queue import Queue


@dataclass(frozen=True)
class Question:
    """What is asked of a file pair.

    Attributes
    ----------
    original, masked, schema : str
        Names of files of the project; empty where there is none. Without the first two, the embedded pair.
    aggregator : str
        A family of distances, or ``all``.
    seconds : float
        Time limit.
    seed : int
    attributes : tuple of str
        What an intruder may know; empty for all common columns, or what the schema says.
    identifier : str
        The column that says who is who; empty for row by row, or what the schema says.
    ties : str
        Rule for identical candidates; empty for the usual one of the command.
    tolerated : float
        Share of records that may be re-identified, for the verdict of `risk`.
    certificate : bool
        Whether `fit` proves its bound for others, and `verify` checks it.
    linker : str
        The method of `link`.
    one_to_one : str
        How `link` also matches all records at once; empty where it does not.
    """

    original: str = ""
    masked: str = ""
    schema: str = ""
    aggregator: str = "all"
    seconds: float = 120.0
    seed: int = 0
    attributes: tuple[str, ...] = ()
    identifier: str = ""
    ties: str = ""
    tolerated: float = 0.05
    certificate: bool = False
    linker: str = "prl"
    one_to_one: str = ""

    @property
    def files(self) -> list[str]:
        """The arguments that name the file pair."""
        return [
            *(["--original", self.original] if self.original else []),
            *(["--masked", self.masked] if self.masked else []),
            *(["--schema", self.schema] if self.schema else []),
            *self.compared,
            *(["--id", self.identifier] if self.identifier else []),
        ]

    @property
    def compared(self) -> list[str]:
        """The arguments that name the attributes."""
        return ["--attributes", shown_names(self.attributes, ",")] if self.attributes else []

    @property
    def inputs(self) -> dict[str, str]:
        """Its files, by what they are."""
        named = {"original": self.original, "masked": self.masked, "schema": self.schema}
        return {what: name for what, name in named.items() if name}

    @property
    def tie_rule(self) -> list[str]:
        """The argument that names a rule; none where the command has its usual one."""
        return ["--ties", self.ties] if self.ties else []

    @property
    def run_options(self) -> list[str]:
        """The arguments of every search."""
        return [*self.tie_rule, "--time-limit", f"{self.seconds:g}", "--seed", str(self.seed)]


def fit_steps(question: Question, folder: str) -> tuple[list[list[str]], dict[int, str]]:
    """`fit`, and `verify` where a certificate is asked for; and in which files their output is kept."""
    fit = ["fit", *question.files, "--aggregator", question.aggregator, *question.run_options]
    fit += _written(folder)
    if not question.certificate:
        return [fit], {}
    fit += ["--certificate", f"{folder}/{CERTIFICATE}"]
    verify = ["verify", f"{folder}/{RESULT}", "--certificate", f"{folder}/{CERTIFICATE}", *question.files]
    return [fit, verify], {1: VERIFICATION}


def risk_steps(question: Question, folder: str) -> list[list[str]]:
    """`risk`: every measure of the release."""
    options = ["--tolerated", f"{question.tolerated:g}", "--aggregator", question.aggregator]
    return [["risk", *question.files, *options, *question.run_options, *_written(folder)]]


def _written(folder: str) -> list[str]:
    """The arguments of what every run leaves: its numbers, and the page about them."""
    return ["--json", f"{folder}/{RESULT}", "--report", f"{folder}/{REPORT}"]


def add_fit(queue: Queue, question: Question) -> list[Run]:
    """Ask for the worst case; with certificates, all families mean one run each, as each has its own."""
    from linkrisk.formulations.linkage.aggregators import AGGREGATORS

    if question.certificate and question.aggregator == "all":
        each = [replace(question, aggregator=name) for name in AGGREGATORS]
        return [run for one in each for run in add_fit(queue, one)]
    run = queue.folder("fit")
    steps, outputs = fit_steps(question, f"{RUNS}/{run.name}")
    family = "all families" if question.aggregator == "all" else question.aggregator
    title = f"Worst case of {pair_title(question)}, {family}"
    return [queue.add("fit", title, steps, run=run, outputs=outputs, inputs=question.inputs)]


def add_risk(queue: Queue, question: Question) -> list[Run]:
    """Ask for every measure."""
    run = queue.folder("risk")
    steps = risk_steps(question, f"{RUNS}/{run.name}")
    title = f"All measures of {pair_title(question)}"
    return [queue.add("risk", title, steps, run=run, inputs=question.inputs)]


def sweep_steps(question: Question, methods: Sequence[str], folder: str) -> list[list[str]]:
    """`sweep`: one file, masked in many ways."""
    files = ["--original", question.original, *(["--schema", question.schema] if question.schema else [])]
    asked = [word for method in methods for word in ("--method", method)]
    options = [*question.compared, "--aggregator", question.aggregator, *question.run_options]
    kept = ["--folder", f"{folder}/maskings", *_written(folder)]
    return [["sweep", *files, *asked, *options, *kept]]


def link_steps(question: Question, folder: str) -> list[list[str]]:
    """`link`: a linker that learns without the truth, judged by it."""
    how = ["--method", question.linker, *question.files, *question.tie_rule]
    how += ["--one-to-one", question.one_to_one] if question.one_to_one else []
    return [["link", *how, "--seed", str(question.seed), "--json", f"{folder}/{RESULT}"]]


def add_link(queue: Queue, question: Question) -> list[Run]:
    """Ask what another linker links."""
    run = queue.folder("link")
    steps = link_steps(question, f"{RUNS}/{run.name}")
    title = f"{pair_title(question)} linked by {question.linker}"
    return [queue.add("link", title, steps, run=run, inputs=question.inputs)]


def add_sweep(queue: Queue, question: Question, methods: Sequence[str]) -> list[Run]:
    """Ask what protection costs."""
    run = queue.folder("sweep")
    steps = sweep_steps(question, methods, f"{RUNS}/{run.name}")
    title = f"Sweep of {Path(question.original).name}"
    return [queue.add("sweep", title, steps, run=run, inputs=question.inputs)]


def add_masked_risk(queue: Queue, question: Question, methods: Sequence[str]) -> Run:
    """Mask the original and take every measure of what comes out, in one run.

    Its seed is a new one: those of a sweep follow from that of the sweep, which anybody may guess.
    """
    run = queue.folder("risk")
    folder = f"{RUNS}/{run.name}"
    target = f"{folder}/{masked_name(question.original)}"
    asked = replace(question, masked=target)
    steps = [_mask_step(question.original, methods, target, folder), *risk_steps(asked, folder)]
    title = f"All measures of {Path(question.original).name} masked by {' + '.join(methods)}"
    return queue.add("risk", title, steps, run=run, inputs=asked.inputs)


@dataclass(frozen=True)
class ReleaseAsked:
    """What becomes of a masked file besides masking.

    Attributes
    ----------
    drop : tuple of str, optional
        Columns that are left out; those that `mask` leaves out by itself when absent.
    shuffle : bool
        Whether records change places.
    renumber : tuple of str
        Columns of ids that get new numbers.
    """

    drop: tuple[str, ...] | None = None
    shuffle: bool = False
    renumber: tuple[str, ...] = ()

    @property
    def options(self) -> list[str]:
        """The arguments of `mask`."""
        dropped = [] if self.drop is None else ["--drop", shown_names(self.drop, ",") or KEEP_ALL]
        numbered = ["--renumber", shown_names(self.renumber, ",")] if self.renumber else []
        return [*dropped, *(["--shuffle"] if self.shuffle else []), *numbered]


def _mask_step(
    file: str,
    methods: Sequence[str],
    target: str,
    folder: str,
    *,
    identifier: str = "",
    seed: str = "",
    release: ReleaseAsked = ReleaseAsked(),
) -> list[str]:
    asked = [word for method in methods for word in ("--method", method)]
    argv = ["mask", "--input", file, *asked, "--output", target, "--record", f"{folder}/{RECORD}"]
    argv += release.options
    return [*argv, *(["--id", identifier] if identifier else []), *(["--seed", seed] if seed else [])]


def shuffled_by(project: Project, masked: str) -> str:
    """The record that says who is who in a file that a run has shuffled; empty where there is none."""
    record = f"{Path(masked).parent.as_posix()}/{RECORD}"
    content = read_json(project.folder / record) if masked.startswith(f"{RUNS}/") else None
    return record if isinstance(content, dict) and content.get("order") else ""


def _kept_seed(run: Run, seed: str) -> str:
    """What a command says instead of a seed: the file that has it."""
    if not seed:
        return ""
    run.keep(SEED, {"seed": seed})
    return f"{RUNS}/{run.name}/{SEED}"


def add_mask(
    queue: Queue,
    file: str,
    methods: Sequence[str],
    *,
    identifier: str = "",
    seed: str = "",
    release: ReleaseAsked = ReleaseAsked(),
) -> Run:
    """Mask a file; the masked one has its format and lies in the folder of the run."""
    run = queue.folder("mask")
    folder = f"{RUNS}/{run.name}"
    target = f"{folder}/{masked_name(file)}"
    kept = _kept_seed(run, seed)
    argv = _mask_step(file, methods, target, folder, identifier=identifier, seed=kept, release=release)
    title = f"{Path(file).name} masked by {' + '.join(methods)}"
    return queue.add("mask", title, [argv], run=run, inputs={"original": file})


def masked_name(file: str) -> str:
    """What the masked version of a file is called: in its format, or as CSV where that cannot be written."""
    from linkrisk.datasets.microdata.formats.registry import known_suffixes

    path = Path(file)
    suffix = path.suffix if path.suffix.lower() in known_suffixes(to_write=True) else ".csv"
    return f"{path.stem}{MASKED}{suffix}"


def spelled_method(name: str, values: Mapping[str, str | bool]) -> str:
    """A masking method as one text, from what is in the fields of its form; empty ones are left out."""
    known = METHODS[name].parameters
    words = [name]
    for key, value in values.items():
        if key not in known or value in ("", False):
            continue
        if known[key].kind.parse is None:
            words.append(key)
        elif known[key].kind.repeated:
            words += [f"{key}={one.strip()}" for one in str(value).split(";") if one.strip()]
        else:
            words.append(f"{key}={value}")
    return shlex.join(words)


def pair_title(question: Question) -> str:
    """The file pair in a few words."""
    if not question.original:
        return "the embedded pair"
    return f"{Path(question.original).name} and {Path(question.masked).name}"
