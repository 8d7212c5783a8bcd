"""Jobs in processes of their own: each has limits, and none can disturb another.

A job runs code that is broken on purpose.  It gets a process group, an empty folder, no input, a
pipe for what it prints, another for what it reports, and limits on time, memory and files.  What it
reports comes in frames that are bounded and checked; whatever happens to the process is a fact
about this job alone.  Two ways: `fork` from this process (nothing is imported twice), and `spawn`
of a fresh interpreter where fork is not to be had.

Jobs are made when there is room for them: whoever makes them works beside the jobs that run, and
may look at what has come back.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import queue
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import IO, Any, NamedTuple

from breaks.signals import held

_LIBRARIES = ("OPENBLAS", "OMP", "MKL", "NUMEXPR")
THREADS = {f"{name}_NUM_THREADS": "1" for name in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}


AHEAD = 4  # jobs that are made while others run


def one_thread() -> None:
    """One BLAS thread, here and in every child; call it before NumPy is imported."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)


class Limits(NamedTuple):
    """What a job may use.  Processor time decides a hang: it does not depend on the load."""

    cpu: int = 3  # seconds of processor time
    wall: float = 20.0  # seconds in all
    memory: int = 1 << 30  # bytes more than at the start
    file: int = 1 << 20  # bytes in any file
    output: int = 1 << 16  # bytes of printing that are kept
    printed: int = 64 << 20  # bytes of printing before the job is stopped
    report: int = 64 << 20  # bytes of frames


class End(StrEnum):
    """How a job ended."""

    DONE = "done"  # it said that it was done
    EXIT = "exit"  # the process left before it was done
    SIGNAL = "signal"  # a signal ended it
    TIME = "time"  # a time limit passed
    FLOOD = "flood"  # it printed or reported without end


@dataclass(slots=True)
class Report:
    """What came back from one job."""

    frames: list[tuple[str, Any]] = field(default_factory=list)  # (kind, value)
    end: End = End.EXIT
    status: int = 0  # exit code, or the signal's number
    output: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of processor time, where the system says

    def sections(self) -> dict[str, Any]:
        """The recorded sections by name; the last of a name counts."""
        return {kind: value for kind, value in self.frames if kind != "phase"}

    @property
    def phase(self) -> str:
        """What the job was doing when it last said so."""
        return next((value for kind, value in reversed(self.frames) if kind == "phase"), "")


Job = dict[str, Any]
Work = Callable[[Job, Callable[[str, Any], None]], None]


class _Coming:
    """The jobs that are still to be started, numbered in their order; some are made ahead."""

    def __init__(self, jobs: Iterable[Job | None]):
        self._jobs, self._count, self._over = iter(jobs), 0, False
        self._made: deque[Job] = deque()

    def make(self) -> bool:
        """Makes a job ahead; False if there are enough, or the next must wait for one that runs."""
        if self._over or len(self._made) >= AHEAD:
            return False
        try:
            job = next(self._jobs)
        except StopIteration:
            self._over = True
            return False
        if job is not None:
            self._made.append(job)
        return job is not None

    def next(self, running: int) -> tuple[int, Job] | None:
        """The next job; None where it must wait for one that runs, and where all have come.

        Raises RuntimeError for a job that waits while none runs: it would wait for ever.
        """
        if not self._made and not self.make():
            if not running and not self._over:
                raise RuntimeError("the next job waits for another, and none runs")
            return None
        self._count += 1
        return self._count - 1, self._made.popleft()


# ------------------------------------------------------------------ frames


class Sender:
    """Writes frames: a line with nonce, length and hash, then JSON."""

    def __init__(self, fd: int, nonce: str):
        self._fd, self._nonce = fd, nonce
        self._write, self._dumps, self._sha256 = os.write, json.dumps, hashlib.sha256

    def __call__(self, kind: str, value: Any) -> None:
        body = self._dumps([kind, value], allow_nan=False).encode()
        head = f"@{self._nonce} {len(body)} {self._sha256(body).hexdigest()[:16]}\n".encode()
        view = memoryview(head + body + b"\n")
        while view:
            view = view[self._write(self._fd, view) :]


