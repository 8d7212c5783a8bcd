"""Two terminals: commands take turns, and a dead one holds nobody up."""

import errno
import fcntl
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import types

import pytest

from breaks import durable, journal, lock
from breaks.errors import BreaksError, Exit
from breaks.workspace import Workspace


def fork(work):
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return process


def ended(process):
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test_many_commands_at_once_leave_what_some_order_would(ws, breaks, tree):
    before = tree(ws)
    names = ["minus", "thrice", "two-files"]
    for _round in range(5):
        apply = [fork(lambda n=name: journal.apply(ws, breaks[n])) for name in names]
        assert [0, 0, 0] == [ended(process) for process in apply]
        assert set(names) == set(journal.status(ws).applied)
        revert = [fork(lambda n=name: journal.revert(ws, n)) for name in names]
        assert [0, 0, 0] == [ended(process) for process in revert]
        assert before == tree(ws)

    assert 15 == len(journal.peeks(ws))


def test_a_reader_never_sees_a_break_in_one_file_only(ws, breaks):
    """Somebody asks for the status all the while: every answer is a whole one."""

    def toggle():
        for _round in range(20):
            journal.apply(ws, breaks["two-files"])
            journal.revert(ws)

    process = fork(toggle)
    seen = set()
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        sources = journal.pristine_sources(ws)
        seen.add((sources["minitorch.tensor"], sources["minitorch.optim"]))

    assert 1 == len(seen)


def test_a_break_that_came_and_went_while_somebody_read_is_noticed(ws, breaks, monkeypatch):
    """One file read before, one in between: with nothing applied there is no record to compare."""
    clean, read, torn = ws.sources(), Workspace.sources, []

    def sources(self):
        if torn:
            return read(self)
        torn.append(True)
        before = read(self)
        journal.apply(ws, breaks["two-files"])
        between = read(self)
        journal.revert(ws)
        return before | {"minitorch.optim": between["minitorch.optim"]}

    monkeypatch.setattr(Workspace, "sources", sources)

    assert clean == journal.pristine_sources(ws)
    assert torn


def hold(path, seconds):
    with lock.held(path):
        time.sleep(seconds)


def test_the_second_waits_and_is_told_for_whom(tmp_path, capsys):
    path = tmp_path / "lock"
    process = fork(lambda: hold(path, 1.0))
    while not (path.exists() and path.read_text()):
        time.sleep(0.01)
    began = time.monotonic()
    with lock.held(path):
        waited = time.monotonic() - began

    assert waited > 0.5
    assert f"process {process}" in capsys.readouterr().err
    assert 0 == ended(process)


def test_a_short_wait_is_silent(tmp_path, capsys):
    path = tmp_path / "lock"
    process = fork(lambda: hold(path, 0.1))
    while not (path.exists() and path.read_text()):
        time.sleep(0.005)
    with lock.held(path):
        pass

    assert "" == capsys.readouterr().err
    assert 0 == ended(process)


@pytest.mark.parametrize("held", [lock.held, lock.held_by_number], ids=["system", "number"])
def test_after_a_while_the_second_gives_up_and_says_what_to_do(tmp_path, held):
    path = tmp_path / "lock"
    with (
        held(path),
        pytest.raises(BreaksError, match=f"process {os.getpid()}") as refusal,
        held(path, patience=0.1),
    ):
        pass

    assert Exit.PRECONDITION == refusal.value.code


@pytest.mark.parametrize("held", [lock.held, lock.held_by_number], ids=["system", "number"])
def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path, held):
    path = tmp_path / "lock"

    def die():
        with held(path):
            os.kill(os.getpid(), signal.SIGKILL)

    assert -signal.SIGKILL == ended(fork(die))
    assert path.exists()
    began = time.monotonic()
    with held(path, patience=5):
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("held", [lock.held, lock.held_by_number], ids=["system", "number"])
def test_only_one_is_in_at_a_time(tmp_path, held):
    path, log = tmp_path / "lock", tmp_path / "log"

    def work():
        for _round in range(10):
            with held(path):
                handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                os.write(handle, b"in\n")
                time.sleep(0.002)
                os.write(handle, b"out\n")
                os.close(handle)

    processes = [fork(work) for _child in range(4)]
    assert [0] * 4 == [ended(process) for process in processes]
    assert ["in", "out"] * 40 == log.read_text().split()


def test_threads_of_one_process_take_turns_too(ws, breaks, tree):
    before, failures = tree(ws), []

    def work(name):
        try:
            for _round in range(3):
                journal.apply(ws, breaks[name])
                journal.revert(ws, name)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("minus", "thrice")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [] == failures
    assert before == tree(ws)


def test_where_the_system_has_no_locks_the_number_is_used(tmp_path, monkeypatch):
    def unsupported(_handle):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(lock, "_try_system_lock", unsupported)
    path = tmp_path / "lock"
    with lock.held(path):
        assert str(os.getpid()) == (tmp_path / "lock.pid").read_text()
        with pytest.raises(BreaksError), lock.held(path, patience=0.05):
            pass

    assert not (tmp_path / "lock.pid").exists()


