"""A small workspace and small breaks, for tests of what happens to files."""

import stat
from pathlib import Path

import pytest

from breaks.cli import cli
from breaks.model import Break, Family, Rewrite
from breaks.workspace import Workspace

LIBRARY = {
    "__init__.py": b"from minitorch.tensor import first, second, third\n",
    "tensor.py": (
        b'"""A library that is small enough to think about."""\n\n\n'
        b"def first(x):\n    y = x + 1\n    return y\n\n\n"
        b"def second(x):\n    y = x * 2\n    return y\n\n\n"
        b"def third(x):\n    y = x // 3\n    return y\n"
    ),
    "optim.py": b"def step(p, lr):\n    return p - lr\n\n\ndef rest(p):\n    return p",
}


def make_break(name, *changes):
    """A break from (module, scope, pattern, replacement) tuples."""
    rewrites = tuple(
        Rewrite(f"minitorch.{module}", (scope,), (pattern,), replace)
        for module, scope, pattern, replace in changes
    )
    text = {"en": name, "es": name}
    return Break(name, text, Family.OPERATORS, rewrites, text, (text,) * 3, text, ())


BREAKS = {
    "minus": make_break("minus", ("tensor", "first", "x + 1", "x - 1")),
    "thrice": make_break("thrice", ("tensor", "second", "x * 2", "x * 3")),
    "two-files": make_break(
        "two-files",
        ("tensor", "third", "x // 3", "x / 3"),
        ("optim", "step", "p - lr", "p + lr"),
    ),
    "plus-nothing": make_break("plus-nothing", ("tensor", "first", "y = x + 1", "y = x")),
}


@pytest.fixture
def breaks():
    return BREAKS


@pytest.fixture
def make_ws():
    """Makes a workspace in a folder."""

    def make(root: Path) -> Workspace:
        (root / "minitorch").mkdir(parents=True)
        for name, content in LIBRARY.items():
            (root / "minitorch" / name).write_bytes(content)
        (root / "minitorch" / "optim.py").chmod(0o640)
        (root / "breaks.toml").write_text("# a workspace\n")
        return Workspace.at(root)

    return make


@pytest.fixture
def ws(make_ws, tmp_path):
    return make_ws(tmp_path / "ws")


@pytest.fixture
def tree():
    """Everything in a workspace but its state and bytecode: name → bytes and mode."""

    def see(ws: Workspace) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(ws.root)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
            for path in sorted(ws.root.rglob("*"))
            if path.is_file() and not {".breaks", "__pycache__"} & set(path.parts)
        }

    return see


@pytest.fixture
def run(capsys):
    """A command of breaks, run here: exit code, stdout, stderr."""

    def go(*line):
        code = cli.run([str(word) for word in line])
        out, err = capsys.readouterr()
        return code, out, err

    return go