def read_frames(data: bytes, nonce: str) -> tuple[list[tuple[str, Any]], int]:
    """The frames in `data`, and how many bytes belong to none."""
    frames: list[tuple[str, Any]] = []
    at, strange, mark = 0, 0, f"@{nonce} ".encode()
    while at < len(data):
        start = data.find(mark, at)
        if start < 0:
            return frames, strange + len(data) - at
        strange += start - at
        line_end = data.find(b"\n", start)
        frame = None
        if line_end > 0:
            with contextlib.suppress(ValueError):
                length, digest = data[start + len(mark) : line_end].split()
                body = data[line_end + 1 : line_end + 1 + int(length)]
                if hashlib.sha256(body).hexdigest()[:16].encode() == digest:
                    frame = json.loads(body)
        if isinstance(frame, list) and len(frame) == 2 and isinstance(frame[0], str):
            frames.append((frame[0], frame[1]))
            at = line_end + 1 + int(length) + 1
        else:
            strange += len(mark)
            at = start + len(mark)
    return frames, strange


# ------------------------------------------------------------------ inside the child


def limit(limits: Limits) -> None:
    """Applies the limits to this process, where the system knows them."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock still holds
        return

    def cap(name: str, soft: int, hard: int | None = None) -> None:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            resource.setrlimit(getattr(resource, name), (soft, soft if hard is None else hard))

    used = 0
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    if used:
        cap("RLIMIT_AS", used + limits.memory)
    cap("RLIMIT_CPU", limits.cpu, limits.cpu + 1)
    cap("RLIMIT_FSIZE", limits.file)
    cap("RLIMIT_CORE", 0)


def fresh_streams() -> None:
    """The three standard streams anew, on descriptors 0, 1 and 2.

    The old ones are kept: a file that is dropped closes its number, which may be ours by now.
    """
    _BEFORE.extend((sys.stdin, sys.stdout, sys.stderr))
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False, errors="replace")
    sys.stderr = os.fdopen(2, "w", closefd=False, errors="replace")


_BEFORE: list[Any] = []


def prctl() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        return ctypes.CDLL(None, use_errno=True).prctl
    return None


def die_with(parent: int, prctl: Callable[..., int] | None) -> None:
    """This process is killed when its parent dies (Linux); at once if it is dead already."""
    if prctl is not None:
        prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(70)


def run_here(work: Work, job: dict[str, Any], send: Sender, limits: Limits) -> None:
    """Runs the job in this process, which is a child, and leaves without cleaning up."""
    code = 70
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        limit(limits)
        work(job, send)
        send("done", True)
        code = 0
    except BaseException as error:
        with contextlib.suppress(BaseException):
            send("failed", f"{type(error).__name__}: {error}"[:500])
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)


# ------------------------------------------------------------------ the forking way


class _Forked:
    """A job in a forked child, as its parent sees it."""

    def __init__(
        self, index: int, work: Work, job: dict[str, Any], limits: Limits, folder: str, prctl: Any
    ):
        self.index, self.limits, self.report = index, limits, Report()
        self.data, self.printed = bytearray(), bytearray()
        self.flood = self.late = False
        self.printed_bytes = 0
        self.nonce = secrets.token_hex(8)
        self.cwd = os.path.join(folder, str(index))
        os.mkdir(self.cwd)
        self.result, result_w = os.pipe()
        with contextlib.suppress(ImportError, AttributeError, OSError):  # Linux
            import fcntl

            # A parent that is busy does not hold up a child that reports.
            fcntl.fcntl(result_w, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.output, output_w = os.pipe()
        self.started = time.monotonic()
        parent = os.getpid()
        with warnings.catch_warnings():
            # A process that has threads warns; our children run NumPy only, with one thread.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            try:
                self._become_child(parent, result_w, output_w, prctl)
                run_here(work, job, Sender(3, self.nonce), limits)
            finally:
                os._exit(70)
        with contextlib.suppress(OSError):  # both sides do it: whoever is first
            os.setpgid(self.pid, self.pid)
        os.close(result_w)
        os.close(output_w)
        os.set_blocking(self.result, False)
        os.set_blocking(self.output, False)
        self.pidfd = -1
        with contextlib.suppress(AttributeError, OSError):
            self.pidfd = os.pidfd_open(self.pid)

    def _become_child(self, parent: int, result_w: int, output_w: int, prctl: Any) -> None:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        die_with(parent, prctl)
        null = os.open(os.devnull, os.O_RDONLY)
        high = [os.dup(fd) for fd in (null, output_w, result_w)]
        while min(high) < 4:
            high = [os.dup(fd) for fd in high]
        for fd, place in zip((high[0], high[1], high[1], high[2]), (0, 1, 2, 3), strict=True):
            os.dup2(fd, place)
        os.closerange(4, max(256, *high) + 1)
        fresh_streams()
        gc.disable()  # a short life, and memory that is limited
        os.chdir(self.cwd)

    def fds(self) -> list[tuple[int, str]]:
        every = [(self.result, "result"), (self.output, "output"), (self.pidfd, "exit")]
        return [(fd, kind) for fd, kind in every if fd >= 0]

    def drain(self, kind: str) -> bool:
        """Takes what the pipe holds; False once the pipe is closed."""
        fd = self.result if kind == "result" else self.output
        while True:
            try:
                piece = os.read(fd, 1 << 18)
            except BlockingIOError:
                return True
            if not piece:
                return False
            if kind == "result":
                self.data += piece
            else:
                self.printed_bytes += len(piece)
                self.printed += piece[: max(0, self.limits.output - len(self.printed))]
            if len(self.data) > self.limits.report or self.printed_bytes > self.limits.printed:
                self.flood = True
                self.kill()
                return True

    def kill(self) -> None:
        for target in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                target(self.pid, signal.SIGKILL)

    def ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def reap(self) -> Report:
        """Ends the whole group, closes everything, and says what happened."""
        self.kill()  # before the wait: until then, nobody else can have this id
        _, status, usage = os.wait4(self.pid, 0)
        for kind in ("result", "output"):
            self.drain(kind)
        for fd, _ in self.fds():
            os.close(fd)
        shutil.rmtree(self.cwd, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        used = usage.ru_utime + usage.ru_stime
        self.report.seconds, self.report.cpu = time.monotonic() - self.started, used
        return _finish(self, code, out_of_time=self.late or used >= self.limits.cpu)


def _finish(job: Any, code: int, *, out_of_time: bool) -> Report:
    report: Report = job.report
    report.frames, strange = read_frames(bytes(job.data), job.nonce)
    report.output = bytes(job.printed).decode("utf-8", "replace")
    if job.printed_bytes > job.limits.output:
        report.notes.append(f"printed {job.printed_bytes} bytes; {job.limits.output} kept")
    if strange:
        report.notes.append(f"{strange} bytes on the result pipe are not the recorder's")
    done = any(kind == "done" for kind, _ in report.frames)
    report.status = abs(code)
    if job.flood:
        report.end = End.FLOOD
    elif done:
        report.end = End.DONE
    elif out_of_time or (code < 0 and -code == getattr(signal, "SIGXCPU", -1)):
        report.end = End.TIME
    elif code < 0:
        report.end = End.SIGNAL
    else:
        report.end = End.EXIT
    return report


def _run_forked(
    coming: _Coming, work: Work, workers: int, limits: Limits, folder: str
) -> Iterable[tuple[int, Report]]:
    call = prctl()
    running: dict[int, _Forked] = {}
    selector = selectors.DefaultSelector()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    try:
        while True:
            while len(running) < workers and (new := coming.next(len(running))):
                index, job = new
                running[index] = owner = _Forked(index, work, job, limits, folder, call)
                for fd, kind in owner.fds():
                    selector.register(fd, selectors.EVENT_READ, (owner, kind))
            if not running:
                return
            # Where there is no pidfd, or a grandchild keeps the pipe, the clock looks.
            watched = all(one.pidfd >= 0 for one in running.values())
            timeout = 0.0 if coming.make() else 0.2 if watched else 0.01
            for key, _ in selector.select(timeout):
                owner, kind = key.data
                if kind != "exit" and not owner.drain(kind):
                    selector.unregister(key.fd)
            now = time.monotonic()
            for index, owner in list(running.items()):
                if now - owner.started > limits.wall and not owner.late:
                    owner.late = True
                    owner.kill()
                if owner.ended():
                    for fd, _ in owner.fds():
                        with contextlib.suppress(KeyError):
                            selector.unregister(fd)
                    del running[index]
                    yield index, owner.reap()
    finally:
        for owner in running.values():
            owner.reap()
        selector.close()


# ------------------------------------------------------------------ the spawning way


class _Spawned:
    """A job in a fresh interpreter: stdin carries the job, stdout frames, stderr the printing."""

    def __init__(self, job: dict[str, Any], limits: Limits, cwd: str):
        self.limits, self.report = limits, Report()
        self.data, self.printed = bytearray(), bytearray()
        self.flood, self.printed_bytes = False, 0
        self.nonce = secrets.token_hex(8)
        self.started = time.monotonic()
        os.mkdir(cwd)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "grader.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **THREADS},
            start_new_session=True,
        )
        self.cwd = cwd
        head = {"nonce": self.nonce, "limits": limits._asdict(), "parent": os.getpid(), "job": job}
        self._text = json.dumps(head).encode()

    def kill(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()

    def _read(self, stream: IO[bytes], kind: str) -> None:
        while piece := os.read(stream.fileno(), 1 << 16):
            if kind == "result":
                self.data += piece
            else:
                self.printed_bytes += len(piece)
                self.printed += piece[: max(0, self.limits.output - len(self.printed))]
            if len(self.data) > self.limits.report or self.printed_bytes > self.limits.printed:
                self.flood = True
                self.kill()
                return

    def run(self) -> Report:
        process = self.process
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise RuntimeError("a spawned job has three pipes")
        readers = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((stdout, "result"), (stderr, "output"))
        ]
        for reader in readers:
            reader.start()
        with contextlib.suppress(OSError):
            stdin.write(self._text)
            stdin.close()
        late = False
        try:
            process.wait(self.limits.wall)
        except subprocess.TimeoutExpired:
            late = True
        self.kill()
        code = process.wait()
        for reader in readers:
            reader.join(1.0)
        shutil.rmtree(self.cwd, ignore_errors=True)
        self.report.seconds = time.monotonic() - self.started
        xcpu = code < 0 and -code in (getattr(signal, "SIGXCPU", -1),)
        return _finish(self, code, out_of_time=late or xcpu)


def _run_spawned(
    coming: _Coming, workers: int, limits: Limits, folder: str
) -> Iterable[tuple[int, Report]]:
    done: queue.SimpleQueue[tuple[int, Report | BaseException]] = queue.SimpleQueue()
    running: dict[int, _Spawned] = {}

    def serve(index: int, one: _Spawned) -> None:
        try:
            done.put((index, one.run()))
        except BaseException as error:
            done.put((index, error))

    try:
        while True:
            while len(running) < workers and (new := coming.next(len(running))):
                index, job = new
                running[index] = _Spawned(job, limits, os.path.join(folder, str(index)))
                threading.Thread(target=serve, args=(index, running[index]), daemon=True).start()
            if not running:
                return
            while done.empty() and coming.make():
                pass
            index, report = done.get()
            del running[index]
            if isinstance(report, BaseException):
                raise report
            yield index, report
    finally:
        for one in running.values():
            one.kill()


# ------------------------------------------------------------------ both


def enough_workers() -> int:
    """One more than this process has cores: when a job ends, its core does not wait for us."""
    try:
        return len(os.sched_getaffinity(0)) + 1
    except AttributeError:  # not Linux
        return (os.cpu_count() or 1) + 1


def can_fork() -> bool:
    """Whether children can be forked here."""
    return hasattr(os, "fork") and hasattr(os, "waitid") and sys.platform != "win32"


def run(
    jobs: Iterable[Job | None],
    *,
    workers: int | None = None,
    limits: Limits | None = None,
    way: str = "",
    work: Work | None = None,
    on_done: Callable[[int, Report], None] | None = None,
) -> list[Report]:
    """Runs every job, at most `workers` at once; reports in the order of the jobs.

    By default there are as many workers as keep every core busy.

    `jobs` is asked for the next one when there is room for it, and gives None where that one has to
    wait until another has finished.  `on_done` is called, with a job's number and its report, as
    jobs finish.  `way` is "fork" or "spawn"; by default fork where it is to be had.  `work` runs in
    the child (grader.child.run); only the forking way takes another.
    """
    if work is None:
        from grader import child

        work = child.run
    limits, coming = limits or Limits(), _Coming(jobs)
    workers = enough_workers() if workers is None else workers
    way = way or ("fork" if can_fork() else "spawn")
    reports: dict[int, Report] = {}
    folder = tempfile.mkdtemp(prefix="breaklabs-")
    finished: Iterable[tuple[int, Report]] = (
        _run_forked(coming, work, workers, limits, folder)
        if way == "fork"
        else _run_spawned(coming, workers, limits, folder)
    )
    try:
        with contextlib.closing(finished):  # type: ignore[type-var]
            for index, report in finished:
                reports[index] = report
                if on_done:
                    on_done(index, report)
    finally:
        with held() as waiting:  # who presses Ctrl-C twice leaves no folder behind
            shutil.rmtree(folder, ignore_errors=True)
        waiting.check()
    return [reports[index] for index in sorted(reports)]
