"""Python must never run the bytecode of a text that is not there any more.

A `.pyc` remembers the second and the size of its source.  So a change within one second that keeps
the size runs the OLD code: `a.grad += g` into `a.grad -= g`, say.  Two cures, both applied: a time
of last change in a later second, and no `.pyc` left.
"""

from __future__ import annotations

import contextlib
import importlib.util
import time
from pathlib import Path

from breaks import durable

SECOND = 1_000_000_000


def later_than(nanoseconds: int) -> int:
    """A time in a later second than the given one: now, if now is late enough."""
    return max(time.time_ns(), (nanoseconds // SECOND + 1) * SECOND)


def forget(source: Path) -> None:
    """No bytecode of this source is left, by whichever interpreter and at whichever level."""
    for path in _compiled(source):
        with contextlib.suppress(OSError):  # the later second protects already
            durable.remove(path)


def _compiled(source: Path) -> list[Path]:
    cache = source.parent / "__pycache__"
    beside = [] if cache.is_symlink() else sorted(cache.glob(f"{source.stem}.*.pyc"))
    elsewhere = Path(importlib.util.cache_from_source(str(source)))  # PYTHONPYCACHEPREFIX
    return [*beside, *([elsewhere] if elsewhere.parent != cache and elsewhere.exists() else [])]
