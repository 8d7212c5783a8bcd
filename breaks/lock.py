"""Commands that write take turns, and a dead process holds nobody up.

The operating system's own lock is used where there is one: it lets go by itself when its process
ends, however it ends.  Elsewhere (some network file systems) a file holds the owner's process id,
and is taken over when no such process is alive.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from breaks import durable, i18n, terminal
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
PATIENCE = 60.0  # seconds until a command gives up
QUIET = 0.3  # seconds of waiting that nobody needs to hear about
PAUSE = 0.02
BEHIND = 1 << 20  # where Windows locks a byte: behind the number, which others read
UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


@contextlib.contextmanager
def held(path: Path, *, patience: float | None = None) -> Iterator[None]:
    """Nobody else is in a block with this path; waits for its turn, and says so."""
    durable.make_folder(path.parent)
    durable.step("lock", path)
    handle = _opened(path)
    try:
        try:
            _wait(lambda: _try_system_lock(handle), path, patience)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            with held_by_number(path.with_name(path.name + ".pid"), patience=patience):
                yield
            return
        try:
            _sign(handle)
            yield
        finally:
            _let_go(handle)
    finally:
        os.close(handle)  # and with it the lock


def _opened(path: Path) -> int:
    """The lock's file.  Not through a link: what it leads to is not ours to write."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise BreaksError(
            _("a file of this workspace"),
            _("a symbolic link: %(path)s leads to %(target)s")
            % {"path": path.name, "target": os.path.realpath(path)},
            _("Put a real file there; breaks never writes through a link."),
            code=Exit.PRECONDITION,
        ) from None


def _try_system_lock(handle: int) -> bool:
    """Takes the operating system's lock, or says that somebody has it."""
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(handle, BEHIND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go(handle: int) -> None:
    """Gives the lock back at once; Windows takes its time about it when a file is closed."""
    if sys.platform == "win32":
        import msvcrt

        with contextlib.suppress(OSError):  # closing does it too, in the end
            os.lseek(handle, BEHIND, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)


def _sign(handle: int) -> None:
    """Leaves the process id, for the message of whoever waits."""
    os.lseek(handle, 0, os.SEEK_SET)
    os.ftruncate(handle, 0)
    os.write(handle, str(os.getpid()).encode())


@contextlib.contextmanager
def held_by_number(path: Path, *, patience: float | None = None) -> Iterator[None]:
    """The same promise by a file with the owner's process id, for file systems without locks."""
    _wait(lambda: _try_number(path), path, patience)
    try:
        yield
    finally:
        durable.remove(path)


def _try_number(path: Path) -> bool:
    own = path.with_name(f"{path.name}.{os.getpid()}")
    own.write_text(str(os.getpid()))
    try:
        os.link(own, path)  # fails if it is there, and appears with its content
    except FileExistsError:
        owner = _owner(path)
        if owner is None or _alive(owner):
            return False
        _take_from_the_dead(path, owner)
        return False  # and try again: somebody may have been quicker
    finally:
        own.unlink(missing_ok=True)
    return True


def _take_from_the_dead(path: Path, owner: int) -> None:
    """Moves a dead owner's file away; puts back what turns out to be somebody else's."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.dead")
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, aside)
        if _owner(aside) != owner:
            with contextlib.suppress(FileExistsError):
                os.link(aside, path)
        aside.unlink()


def _owner(path: Path) -> int | None:
    try:
        return int(path.read_text() or "0") or None
    except (OSError, ValueError):
        return None


def _alive(process: int) -> bool:
    if sys.platform == "win32":  # there, signal 0 is Ctrl-C and not a question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _wait(attempt: Callable[[], bool], path: Path, patience: float | None) -> None:
    """Tries until it succeeds; after a moment says who is waited for, in the end gives up."""
    began, told = time.monotonic(), False
    while not attempt():
        waited = time.monotonic() - began
        owner = _owner(path) or "?"
        if waited > (PATIENCE if patience is None else patience):
            raise BreaksError(
                _("one command at a time in this workspace"),
                _("process %(owner)s is still at work") % {"owner": owner},
                _("Wait until it has ended, or end it, then run the command again."),
                code=Exit.PRECONDITION,
            )
        if waited > QUIET and not told:
            terminal.say(
                _("Waiting for another command in this workspace (process %(owner)s) …")
                % {"owner": owner}
            )
            told = True
        time.sleep(PAUSE)
