"""Imports point one way, grader → labs → breaks → minitorch; light commands load nothing heavy."""

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.tree import ROOT

ARROW = ("grader", "labs", "breaks", "minitorch")
HEAVY = {"numpy", "scipy", "torch", "hypothesis", "rich", "jsonschema"}
OURS_BY_TEXT = {"breaks", "labs", "grader"}  # they read minitorch's text, and never import it
START = ("breaks.cli", "grader.cli", "breaks.pytest_plugin", "breaks")

Import = tuple[str, int, bool]  # the module, the line, whether it runs when the file is imported


def imports(source: str, module: str, package: bool = False) -> Iterator[Import]:
    """Every import of a module, those inside functions too, by absolute name."""
    tree = ast.parse(source)
    late = {id(n) for f in ast.walk(tree) if isinstance(f, FUNCTIONS) for n in ast.walk(f)}
    unused = {
        id(n) for b in ast.walk(tree) if for_types_only(b) for s in b.body for n in ast.walk(s)
    }
    for node in ast.walk(tree):
        if id(node) in unused:
            continue
        now = id(node) not in late
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno, now) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module, package)
            yield base, node.lineno, now
            yield from ((f"{base}.{alias.name}", node.lineno, now) for alias in node.names)
        elif isinstance(node, ast.Call) and (name := by_name(node)):
            yield name, node.lineno, now


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def by_name(node: ast.Call) -> str:
    """The module that `import_module("…")` or `__import__("…")` loads, else ""."""
    match node.func, node.args:
        case (
            (ast.Name(id=name) | ast.Attribute(attr=name)),
            [ast.Constant(value=str(module)), *_],
        ):
            return module if name in ("__import__", "import_module") else ""
    return ""


