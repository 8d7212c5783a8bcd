"""Many runs of pytest, each a fork of one process that has loaded what all of them need.

Importing torch and Hypothesis takes longer than the tests that kill most breaks.  A server imports
them once; then each line on its stdin, a JSON list of pytest's arguments and the file for the
output, is one run.  It answers with the pid of the run, and with its exit code when it has ended.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

OURS = ("minitorch", "breaks", "labs", "grader")
PYTESTS = ("pytest", "_pytest", "pluggy", "xdist", "_hypothesis_pytestplugin")
LOADED = "BREAKLABS_LOADED"  # the file into which a run writes what it had loaded


def can_fork() -> bool:
    return hasattr(os, "fork") and sys.platform != "darwin"


def loaded() -> list[str]:
    """The modules of installed packages that are loaded now, in the order of their loading."""
    return [name for name, module in list(sys.modules.items()) if installed(name, module)]


def installed(name: str, module: ModuleType | None) -> bool:
    file = getattr(module, "__file__", None) or ""
    own = name.partition(".")[0] in (*OURS, *PYTESTS)
    return not own and bool({"site-packages", "dist-packages"} & set(Path(file).parts))


def note(environment: Iterable[tuple[str, str]]) -> None:
    """Writes down what is loaded, where somebody asked for it."""
    if path := dict(environment).get(LOADED):
        Path(path).write_text(json.dumps(loaded()), encoding="utf-8")


def load(names: Iterable[str]) -> None:
    """Imports what can be imported."""
    for name in names:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)


def serve() -> None:
    """Answers one request after the other.  Ends at once if minitorch is loaded: it must not be."""
    import pytest

    load(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    if any(name.partition(".")[0] == "minitorch" for name in sys.modules):
        return
    say("ready")
    for line in sys.stdin:
        arguments, output = json.loads(line)
        if not (pid := os.fork()):
            become(output)
            code = int(pytest.main(arguments))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        say(str(pid))
        say(str(ended(pid)))


def ended(pid: int) -> int:
    """The exit code of a run.  If whoever asked for it is gone, stdin ends, and so does the run."""
    with contextlib.suppress(OSError, AttributeError):  # no such call there: then it may take long
        handle = os.pidfd_open(pid)
        if handle not in select.select([handle, sys.stdin], [], [])[0]:
            os.kill(pid, signal.SIGKILL)
            os.killpg(pid, signal.SIGKILL)  # and what it started, once it leads a group
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def become(output: str) -> None:
    """This process in a session of its own, writing into a file and reading nothing."""
    os.setsid()
    nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(output, os.O_WRONLY | os.O_CREAT)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)


def say(text: str) -> None:
    sys.__stdout__.write(text + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


if __name__ == "__main__":
    serve()
