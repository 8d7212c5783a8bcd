"""`pytest --break` tells which breaks somebody's own tests kill."""

import subprocess
import sys
from pathlib import Path

import pytest

WATCHFUL = """
import minitorch as mt

def test_the_gradient_of_a_row_is_the_sum_over_its_copies():
    a = mt.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    (a + mt.Tensor([[1.0] * 3] * 4)).sum().backward()
    assert a.grad.tolist() == [4.0, 4.0, 4.0]
"""
BLIND = """
import minitorch as mt

def test_adding_numbers():
    assert (mt.Tensor(1.0) + 2.0).item() == 3.0
"""
WRONG = "def test_that_fails_anyway():\n    assert False\n"


def run(folder: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_without_the_option_the_library_is_correct(tmp_path):
    assert run(tmp_path, WATCHFUL).returncode == 0


def test_a_break_is_in_the_library_that_the_tests_import(tmp_path):
    done = run(tmp_path, WATCHFUL, "--break", "skip-unbroadcast")

    assert done.returncode == 1
    assert "minitorch is broken on purpose: skip-unbroadcast" in done.stdout


def test_tests_that_look_away_let_a_break_survive(tmp_path):
    assert run(tmp_path, BLIND, "--break", "skip-unbroadcast").returncode == 0


def test_an_unknown_break_is_a_usage_error_with_the_nearest_name(tmp_path):
    done = run(tmp_path, BLIND, "--break", "skip-unbrodcast")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "Did you mean skip-unbroadcast?" in done.stderr


def test_tests_that_fail_on_the_correct_library_are_refused(tmp_path):
    done = run(tmp_path, WRONG, "--break", "all")

    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "must pass on the correct library" in done.stderr


@pytest.fixture
def small_catalogue(tmp_path, monkeypatch):
    """Only two breaks, so that every one can be tried."""
    from breaks.catalog import BUILTIN

    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import breaks.catalog as c, pathlib\n"
        f"c.BUILTIN = pathlib.Path({str(tmp_path / 'two')!r})\n"
    )
    (tmp_path / "two").mkdir()
    for name in ("skip-unbroadcast", "skip-unbroadcast-in-mul"):
        text = (BUILTIN / f"{name}.yaml").read_text()
        (tmp_path / "two" / f"{name}.yaml").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(site))
    return tmp_path


def test_all_names_the_survivors_and_exits_with_a_finding(small_catalogue):
    done = run(small_catalogue, WATCHFUL, "--break", "all")

    assert done.returncode == 1
    assert "1 killed of 2" in done.stdout
    assert "survived: skip-unbroadcast-in-mul" in done.stdout


def test_all_is_content_when_nothing_survives(small_catalogue):
    scaled = WATCHFUL + (
        "\n"
        "def test_a_scale_too():\n"
        "    a = mt.Tensor([2.0], requires_grad=True)\n"
        "    (a * mt.Tensor([1.0, 2.0])).sum().backward()\n"
        "    assert a.grad.tolist() == [3.0]\n"
    )
    done = run(small_catalogue, scaled, "--break", "all")

    assert done.returncode == 0
    assert "no break survives these tests" in done.stdout
