"""A recording as the judge reads it: sections that are complete, or why they are not."""

from __future__ import annotations

import signal
from typing import Any, NamedTuple

from grader.arrays import Recorded, decode
from grader.pool import End, Report

# What reading a recording raises that is not what a recorder sends.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)


class Crash(NamedTuple):
    """Why a section is not complete."""

    phase: str  # load, forward, backward, step, property
    hang: bool
    text: str  # "ValueError: …", "killed by SIGSEGV", "the time limit passed"
    type: str = ""
    module: str = ""
    line: int = 0
    function: str = ""


class Reading:
    """One job's report.  What is not there, or is not what a recorder sends, is a crash."""

    def __init__(self, report: Report):
        self.report = report
        self._sections = report.sections()
        self._decoded: dict[tuple[str, ...], Any] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about the run beside the answers."""
        proof = self._sections.get("provenance")
        changed = proof.get("numpy", []) if isinstance(proof, dict) else []
        tampered = [f"the library replaced numpy.{name}" for name in changed]
        end = [] if self.report.end is End.DONE else [self.ending().text]
        return (*self.report.notes, *tampered, *end)

    def ending(self) -> Crash:
        """How the process ended, as a crash in the phase that it had announced last."""
        report = self.report
        phase = report.phase.partition(":")[2] or "load"
        if report.end is End.TIME:
            return Crash(phase, True, "the time limit passed")
        if report.end is End.FLOOD:
            return Crash(phase, False, "stopped: it printed without end")
        if report.end is End.SIGNAL:
            return Crash(phase, False, f"killed by {signal_name(report.status)}")
        failed = self._sections.get("failed")
        if failed:
            return Crash(phase, False, str(failed)[:300])
        return Crash(phase, False, f"the process left with exit code {report.status}")

    def has(self, section: str) -> bool:
        """Whether anything of the section came back."""
        return isinstance(self._sections.get(section), dict)

    def raw(self, section: str) -> dict[str, Any]:
        value = self._sections.get(section)
        return value if isinstance(value, dict) else {}

    def crash(self, section: str) -> Crash | None:
        """Why the section is not complete; None if it is."""
        for name in ("load", section):
            error = self.raw(name).get("error")
            if isinstance(error, dict):
                return Crash(
                    str(error.get("phase")),
                    False,
                    f"{error.get('type')}: {error.get('message')}".removesuffix(": "),
                    str(error.get("type")),
                    str(error.get("module", "")),
                    int(error.get("line", 0)),
                    str(error.get("function", "")),
                )
        if not self.has(section):
            return self.ending()
        return None

    def array(self, section: str, *path: str) -> Recorded | None:
        """A recorded array, decoded once; None if it is None or missing.

        Raises ValueError for what is no array.
        """
        key = (section, *path)
        if key not in self._decoded:
            value: Any = self.raw(section)
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            self._decoded[key] = decode(value)
        return self._decoded[key]

    def arrays(self, section: str, name: str) -> dict[str, Recorded | None]:
        """A mapping of recorded arrays, such as the gradients by leaf."""
        found = self.raw(section).get(name)
        return {k: self.array(section, name, k) for k in found} if isinstance(found, dict) else {}

    def moved(self, leaf: str) -> tuple[Any, Any] | None:
        """y with every entry of a leaf moved up, and down."""
        pair = self.raw("differences").get("moved", {}).get(leaf)
        if not isinstance(pair, list) or len(pair) != 2:
            return None
        plus, minus = decode(pair[0]), decode(pair[1])
        if plus is None or minus is None or plus.array is None or minus.array is None:
            return None
        return plus.array, minus.array

    def nodes(self) -> list[dict[str, Any]]:
        """The graph of the program, in topological order, with arrays still encoded."""
        nodes = self.raw("program").get("nodes")
        return nodes if isinstance(nodes, list) else []


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
