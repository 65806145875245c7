"""What made the figures of a page: the line that says so, and how it is told that they are old.

    python scripts/figures.py "python scripts/benchmarks/engines.py --output OUT" "exact engine"

prints the line for figures that this command has just printed, with the version and commit of today. It
names what the figures report on, each with a generation. Whoever changes one of these so that figures become
others (faster, more links, other files) raises its generation below. `tests/scripts/test_figures.py` then
fails on every page that has not been measured again and does not say that it is older. It fails as well
where the code of one has changed since anybody has asked this question; once it is answered,

    python scripts/figures.py --seen

notes the code as it is.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from linkrisk.solver.run.versions import library_versions

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ROOT / "linkrisk"

GENERATIONS = {
    "attacks": 1,
    "big-C engine": 1,
    "evaluator": 3,  # a tree of boxes; blocks in larger batches
    "exact engine": 3,  # parts of a file; counts by the tree of boxes
    "key measures": 1,
    "linkers": 1,
    "masking": 1,
    "page of reports": 1,
}
"""What figures report on, and which generation of it they have to be of."""

CODE = {
    "attacks": (
        "solver/engines/attacks/search.py",
        "solver/engines/attacks/linear_programs.py",
        "solver/engines/attacks/scoring.py",
        "solver/linkage/baselines.py",
    ),
    "big-C engine": ("formulations", "solver/backends", "solver/engines/milp.py"),
    "evaluator": (
        "formulations/linkage/box_tree.py",
        "solver/linkage/evaluator.py",
        "solver/linkage/distance_kernels.py",
        "solver/linkage/distance_ranks.py",
    ),
    "exact engine": (
        "formulations",
        "solver/engines",
        "solver/worst_case/search.py",
        "solver/linkage/lexicographic.py",
    ),
    "key measures": (
        "solver/measures/keys.py",
        "solver/measures/diversity.py",
        "solver/measures/keys.py",
        "solver/measures/suda.py",
        "formulations/suppression/posterior_risk.py",
    ),
    "linkers": (
        "datasets/pairs/partition.py",
        "solver/linkage/bayesian.py",
        "solver/linkage/bayesian_parameters.py",
        "solver/linkage/graphical_model.py",
        "solver/linkage/probabilistic",
        "solver/linkage/quantifiers.py",
        "solver/linkage/representatives.py",
        "solver/linkage/representatives.py",
        "solver/linkage/matching.py",
    ),
    "masking": ("datasets/masking",),
    "page of reports": ("solver/documents/page",),
}
"""Files and folders whose code decides what the figures are."""

SEEN = ROOT / "docs" / "figures" / "code.json"
"""The digest of that code when somebody last asked whether figures had become others."""

PYTHON = "{}.{}".format(*sys.version_info)
"""The version that reads the code, which decides what the digest is of."""

STAMP = re.compile(
    r"\*Figures: `(?P<command>[^`]+)`, linkrisk (?P<version>[\d.]+), code (?P<code>[0-9a-f]{7}) of "
    r"(?P<date>\d{4}-\d\d-\d\d); (?P<subjects>[^.*]+)\.(?: Older: (?P<older>[^*]+)\.)?\*"
)


class Stamp(NamedTuple):
    """What made some figures: command, version, commit and day, and generations of what they report on.

    `older` tells a reader why figures are older than today's generation.
    """

    command: str
    version: str
    code: str
    date: str
    subjects: dict[str, int]
    older: str | None = None

    def __str__(self) -> str:
        subjects = ", ".join(f"{name} {generation}" for name, generation in self.subjects.items())
        older = "" if self.older is None else f" Older: {self.older}."
        return (
            f"*Figures: `{self.command}`, linkrisk {self.version}, code {self.code} of {self.date}; "
            f"{subjects}.{older}*"
        )

    @property
    def outdated(self) -> list[str]:
        """What has changed since these figures were made."""
        return [name for name, generation in self.subjects.items() if generation < GENERATIONS[name]]


def digest(subject: str) -> str:
    """Digest of the code of a subject, whatever its comments, docstrings and layout are."""
    files = [
        file for name in CODE[subject] for file in sorted((HOUSE / name).rglob("*.py")) or [HOUSE / name]
    ]
    trees = [_without_docstrings(ast.parse(file.read_text(encoding="utf-8"))) for file in files]
    return hashlib.sha256("".join(map(ast.dump, trees)).encode()).hexdigest()[:16]


def _without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [item for item in body if not _is_text(item)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def changed() -> list[str]:
    """The subjects whose code is not that which was seen last; none where another Python read it then."""
    seen = json.loads(SEEN.read_text(encoding="utf-8"))
    if seen["python"] != PYTHON:
        return []
    return [subject for subject in GENERATIONS if seen.get(subject) != digest(subject)]


def see() -> None:
    """Note the code of all subjects as it is."""
    digests = {"python": PYTHON, **{subject: digest(subject) for subject in GENERATIONS}}
    SEEN.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")


def stamp_of_today(command: str, subjects: Sequence[str]) -> Stamp:
    """The stamp of figures that this command has printed just now."""
    shown = subprocess.run(
        ["git", "log", "-1", "--format=%h %ad", "--abbrev=7", "--date=short"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, date = shown.stdout.split()
    now = {name: GENERATIONS[name] for name in subjects}
    return Stamp(command, library_versions()["linkrisk"], code, date, now)


def stamps(text: str) -> list[Stamp]:
    """The stamps of a page, or of a part of one; a stamp may go over several lines."""
    found = []
    for stamp in STAMP.finditer(" ".join(text.split())):
        named = [part.rpartition(" ") for part in stamp["subjects"].split(", ")]
        subjects = {name: int(generation) for name, _, generation in named}
        made = (stamp["command"], stamp["version"], stamp["code"], stamp["date"])
        found.append(Stamp(*made, subjects, stamp["older"]))
    return found


if __name__ == "__main__":
    if sys.argv[1:] == ["--seen"]:
        see()
    else:
        print(stamp_of_today(sys.argv[1], sys.argv[2:]))
