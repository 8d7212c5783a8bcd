"""Every change of the file system that breaks makes: one function per visible step.

Each calls `step` first, so that a test can stop the process between any two of them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def step(name: str, path: Path) -> None:
    """About to do `name` to `path`.  Does nothing; tests put something else in its place."""


def make_folder(path: Path) -> None:
    """A folder that is there afterwards, its parent too."""
    if not path.is_dir():
        step("mkdir", path)
        path.mkdir(parents=True, exist_ok=True)


def create(path: Path, content: bytes, mode: int | None = None) -> None:
    """A file that was not there, with its bytes on the disk and not only on their way to it.

    Without a mode it gets the usual one.  It is written in two parts, so that a test can stop in
    the middle.
    """
    step("create", path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        middle = len(content) // 2
        for part in (content[:middle], content[middle:]):
            step("write", path)
            _write(handle, part)
        step("fsync", path)
        os.fsync(handle)
    finally:
        os.close(handle)
    if mode is not None:
        step("chmod", path)
        path.chmod(mode)


def _write(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]


def give(path: Path, like: os.stat_result) -> None:
    """The file belongs to whom `like` belongs, if that can be done."""
    own = path.stat()
    if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        step("chown", path)
        with contextlib.suppress(PermissionError):
            os.chown(path, like.st_uid, like.st_gid)


def rename(source: Path, target: Path) -> None:
    """`target` becomes `source` in one instant, also if the power fails."""
    step("rename", target)
    os.replace(source, target)
    _hurry(target.parent)


def _hurry(folder: Path) -> None:
    """What was done in the folder is on the disk; some systems cannot be made to hurry."""
    with contextlib.suppress(OSError):
        step("fsync", folder)
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def date(path: Path, nanoseconds: int) -> None:
    """The file's time of last change."""
    step("utime", path)
    os.utime(path, ns=(nanoseconds, nanoseconds))


def remove(path: Path) -> None:
    """The file is gone; no matter if it was already."""
    step("unlink", path)
    path.unlink(missing_ok=True)


def erase(path: Path) -> None:
    """The file is gone, also if the power fails."""
    remove(path)
    _hurry(path.parent)
