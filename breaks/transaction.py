"""An intention that happens whole or not at all, wherever its process is stopped.

1. All that needs room on the disk is written aside.
2. The record gets the intention, with the bytes before and after of each file.
3. Each file is replaced, after a last look that it still is what was read.
4. The record says what is applied now, and the intention is gone.

Whoever finds an intention looks at the files: all of them changed, then step 4 is done; else what
was changed is put back.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from breaks import bytecode, durable, i18n, lock, peeks, signals
from breaks.drafts import draft, save, sweep
from breaks.errors import BreaksError, Exit
from breaks.record import FILE, Change, Record, Unfinished, dump, load
from breaks.untangle import Place, place, take_out
from breaks.workspace import Workspace

_ = i18n.gettext


class Outcome(StrEnum):
    """What was done about an intention that was found."""

    UNDONE = "undone"  # the files are as before
    FINISHED = "finished"  # the files are as intended
    KEPT = "kept"  # edited in between: nothing was touched


class Recovery(NamedTuple):
    """A command that had been stopped, and what became of it."""

    action: str
    ids: tuple[str, ...]
    outcome: Outcome


@contextmanager
def _lock(ws: Workspace) -> Iterator[None]:
    if not ws.state.exists():
        ws.refuse_unwritable(ws.root)
    durable.make_folder(ws.state)
    with lock.held(ws.state / "lock"):
        yield


@contextmanager
def turn(ws: Workspace) -> Iterator[None]:
    """The lock, with whatever a stopped command left put in order first."""
    with _lock(ws):
        settle(ws)
        yield


def recover(ws: Workspace) -> Recovery | None:
    """Finishes or undoes what a stopped command left; None if there was nothing."""
    if load(ws.state).unfinished is None:
        return None
    with _lock(ws):
        return settle(ws)


def content(ws: Workspace, module: str) -> bytes | None:
    """What is in the file now; None if it is gone, or no file of this workspace any more."""
    try:
        return ws.read(module)
    except BreaksError:
        return None


def place_of(change: Change, text: bytes | None) -> Place:
    """Where the change stands in the text; nothing can be told where the text is gone."""
    return Place.TANGLED if text is None else place(change.before, change.after, text)


def carry_out(ws: Workspace, record: Record, intention: Unfinished) -> None:
    """Makes the intention true, or, if anything stops it, leaves everything as it was."""
    for change in intention.files:
        ws.refuse_unwritable(ws.path_of(change.module))
    replaced: list[Change] = []
    with signals.held() as held:
        try:
            for change in _forward(ws, record, intention, held.check):
                replaced.append(change)
        except BaseException as error:
            _undo(ws, error, replaced)
            raise


def _undo(ws: Workspace, error: BaseException, replaced: list[Change]) -> None:
    """Puts everything back after a failure; if even that fails, the next command will."""
    left = _("nothing was changed")
    try:
        settle(ws, back=replaced)
    except OSError:
        left = _("the next command in this workspace will put everything back")
    if isinstance(error, OSError):
        raise BreaksError(
            _("a workspace that can be written"),
            f"{error.strerror or error}; {left}",
            _("Check the space left and the permissions, then run the command again."),
            code=Exit.ENVIRONMENT,
            where=str(error.filename or ""),
        ) from error


def _forward(
    ws: Workspace, record: Record, intention: Unfinished, stop_here: Callable[[], None]
) -> Iterator[Change]:
    """Each change about to be made.  What needs room on the disk comes first; then only renames."""
    ready = {change: _prepared(ws, change) for change in intention.files}
    peeked = peeks.prepared(ws, intention)
    after = record.settled(intention.then)
    final = None if after.empty else draft(ws, dump(after))
    stop_here()
    write_record(ws, record.intending(intention))
    for change, scratch in ready.items():
        stop_here()
        yield change
        _put(ws, change, scratch)
    stop_here()
    if peeked:
        durable.rename(peeked, ws.state / peeks.FILE)
    if final:
        durable.rename(final, ws.state / FILE)
    else:
        durable.erase(ws.state / FILE)


def write_record(ws: Workspace, record: Record) -> None:
    """What the workspace remembers from now on; an empty record is no file."""
    if record.empty:
        durable.erase(ws.state / FILE)
    else:
        save(ws, ws.state / FILE, dump(record))


def _prepared(ws: Workspace, change: Change) -> Path:
    info = ws.path_of(change.module).stat()
    path = draft(ws, change.after, stat.S_IMODE(info.st_mode))
    durable.give(path, info)
    return path


def _put(ws: Workspace, change: Change, scratch: Path) -> None:
    """Replaces a file, if it still is what was read; its bytecode goes, its date is new."""
    path = ws.path_of(change.module)
    now = path.stat()
    durable.date(scratch, bytecode.later_than(now.st_mtime_ns))
    if ws.read(change.module) != change.before:
        raise BreaksError(
            _("%(file)s as it was a moment ago") % {"file": ws.name(path)},
            _("somebody saved it just now"),
            _("Nothing was changed; run the command again."),
            code=Exit.PRECONDITION,
        )
    durable.rename(scratch, path)
    bytecode.forget(path)


def settle(ws: Workspace, *, back: Sequence[Change] | None = None) -> Recovery | None:
    """Puts an intention in order by what is in the files.  Needs the lock.

    All files as intended: the record is brought up to date.  Else they are put back, edits since
    kept.  Edited beyond telling: no file is touched, and the break stays on the record, so that
    `revert` can show it.  `back`: put back whatever happened, only these changes were begun.
    """
    with signals.held():
        record = load(ws.state)
        intention = record.unfinished
        if intention is None:
            sweep(ws)
            return None
        begun = intention.files if back is None else back
        places = {c: place_of(c, content(ws, c.module)) for c in begun}
        if Place.TANGLED in places.values():
            outcome = Outcome.KEPT
            applied = intention.then if intention.action == "apply" else record.applied
        elif back is None and all(found is Place.IN for found in places.values()):
            outcome, applied = Outcome.FINISHED, intention.then
            if peeked := peeks.prepared(ws, intention):
                durable.rename(peeked, ws.state / peeks.FILE)
        else:
            outcome, applied = Outcome.UNDONE, record.applied
            for change, found in places.items():
                if found is Place.IN:
                    _put_back(ws, change)
        for change, found in places.items():
            if found is not Place.TANGLED:
                bytecode.forget(ws.path_of(change.module))
        write_record(ws, record.settled(applied))
        sweep(ws)
        return Recovery(intention.action, intention.ids, outcome)


def _put_back(ws: Workspace, change: Change) -> None:
    current = ws.read(change.module)
    original = take_out(change.before, change.after, current)
    if original is not None:
        undo = Change(change.module, current, original)
        _put(ws, undo, _prepared(ws, undo))
