"""A break that cannot leave by itself: both versions are saved and shown, the ways out named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from breaks import i18n
from breaks.drafts import save
from breaks.errors import BreaksError, Exit
from breaks.record import Change, digest
from breaks.workspace import Workspace

_ = i18n.gettext
SHOWN = 40  # lines of a difference; the copies have the rest


class Tangle(NamedTuple):
    """A break that cannot leave a file by itself: the break, its change, what is there now."""

    id: str
    change: Change
    current: bytes | None


def refusal(ws: Workspace, tangles: Sequence[Tangle], *, keep_copies: bool = True) -> BreaksError:
    """What to raise: the difference, where the copies are, and the ways out."""
    first = tangles[0].id
    parts = [_shown(ws, tangle, keep_copies) for tangle in tangles]
    return BreaksError(
        _("the lines of %(id)s as it wrote them") % {"id": first},
        _("that they were edited since; nothing was changed") + "\n" + "\n".join(parts),
        _(
            "Undo your edit of those lines and run `breaks revert %(id)s`; or put the original"
            " lines back yourself and run it; or keep the file as it is and run"
            " `breaks revert %(id)s --keep`."
        )
        % {"id": first},
        code=Exit.PRECONDITION,
    )


def _shown(ws: Workspace, tangle: Tangle, keep_copies: bool) -> str:
    """What the break changed, what was edited on top of it, and where the copies are."""
    name, change = ws.file_name(tangle.change.module), tangle.change
    if tangle.current is None:
        lines = [_("  %(file)s is gone, or is no file any more") % {"file": name}]
    else:
        lines = _difference(_("the break"), change.before, change.after)
        lines += _difference(_("your edits on top of it"), change.after, tangle.current)
    if keep_copies:
        kept = [(_("before the break"), f"before-{tangle.id}", change.before)]
        if tangle.current is not None:
            kept.append((_("as it is now"), "yours", tangle.current))
        for title, kind, content in kept:
            copy = _kept(ws, name, kind, content)
            lines.append(f"  {name}, {title}:\n    {copy}")
    return "\n".join(lines)


def _difference(title: str, old: bytes, new: bytes) -> list[str]:
    import difflib

    left, right = (text.decode("utf-8", "replace").splitlines() for text in (old, new))
    shown = difflib.unified_diff(left, right, n=1, lineterm="")
    return [f"  {title}:", *("    " + line for line in list(shown)[2 : 2 + SHOWN])]


def _kept(ws: Workspace, name: str, kind: str, content: bytes) -> str:
    """A copy under `.breaks/saved/`; the same content is kept once."""
    stem = PurePosixPath(name).stem
    target = ws.state / "saved" / f"{stem}.{kind}.{digest(content)[:8]}.py"
    if not target.exists():
        save(ws, target, content)
    return ws.name(target)
