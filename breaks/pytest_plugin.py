"""Would my tests have seen it?  `pytest --break ID` runs any tests against a broken minitorch.

`--break ID` makes `import minitorch` give the broken library, in memory, before anything is
collected.  `--break all` runs the tests once on the correct library, which they must pass, and then
once per break, each in its own process, and prints which breaks they kill.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from breaks.model import Break
    from breaks.pytest_runs import Ended, Runs

ALL = "all"
OPTIONS = ("--break", "--break-family", "--break-jobs")


class Fate(StrEnum):
    """What the tests did to a mutant."""

    KILLED = "killed"  # a test failed, or the tests could not even start
    HUNG = "hang"  # the tests did not end, and on the correct library they do: killed too
    SURVIVED = "survived"  # every test passed
    EQUIVALENT = "equivalent"  # every test passed, and the break is declared to change nothing
    REFUSED = "not applied"  # the library was edited there


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
        "--break-family", metavar="FAMILY", help="with --break all: only breaks of this family"
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
    if config.getoption("break_family") and ALL not in ids:
        raise pytest.UsageError(
            _("--break-family chooses among all breaks; add --break all, or leave it out")
        )
    if ALL not in ids or hasattr(config, "workerinput"):
        return
    if len(ids) > 1:
        raise pytest.UsageError(_("--break all already means every break; leave the others out"))
    config.pluginmanager.register(Tournament(config), "breaklabs-tournament")


def pytest_unconfigure(config: pytest.Config) -> None:
    """A run says what it has loaded, so that later ones need not load it again."""
    import os

    if "BREAKLABS_LOADED" in os.environ and not hasattr(config, "workerinput"):
        from breaks import pytest_server

        pytest_server.note(os.environ.items())


def pytest_report_header(config: pytest.Config) -> str | None:
    ids = config.getoption("breaks") or []
    if not ids:
        return None
    if ALL in ids:
        return _("breaklabs: every break in turn, after the correct library")
    return _("breaklabs: minitorch is broken on purpose: %(ids)s") % {"ids": ", ".join(ids)}


def _(message: str) -> str:
    """The message in the reader's language; nothing is imported for runs without a break."""
    from breaks.i18n import gettext

    return gettext(message)


def install(ids: Sequence[str]) -> None:
    """Makes `import minitorch` give the library with these breaks in it."""
    from breaks import here
    from breaks.errors import BreaksError
    from breaks.library import TextFinder
    from breaks.rewrite import mutate

    if any(name.partition(".")[0] == "minitorch" for name in sys.modules):
        raise pytest.UsageError(_("minitorch is imported already; the break would not be seen"))
    try:
        catalog, sources = here.catalogue(), here.sources()
        for break_id in ids:
            sources = mutate(sources, catalog.get(break_id))
    except BreaksError as error:
        raise pytest.UsageError(str(error)) from None
    sys.meta_path.insert(0, TextFinder(sources, "+".join(ids)))


