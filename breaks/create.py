"""`breaks init`: a workspace of one's own, with a minitorch to break and the pages of the labs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from breaks import i18n
from breaks.errors import BreaksError, Exit
from breaks.workspace import LIBRARY, MARKER, STATE, Workspace, refuse_installed

_ = i18n.gettext
ABOUT = """\
# This file marks the root of a breaklabs workspace; every command finds it from any folder below.
# Folders of your own, inside the workspace, may be added:
#   catalog = ["my-breaks"]
#   labs = ["my-labs"]
"""
IGNORED = f"{STATE}/\n__pycache__/\n"
MACHINERY = {"lab.yaml", "scenarios.py", "__init__.py"}  # of a lab; the rest is for reading


def create(folder: Path) -> tuple[Workspace, list[str]]:
    """Makes the workspace and says which files were written.  Nothing that exists is changed."""
    folder = folder.resolve()
    refuse_installed(folder)
    files = dict(_contents(folder))
    _refuse_conflicts(folder, files)
    from breaks import durable

    written = []
    for name, content in files.items():
        path = folder / name
        if not path.exists():
            durable.make_folder(path.parent)
            durable.create(path, content)
            written.append(name)
    return Workspace.at(folder), written


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Each file of a new workspace.  The one that makes it a workspace comes last."""
    from breaks.difference import file_of

    sources = _library(folder)
    for module, content in sources.items():
        yield file_of(module, sources), content
    for path in _pages():
        yield f"labs/{path.parent.name}/{path.name}", path.read_bytes()
    yield ".gitignore", IGNORED.encode()
    yield MARKER, ABOUT.encode()


def _library(folder: Path) -> dict[str, bytes]:
    """The text of the correct minitorch: as installed, or the clone's without its breaks."""
    from breaks.library import shipped_sources

    spec = importlib.util.find_spec(LIBRARY)
    if spec is not None and spec.origin:
        root = Path(spec.origin).resolve().parent.parent
        if (root / MARKER).is_file() and root != folder:
            from breaks import journal

            return journal.pristine_sources(Workspace.at(root))
    return dict(shipped_sources())


def lab_folders() -> list[Path]:
    """The folders of the labs that are installed, found without importing anything."""
    spec = importlib.util.find_spec("labs")
    places = (spec.submodule_search_locations if spec else None) or []
    return sorted(path.parent for place in places for path in Path(place).glob("lab*/lab.yaml"))


def _pages() -> list[Path]:
    """What a learner reads, copies and runs: pages, example predictions, experiments."""
    return sorted(
        path
        for folder in lab_folders()
        for path in folder.iterdir()
        if path.is_file() and path.name not in MACHINERY and not path.name.startswith(".")
    )


def _refuse_conflicts(folder: Path, files: dict[str, bytes]) -> None:
    if (folder / MARKER).exists():
        raise BreaksError(
            _("a folder that is no workspace yet"),
            _("that %(folder)s is one already") % {"folder": folder},
            _("Go there and run `breaks`; or choose another folder."),
            code=Exit.PRECONDITION,
        )
    if folder.exists() and not folder.is_dir():
        raise BreaksError(
            _("a folder, or a name that is free"),
            _("that %(folder)s is a file") % {"folder": folder},
            _("Choose another name."),
            code=Exit.PRECONDITION,
        )
    conflicts = [name for name, content in files.items() if _conflict(folder, name, content)]
    if conflicts:
        raise BreaksError(
            _("a folder without files of these names"),
            ", ".join(conflicts[:3]) + (" …" if conflicts[3:] else ""),
            _("Choose an empty folder: nothing that exists is overwritten."),
            code=Exit.PRECONDITION,
        )


def _conflict(folder: Path, name: str, content: bytes) -> bool:
    """Whether something else stands there, or the way there leads through a link or a file."""
    path = folder / name
    for place in (path, *path.parents):
        if place == folder:
            break
        if place.is_symlink() or (place != path and place.exists() and not place.is_dir()):
            return True
    return path.exists() and not (path.is_file() and path.read_bytes() == content)
