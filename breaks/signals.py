"""Ctrl-C and SIGTERM wait for a moment at which stopping is safe."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HELD = (signal.SIGINT, signal.SIGTERM)


class Held:
    """Signals that arrived meanwhile.  `check()` lets the first of them have its way."""

    def __init__(self) -> None:
        self.arrived: list[int] = []

    def check(self) -> None:
        if self.arrived:
            raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[Held]:
    """Within the block a signal is only noted; ask `check()` where the work may be broken off."""
    waiting = Held()
    if threading.current_thread() is not threading.main_thread():
        yield waiting
        return

    def note(number: int, _frame: FrameType | None) -> None:
        waiting.arrived.append(number)

    before = {number: signal.signal(number, note) for number in HELD}
    try:
        yield waiting
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
