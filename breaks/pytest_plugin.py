"""Would my tests have seen it?  `pytest --break ID` runs any tests against a broken minitorch.

`--break ID` makes `import minitorch` give the broken library, in memory, before anything is
collected.  `--break all` runs the tests once on the correct library, which they must pass, and then
once per break, each in its own process, and prints which breaks they kill.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from subprocess import PIPE, STDOUT, Popen, TimeoutExpired
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from breaks.catalog import Catalog
    from breaks.model import Break

ALL = "all"


class Fate(StrEnum):
    """What the tests did to a mutant."""

    KILLED = "killed"  # a test failed, or the tests could not even start
    SURVIVED = "survived"  # every test passed
    HUNG = "killed (hung)"  # the tests did not end; on the correct library they do
    EQUIVALENT = "equivalent"  # every test passed, and the break is declared to change nothing


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("breaklabs")
    group.addoption(
        "--break",
        dest="breaks",
        action="append",
        metavar="ID",
        help="run the tests against minitorch with this break in it; 'all' tries every break "
        "and prints which ones the tests kill",
    )
    group.addoption(
        "--break-jobs", type=int, default=2, metavar="N", help="processes at once (default: 2)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest may import minitorch, the broken library takes its place."""
    ids = early_config.known_args_namespace.breaks or []
    if ids and ALL not in ids:
        install(ids)


def pytest_configure(config: pytest.Config) -> None:
    ids = config.getoption("breaks") or []
    if ALL not in ids or hasattr(config, "workerinput"):
        return
    if len(ids) > 1:
        raise pytest.UsageError("--break all already means every break; leave the other ids out")
    config.pluginmanager.register(Tournament(config), "breaklabs-tournament")


def pytest_report_header(config: pytest.Config) -> str | None:
    ids = config.getoption("breaks") or []
    return f"breaklabs: minitorch is broken on purpose: {', '.join(ids)}" if ids else None


def install(ids: Sequence[str]) -> None:
    """Makes `import minitorch` give the library with these breaks in it."""
    from breaks.errors import BreaksError
    from breaks.library import TextFinder, shipped_sources
    from breaks.rewrite import mutate

    if any(name.partition(".")[0] == "minitorch" for name in sys.modules):
        raise pytest.UsageError("minitorch is imported already; the break would not be seen")
    try:
        catalog, sources = known_breaks(), shipped_sources()
        for break_id in ids:
            sources = mutate(sources, catalog.get(break_id))
    except BreaksError as error:
        raise pytest.UsageError(str(error)) from None
    sys.meta_path.insert(0, TextFinder(sources, "+".join(ids)))


def known_breaks() -> Catalog:
    """The breaks that ship and, in a workspace, those of its own."""
    from breaks.catalog import BUILTIN, load_catalog
    from breaks.errors import BreaksError
    from breaks.workspace import Workspace

    try:
        own = Workspace.find().config.catalog
    except BreaksError:
        own = ()
    return load_catalog([BUILTIN, *own])


class Tournament:
    """Runs the tests against every break instead of here."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        given = config.invocation_params.args
        self.arguments = [*without_options(map(str, given)), "-x", "-q", "-p", "no:cacheprovider"]
        self.fates: dict[str, Fate] = {}
        self.seconds = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        return True  # nothing is collected in this process

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        started = time.monotonic()
        fate, output = run(self.arguments, None, limit=None)
        if fate is not Fate.SURVIVED:
            sys.stdout.write(output)
            raise pytest.UsageError(
                "the tests must pass on the correct library before breaks say anything"
            )
        limit = 10 + 5 * (time.monotonic() - started)
        catalog = known_breaks()
        for brk, fate in self.contest(list(catalog), limit):
            if fate is Fate.SURVIVED and brk.equivalent:
                fate = Fate.EQUIVALENT
            self.fates[brk.id] = fate
            self.show(brk.id, fate, len(catalog))
        self.seconds = time.monotonic() - started
        session.testscollected = len(self.fates)
        session.testsfailed = sum(fate is Fate.SURVIVED for fate in self.fates.values())
        return True

    def contest(self, breaks: Sequence[Break], limit: float) -> Iterator[tuple[Break, Fate]]:
        """The fate of each mutant, in order; several run at once."""
        with ThreadPoolExecutor(max(1, self.config.getoption("--break-jobs"))) as pool:
            try:
                yield from zip(
                    breaks,
                    pool.map(lambda brk: run(self.arguments, brk.id, limit=limit)[0], breaks),
                    strict=True,
                )
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def show(self, name: str, fate: Fate, total: int) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            line = f"{fate.value:<14} {name}"
            reporter.write_line(f"{line:<66} {len(self.fates):>4}/{total}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        survivors = [name for name, fate in self.fates.items() if fate is Fate.SURVIVED]
        killed = sum(fate in (Fate.KILLED, Fate.HUNG) for fate in self.fates.values())
        if not self.fates:
            return
        terminalreporter.section("breaks")
        terminalreporter.write_line(f"{killed} killed of {len(self.fates)}, {self.seconds:.0f} s")
        for name in survivors:
            terminalreporter.write_line(f"survived: {name}")
        if survivors:
            terminalreporter.write_line(f"look:     breaks diff {survivors[0]}")
        else:
            terminalreporter.write_line("no break survives these tests")


def without_options(arguments: Iterator[str]) -> list[str]:
    """The command line without this plugin's options, which the children get on their own."""
    kept = []
    for argument in arguments:
        if argument in ("--break", "--break-jobs"):
            next(arguments, None)
        elif not argument.startswith(("--break=", "--break-jobs=")):
            kept.append(argument)
    return kept


def run(arguments: Sequence[str], break_id: str | None, *, limit: float | None) -> tuple[Fate, str]:
    """One run of the tests in a process of its own: what became of the mutant, and the output."""
    which = [] if break_id is None else ["--break", break_id]
    command = [sys.executable, "-B", "-m", "pytest", *arguments, *which]
    with Popen(command, stdout=PIPE, stderr=STDOUT, text=True, start_new_session=True) as process:
        try:
            output, _nothing = process.communicate(timeout=limit)
        except TimeoutExpired:
            end(process)
            return Fate.HUNG, ""
        except BaseException:
            end(process)
            raise
    if process.returncode in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise pytest.UsageError(f"the tests could not be run with {which or 'no break'}:\n{output}")
    return (Fate.SURVIVED if process.returncode == 0 else Fate.KILLED), output


def end(process: Popen[str]) -> None:
    """Stops a run and whatever it started."""
    import os
    import signal

    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
