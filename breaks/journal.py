"""`apply`, `revert` and `status`: breaks go into a working copy and leave it; edits stay.

Any number of breaks may be applied, as long as it makes no difference in which order they leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

from breaks import i18n
from breaks.errors import BreaksError, Exit
from breaks.model import Break
from breaks.peeks import Peek, peeks
from breaks.record import Applied, Change, Record, Unfinished, load, version
from breaks.tangle import Tangle, refusal
from breaks.transaction import (
    Outcome,
    Recovery,
    carry_out,
    content,
    place_of,
    recover,
    turn,
    write_record,
)
from breaks.untangle import Place, take_out
from breaks.workspace import Workspace

__all__ = [
    "Outcome",
    "Peek",
    "Recovery",
    "Standing",
    "State",
    "Status",
    "apply",
    "forget",
    "peeks",
    "pristine_sources",
    "recover",
    "revert",
    "status",
]
_ = i18n.gettext
T = TypeVar("T")


class State(StrEnum):
    """How a recorded break stands in the files, by what is in them."""

    APPLIED = "applied"  # its lines are there, whole
    EDITED = "edited"  # its lines were edited since, or the file is gone
    PARTLY = "partly"  # in some of its files, but not in others
    GONE = "gone"  # somebody else put the original lines back


class Standing(NamedTuple):
    """A recorded break and how it stands."""

    id: str
    when: str
    state: State
    files: tuple[str, ...]


class Status(NamedTuple):
    """The working copy as its bytes say."""

    breaks: tuple[Standing, ...]
    edited: tuple[str, ...]  # files with edits that no break explains
    missing: tuple[str, ...]  # files of a break that are gone, or no files any more

    @property
    def applied(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.breaks if item.state is not State.GONE)


def apply(ws: Workspace, *breaks: Break) -> list[Change]:
    """Puts breaks into the working copy, all of them or none; what changed in each file.

    A break that is in the files without a record of it, because `.breaks/` was deleted, goes on
    record, and its file stays as it is.
    """
    with turn(ws):
        record = _without_gone(ws, load(ws.state), [brk.id for brk in breaks])
        sources, when = ws.sources(), _now()
        clean = _without_strays(sources, record, breaks)
        texts, applied = dict(clean), list(record.applied)
        for brk in breaks:
            _refuse_applied(ws, applied, brk)
            _refuse_other_encodings(ws, texts, brk)
            changed = _broken(ws, texts, applied, brk)
            applied.append(Applied(brk.id, when, _changes(texts, changed)))
            texts = changed
        files = _changes(sources, texts)
        ids = tuple(brk.id for brk in breaks)
        carry_out(ws, record, Unfinished("apply", ids, when, files, tuple(applied)))
        return list(_changes(clean, texts))


def revert(ws: Workspace, *ids: str | None) -> list[str]:
    """Takes breaks out of the working copy, all of them if none is named; the ids taken out."""
    with turn(ws):
        record = load(ws.state)
        wanted = _wanted(record, [name for name in ids if name])
        if not wanted:
            return []
        before = _contents(ws, wanted)
        texts, applied = dict(before), list(record.applied)
        tangles: list[Tangle] = []
        for item in reversed(wanted):
            tangles += _take_out(texts, item)
            applied = _rebased(applied, item.id)
        if tangles:
            raise refusal(ws, tangles)
        files = tuple(
            Change(module, old, new)
            for module, old in before.items()
            if old is not None and (new := texts[module]) is not None and new != old
        )
        names = tuple(item.id for item in wanted)
        carry_out(ws, record, Unfinished("revert", names, _now(), files, tuple(applied)))
        return list(names)


def forget(ws: Workspace, *ids: str) -> list[str]:
    """Takes breaks off the record and leaves every file as it is; the ids taken off."""
    with turn(ws):
        record = load(ws.state)
        wanted = _wanted(record, ids)
        left = tuple(item for item in record.applied if item not in wanted)
        if wanted:
            write_record(ws, record.settled(left))
        return [item.id for item in wanted]


def status(ws: Workspace) -> Status:
    """How each recorded break stands, by what is in the files and not by what was run."""
    record, texts = _steady(ws, lambda record: _contents(ws, record.applied))
    breaks = tuple(reversed([*_standings(ws, record.applied, texts)]))
    last = {change.module: change.after for item in record.applied for change in item.changes}
    gone = tuple(ws.file_name(module) for module, text in texts.items() if text is None)
    edited = tuple(
        ws.file_name(module)
        for module, text in texts.items()
        if text is not None and text != last[module]
    )
    return Status(breaks, edited, gone)


def pristine_sources(ws: Workspace) -> dict[str, bytes]:
    """The text of the library with every applied break taken out; nothing is written."""
    record, sources = _steady(ws, lambda _record: ws.sources())
    texts: dict[str, bytes | None] = dict(sources)
    for item in reversed(record.applied):
        tangles = _take_out(texts, item)
        if tangles:
            raise refusal(ws, tangles, keep_copies=False)
    return {module: text for module, text in texts.items() if text is not None}


# --- one change after the other -----------------------------------------------------------------


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _steady(ws: Workspace, read: Callable[[Record], T]) -> tuple[Record, T]:
    """The record and what `read` sees, with no other command at work meanwhile."""
    while True:
        before = version(ws.state)
        record = load(ws.state)
        if record.unfinished is not None:
            recover(ws)  # waits for a command that is at work
            continue
        seen = read(record)
        if version(ws.state) == before:
            return record, seen


def _modules(items: Iterable[Applied]) -> list[str]:
    return list(dict.fromkeys(change.module for item in items for change in item.changes))


def _contents(ws: Workspace, items: Iterable[Applied]) -> dict[str, bytes | None]:
    return {module: content(ws, module) for module in _modules(items)}


def _changes(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[Change, ...]:
    return tuple(Change(name, old[name], new[name]) for name in new if new[name] != old[name])


def _standings(
    ws: Workspace, applied: Sequence[Applied], texts: Mapping[str, bytes | None]
) -> Iterator[Standing]:
    """How each break stands, the last one first, each looked at without those above it."""
    left = dict(texts)
    for item in reversed(applied):
        yield _standing(ws, item, left)
        _take_out(left, item)


def _standing(ws: Workspace, item: Applied, texts: Mapping[str, bytes | None]) -> Standing:
    places = {place_of(change, texts[change.module]) for change in item.changes}
    if Place.TANGLED in places:
        state = State.EDITED
    elif len(places) > 1:
        state = State.PARTLY
    else:
        state = State.APPLIED if places == {Place.IN} else State.GONE
    return Standing(item.id, item.when, state, tuple(ws.file_name(m) for m in _modules([item])))


# --- apply --------------------------------------------------------------------------------------


def _without_gone(ws: Workspace, record: Record, ids: Sequence[str]) -> Record:
    """The record without breaks that are to be applied and that somebody already took out."""

    def gone(item: Applied) -> bool:
        return item.id in ids and _standing(ws, item, _contents(ws, [item])).state is State.GONE

    return record.settled(tuple(item for item in record.applied if not gone(item)))


def _without_strays(
    sources: Mapping[str, bytes], record: Record, breaks: Sequence[Break]
) -> dict[str, bytes]:
    """The texts as they were before the breaks that are in them without a record."""
    from breaks.original import inside

    recorded = [item.id for item in record.applied]
    texts: dict[str, bytes | None] = dict(sources)
    for brk in breaks:
        if brk.id not in recorded:
            _take_out(texts, Applied(brk.id, "", tuple(inside(texts, brk))))
    return {module: text for module, text in texts.items() if text is not None}


def _refuse_applied(ws: Workspace, applied: Sequence[Applied], brk: Break) -> None:
    if brk.id in (item.id for item in applied):
        raise BreaksError(
            _("a break that is not applied"),
            _("that %(id)s is applied already") % {"id": brk.id},
            _("Run `breaks status` to see it, `breaks revert %(id)s` to take it out.")
            % {"id": brk.id},
            code=Exit.PRECONDITION,
        )


def _refuse_other_encodings(ws: Workspace, texts: Mapping[str, bytes], brk: Break) -> None:
    for module in {rewrite.module for rewrite in brk.rewrites} & set(texts):
        try:
            texts[module].decode("utf-8")
        except UnicodeDecodeError as error:
            raise BreaksError(
                _("%(file)s in UTF-8") % {"file": ws.file_name(module)},
                _("byte %(position)d is 0x%(byte)02x, which is not")
                % {"position": error.start, "byte": error.object[error.start]},
                _("Save the file as UTF-8, then run the command again."),
                code=Exit.PRECONDITION,
            ) from None


def _broken(
    ws: Workspace, texts: Mapping[str, bytes], applied: Sequence[Applied], brk: Break
) -> dict[str, bytes]:
    """The texts with the break in them, provided that it and every applied one can leave first."""
    from breaks.rewrite import mutate

    movable = [item for item in applied if _without(texts, [item]) is not None]
    try:
        changed = dict(mutate(texts, brk))
    except BreaksError as error:
        met = _met(texts, movable, brk)
        raise _overlap(brk.id, met) if met else error from None
    near = [item for item in applied if _touched(texts, changed, item)]
    for item in near:
        if item not in movable:
            raise _edited(brk.id, item)
    if near and not _apart(texts, changed, near, brk):
        written = {**texts, **{c.module: c.after for item in applied for c in item.changes}}
        met = [item for item in near if not _apart(texts, changed, [item], brk)] or near
        if _fits_beside(written, met, brk):
            raise _in_the_way(ws, brk.id, met)
        raise _overlap(brk.id, met)
    return changed


def _touched(old: Mapping[str, bytes], new: Mapping[str, bytes], item: Applied) -> bool:
    """Whether two libraries differ in a file of an applied break."""
    return any(old.get(change.module) != new.get(change.module) for change in item.changes)


def _without(texts: Mapping[str, bytes], items: Sequence[Applied]) -> dict[str, bytes] | None:
    """The texts with these breaks taken out, the last one first; None where that is impossible."""
    left: dict[str, bytes | None] = dict(texts)
    if any(_take_out(left, item) for item in reversed(items)):
        return None
    return {module: text for module, text in left.items() if text is not None}


def _alone(
    texts: Mapping[str, bytes], applied: Sequence[Applied], brk: Break
) -> dict[str, bytes] | None:
    """The texts with this break instead of the applied ones; None if it needs one of them."""
    from breaks.rewrite import mutate

    clean = _without(texts, applied)
    try:
        return None if clean is None else mutate(clean, brk)
    except BreaksError:
        return None


def _apart(
    texts: Mapping[str, bytes],
    changed: Mapping[str, bytes],
    items: Sequence[Applied],
    brk: Break,
) -> bool:
    """Whether the applied breaks can leave from under the new one, as if it had come first."""
    left = [_without(changed, [item]) for item in items]
    return None not in left and _alone(texts, items, brk) == _without(changed, items)


def _fits_beside(written: Mapping[str, bytes], items: Sequence[Applied], brk: Break) -> bool:
    """Whether there is room for the break in the library as the applied ones wrote it."""
    from breaks.rewrite import mutate

    try:
        return _apart(written, mutate(written, brk), items, brk)
    except BreaksError:
        return False


def _met(texts: Mapping[str, bytes], applied: Sequence[Applied], brk: Break) -> list[Applied]:
    """The applied breaks without which the new one would fit; none if they are not the reason."""
    if _alone(texts, applied, brk) is None:
        return []
    met = [
        item
        for item in applied
        if _alone(texts, [other for other in applied if other is not item], brk) is None
    ]
    return met or list(applied)


def _overlap(new: str, met: Sequence[Applied]) -> BreaksError:
    old = [item.id for item in met]
    return BreaksError(
        _("breaks that change different lines"),
        _("that %(new)s and %(old)s meet in the same lines") % {"new": new, "old": ", ".join(old)},
        _("Run `breaks revert %(old)s` first.") % {"old": " ".join(old)},
        code=Exit.PRECONDITION,
    )


def _edited(new: str, item: Applied) -> BreaksError:
    return BreaksError(
        _("the lines of %(id)s as it wrote them") % {"id": item.id},
        _("that they were edited since; nothing was changed"),
        _("Run `breaks revert %(old)s` to see both versions, then apply %(new)s.")
        % {"old": item.id, "new": new},
        code=Exit.PRECONDITION,
    )


def _in_the_way(ws: Workspace, new: str, met: Sequence[Applied]) -> BreaksError:
    old = [item.id for item in met]
    return BreaksError(
        _("that each break can be told apart and taken out again"),
        _("an edit in %(files)s, near %(old)s, after which it could not")
        % {"files": ", ".join(map(ws.file_name, _modules(met))), "old": ", ".join(old)},
        _("Undo that edit, or run `breaks revert %(old)s` first; then apply %(new)s.")
        % {"old": " ".join(old), "new": new},
        code=Exit.PRECONDITION,
    )


# --- revert -------------------------------------------------------------------------------------


def _wanted(record: Record, ids: Sequence[str]) -> list[Applied]:
    """The applied breaks with these ids, in order of application; all if none is named."""
    known = [item.id for item in record.applied]
    for name in ids:
        if name not in known:
            from breaks.command import did_you_mean

            raise BreaksError(
                _("a break that is applied: %(ids)s") % {"ids": ", ".join(known) or _("none is")},
                repr(name),
                did_you_mean(name, known) or _("Run `breaks status` to see what is applied."),
                code=Exit.PRECONDITION,
            )
    return [item for item in record.applied if not ids or item.id in ids]


def _take_out(texts: dict[str, bytes | None], item: Applied) -> list[Tangle]:
    """Takes one break out of the texts; where that is impossible, says so."""
    tangles = []
    for change in item.changes:
        text = texts.get(change.module)
        found = place_of(change, text)
        if text is None or found is Place.TANGLED:
            tangles.append(Tangle(item.id, change, text))
        elif found is Place.IN:
            texts[change.module] = take_out(change.before, change.after, text)
    return tangles


def _rebased(applied: Sequence[Applied], name: str) -> list[Applied]:
    """The other breaks, as if the named one, which leaves, had never been under them."""
    at = [item.id for item in applied].index(name)
    leaving = {change.module: change for change in applied[at].changes}
    known: dict[tuple[str, bytes], bytes] = {}  # each text is the `after` of one, `before` of next

    def without(module: str, text: bytes) -> bytes:
        if module in leaving and (module, text) not in known:
            change = leaving[module]
            clean = take_out(change.before, change.after, text)
            known[module, text] = text if clean is None else clean
        return known.get((module, text), text)

    def rebased(item: Applied) -> Applied:
        changes = (
            Change(c.module, without(c.module, c.before), without(c.module, c.after))
            for c in item.changes
        )
        return Applied(item.id, item.when, tuple(changes))

    return [*applied[:at], *map(rebased, applied[at + 1 :])]
