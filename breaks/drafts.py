"""A file is written aside first, in `.breaks/tmp/`, and then takes its place in one instant."""

from __future__ import annotations

import os
from pathlib import Path

from breaks import durable
from breaks.workspace import Workspace


def draft(ws: Workspace, content: bytes, mode: int | None = None) -> Path:
    """The content in a file that nothing refers to yet."""
    folder = ws.state / "tmp"
    ws.refuse_links(folder)
    durable.make_folder(folder)
    path = folder / f"{os.getpid()}.{os.urandom(4).hex()}"
    durable.create(path, content, mode)
    return path


def save(ws: Workspace, target: Path, content: bytes) -> None:
    """The file `target` with this content, whole or not at all."""
    ws.refuse_links(target.parent)
    durable.make_folder(target.parent)
    durable.rename(draft(ws, content), target)


def sweep(ws: Workspace) -> None:
    """Removes what a stopped command had begun to write.  Needs the lock."""
    folder = ws.state / "tmp"
    if folder.is_dir() and not folder.is_symlink():
        for path in sorted(folder.iterdir()):
            durable.remove(path)
