"""Measures how fast the grader answers, beside what it must wait for anyway; `make bench-grader`.

Every row is a ratio of two commands that run one after the other in the same round; the median over
the rounds is shown.  Nothing is timed alone, so that a slow or busy machine slows both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from breaks.catalog import load_catalog

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance-grader.md"
START, END = "<!-- measured: `make bench-grader` writes from here -->", "<!-- to here -->"
HERE = Path(sys.executable).parent
BREAKS, MUTANTS = 60, 3
LOADS: list[float] = []
CHECK = ["check", "lab02", "--no-predict", "--json"]

WITHOUT_HYPOTHESIS = f"""
import gc, sys
gc.disable()  # what the command does first
from grader import observe, property_test
from grader.recording import PER_SCENARIO, Detector
made = observe.job_of
def job_of(*parts, **named):
    job = made(*parts, **named)
    return {{**job, "sections": [name for name in job["sections"] if name != "property"]}}
class Unasked:
    ready = True
    def answer(self):
        return ()
    def stop(self):
        pass
observe.job_of, property_test.Asked = job_of, Unasked
observe.PER_SCENARIO = tuple(d for d in PER_SCENARIO if d is not Detector.PROPERTY_TEST)
from grader.__main__ import program
sys.argv = ["grader", *{[*CHECK, "--no-cache"]!r}]
program()
"""

ONE_PYTEST = """
import pytest
from breaks.catalog import load_catalog
from breaks.library import shipped_sources
from grader import child, observe, torch_reference, training
from grader.detectors import detect
from grader.pool import End, Report
from grader.reading import Reading
from grader.recording import PER_SCENARIO
from labs.load import load_labs

LAB, BREAK = load_labs()["lab02"], load_catalog().get("skip-unbroadcast")
SCENARIOS = LAB.of(BREAK.id)
CLEAN = observe.as_text(shipped_sources())
BROKEN = observe.broken_text(shipped_sources(), BREAK)
TORCH = torch_reference.derive([observe.as_job(one) for one in SCENARIOS])["scenarios"]

def recorded(job):
    frames = []
    child.run(job, lambda kind, value: frames.append((kind, value)))
    return Report(frames, End.DONE)

def job_of(scenario, text, shapes):
    return {"kind": "scenario", "sources": text, **observe.job_of(scenario, 7, shapes)}

@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_detectors(scenario):
    clean = recorded(job_of(scenario, CLEAN, None))
    shapes = clean.sections()["property"]["shapes"]
    reading = Reading(recorded(job_of(scenario, BROKEN, shapes)))
    reference = Reading(Report(list(TORCH[scenario.digest].items()), End.DONE))
    assert [detect(one, scenario, reading, reference) for one in PER_SCENARIO]

def test_training():
    jobs = [{"kind": "training", "sources": text, "seed": 7} for text in (CLEAN, BROKEN)]
    assert training.observe(*map(recorded, jobs), BREAK.id).outcome
"""


def cost(command: Sequence[str], cwd: Path) -> tuple[float, float]:
    """How long a command takes, and how much processor time with its children; it must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    taken = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-2000:]}{done.stdout[-2000:]}")
    return taken, used


def without_hypothesis(cwd: Path) -> list[str]:
    """The check without its property test, once it was seen to observe everything else."""
    command = python(WITHOUT_HYPOTHESIS)
    told = subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout
    seen = json.loads(told)["observed"]["observations"]
    if len(seen) < 5 or any(len(one["detectors"]) != 4 for one in seen):
        raise RuntimeError("without Hypothesis, four detectors look at each scenario")
    return command


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def grader(*words: str) -> list[str]:
    return [str(HERE / "grader"), *words]


def ratio(
    ours: Sequence[str], other: Sequence[str], cwd: Path, rounds: int, per: float = 1.0
) -> tuple[float, float, float, float]:
    """Medians over interleaved rounds: ours/other, both in seconds, ours/other processor time."""
    found = []
    for turn in range(rounds):
        first = cost(ours, cwd) if turn % 2 else None  # who goes first alternates
        theirs = cost(other, cwd)
        wall, used = zip(first or cost(ours, cwd), theirs, strict=True)
        found.append((wall[0] / per / wall[1], wall[0] / per, wall[1], used[0] / per / used[1]))
    return tuple(statistics.median(column) for column in zip(*found, strict=True))


