"""Runs of pytest in processes of their own: forks of a loaded server, or fresh ones."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from subprocess import DEVNULL, PIPE, STDOUT, Popen, TimeoutExpired
from types import FrameType
from typing import Any

from breaks.pytest_server import LOADED, can_fork

PATIENCE = 120.0  # seconds for loading what the tests need
Ended = tuple[int | None, str]  # the exit code, None if the time was up; and the output


class Runs:
    """Everything that was started, so that everything can be ended."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.folder = tempfile.TemporaryDirectory(prefix="breaklabs-")
        self.loaded = Path(self.folder.name) / "loaded.json"
        self.fresh_ones: set[Popen[str]] = set()
        self.servers: list[Server] = []
        self.idle: Queue[Server] = Queue()
        self.over = False

    def first(self, arguments: Sequence[str]) -> Ended:
        """A fresh run; what it loaded, the servers load before the others begin."""
        return self.fresh(arguments, None, {LOADED: str(self.loaded)})

    def prepare(self) -> None:
        """Starts the servers; none where a process cannot fork, or has nothing to load."""
        if can_fork() and self.loaded.exists():
            self.servers = [Server(self.loaded) for _ in range(self.jobs)]
        for server in self.servers:
            if server.ready():
                self.idle.put(server)

    def run(self, arguments: Sequence[str], limit: float | None) -> Ended:
        """One run, on a server if there is one."""
        with contextlib.suppress(Empty):
            server = self.idle.get_nowait()
            ended = server.run(arguments, limit)
            if ended is not None:
                self.idle.put(server)
                return ended
        return self.fresh(arguments, limit)  # no server, or it is gone

    def fresh(
        self, arguments: Sequence[str], limit: float | None, more: dict[str, str] | None = None
    ) -> Ended:
        """One run in a process that starts from nothing."""
        if self.over:
            return None, ""
        command = [sys.executable, "-B", "-m", "pytest", *arguments]
        environment = {**os.environ, **(more or {})}
        with Popen(
            command,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        ) as process:
            self.fresh_ones.add(process)
            try:
                output, _nothing = process.communicate(timeout=limit)
            except TimeoutExpired:
                end(process)
                return None, ""
            except BaseException:
                end(process)
                raise
            finally:
                self.fresh_ones.discard(process)
        return process.returncode, output

    def end(self) -> None:
        """Stops whatever still runs, and lets nothing begin."""
        self.over = True
        for process in list(self.fresh_ones):
            end(process)
        for server in self.servers:
            server.end()
        self.folder.cleanup()


class Server:
    """A process that has loaded what the tests need, and forks for each run."""

    def __init__(self, loaded: Path) -> None:
        self.output = loaded.with_name(f"output-{id(self)}.txt")
        command = [sys.executable, "-B", "-m", "breaks.pytest_server", str(loaded)]
        self.process = Popen(
            command, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
        )
        self.run_pid = 0

    def ready(self) -> bool:
        return self.line(PATIENCE) == "ready"

    def run(self, arguments: Sequence[str], limit: float | None) -> Ended | None:
        """One run; None if there is no server any more."""
        assert self.process.stdin
        try:
            self.output.write_bytes(b"")
            self.process.stdin.write(json.dumps([list(arguments), str(self.output)]).encode())
            self.process.stdin.write(b"\n")
            self.run_pid = int(self.line(None) or 0)
            code = self.line(limit) if self.run_pid else ""
            if code is None:
                kill(self.run_pid)
                self.line(None)
                return None if self.process.poll() is not None else (None, "")
        except (OSError, ValueError):
            return None
        finally:
            self.run_pid = 0
        return (int(code), self.output.read_text("utf-8", "replace")) if code else None

    def line(self, limit: float | None) -> str | None:
        """The next line of the server; "" at its end, None if the time is up."""
        file = self.process.stdout
        assert file
        began = time.monotonic()
        while not select.select([file], [], [], 0.2)[0]:
            if limit is not None and time.monotonic() - began > limit:
                return None
        return file.readline().decode().strip()

    def end(self) -> None:
        if self.run_pid:
            kill(self.run_pid)
        end(self.process)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within the block SIGTERM, and the end of the terminal, are Ctrl-C: what was started is ended.

    Only the first of them is heard, so that the ending is not broken off.
    """
    before: dict[int, Any] = {}

    def stop(_signal: int, _frame: FrameType | None) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        before.clear()  # this process ends: later ones stay unheard until it has
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def end(process: Popen[str] | Popen[bytes]) -> None:
    """Stops a process and whatever it started."""
    if process.poll() is None:
        kill(process.pid)
    process.wait()


def kill(pid: int) -> None:
    """Kills a process and its group, which it leads."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        pass
