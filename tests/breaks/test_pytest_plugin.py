"""`pytest --break`: somebody's own tests meet the broken library, and are told what they missed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from breaks.pytest_plugin import Fate, fate_of, without_options

SHARP = """
import minitorch


def test_a_broadcast_gradient_has_the_shape_of_its_tensor():
    a = minitorch.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    (a + minitorch.Tensor([[1.0] * 3] * 4)).sum().backward()
    assert a.grad.shape == a.shape
"""
BLUNT = """
import minitorch


def test_nothing_much():
    assert minitorch.Tensor([1.0]).shape == (1,)
"""
RED = "def test_red():\n    assert False\n"
LOADING = "import minitorch\nprint(minitorch.__file__)\n"
OWN = """\
id: {id}
title: {{en: A break}}
family: shapes
rewrites:
  - {{module: minitorch.tensor, scope: {scope}, pattern: '{pattern}', replace: '{replace}'}}
"""


@pytest.fixture
def run(tmp_path):
    """Runs pytest on some files in a folder of their own."""

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("PYTEST_ADDOPTS", None)
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.fixture
def few(tmp_path):
    """Puts a few breaks in the place of the catalogue that ships."""

    def write(**rules):
        (tmp_path / "sitecustomize.py").write_text(
            "import pathlib, breaks.catalog\n"
            "breaks.catalog.BUILTIN = pathlib.Path(__file__).with_name('own')\n"
        )
        (tmp_path / "own").mkdir()
        for name, (scope, pattern, replace) in rules.items():
            text = OWN.format(
                id=name.replace("_", "-"), scope=scope, pattern=pattern, replace=replace
            )
            (tmp_path / "own" / f"{name.replace('_', '-')}.yaml").write_text(text)

    return write


def test_tests_run_against_the_broken_library_and_the_header_says_so(run):
    done = run("--break", "skip-unbroadcast", test_sharp=SHARP)

    assert done.returncode == 1
    assert "broken on purpose: skip-unbroadcast" in done.stdout
    assert "(4, 3)" in done.stdout


def test_without_the_option_nothing_is_broken(run):
    done = run(test_sharp=SHARP)

    assert done.returncode == 0
    assert "broken on purpose" not in done.stdout


def test_a_conftest_that_imports_minitorch_gets_the_broken_one(run):
    done = run("-s", "--break=skip-unbroadcast", conftest=LOADING, test_blunt=BLUNT)

    assert "<skip-unbroadcast>/minitorch/__init__.py" in done.stdout + done.stderr


def test_the_workers_of_xdist_get_the_broken_one(run):
    done = run("-n", "1", "--break", "skip-unbroadcast", test_sharp=SHARP)

    assert done.returncode == 1
    assert "(4, 3)" in done.stdout


def test_two_breaks_stack(run):
    done = run("--break", "skip-unbroadcast", "--break", "skip-unbroadcast-in-mul", test_a=SHARP)

    assert "skip-unbroadcast, skip-unbroadcast-in-mul" in done.stdout
    assert done.returncode == 1


def test_an_unknown_break_is_a_usage_error_with_the_nearest_name(run):
    done = run("--break", "skip-unbroadcats", test_blunt=BLUNT)

    assert done.returncode == 4
    assert "Did you mean skip-unbroadcast?" in done.stderr
    assert "Traceback" not in done.stderr


def test_all_and_another_id_is_a_usage_error(run):
    done = run("--break", "all", "--break", "skip-unbroadcast", test_blunt=BLUNT)

    assert done.returncode == 4
    assert "leave the others out" in done.stderr


def test_tests_that_fail_on_the_correct_library_are_refused(run):
    done = run("--break", "all", test_red=RED)

    assert done.returncode == 4
    assert "must pass on the correct library" in done.stderr
    assert "assert False" in done.stdout


def test_no_tests_are_no_verdict(run):
    done = run("--break", "all")

    assert done.returncode == 4
    assert "could not be run" in done.stderr


ADD = "Tensor.__add__", "unbroadcast(g, a.shape)", "g"
HANG = (
    "Tensor.__add__",
    "y = a.data + b.data",
    'y = open("pid", "w").write(str(__import__("os").getpid())); y = __import__("time").sleep(600)',
)
DEAF = "Tensor.exp", "g * y", "y * g"
GONE = "Tensor.exp", "g * nothing", "g"


def test_all_breaks_meet_the_tests_and_the_survivors_are_named(run, few, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    few(add=ADD, deaf=DEAF, gone=GONE)
    done = run("--break", "all", "--break-jobs", "2", test_sharp=SHARP)

    assert done.returncode == 1
    assert "killed       add" in done.stdout
    assert "survived     deaf" in done.stdout
    assert "not applied  gone" in done.stdout
    assert "1 of 3 killed" in done.stdout
    assert "breaks diff deaf" in done.stdout


def test_each_break_is_named_once_and_pytest_counts_the_fates(run, few, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    few(add=ADD, deaf=DEAF)
    loud = run("--break", "all", test_sharp=SHARP).stdout
    quiet = run("-q", "--break", "all", test_sharp=SHARP).stdout

    for text in (loud, quiet):
        assert text.count("survived     deaf") == 1
        assert "1 killed, 1 survived in " in text or "1 survived, 1 killed in " in text
        assert "no tests ran" not in text
    assert loud.count("killed       add") == 1
    assert "killed       add" not in quiet


def test_break_family_keeps_to_one_family(run, few, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    few(add=ADD, deaf=DEAF)
    deaf = tmp_path / "own" / "deaf.yaml"
    deaf.write_text(deaf.read_text().replace("family: shapes", "family: softmax"))
    done = run("--break", "all", "--break-family", "shapes", test_sharp=SHARP)

    assert done.returncode == 0
    assert "1 of 1 killed" in done.stdout
    assert "deaf" not in done.stdout


@pytest.mark.parametrize(
    "line",
    [
        ("--break", "all", "--break-family", "shape"),
        ("--break-family", "shapes"),
        ("--break", "skip-unbroadcast", "--break-family", "shapes"),
    ],
)
def test_a_family_that_cannot_be_meant_is_a_usage_error(run, line):
    done = run(*line, test_blunt=BLUNT)

    assert done.returncode == 4
    assert "--break-family" in done.stderr


def test_tests_that_kill_every_break_exit_with_0(run, few, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    few(add=ADD)
    done = run("--break", "all", test_sharp=SHARP)

    assert done.returncode == 0
    assert "No break survives these tests." in done.stdout


STOPS = {
    "Ctrl-C": [signal.SIGINT],
    "kill": [signal.SIGTERM],
    "kill, and again until it ends": [signal.SIGTERM] * 3000,
    "a closed terminal": [signal.SIGHUP],
    "kill -9": [signal.SIGKILL],
}


@pytest.mark.parametrize("numbers", STOPS.values(), ids=STOPS)
def test_whoever_stops_it_every_run_ends(few, monkeypatch, tmp_path, numbers):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    few(hang=HANG)
    (tmp_path / "test_sharp.py").write_text(SHARP)
    command = [sys.executable, "-u", "-m", "pytest", "-p", "no:cacheprovider", "--break", "all"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        for number in numbers:
            process.send_signal(number)
            if len(numbers) > 1 and process.poll() is None:
                time.sleep(0.001)
        process.communicate(timeout=30)
    finally:
        process.kill()

    assert process.returncode == (-9 if signal.SIGKILL in numbers else 2)
    until(lambda: not alive(int((tmp_path / "pid").read_text())))
    if signal.SIGKILL not in numbers:
        assert [] == list(tmp_path.glob("breaklabs-*"))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition):
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("code", "fate"),
    [
        (None, Fate.HUNG),
        (0, Fate.SURVIVED),
        (1, Fate.KILLED),
        (2, Fate.KILLED),
        (3, Fate.KILLED),
        (-11, Fate.KILLED),
    ],
)
def test_an_exit_code_is_a_fate(code, fate):
    assert fate_of((code, ""), "skip-unbroadcast") is fate


def test_the_options_of_the_plugin_are_not_handed_on():
    given = ["tests", "--break", "all", "--break-jobs=3", "-k", "x", "--break=all"]

    assert without_options(iter(given)) == ["tests", "-k", "x"]


def test_the_plugin_loads_nothing_when_it_is_not_used(run):
    seen = (
        "import sys\n\n\ndef test_light():\n"
        "    assert not {'yaml', 'breaks.load', 'breaks.rewrite', 'minitorch', 'numpy'}"
        " & set(sys.modules)\n"
    )

    assert run(test_light=seen, conftest="").returncode == 0