def sample(count: int) -> list[str]:
    """Ids of breaks, evenly spread over the catalogue."""
    ids = load_catalog().ids()
    return [ids[i * len(ids) // count] for i in range(min(count, len(ids)))]


# ------------------------------------------------------------------ mutation testing tools


def copied(folder: Path) -> Path:
    """The library and its tests, for tools that write into them."""
    work = folder / "mutants"
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("minitorch", "breaks", "labs", "tests/minitorch"):
        shutil.copytree(ROOT / name, work / name, ignore=hidden)
    for name in ("tests/conftest.py", "tests/tree.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, work / name)
    return work


def cosmic_ray(work: Path, tools: str) -> str | float:
    """Seconds per mutant: a spread of its mutants of tensor.py, the tests stopping at a failure."""
    test = f"{tools} -m pytest -x -q -p no:cacheprovider tests/minitorch"
    (work / "cr.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "minitorch/tensor.py"\ntimeout = 300.0\n'
        f'excluded-modules = []\ntest-command = "{test}"\n'
        '[cosmic-ray.distributor]\nname = "local"\n'
    )
    run = [tools, "-m", "cosmic_ray.cli"]
    told = subprocess.run([*run, "init", "cr.toml", "cr.sqlite"], **quiet(work))
    if told.returncode:
        return told.stderr.strip().splitlines()[-1]
    with sqlite3.connect(work / "cr.sqlite") as base:
        jobs = [row[0] for row in base.execute("SELECT job_id FROM work_items ORDER BY job_id")]
        chosen = {jobs[i * len(jobs) // MUTANTS] for i in range(MUTANTS)}
        for job in set(jobs) - chosen:
            base.execute("DELETE FROM mutation_specs WHERE job_id = ?", (job,))
            base.execute("DELETE FROM work_items WHERE job_id = ?", (job,))
    started = time.perf_counter()
    told = subprocess.run([*run, "exec", "cr.toml", "cr.sqlite"], **quiet(work))
    taken = time.perf_counter() - started
    return told.stderr.strip().splitlines()[-1] if told.returncode else taken / len(chosen)


def mutmut(work: Path, tools: str) -> str | float:
    """Seconds per mutant: the rate that it reports itself, its own start not counted."""
    (work / "setup.cfg").write_text(
        "[mutmut]\npaths_to_mutate=minitorch/\ntests_dir=tests/minitorch/\n"
        "also_copy=\n    breaks\n    labs\n"
    )
    names = ["minitorch.tensor.*__mul__*", "minitorch.tensor.*unbroadcast*"]
    told = subprocess.run([tools, "-m", "mutmut", "run", *names], **quiet(work))
    rates = re.findall(r"([\d.]+) mutations/second", told.stdout)
    if rates:
        return 1 / float(rates[-1])
    return ([*(told.stdout + told.stderr).strip().splitlines(), "no output"])[-1]


def quiet(work: Path) -> dict[str, Any]:
    one_thread = {"OMP_NUM_THREADS": "1"}  # a fork after torch used more hangs its child
    environment = {**os.environ, **one_thread, "PYTHONPATH": str(work)}
    return {"cwd": work, "env": environment, "capture_output": True, "text": True}


# ------------------------------------------------------------------ the table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="of the quick rows")
    parser.add_argument("--tools", default=sys.executable, help="Python with mutmut, cosmic-ray")
    parser.add_argument("--only", default="", help="rows whose text contains this; writes nothing")
    given = parser.parse_args()
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([HERE / "breaks", "init", "ws"], cwd=folder, check=True, capture_output=True)
        for text, aim, measure in table(folder, given.rounds, given.tools):
            if given.only in text:
                print(text, flush=True)
                rows.append(f"| {text} | {aim} | {measure()} |")
                LOADS.append(os.getloadavg()[0])
                print("  ", rows[-1], flush=True)
    if not given.only:
        write(rows)


def table(folder: Path, rounds: int, tools: str) -> list[tuple[str, str, Callable[[], str]]]:
    cwd, few = folder / "ws", max(3, rounds // 2)
    numpy, torch = python("import numpy"), python("import torch")
    names = [word for one in sample(BREAKS) for word in ("--break", one)]
    matrix = grader("matrix", "--no-cache", "--json", *names)
    count = len(load_catalog())
    per_break: list[float] = []
    (folder / "test_one.py").write_text(ONE_PYTEST)
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "../test_one.py"]

    def met(aim: float, ours: Sequence[str], other: Sequence[str], turns: int = rounds) -> str:
        found, mine, theirs, used = ratio(ours, other, cwd, turns)
        said = "yes" if found <= aim else "**no**"
        return f"{found:.2f} | {mine:.2f} s to {theirs:.2f} s | {used:.2f} | {said}"

    def cached() -> str:
        cost(grader(*CHECK), cwd)
        return met(1.6, grader(*CHECK), numpy)

    def whole() -> str:
        every = grader("matrix", "--no-cache", "--json")
        found, mine, theirs, used = ratio(every, torch, cwd, few)
        return f"{found:.2f} | {mine:.2f} s to {theirs:.2f} s | {used:.2f} | "

    def one_pytest() -> str:
        found, mine, theirs, used = ratio(matrix, pytest, cwd, few, per=BREAKS)
        per_break.append(mine)
        said = "yes" if found <= 1 / 20 else "**no**"
        return f"1/{1 / found:.0f} | {mine:.3f} s to {theirs:.2f} s | 1/{1 / used:.0f} | {said}"

    def tool(run: Callable[[Path, str], str | float]) -> Callable[[], str]:
        def measure() -> str:
            with tempfile.TemporaryDirectory() as place:
                found = run(copied(Path(place)), tools)
            if isinstance(found, str):
                return f"it did not run: `{found[:200]}` | | | "
            mine = per_break[0] if per_break else cost(matrix, cwd)[0] / BREAKS
            said = "yes" if mine < found else "**no**"
            return f"{mine / found:.3f} | {mine:.3f} s to {found:.2f} s | | {said}"

        return measure

    listing = [str(HERE / "breaks"), "list"]
    import_ = python("import click, yaml")
    fresh = grader(*CHECK, "--no-cache")
    live = grader(*CHECK, "--no-cache", "--live")
    return [
        ("`breaks list` to `import click, yaml`", "≤ 1.5", lambda: met(1.5, listing, import_)),
        ("`grader check lab02`, unchanged question, to `import numpy`", "≤ 1.6", cached),
        (
            "the same, references known, nothing else cached, without Hypothesis",
            "≤ 3",
            lambda: met(3, without_hypothesis(cwd), numpy),
        ),
        ("the same, Hypothesis included", "≤ 6", lambda: met(6, fresh, numpy)),
        (
            "`grader check lab02 --live`, nothing cached, to `import torch`",
            "≤ 1.3",
            lambda: met(1.3, live, torch, few),
        ),
        (
            f"`grader matrix`, {BREAKS} breaks, all detectors, references known, to `import torch`",
            "≤ 4",
            lambda: met(4, matrix, torch, few),
        ),
        (f"`grader matrix`, all {count} breaks, to `import torch`", "", whole),
        ("`grader matrix` per break, to one pytest process on one break", "≤ 1/20", one_pytest),
        ("`grader matrix` per break, to mutmut per mutant", "< 1", tool(mutmut)),
        ("`grader matrix` per break, to cosmic-ray per mutant", "< 1", tool(cosmic_ray)),
    ]


def write(rows: list[str]) -> None:
    """Puts the table between the two marks of the page."""
    head = "| what | aim | measured | medians | processor time | met |\n|---|---|---|---|---|---|\n"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    version = ".".join(map(str, sys.version_info[:3]))
    load = f"{min(LOADS):.1f} to {max(LOADS):.1f}"
    said = f"Measured on {os.cpu_count()} cores, load {load} all told, with Python {version}."
    body = f"{START}\n\n{head}" + "\n".join(rows) + f"\n\n{said}\n\n{END}"
    PAGE.write_text(before + body + after, encoding="utf-8")


if __name__ == "__main__":
    main()
