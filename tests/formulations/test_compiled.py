"""Compiled code is kept on disk, and never outlives a source that went into it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linkrisk.formulations.compiled import kernels
from linkrisk.formulations.sources import digest_of_sources
from linkrisk.solver.linkage import distance_kernels as linkage_kernels

ROOT = Path(__file__).resolve().parents[2]

CALLER = """
from linkrisk.formulations.compiled import kernel
from small.part import STEP
from small.room.callee import grow

@kernel
def twice(x: int) -> int:
    return grow(grow(x)) + STEP
"""
CALLEE = """
from linkrisk.formulations.compiled import kernel
{more}
@kernel
def grow(x: int) -> int:
    return x + {step}
"""
PROGRAM = """
import json
from linkrisk.formulations.compiled import kernels, missing
from small import apart, caller

before = [k.__name__ for k in missing()]
answer = caller.twice(1), apart.shrink(1)
compiled = sorted(k.__name__ for k in kernels() if sum(k.stats.cache_misses.values()))
after = [k.__name__ for k in missing()]
print(json.dumps({"answer": answer, "before": before, "compiled": compiled, "after": after}))
"""
APART = """
from linkrisk.formulations.compiled import kernel

@kernel
def shrink(x: int) -> int:
    return x - 1
"""


@pytest.fixture
def small(tmp_path):
    """A package of three files of kernels and one of constants; `twice` calls `grow` in another file."""
    folder = tmp_path / "small"
    (folder / "room").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "room/__init__.py": "",
        "part.py": "STEP = 1000\n",
        "caller.py": CALLER,
        "room/callee.py": CALLEE.format(more="", step=10),
        "apart.py": APART,
    }.items():
        (folder / name).write_text(text)
    return folder


def run(folder, **environment):
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder.parent), str(ROOT)]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def rewrite(path, text):
    """Write a file anew with its old times: not even a clock that stands still may hide a change."""
    times = path.stat()
    path.write_text(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    for old in (path.parent / "__pycache__").glob("*.pyc"):
        old.unlink()  # Python itself trusts times and sizes


def test_a_change_in_a_file_that_is_called_or_in_a_constant_compiles_the_caller_anew(small):
    """The constant is imported by the caller, or by a file that it imports."""
    (small / "deeper.py").write_text("STEP = 10\n")
    through = "from small.deeper import (\n    STEP,\n)\n"
    rewrite(small / "room" / "callee.py", CALLEE.format(more=through, step="STEP"))
    first, second = run(small), run(small)
    assert first["answer"] == second["answer"] == [1021, 0]
    assert first["before"] == ["shrink", "grow", "twice"]
    assert first["compiled"] == ["shrink", "twice"]
    assert first["after"] == second["before"] == ["grow"], "which is in its caller, and nowhere alone"
    assert second["compiled"] == []
    assert len(list(small.rglob("*.nb[ic]"))) == 4
    rewrite(small / "room" / "callee.py", CALLEE.format(more=through, step="2 * STEP"))
    changed = run(small)
    assert changed["answer"] == [1041, 0]
    assert changed["compiled"] == ["twice"], "and nothing that does not use it"
    rewrite(small / "part.py", "STEP = 2000\n")
    changed = run(small)
    assert (changed["answer"], changed["compiled"]) == ([2041, 0], ["twice"])
    rewrite(small / "deeper.py", "STEP = 30\n")
    assert run(small)["answer"] == [2121, 0]
    assert len(list(small.rglob("*.nb[ic]"))) == 4, "no heap of old files"


def block_caches(folder):
    """Put files where folders of caches would be: not even the superuser can write there."""
    for place in (folder, folder / "room"):
        (place / "__pycache__").write_text("")


def test_where_the_package_cannot_be_written_the_users_folder_is_used(small, tmp_path):
    block_caches(small)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    assert run(small, **home)["compiled"] == ["shrink", "twice"]
    rewrite(small / "room" / "callee.py", CALLEE.format(more="", step=20))
    changed = run(small, **home)
    assert changed["answer"] == [1041, 0]
    assert changed["compiled"] == ["twice"]


@pytest.mark.slow
def test_where_nothing_can_be_written_it_is_compiled_every_time(small, tmp_path):
    block_caches(small)
    (tmp_path / "cache").write_text("")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(2):
        found = run(small, **home)
        assert found["answer"] == [1021, 0]
        assert found["before"] == ["shrink", "grow", "twice"]


def test_every_kernel_is_listed_and_kept():
    assert linkage_kernels.dot in kernels()
    assert all(type(kernel._cache).__module__ == "linkrisk.formulations.compiled" for kernel in kernels())


def test_imports_are_found_in_every_spelling(tmp_path):
    """Each of these names a file of the package; the digest must change with any of them."""
    package = tmp_path / "small"
    package.mkdir()
    spellings = {
        "one": "import small.one",
        "two": "import os, small.two as other",
        "three": "from small import three",
        "four": "from small.four import thing",
        "five": "from small import (\n    one,\n    five as more,\n)",
        "six": "def late():\n    from small.six import thing",
    }
    for name in ("__init__", *spellings):
        (package / f"{name}.py").write_text("thing = 1\n")
    (package / "top.py").write_text("\n".join(spellings.values()) + "\n")
    digests = {digest_of_sources(package / "top.py")}
    for name in ("__init__", *spellings):
        (package / f"{name}.py").write_text("thing = 22\n")
        digests.add(digest_of_sources(package / "top.py"))
    assert len(digests) == 1 + 7
