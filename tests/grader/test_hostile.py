"""Whatever a broken library does, it is an observation of its scenario, and disturbs no other."""

import os
import time

import pytest

from grader import pool
from grader.detectors import detect
from grader.difference import first_difference
from grader.recording import PER_SCENARIO, Answer, Detector, Mode
from tests.grader.kit import QUICK, clean_text, good, job, lab02, readings, with_add


def observed(body, *, limits=QUICK, way="fork", name="created-axis"):
    """(difference, answers, reading) of the library with `body` in its addition."""
    scenario, text = lab02().scenarios[name], with_add(body)
    bystander = job(lab02().scenarios["equal-shapes"], sections=["program"])
    reading, other = readings(job(scenario, text), bystander, limits=limits, way=way)
    assert other.crash("program") is None
    assert other.report.end is pool.End.DONE
    difference = first_difference(scenario, good(name), reading, clean_text(), text)
    answers = {d: detect(d, scenario, reading, good(name)).answer for d in PER_SCENARIO}
    return difference, answers, reading


CRASHES = {
    "sys.exit": ("import sys; sys.exit(3)", "SystemExit"),
    "os._exit": ("import os; os._exit(0)", "exit code 0"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    "kills itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "recursion": ("return self + other", "RecursionError"),
    "deletes its file": ("import os; os.remove(__file__)", "FileNotFoundError"),
    "eats memory": ("import numpy; x = numpy.ones((1 << 28,))", "MemoryError"),
    "raises a string-less exception": ("class E(BaseException):\n    pass\nraise E", "E"),
    "an exception that cannot be printed": (
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
        "E",
    ),
    "closes every descriptor": ("import os; os.closerange(0, 256)", "exit code"),
    "fills the disk": (
        "open('x', 'wb').write(bytes(1 << 22))",
        "OSError",
    ),
}


@pytest.mark.parametrize("what", CRASHES)
def test_a_library_that_ends_or_raises_is_a_crash_and_every_detector_fires(what):
    body, words = CRASHES[what]
    difference, answers, _ = observed(body)

    assert difference.mode is Mode.CRASH
    assert words in difference.error
    assert set(answers.values()) == {Answer.FIRES}


HANGS = {
    "a loop": "while True: pass",
    "a loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "a loop that ignores signals": (
        "import signal\n"
        "for n in (signal.SIGXCPU, signal.SIGTERM, signal.SIGINT):\n"
        "    signal.signal(n, signal.SIG_IGN)\n"
        "while True: pass"
    ),
}


@pytest.mark.parametrize("what", HANGS)
def test_a_library_that_does_not_come_back_is_a_hang(what):
    difference, answers, _ = observed(HANGS[what])

    assert difference.mode is Mode.HANG
    assert set(answers.values()) == {Answer.FIRES}


def test_a_library_that_sleeps_is_a_hang_by_the_clock():
    limits = pool.Limits(cpu=1, wall=1.0)
    difference, _, _ = observed("import time; time.sleep(600)", limits=limits)

    assert difference.mode is Mode.HANG


def test_printing_megabytes_is_cut_and_noted_and_changes_no_answer():
    difference, answers, reading = observed("print('x' * 100_000)")

    assert difference.mode is Mode.UNAFFECTED
    assert set(answers.values()) == {Answer.SILENT}
    assert len(reading.report.output) == QUICK.output
    assert any("printed" in note for note in reading.notes)


def test_printing_without_end_is_stopped():
    limits = pool.Limits(cpu=10, wall=20.0, printed=1 << 20)
    difference, _, reading = observed("while True: print('x' * 10_000)", limits=limits)

    assert reading.report.end is pool.End.FLOOD
    assert difference.mode is Mode.CRASH


def test_garbage_on_the_result_pipe_is_noted_and_not_believed():
    body = (
        "import os\n"
        "for fd in range(3, 9):\n"
        "    try: os.write(fd, b'@garbage [1, 2]')\n"
        "    except OSError: pass"
    )
    difference, answers, reading = observed(body)

    assert any("result pipe" in note for note in reading.notes)
    assert difference.mode is Mode.UNAFFECTED
    assert set(answers.values()) == {Answer.SILENT}


def test_a_forged_frame_without_the_nonce_is_not_read():
    frame = b'@0000000000000000 9 0000000000000000\n["y", 1]\n'
    frames, strange = pool.read_frames(frame, "ffffffffffffffff")

    assert frames == []
    assert strange == len(frame)


def test_threads_and_child_processes_do_not_outlive_their_job(tmp_path):
    marker = tmp_path / "alive"
    body = (
        "import os, threading, time\n"
        "threading.Thread(target=lambda: time.sleep(600)).start()\n"
        f"if os.fork() == 0:\n    time.sleep(1.5); open({str(marker)!r}, 'w').close(); os._exit(0)"
    )
    started = time.monotonic()
    difference, _, _ = observed(body)

    assert difference.mode is Mode.UNAFFECTED
    assert time.monotonic() - started < 5
    time.sleep(1.7)
    assert not marker.exists()


def test_replacing_numpy_functions_is_noted_and_stays_in_its_job():
    text = dict(clean_text())
    text["minitorch.tensor"] += "\nnp.exp = np.allclose = lambda *a, **k: True\n"
    one, other = readings(
        job(lab02().scenarios["created-axis"], text), job(lab02().scenarios["created-axis"])
    )

    assert any("numpy.exp" in note for note in one.notes)
    assert other.notes == ()


def test_a_changed_folder_signal_or_limit_stays_in_its_job():
    before = os.getcwd()
    body = "import os, resource\nos.chdir('/')\nresource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))"
    difference, _, _ = observed(body)

    assert os.getcwd() == before
    assert difference.mode in (Mode.UNAFFECTED, Mode.CRASH)


def test_a_job_reads_nothing_and_starts_in_an_empty_folder():
    _, _, reading = observed(
        "import os, sys\nprint(repr(sys.stdin.read()), os.listdir('.'), sys.flags.safe_path)"
    )

    assert reading.report.output.startswith("'' []")


@pytest.mark.parametrize("what", ["sys.exit", "os._exit", "segfault"])
def test_the_spawning_way_sees_the_same_crashes(what):
    body, words = CRASHES[what]
    difference, answers, _ = observed(body, way="spawn", limits=pool.Limits(cpu=5, wall=30.0))

    assert difference.mode is Mode.CRASH
    assert words in difference.error
    assert set(answers.values()) == {Answer.FIRES}


def test_a_hang_in_one_section_leaves_the_sections_before_it():
    body = "if self.data.size != 3:\n    while True: pass"
    difference, answers, _ = observed(body)

    assert difference.mode is Mode.UNAFFECTED
    assert answers[Detector.PROPERTY_TEST] is Answer.FIRES
    assert answers[Detector.GRADCHECK] is Answer.SILENT
