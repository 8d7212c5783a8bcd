"""Runs of pytest from a server that forks: the same ends as fresh runs, and never for ever."""

import json
import os
import signal

import pytest

from breaks.pytest_runs import Runs
from breaks.pytest_server import installed

TESTS = """
import sys
import time


def test_green():
    assert "hypothesis" in sys.modules


def test_red():
    assert 1 == 2, "seen"


def test_hangs():
    time.sleep(600)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    return tmp_path


@pytest.fixture
def runs():
    found = Runs(1)
    yield found
    found.end()


@pytest.fixture
def served(runs, folder):
    runs.loaded.write_text(json.dumps(["hypothesis", "no_such_module"]))
    runs.prepare()
    return runs


def arguments(name):
    return ["-q", "-p", "no:cacheprovider", "-k", name]


ENDS = {"green": 0, "red": 1, "hangs": None, "nothing": 5}


@pytest.mark.parametrize("name", ENDS)
def test_a_fork_ends_as_a_fresh_run_does(name, served):
    code, output = served.run(arguments(name), 10.0)

    assert ENDS[name] == code
    assert ("seen" in output) == (name == "red")
    assert 1 == served.idle.qsize()


def test_a_server_takes_the_next_run_after_one_that_hung(served):
    served.run(arguments("hangs"), 2.0)

    assert 0 == served.run(arguments("green"), 10.0)[0]


def test_what_the_first_run_loads_is_loaded_for_the_others(runs, folder):
    (folder / "test_some.py").write_text("import hypothesis\n" + TESTS)

    assert 0 == runs.first(arguments("green"))[0]
    assert "hypothesis" in json.loads(runs.loaded.read_text())


def test_a_server_that_is_gone_is_replaced_by_a_fresh_run(served):
    os.kill(served.servers[0].process.pid, signal.SIGKILL)

    assert 1 == served.run(arguments("red"), 60.0)[0]
    assert served.idle.empty()


def test_a_server_that_has_loaded_minitorch_is_not_used(runs, folder):
    runs.loaded.write_text(json.dumps(["minitorch"]))
    runs.prepare()

    assert runs.idle.empty()
    assert 1 == runs.run(arguments("red"), 60.0)[0]


def test_nothing_begins_after_the_end(served):
    served.end()

    assert (None, "") == served.run(arguments("green"), 60.0)


def test_only_what_is_installed_is_loaded_again():
    assert installed("hypothesis", __import__("hypothesis"))
    assert not installed("pytest", pytest)
    assert not installed("breaks.pytest_runs", __import__("breaks.pytest_runs").pytest_runs)
    assert not installed("tests", None)