def absolute(node: ast.ImportFrom, module: str, package: bool) -> str:
    """The module that `from … import` names."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + (1 if package else 0)]
    return ".".join([*parts, node.module] if node.module else parts)


def wrong_direction(source: str, module: str, package: bool = False) -> list[str]:
    """Imports against the arrow, and imports of minitorch by those who only read its text."""
    own = module.split(".")[0]
    bad = []
    for name, line, _now in imports(source, module, package):
        other = name.split(".")[0]
        against = other in ARROW and ARROW.index(other) < ARROW.index(own)
        if against or (own in OURS_BY_TEXT and other == "minitorch"):
            bad.append(f"{module}:{line} imports {name}")
    return sorted(set(bad))


def outsiders(source: str, module: str, package: bool = False) -> list[str]:
    """What minitorch imports beside itself, NumPy, SciPy and the standard library."""
    known = {"minitorch", "numpy", "scipy", *sys.stdlib_module_names}
    found = {name.split(".")[0] for name, _line, _now in imports(source, module, package)}
    return sorted(found - known)


@functools.cache
def modules() -> dict[str, tuple[str, bool]]:
    """Each module of the four packages: its text, and whether it is a package."""
    found = {}
    for path in sorted(p for top in ARROW for p in (ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = (path.read_text(encoding="utf-8"), package)
    return found


def heavy_at_start(start: str, known: dict[str, tuple[str, bool]]) -> list[str]:
    """The chains of imports by which `start`, merely imported, loads something heavy."""
    bad, seen, queue = [], {start}, [(start, start)]
    while queue:
        module, chain = queue.pop()
        for name, line, now in imports(*(known[module][0], module, known[module][1])):
            if not now:
                continue
            if name.split(".")[0] in HEAVY:
                bad.append(f"{chain}:{line} imports {name}")
            parts = name.split(".")
            for own in (".".join(parts[:i]) for i in range(1, len(parts) + 1)):
                if own in known and own not in seen:
                    seen.add(own)
                    queue.append((own, f"{chain} → {own}"))
    return sorted(set(bad))


def of_the_kit(module: str) -> bool:
    """Not one of the experiments in the labs: those are programs as a learner writes them."""
    return not module.endswith(".by_hand")


@pytest.mark.parametrize("module", [m for m in modules() if of_the_kit(m)])
def test_imports_point_one_way(module):
    assert [] == wrong_direction(modules()[module][0], module, modules()[module][1])


@pytest.mark.parametrize("module", [m for m in modules() if m.split(".")[0] == "minitorch"])
def test_minitorch_needs_numpy_and_scipy_only(module):
    assert [] == outsiders(modules()[module][0], module, modules()[module][1])


@pytest.mark.parametrize("start", START)
def test_a_light_command_imports_nothing_heavy(start):
    assert [] == heavy_at_start(start, modules())


# ---------------------------------------------------------------- each checker, fed a violation

AGAINST = {
    "import grader.judge": ("breaks.x", "breaks.x:1 imports grader.judge"),
    "from labs import model": ("breaks.x", "breaks.x:1 imports labs"),
    "def f():\n    from grader import cli": ("labs.x", "labs.x:2 imports grader"),
    "import breaks": ("minitorch.x", "minitorch.x:1 imports breaks"),
    "def f():\n    import minitorch": ("grader.x", "grader.x:2 imports minitorch"),
    "from minitorch.tensor import Tensor": ("labs.x", "labs.x:1 imports minitorch.tensor"),
    "import importlib\nimportlib.import_module('minitorch')": (
        "breaks.x",
        "breaks.x:2 imports minitorch",
    ),
    "if True:\n    class A:\n        import labs": ("breaks.a.x", "breaks.a.x:3 imports labs"),
    "try:\n    import grader\nexcept ImportError:\n    pass": ("labs", "labs:2 imports grader"),
}


@pytest.mark.parametrize("source", AGAINST)
def test_an_import_against_the_arrow_is_found(source):
    module, expected = AGAINST[source]

    assert expected in wrong_direction(source, module)


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("import breaks, labs.model", "grader.x"),
        ("from breaks.model import Break", "labs.x"),
        ("from . import model", "labs.x"),
        ("from minitorch.tensor import Tensor", "minitorch.x"),
        ("import breaksomething", "minitorch.x"),
        ("'import grader'", "breaks.x"),
    ],
)
def test_imports_along_the_arrow_are_fine(source, module):
    assert [] == wrong_direction(source, module)


@pytest.mark.parametrize("source", ["import torch", "def f():\n    import click"])
def test_what_minitorch_must_not_need_is_found(source):
    assert 1 == len(outsiders(source, "minitorch.x"))


def known(**sources: str) -> dict[str, tuple[str, bool]]:
    return {name.replace("_", "."): (source, "_" not in name) for name, source in sources.items()}


HEAVY_TREES = {
    "directly": known(a="import numpy as np"),
    "a submodule": known(a="from scipy.special import erf"),
    "by another module": known(a="from a import b", a_b="import rich.table"),
    "by the package around a module": known(a="import b.c", b="import torch", b_c=""),
    "relatively": known(a="from .b import x", a_b="from . import c", a_c="import hypothesis"),
    "at class level": known(a="class A:\n    import jsonschema"),
}


@pytest.mark.parametrize("name", HEAVY_TREES)
def test_a_heavy_import_at_start_is_found(name):
    assert heavy_at_start("a", HEAVY_TREES[name])


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    import numpy",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy",
        "import json",
    ],
)
def test_a_late_import_is_light(source):
    assert [] == heavy_at_start("a", known(a=source))


# ---------------------------------------------------------------- and what really is loaded

LIGHT = (
    "breaks",
    "breaks list",
    "breaks show skip-unbroadcast",
    "breaks diff skip-unbroadcast",
    "breaks status",
    "grader",
    "grader labs",
    "grader progress",
)
LOADED = """
import sys
from {tool}.cli import main
try:
    main()
finally:
    print(*sorted({heavy} & set(sys.modules)), file=sys.stderr)
"""


def loaded_by(code: str, folder, *arguments: str) -> list[str]:
    """The heavy packages that a process has loaded when it ends; it must end well."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stderr.split("\n")[-2].split()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    breaks = [sys.executable, "-c", "from breaks.cli import main; main()"]
    subprocess.run([*breaks, "init", "."], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("command", LIGHT)
def test_a_light_command_loads_nothing_heavy(command, workspace):
    tool, *arguments = command.split()

    assert [] == loaded_by(LOADED.format(tool=tool, heavy=HEAVY), workspace, *arguments)


def test_what_is_loaded_is_seen(tmp_path):
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "cli.py").write_text("def main():\n    import numpy\n")

    assert ["numpy"] == loaded_by(LOADED.format(tool="tool", heavy=HEAVY), tmp_path)
