"""What a library can leave behind in the process that ran it, for the next job to see.

Jobs on a broken library share a process for as long as this finds nothing: each begins in a process
that no earlier one has changed.
"""

from __future__ import annotations

import gc
import operator
import os
import signal
import sys
import threading
import time
import warnings
from itertools import repeat
from typing import Any

import numpy as np

# Who used more than this leaves too little of the limits to the next.
MEMORY = 64 << 20  # bytes
PROCESSOR_TIME = 0.25  # seconds
# The modules that a library of arrays has in reach.  All that are loaded would be too many: to look
# at an object writes to its page, and a forked process then copies it.
REACHED = (
    *("builtins", "math", "operator", "os", "sys"),
    *("numpy", "numpy.linalg", "numpy.random", "scipy.special"),
)
MISSING = object()
# Our own references: a library that replaces what compares does not decide the comparison.
_all, _is, _len, _map, _vars = all, operator.is_, len, map, vars
SIGNALS = tuple(signal.valid_signals())


class World:
    """The state of this process outside of the libraries that are loaded into it."""

    def __init__(self) -> None:
        self.modules = {name: (one, dict(vars(one))) for name, one in modules().items()}
        self.state = state()
        self.started, self.memory = time.process_time(), memory()

    def change(self) -> str:
        """What is no longer as it was, by name; empty where nothing is."""
        now = modules()
        for name, (module, names) in self.modules.items():
            if now.get(name) is not module or not same(_vars(module), names):
                return name
        found = state()
        changed = [name for name, value in self.state.items() if found[name] != value]
        if memory() - self.memory > MEMORY:
            changed.append("memory")
        if time.process_time() - self.started > PROCESSOR_TIME:
            changed.append("processor time")
        return changed[0] if changed else ""


def modules() -> dict[str, Any]:
    return {name: sys.modules[name] for name in REACHED if name in sys.modules}


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two namespaces hold the very same objects; nobody's == is asked."""
    found = _map(ours.get, theirs, repeat(MISSING))
    return _len(ours) == _len(theirs) and _all(_map(_is, found, theirs.values()))


def state() -> dict[str, Any]:
    """What no module's names show: settings, generators, files, threads, children."""
    return {
        "numpy.errstate": np.geterr(),
        "numpy.printoptions": np.get_printoptions(),
        "numpy.random": generator("numpy.random", drawing),
        "random": generator("random", lambda one: one.getstate()),
        "warnings.filters": list(warnings.filters),
        "sys.path": list(sys.path),
        "recursion limit": sys.getrecursionlimit(),
        "trace": (sys.gettrace(), sys.getprofile()),
        "garbage collection": (gc.isenabled(), gc.get_threshold()),
        "signal handlers": [signal.getsignal(number) for number in SIGNALS],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "files": sorted(os.listdir()),
        "descriptors": listed("/proc/self/fd"),
        "threads": (threading.active_count(), listed("/proc/self/task")),
        "children": children(),
    }


def generator(module: str, read: Any) -> Any:
    """The state of a global generator of random numbers; None where nobody has loaded it."""
    return read(sys.modules[module]) if module in sys.modules else None


def drawing(random: Any) -> Any:
    """Where NumPy's generator stands: bytes, which are compared faster than written out."""
    name, key, *rest = random.get_state()
    return name, key.tobytes(), rest


def listed(folder: str) -> list[str] | None:
    """The names in a folder; None where the system has none such."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return None


def children() -> str:
    """The processes that this one started (Linux)."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return file.read()
    except OSError:
        return ""


def memory() -> int:
    """Bytes of memory in use (Linux; elsewhere 0)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
