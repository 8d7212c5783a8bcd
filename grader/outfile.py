"""A file that somebody asked for: written whole or not at all, and never over something else."""

from __future__ import annotations

import os
from pathlib import Path

from breaks import durable, i18n
from breaks.errors import BreaksError, Exit

_ = i18n.gettext
HEAD = 1024  # bytes in which a file of the kit says that it is one


def write(path: Path, content: bytes, mark: bytes) -> None:
    """Puts `content` into the file.  One that exists must be empty or have `mark` in its head.

    Raises BreaksError where something else stands, or where there is no folder.
    """
    if path.is_dir():
        raise BreaksError(
            _("a file to write"), _("the folder %(name)s") % {"name": path}, _("Name a file.")
        )
    if _foreign(path, mark):
        raise BreaksError(
            _("a name that is free, or a file that this command wrote"),
            _("that %(path)s is something else") % {"path": path},
            _("Choose another name: nothing of yours is overwritten."),
            code=Exit.PRECONDITION,
        )
    scratch = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        durable.create(scratch, content)
        durable.rename(scratch, path)
    except (FileNotFoundError, NotADirectoryError):
        raise BreaksError(
            _("a file in a folder that exists"), str(path), _("Make the folder first.")
        ) from None
    except BaseException:
        durable.remove(scratch)
        raise


def _foreign(path: Path, mark: bytes) -> bool:
    """Whether somebody else's file stands there, or a link that leads who knows where."""
    if path.is_symlink():
        return True
    if not path.exists():
        return False
    if not path.is_file():
        return True
    with path.open("rb") as file:
        head = file.read(HEAD)
    return bool(head) and mark not in head
