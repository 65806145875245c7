"""The rooms and the arrows between them, read from the imports of every file."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from linkrisk.solver.backends.registry import optimisers
from linkrisk.solver.documents.short import MAKERS, PAGES

ROOT = Path(__file__).resolve().parent.parent
HOUSE = ROOT / "linkrisk"
PACKAGES = ("formulations", "datasets", "solver")
FILES = sorted(path for package in PACKAGES for path in (HOUSE / package).rglob("*.py"))
OPTIMISERS = set(optimisers())
MOST_LINES = 500
MOST_PARAMETERS = 8
MOST_LINES_OF_CORE, MOST_LINES_ON_TABLES = 1_500, 265
CORE = "solver.certificates.core"
FEW_LINES = 40
LOADED_BY_NAME = (
    "solver.commands.",
    *sorted({f"solver.{maker.split(':')[0]}" for maker in (*MAKERS.values(), *PAGES.values())}),
)

# Inside solver, a room may import those of lower rank, and nothing else of it. A subject is a room; what
# users can do with it is in `operations`, where lower rooms use the rest of the subject.
RANKS = {
    "run": 0,
    "options.names": 0,
    "certificates.core": 0,
    "schemas": 1,
    "backends": 1,
    "charts": 2,
    "documents": 3,
    "linkage": 3,
    "certificates.checking": 3,
    "engines": 4,
    "linkage.short": 4,
    "suppression": 4,
    "tables": 4,
    "options": 5,
    "suppression.short": 5,
    "tables.pages": 5,
    "certificates.writing": 6,
    "inputs": 6,
    "suppression.page": 6,
    "compiling": 7,
    "worst_case": 8,
    "linkage.operations": 9,
    "worst_case.operations": 9,
    "masking": 9,
    "measures": 10,
    "report": 11,
    "risk_utility": 11,
    "suppression.operations": 12,
    "tables.operations": 12,
    "certificates.operations": 13,
    "protocol": 13,
    "report.operations": 14,
    "app": 15,
    "commands": 16,
}

# A result draws itself when it is asked to: the one import that points upwards, inside functions alone.
DRAWN = "solver.run.result"

# What load other modules by names in strings, when they are needed: choices of options, charts and pages.
LOADERS = (DRAWN, "solver.options.", "solver.documents.short", "solver.app.", "solver.commands.")

# What data may use: the decorator of compiled code, and what masking that is an optimum solves.
DATA_MAY_USE = ("formulations.compiled", "formulations.suppression")

# What the verifier may use of this project: to trust a certificate, one need not trust what made it.
# The decorator of compiled code has no mathematics in it.
VERIFIER_MAY_USE = (
    *("arrays", "datasets.", "errors", "formulations.compiled", "solver.run.errors"),
    *("solver.certificates.checking", "solver.certificates.core"),
)


def module_of(path):
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree, *, everywhere):
    found = []
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # Relative imports hide where an arrow goes: only a room that can be copied alone has some.
            module = node.module if node.level == 0 else f"linkrisk.{CORE}.{node.module}"
            found.extend(f"{module}.{alias.name}" for alias in node.names)
        elif everywhere or not (_is_later(node) or _is_for_types(node)):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _is_later(node):
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _is_for_types(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def arrows(path, *, everywhere=True):
    """Modules that a file imports, those of the project by their place in the repository."""
    found = imported(parsed(path), everywhere=everywhere)
    return tuple(target.removeprefix("linkrisk.") for target in found)


def room(module):
    """The innermost room of `RANKS` that a module of solver belongs to, or its own name."""
    inside = module.removeprefix("solver.")
    around = [name for name in RANKS if inside == name or inside.startswith(name + ".")]
    return max(around, key=len, default=inside)


def test_there_is_something_to_check():
    assert {"highspy", "pulp", "cvxpy", "pyscipopt"} <= OPTIMISERS
    assert len(FILES) > 60
    assert {path.relative_to(HOUSE).parts[0] for path in FILES} == set(PACKAGES)


def test_imports_point_the_right_way():
    for path in FILES:
        module = module_of(path)
        package = module.split(".")[0]
        for target in arrows(path):
            top = target.split(".")[0]
            if package == "formulations":
                allowed = {
                    *("numpy", "scipy", "numba", "llvmlite", "formulations", "arrays", "errors")
                } | sys.stdlib_module_names
                assert top in allowed, (
                    f"{module} imports {target}: the mathematics needs numpy, scipy and numba only"
                )
            if package == "datasets":
                assert top not in {"solver", "formulations"} or target.startswith(DATA_MAY_USE), (
                    f"{module} imports {target}: data knows no use of it"
                )
            assert top not in {"tests", "scripts"}, f"{module} imports {target}"


def test_names_of_the_project_are_written_in_full():
    """One name for one module: `solver.run` would be another copy of `linkrisk.solver.run`."""
    files = [*FILES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    may = re.compile(rf"\b(import|from)\s+({'|'.join(PACKAGES)})\b")  # few files are worth being parsed
    for path in files:
        for target in imported(parsed(path), everywhere=True) if may.search(path.read_text("utf-8")) else ():
            assert target.split(".")[0] not in PACKAGES, f"{path.relative_to(ROOT)} imports {target}"


INSIDE = [
    path for path in FILES if len(path.relative_to(HOUSE).parts) > 2 and path.is_relative_to(HOUSE / "solver")
]


def test_layers_of_the_solver():
    for path in INSIDE:
        module = module_of(path)
        own = room(module)
        if module == "solver.certificates":  # only says what its two rooms are
            continue
        assert own in RANKS, f"{module} has no place yet: give its room a rank in this test"
        for target in arrows(path):
            if not target.startswith("solver.") or room(target) == own:
                continue
            other = room(target)
            if module == DRAWN and other == "documents" and target not in arrows(path, everywhere=False):
                continue
            assert other in RANKS, f"{module} imports {target}, whose room has no rank in this test"
            assert RANKS[other] < RANKS[own], f"{module} imports {target}: that arrow points upwards"


def _named_in_strings(path):
    """Modules of the project that a file names in strings, such as `module:name`."""
    texts = (node.value for node in ast.walk(parsed(path)) if isinstance(node, ast.Constant))
    found = (re.fullmatch(r"linkrisk\.([\w.]+)(:\w+)?", text) for text in texts if isinstance(text, str))
    return tuple(match[1] for match in found if match)


def test_rooms_have_no_circle():
    """Not even by late imports, imports for types, or modules loaded by name, but for what stands above."""
    known = {module_of(path) for path in FILES} - {"", "linkrisk"}
    graph = {}
    for path in FILES:
        module = module_of(path)
        targets = set(arrows(path, everywhere=module != DRAWN))
        targets |= set() if module.startswith(LOADERS) else set(_named_in_strings(path))
        modules = (target if target in known else target.rpartition(".")[0] for target in targets)
        graph.setdefault(_place(module), set()).update(_place(name) for name in modules if name in known)
    order = []
    while len(order) < len(graph):
        ready = [name for name in graph if name not in order and graph[name] - {name} <= set(order)]
        assert ready, f"a circle among {sorted(set(graph) - set(order))}"
        order += ready


def _place(module):
    """The room of a module of solver, the package of any other; what only says what is in it is by itself."""
    if module.startswith("solver."):
        return f"solver.{room(module)}"
    return module.split(".")[0] if module.split(".")[0] in {"datasets", "formulations"} else module


def test_the_verifier_shares_no_code_with_the_engines():
    files = [path for path in FILES if path.is_relative_to(HOUSE / "solver" / "certificates" / "checking")]
    assert len(files) > 5
    for path in files:
        for target in arrows(path):
            own = target.split(".")[0] in PACKAGES
            assert not own or target.startswith(VERIFIER_MAY_USE), f"{module_of(path)} imports {target}"


def test_the_core_of_the_verifier_needs_nothing_but_python():
    """Not even the rest of the project: whoever copies the folder has all of it. And it stays short."""
    files = sorted((HOUSE / "solver" / "certificates" / "core").glob("*.py"))
    for path in files:
        for node in ast.walk(parsed(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names, path
    of_fits = [path for path in files if path.stem != "tables"]
    assert sum(_lines_of_code(path) for path in of_fits) <= MOST_LINES_OF_CORE
    assert sum(_lines_of_code(path) for path in files) <= MOST_LINES_OF_CORE + MOST_LINES_ON_TABLES


def _lines_of_code(path):
    texts = [
        node.body[0]
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
    ]
    prose = {at for text in texts for at in range(text.lineno, text.end_lineno + 1)}
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") for at, line in lines if at not in prose
    )


def test_relative_imports_stay_in_the_core():
    for path in FILES:
        relative = [n for n in ast.walk(parsed(path)) if isinstance(n, ast.ImportFrom) and n.level]
        assert not relative or path.parent.name == "core", f"{module_of(path)}: write the name in full"
        assert all(node.level == 1 for node in relative)


def _rooms_within(package):
    return sorted(path.parent for path in (HOUSE / package).rglob("__init__.py"))


@pytest.mark.parametrize(
    "folder", [f for p in PACKAGES for f in _rooms_within(p)], ids=lambda f: str(f.relative_to(ROOT))
)
def test_files_of_a_room_have_no_circle(folder):
    """Files side by side use each other in one direction only."""
    files = {module_of(path): path for path in folder.glob("*.py") if path.name != "__init__.py"}
    graph = {
        name: {
            other
            for other in files
            for target in arrows(path)
            if target == other or target.startswith(other + ".")
        }
        - {name}
        for name, path in files.items()
    }
    order: list[str] = []
    while len(order) < len(graph):
        ready = [name for name in graph if name not in order and graph[name] <= set(order)]
        assert ready, f"a circle among {sorted(set(graph) - set(order))}"
        order += ready


def test_heavy_libraries_are_imported_when_they_are_used():
    """Optimisers and schedulers late, and by the mathematics not at all; numba by the one decorator.

    Its own cache does not notice a change in another file: no kernel may use it.
    """
    heavy = OPTIMISERS | {"dask", "distributed"}
    for path in FILES:
        module, everywhere = module_of(path), arrows(path)
        for target in arrows(path, everywhere=False):
            late = target.split(".")[0] in heavy or target.startswith("scipy.optimize.milp")
            assert not late, f"{module} imports {target} at the top"
        compiled = module in {"formulations.compiled", "formulations.layers"} or all(
            one.split(".")[0] != "numba" for one in everywhere
        )
        assert compiled, f"{module} imports numba: use formulations.compiled"
        if path.is_relative_to(HOUSE / "formulations"):
            assert not any(target.startswith("scipy.optimize") for target in everywhere), path


def test_listing_the_backends_loads_no_optimiser():
    """Not by reading but by running: the command line's modules and the registry, in a fresh interpreter."""
    script = (
        "import sys, linkrisk.solver.commands.program\n"
        "linkrisk.solver.commands.program.build_parser()\n"
        "from linkrisk.solver.backends.registry import available_backends\n"
        "available_backends()\n"
        f"print(sorted(set(sys.modules) & {OPTIMISERS!r}))\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_folder_with_code_is_a_package_that_says_what_lives_there():
    for folder in {path.parent for path in FILES}:
        init = folder / "__init__.py"
        assert init.exists(), f"{folder.relative_to(ROOT)} has no __init__.py"
        docstring = ast.get_docstring(parsed(init))
        assert docstring, f"{init.relative_to(ROOT)} does not say what lives there"


def test_every_module_has_a_docstring_and_fits_in_the_head():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert ast.get_docstring(parsed(path)), f"{path.relative_to(ROOT)} has no docstring"
        assert len(text.splitlines()) <= MOST_LINES, f"{path.relative_to(ROOT)} is too long: split it"


def _parameters(function):
    given = function.args
    named = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(set(named) - {"self", "cls"}) + (given.vararg is not None) + (given.kwarg is not None)


def test_no_function_has_many_parameters():
    """More are handed on together: as one request, arrays of kernels as one tuple."""
    functions = [
        (module_of(path), node.name, _parameters(node))
        for path in FILES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert max(many for *_, many in functions) == MOST_PARAMETERS
    assert [one for one in functions if one[2] > MOST_PARAMETERS] == []


def test_no_constant_is_assigned_twice():
    """Where files are merged, the second of two constants of one name would hold for all."""
    twice = []
    for path in FILES:
        names = [
            name.id
            for node in parsed(path).body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and name.id.isupper()
        ]
        twice += [(module_of(path), name) for name in sorted(set(names)) if names.count(name) > 1]
    assert twice == []


@functools.cache
def importers():
    known = {module_of(path) for path in FILES}
    found = {name: set() for name in known}
    for path in FILES:
        for target in arrows(path):
            for name in (target, target.rpartition(".")[0]):
                if name in known:
                    found[name].add(module_of(path))
                    break
    return found


def test_no_small_module_serves_one_other_alone():
    """It is a part of that one. Of modules that are loaded by their names nobody knows who does."""
    small = {
        module_of(path): importers()[module_of(path)] - {module_of(path)}
        for path in FILES
        if path.stem not in {"__init__", "__main__"} and len(path.read_text("utf-8").splitlines()) < FEW_LINES
    }
    alone = [name for name, users in small.items() if len(users) < 2 and not name.startswith(LOADED_BY_NAME)]
    assert alone == []


def room_of(path):
    top, *inside = path.relative_to(HOUSE).parts
    return f"{top}.{inside[0]}" if top == "solver" and len(inside) > 1 else top


def test_no_room_has_more_lines_than_its_budget():
    budget = tomllib.loads((ROOT / "tests" / "budget.toml").read_text(encoding="utf-8"))
    lines = dict.fromkeys(budget, 0)
    for path in FILES:
        room = room_of(path)
        assert room in budget, f"{room} has no budget: give it one in tests/budget.toml"
        lines[room] += len(path.read_text(encoding="utf-8").splitlines())
    for room, many in lines.items():
        assert 0 < many <= budget[room], f"{room} has {many} lines, and a budget of {budget[room]}"
        assert many > 0.95 * budget[room] - 50, f"{room} has only {many} lines: lower its budget"


def test_the_rooms_are_inside_the_package_by_links_that_any_tool_can_follow():
    """`solver` outside is what `python -m solver` runs, and imports all else from inside."""
    assert {path.name for path in (ROOT / "solver").glob("*.py")} == {"__init__.py", "__main__.py"}
    for package in PACKAGES:
        inside = HOUSE / package
        assert (inside / "__init__.py").is_file()
        assert not inside.is_symlink() or inside.samefile(ROOT / package)  # as distributed they are folders


def test_no_two_test_files_share_a_name():
    """Test folders are no packages, so pytest knows test files by their name alone."""
    names = [
        path.name
        for path in (ROOT / "tests").rglob("*.py")
        if path.name not in {"__init__.py", "conftest.py"}
    ]
    assert sorted(names) == sorted(set(names))
