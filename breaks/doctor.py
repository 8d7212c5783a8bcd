"""`breaks doctor`: what is wrong with an installation, and what to paste into a report."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from breaks import i18n, terminal
from breaks.errors import BreaksError, Exit
from breaks.workspace import LIBRARY, MARKER, Workspace

_ = i18n.gettext
OLDEST = (3, 11)
ROOM = 50 * 1024 * 1024  # bytes that the kit may need for copies and its cache
NEEDED = {
    "numpy": (2, 0),
    "scipy": (1, 13),
    "hypothesis": (6, 100),
    "click": (8, 1),
    "pyyaml": (6, 0),
    "jsonschema": (4, 20),
    "rich": (13, 7),
}
OPTIONAL = {"torch": (2, 4)}


class Health(StrEnum):
    """How a part is."""

    GOOD = "good"
    NOTE = "note"  # works, with something to know
    BAD = "bad"  # must be put right


class Finding(NamedTuple):
    """One part of the installation: how it is, what was seen, what to do."""

    part: str
    health: Health
    seen: str
    todo: str = ""

    def as_json(self) -> dict[str, str]:
        return {
            "part": self.part,
            "health": self.health.value,
            "seen": self.seen,
            "todo": self.todo,
        }


def examine(start: Path | None = None) -> list[Finding]:
    """Every part, the broken ones too; never raises."""
    parts: list[Callable[[], Iterator[Finding]]] = [
        _python,
        _packages,
        _library,
        _console,
        lambda: _workspace(start),
        lambda: _catalog(start),
    ]
    findings = []
    for part in parts:
        try:
            findings += list(part())
        except Exception as error:
            name = getattr(part, "__name__", "part").strip("_<>")
            findings.append(Finding(name, Health.BAD, f"{type(error).__name__}: {error}"))
    return findings


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    seen = f"{version}, {platform.python_implementation()}, {platform.platform()}"
    if sys.version_info < OLDEST:
        yield Finding("python", Health.BAD, seen, _("Install Python 3.11 or newer."))
    else:
        yield Finding("python", Health.GOOD, seen)


def _packages() -> Iterator[Finding]:
    from importlib import metadata

    wanted = [(name, oldest, True) for name, oldest in NEEDED.items()]
    wanted += [(name, oldest, False) for name, oldest in OPTIONAL.items()]
    for name, oldest, needed in [("breaklabs", (0,), True), *wanted]:
        extra = name if needed else f"breaklabs[{name}]"
        install = _("Run: python -m pip install '%(name)s'") % {"name": extra}
        bad = Health.BAD if needed else Health.NOTE
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            seen = _("not installed") if needed else _("not installed (recorded answers are used)")
            yield Finding(name, bad, seen, install)
            continue
        if _numbers(version) < oldest:
            least = ".".join(map(str, oldest))
            todo = _("Run: python -m pip install '%(name)s>=%(least)s'")
            yield Finding(name, bad, version, todo % {"name": name, "least": least})
        elif name in ("numpy", "scipy") and (problem := _import_problem(name)):
            yield Finding(name, Health.BAD, f"{version}: {problem}", install)
        else:
            yield Finding(name, Health.GOOD, version)


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split("+")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _import_problem(name: str) -> str:
    """Why a package that is installed cannot be used; empty if it can."""
    import importlib

    try:
        importlib.import_module(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _library() -> Iterator[Finding]:
    import importlib.util

    spec = importlib.util.find_spec(LIBRARY)
    if spec is None or not spec.origin:
        todo = _("Run: python -m pip install --force-reinstall breaklabs")
        yield Finding(LIBRARY, Health.BAD, _("not found"), todo)
        return
    place = Path(spec.origin)
    if (place.parent.parent / "breaks").is_dir():
        yield Finding(LIBRARY, Health.GOOD, _short(place))
    else:
        todo = _("Another package of that name comes first: start from another folder.")
        yield Finding(LIBRARY, Health.NOTE, _short(place), todo)


def _console() -> Iterator[Finding]:
    encoding = getattr(sys.stdout, "encoding", None) or "?"
    seen = f"{encoding}, {terminal.width()} x {shutil.get_terminal_size().lines}"
    seen += f", TERM={os.environ.get('TERM', '')}, LANG={os.environ.get('LANG', '')}"
    if terminal.carries("✓ñ"):
        yield Finding("console", Health.GOOD, seen)
    else:
        todo = _("Signs are spelt in ASCII. For more: PYTHONUTF8=1.")
        yield Finding("console", Health.NOTE, seen, todo)


def _workspace(start: Path | None) -> Iterator[Finding]:
    try:
        ws = Workspace.find(start)
    except BreaksError as error:
        if error.code == Exit.PRECONDITION:
            yield Finding("workspace", Health.NOTE, error.found, error.todo)
        else:
            yield _refused("workspace", error)
        return
    yield Finding("workspace", Health.GOOD, _short(ws.root))
    for folder in (*ws.config.catalog, *ws.config.labs):
        if not folder.is_dir():
            seen = _("%(file)s names %(folder)s, which is no folder")
            values = {"file": MARKER, "folder": folder.relative_to(ws.root)}
            todo = _("Make that folder, or take it out of %(file)s.") % {"file": MARKER}
            yield Finding("folders", Health.BAD, seen % values, todo)
    yield from _access(ws)
    yield from _journal(ws)


def _access(ws: Workspace) -> Iterator[Finding]:
    try:
        for module in ws.modules():
            ws.refuse_unwritable(ws.path_of(module))
        ws.refuse_unwritable(ws.state if ws.state.exists() else ws.root)
        ws.sources()
    except BreaksError as error:
        yield _refused("access", error)
        return
    free = shutil.disk_usage(ws.root).free
    seen = _("files can be written, %(free)d MB free") % {"free": free // 1024**2}
    if free < ROOM:
        yield Finding("access", Health.BAD, seen, _("Make room on the disk."))
    else:
        yield Finding("access", Health.GOOD, seen)


def _journal(ws: Workspace) -> Iterator[Finding]:
    from breaks import journal, screens

    try:
        status = journal.status(ws)
    except BreaksError as error:
        yield _refused("journal", error)
        return
    odd = [item for item in status.breaks if item.state is not journal.State.APPLIED]
    words = [
        f"{item.id} ({screens.state_word(item.state)})" if item in odd else item.id
        for item in status.breaks
    ]
    seen = ", ".join(words) or _("none")
    todo = _("Run `breaks status`.") if odd else ""
    yield Finding("applied", Health.NOTE if odd else Health.GOOD, seen, todo)


def _catalog(start: Path | None) -> Iterator[Finding]:
    from breaks.catalog import load_catalog

    try:
        count = len(list(load_catalog().ids()))
    except BreaksError as error:
        yield _refused("catalogue", error)
        return
    seen = _("%(count)d breaks") % {"count": count}
    yield Finding("catalogue", Health.GOOD if count else Health.BAD, seen)


def _refused(part: str, error: BreaksError) -> Finding:
    """What the part was refused for, with the file or the line."""
    text = _("expected %(expected)s; found %(found)s")
    seen = text % {"expected": error.expected, "found": error.found}
    where = f"{_short(Path(error.where))}: " if error.where else ""
    return Finding(part, Health.BAD, where + seen, error.todo)


def _short(path: Path) -> str:
    """The path without the name of the person, for a report."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)
