"""How a process ends that has said what it had to say."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from typing import NoReturn


def run_and_leave(main: Callable[[], None]) -> NoReturn:
    """What the program does: `main`, which raises SystemExit, and then the end of the process."""
    try:
        main()
    except SystemExit as end:
        if watched() or not isinstance(end.code, int | None):  # a text: Python shows it, code 1
            raise
        leave(end.code or 0)
    leave(0)


def watched() -> bool:
    """Whether a debugger, a profiler or coverage is at work: they have something left to do."""
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    tools = monitoring and any(monitoring.get_tool(number) for number in range(6))
    return bool(sys.gettrace() or sys.getprofile() or tools)


def leave(code: int) -> NoReturn:
    """Ends this process with an exit code, and lets the system take the memory back in one piece.

    What was registered to run at the end runs, and what was printed is flushed, as by `sys.exit`.
    But no module and no object is taken down first: after NumPy and a recording, that is a tenth of
    a command's time.  (mypy ends in the same way.)
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # none, full, closed: Python says 120 then
            code = code or 120
    os._exit(code)