def test_a_number_that_is_no_number_is_waited_for_and_not_taken(tmp_path):
    path = tmp_path / "lock"
    path.write_text("somebody")
    with pytest.raises(BreaksError), lock.held_by_number(path, patience=0.05):
        pass

    assert "somebody" == path.read_text()


def test_ctrl_c_ends_the_wait(tmp_path):
    path = tmp_path / "lock"
    with lock.held(path):
        code = (
            "import sys, pathlib; from breaks import lock\n"
            "print('ready', flush=True)\n"
            "with lock.held(pathlib.Path(sys.argv[1])): pass\n"
        )
        waiting = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        waiting.stdout.readline()
        time.sleep(0.1)
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=10)

    assert waiting.returncode not in (0, None)


def test_a_stopped_command_of_another_terminal_is_not_mistaken_for_a_dead_one(ws, breaks):
    """One is in the middle; the other waits for it instead of undoing its work."""
    started = ws.root / "started"

    def slow():
        def step(name, target):
            if name == "utime":  # the intention is on record, the file is not yet replaced
                started.touch()
                time.sleep(0.6)

        durable.step = step
        journal.apply(ws, breaks["minus"])

    process = fork(slow)
    while not started.exists():
        time.sleep(0.01)
    assert journal.recover(ws) is None
    assert 0 == ended(process)
    assert ("minus",) == journal.status(ws).applied


class FakeMsvcrt(types.ModuleType):
    """`msvcrt` as Python documents it: `locking(fd, mode, nbytes)` from the current position.

    A lock belongs to an open file, is refused with OSError (EACCES), and ends with the file or its
    process; unlocking what is not locked is an OSError as well.  Linux has such locks.
    """

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self):
        super().__init__("msvcrt")
        self.calls = []
        self.mine = set()

    def locking(self, fd, mode, nbytes):
        place = os.lseek(fd, 0, os.SEEK_CUR)
        self.calls.append((mode, place, nbytes))
        if mode == self.LK_UNLCK and (fd, place) not in self.mine:
            raise PermissionError(errno.EACCES, "Permission denied")
        kind = fcntl.F_UNLCK if mode == self.LK_UNLCK else fcntl.F_WRLCK
        try:
            ask = struct.pack("hhqqi", kind, os.SEEK_SET, place, nbytes, 0)
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, ask)
        except BlockingIOError:
            raise PermissionError(errno.EACCES, "Permission denied") from None
        (self.mine.discard if mode == self.LK_UNLCK else self.mine.add)((fd, place))


@pytest.fixture
def windows(monkeypatch):
    """What the lock sees of Windows."""
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(lock.sys, "platform", "win32")
    return fake


def test_on_windows_one_byte_behind_the_number_is_locked_and_let_go(windows, tmp_path):
    path = tmp_path / "lock"
    with lock.held(path):
        assert str(os.getpid()) == path.read_text()

    assert [(windows.LK_NBLCK, lock.BEHIND, 1), (windows.LK_UNLCK, lock.BEHIND, 1)] == windows.calls
    assert set() == windows.mine
    assert len(str(os.getpid())) == path.stat().st_size


def test_on_windows_only_one_is_in_at_a_time(windows, tmp_path):
    test_only_one_is_in_at_a_time(tmp_path, lock.held)


def test_on_windows_the_second_gives_up_and_names_the_first(windows, tmp_path):
    test_after_a_while_the_second_gives_up_and_says_what_to_do(tmp_path, lock.held)


def test_on_windows_the_lock_of_a_killed_process_is_free_at_once(windows, tmp_path):
    test_the_lock_of_a_killed_process_is_free_at_once(tmp_path, lock.held)


def test_on_windows_an_error_in_the_block_is_heard_and_the_lock_free(windows, tmp_path):
    with pytest.raises(ZeroDivisionError), lock.held(tmp_path / "lock"):
        raise ZeroDivisionError

    assert set() == windows.mine
    with lock.held(tmp_path / "lock", patience=0.1):
        pass


def test_on_windows_a_lock_that_was_lost_does_not_hide_the_result(windows, tmp_path):
    """The byte may be free already, as on a share that was cut off: then there is nothing to do."""
    with lock.held(tmp_path / "lock"):
        windows.mine.clear()

    assert windows.LK_UNLCK == windows.calls[-1][0]


def test_on_windows_nobody_is_sent_a_signal_to_see_whether_he_lives(windows, tmp_path, monkeypatch):
    """There `os.kill(pid, 0)` is Ctrl-C."""
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a signal was sent"))
    path = tmp_path / "lock"
    path.write_text("12345")
    with pytest.raises(BreaksError, match="12345"), lock.held_by_number(path, patience=0.05):
        pass