class Tournament:
    """Runs the tests against every break instead of here."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        given = config.invocation_params.args
        self.arguments = [*without_options(map(str, given)), "-x", "-q", "-p", "no:cacheprovider"]
        self.fates: dict[str, Fate] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        return True  # nothing is collected in this process

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from breaks.pytest_runs import interruptible

        with interruptible():
            return self.run(session)

    def run(self, session: pytest.Session) -> bool:
        """The whole tournament; whatever stops it, no process is left."""
        from breaks.pytest_runs import Runs

        breaks = every_break(self.config.getoption("break_family"))
        runs = Runs(max(1, self.config.getoption("--break-jobs")))
        started = time.monotonic()
        try:
            self.prove_control(runs)
            limit = 10 + 5 * (time.monotonic() - started)
            runs.prepare()
            for brk, fate in self.contest(runs, breaks, limit):
                if fate is Fate.SURVIVED and brk.equivalent:
                    fate = Fate.EQUIVALENT
                self.fates[brk.id] = fate
                self.show(brk.id, fate, len(breaks))
        finally:
            runs.end()
        session.testscollected = len(self.fates)
        session.testsfailed = len(self.bad)
        return True

    def prove_control(self, runs: Runs) -> None:
        """Refuses tests that say nothing: those that fail without any break."""
        code, output = runs.first(self.arguments)
        if fate_of((code, output), None) is not Fate.SURVIVED:
            sys.stdout.write(output)
            raise pytest.UsageError(
                _("the tests must pass on the correct library before breaks say anything")
            )

    def contest(
        self, runs: Runs, breaks: Sequence[Break], limit: float
    ) -> Iterator[tuple[Break, Fate]]:
        """The fate of each mutant, in order; several run at once, and all end with this one."""
        from concurrent.futures import ThreadPoolExecutor

        def fate(brk: Break) -> Fate:
            return fate_of(runs.run([*self.arguments, "--break", brk.id], limit), brk.id)

        with ThreadPoolExecutor(runs.jobs) as pool:
            try:
                yield from zip(breaks, pool.map(fate, breaks), strict=True)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                runs.end()
                raise

    @property
    def bad(self) -> list[str]:
        return [id for id, fate in self.fates.items() if fate in (Fate.SURVIVED, Fate.REFUSED)]

    def show(self, name: str, fate: Fate, total: int) -> None:
        """A line for the break, with -q only for one that wants attention; pytest counts them."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        outcome: Literal["passed", "failed"] = "failed" if name in self.bad else "passed"
        report = pytest.TestReport(name, (name, None, name), {}, outcome, None, "call")
        reporter._add_stats(fate.value, [report])  # its last line counts by these words
        if reporter.verbosity >= 0 or name in self.bad:
            line = f"{fate.value:<12} {name}"
            reporter.write_line(f"{line:<66} {len(self.fates):>4}/{total}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.fates:
            return
        killed = sum(fate in (Fate.KILLED, Fate.HUNG) for fate in self.fates.values())
        say = terminalreporter.write_line
        terminalreporter.section(_("breaks"))
        counts = {"killed": killed, "all": len(self.fates)}
        say(_("%(killed)d of %(all)d killed") % counts)
        if self.bad:
            say(_("next  %(command)s") % {"command": f"breaks diff {self.bad[0]}"})
        else:
            say(_("No break survives these tests."))


def every_break(family: str | None = None) -> list[Break]:
    """The breaks of the catalogue; of one family, if it is named."""
    from breaks import console, here
    from breaks.errors import BreaksError

    try:
        known = list(here.catalogue())
    except BreaksError as error:
        raise pytest.UsageError(str(error)) from None
    found = [brk for brk in known if family in (None, brk.family.value)]
    if not found:
        families = sorted({brk.family.value for brk in known})
        expected = _("a family of breaks: %(families)s") % {"families": ", ".join(families)}
        todo = console.did_you_mean(str(family), families) or _("Choose one of them.")
        refusal = BreaksError(expected, repr(family), todo, where="--break-family")
        raise pytest.UsageError(str(refusal))
    return found


def without_options(arguments: Iterator[str]) -> list[str]:
    """The command line without this plugin's options, which the children get on their own."""
    kept = []
    for argument in arguments:
        if argument in OPTIONS:
            next(arguments, None)
        elif argument.partition("=")[0] not in OPTIONS:
            kept.append(argument)
    return kept


def fate_of(ended: Ended, break_id: str | None) -> Fate:
    """What the end of a run says.  Refuses to take tests that did not run for a verdict."""
    code, output = ended
    if code is None:
        return Fate.HUNG
    if code == pytest.ExitCode.OK:
        return Fate.SURVIVED
    if code == pytest.ExitCode.USAGE_ERROR and break_id is not None:
        return Fate.REFUSED  # the same command line ran on the correct library
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise pytest.UsageError(_("the tests could not be run:\n%(output)s") % {"output": output})
    return Fate.KILLED
