"""How a process ends: at once, but nothing that was printed or registered is lost."""

import os
import subprocess
import sys

import pytest

LEAVE = "import atexit, sys; from breaks.leave import leave\n"


def left(code, **streams):
    """The process that executed `code`, which leaves at its end."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    line = [sys.executable, "-c", LEAVE + code]
    return subprocess.run(line, text=True, env=buffered, **streams)


@pytest.mark.parametrize("code", [0, 1, 5, 130])
def test_the_exit_code_is_the_one_given(code):
    assert code == left(f"leave({code})").returncode


def test_what_was_printed_without_a_flush_arrives():
    done = left("sys.stdout.write('out'); sys.stderr.write('err'); leave(0)")

    assert ("out", "err") == (done.stdout, done.stderr)


def test_what_was_registered_for_the_end_runs_and_is_heard():
    done = left("atexit.register(print, 'end'); leave(3)")

    assert (3, "end\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("package", ["breaks", "grader"])
def test_the_program_leaves_and_a_caller_of_main_goes_on(package):
    start = f"sys.argv[1:] = ['--version']; from {package}.__main__ import main, program\n"

    program = left(start + "program(); print('after')")
    assert (0, 1) == (program.returncode, program.stdout.count("\n"))

    main = left(start + "try: main()\nexcept SystemExit as end: print('after', end.code)")
    assert main.stdout.endswith("after 0\n")


WATCHED = {
    "a tracer": "sys.settrace(lambda *event: None)",
    "a profiler": "sys.setprofile(lambda *event: None)",
    "a tool that monitors": (
        "from types import SimpleNamespace as Namespace; "
        "sys.monitoring = Namespace(get_tool={1: 'coverage'}.get)"
    ),
}


@pytest.mark.parametrize("what", WATCHED)
def test_whoever_watches_the_program_has_the_last_word(what):
    code = (
        "from breaks.leave import run_and_leave\n"
        f"def main(): {WATCHED[what]}; sys.exit(3)\n"
        "try: run_and_leave(main)\nfinally: print('saved')"
    )
    done = left(code)

    assert (3, "saved\n") == (done.returncode, done.stdout)


ENDS = {"sys.exit(5)": (5, ""), "sys.exit()": (0, ""), "0": (0, ""), "sys.exit('no')": (1, "no\n")}


@pytest.mark.parametrize("end", ENDS)
def test_the_program_ends_as_main_does(end):
    code = f"from breaks.leave import run_and_leave\nrun_and_leave(lambda: {end})\nprint('after')"
    done = left(code)

    assert (*ENDS[end], "") == (done.returncode, done.stderr, done.stdout)


def test_no_object_is_taken_down_one_by_one():
    code = "class Held:\n    def __del__(self): print('freed', flush=True)\nheld = Held()\n"

    assert "freed\n" == left(code).stdout
    assert "" == left(code + "leave(0)").stdout


@pytest.mark.parametrize(("code", "expected"), [(0, 120), (4, 4)])
def test_a_stream_that_takes_nothing_is_said_by_the_code(code, expected):
    with open("/dev/full", "w") as full:
        done = left(f"sys.stdout.write('lost'); leave({code})", stdout=full)

    assert (expected, "") == (done.returncode, done.stderr)


def test_a_stream_that_is_closed_or_missing_hinders_nobody():
    done = left("sys.stdout.close(); sys.stderr = None; leave(2)")

    assert (2, "") == (done.returncode, done.stderr)
