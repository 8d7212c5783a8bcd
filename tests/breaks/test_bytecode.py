"""Python never runs the bytecode of a text that is not there any more."""

import os
import py_compile
import subprocess
import sys
import time

import pytest

from breaks import bytecode, journal

CODE = "from minitorch.tensor import first; print(first(10))"


def run(ws, *options, **environment):
    """What a new interpreter computes in the workspace, with bytecode writing on."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *options, "-c", CODE],
        cwd=ws.root,
        env={**env, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def compiled(ws):
    return sorted((ws.root / "minitorch" / "__pycache__").glob("tensor.*.pyc"))


def same_second(ws):
    """Makes the file look as if it had been written in this very second."""
    file = ws.root / "minitorch" / "tensor.py"
    now = time.time_ns()
    os.utime(file, ns=(now, now))
    return file


def test_python_itself_runs_the_old_code_after_an_edit_of_the_same_size_in_a_second(ws):
    """Why any of this is needed."""
    file = same_second(ws)
    date = file.stat().st_mtime_ns
    assert 11 == run(ws)
    file.write_bytes(file.read_bytes().replace(b"x + 1", b"x - 1"))
    os.utime(file, ns=(date, date))

    assert 11 == run(ws), "the text says 9"


def test_apply_then_import_sees_the_break_and_revert_then_import_sees_none(ws, breaks):
    file = same_second(ws)
    size = file.stat().st_size
    assert 11 == run(ws)
    assert compiled(ws)
    for _round in range(2):
        journal.apply(ws, breaks["minus"])
        assert size == file.stat().st_size
        assert [] == compiled(ws)
        assert 9 == run(ws)
        assert compiled(ws)
        journal.revert(ws)
        assert [] == compiled(ws)
        assert 11 == run(ws)


def test_the_date_alone_is_enough_where_bytecode_cannot_be_removed(ws, breaks, monkeypatch):
    """Another process may write old bytecode a moment after we looked."""
    monkeypatch.setattr(bytecode, "forget", lambda source: None)
    same_second(ws)
    assert 11 == run(ws)
    journal.apply(ws, breaks["minus"])
    assert compiled(ws)
    assert 9 == run(ws)
    journal.revert(ws)
    assert 11 == run(ws)


def test_bytecode_that_is_never_checked_is_removed(ws, breaks):
    file = ws.root / "minitorch" / "tensor.py"
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(file), invalidation_mode=unchecked)
    assert 11 == run(ws)
    journal.apply(ws, breaks["minus"])

    assert 9 == run(ws)


def test_bytecode_of_every_level_and_interpreter_is_removed_and_only_of_this_module(ws, breaks):
    cache = ws.root / "minitorch" / "__pycache__"
    cache.mkdir()
    names = ["tensor.cpython-311.pyc", "tensor.cpython-313.opt-2.pyc", "tensor.pypy310.pyc"]
    others = ["tensorial.cpython-311.pyc", "optim.cpython-311.pyc", "notes.txt"]
    for name in names + others:
        (cache / name).touch()
    journal.apply(ws, breaks["minus"])

    assert sorted(others) == sorted(path.name for path in cache.iterdir())


def test_bytecode_kept_elsewhere_is_removed_too(ws, breaks, tmp_path, monkeypatch):
    same_second(ws)
    assert 11 == run(ws, PYTHONPYCACHEPREFIX=str(tmp_path / "cache"))
    assert list((tmp_path / "cache").rglob("tensor.*.pyc"))
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    journal.apply(ws, breaks["minus"])

    assert [] == list((tmp_path / "cache").rglob("tensor.*.pyc"))
    assert 9 == run(ws, PYTHONPYCACHEPREFIX=str(tmp_path / "cache"))


def test_a_linked_cache_folder_is_not_followed(ws, breaks, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "tensor.cpython-311.pyc").touch()
    (ws.root / "minitorch" / "__pycache__").symlink_to(tmp_path / "cache")
    journal.apply(ws, breaks["minus"])

    assert (tmp_path / "cache" / "tensor.cpython-311.pyc").exists()


@pytest.mark.parametrize("ahead", [-86_400, 0, 0.2, 3_600])
def test_each_write_is_dated_in_a_later_second(ws, breaks, ahead):
    file = ws.root / "minitorch" / "tensor.py"
    start = time.time_ns() + int(ahead * bytecode.SECOND)
    os.utime(file, ns=(start, start))
    seconds = [int(file.stat().st_mtime)]
    for _round in range(3):
        journal.apply(ws, breaks["minus"])
        seconds.append(int(file.stat().st_mtime))
        journal.revert(ws)
        seconds.append(int(file.stat().st_mtime))

    assert seconds == sorted(set(seconds))
