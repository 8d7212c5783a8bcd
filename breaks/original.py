"""The library as it was handed out, and whether a break is in a copy of it that has no record.

A copy is compared with the library that ships.  In a clone of the project that is the copy itself;
there git is asked for what was committed.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from breaks import i18n, scope
from breaks.errors import Exit
from breaks.library import shipped_sources
from breaks.model import Break, Rewrite
from breaks.record import Change
from breaks.refusal import Reason, Refusal
from breaks.untangle import Hunk, Place, changes, place, take_out
from breaks.workspace import MARKER

_ = i18n.gettext
Sources = Mapping[str, bytes]
ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 10.0  # seconds for git


def a_clone() -> bool:
    """Whether breaks runs out of a clone of the project."""
    return (ROOT / MARKER).is_file()


@lru_cache(maxsize=64)
def original(module: str) -> bytes | None:
    """The text of a module as it was handed out; None where nobody can tell."""
    shipped = shipped_sources()
    if module not in shipped or not a_clone():
        return shipped.get(module)
    from breaks.difference import file_of

    command = ["git", "show", f"HEAD:./{file_of(module, shipped)}"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def effect(brk: Break) -> Sequence[Change]:
    """What the break does to the library as it was handed out; nothing if it does not fit it."""
    from breaks.rewrite import rewrite

    made = []
    for module in dict.fromkeys(rule.module for rule in brk.rewrites):
        text = original(module)
        if text is None:
            return ()
        try:
            rules = [rule for rule in brk.rewrites if rule.module == module]
            made.append(Change(module, text, rewrite(text, rules, name=brk.id)))
        except Refusal:
            return ()
    return made


def inside(texts: Mapping[str, bytes | None], brk: Break) -> Sequence[Change]:
    """The changes of a break whose lines are, whole, in these texts; nothing if they are not."""
    modules = {rule.module for rule in brk.rewrites}
    if all(texts.get(module) in (None, original(module)) for module in modules):
        return ()
    made = effect(brk)
    now = [(change, texts.get(change.module)) for change in made]
    whole = all(
        text is not None and place(change.before, change.after, text) is Place.IN
        for change, text in now
    )
    return made if whole else ()


def strays(texts: Sources, breaks: Iterable[Break]) -> list[str]:
    """The ids of the breaks whose lines are in the texts of a library that should have none."""
    edited = {module: _edits(module, text) for module, text in texts.items()}
    near = [
        brk
        for brk in breaks
        if all(_edited(rule, edited.get(rule.module)) for rule in brk.rewrites)
    ]
    made = {brk.id: inside(texts, brk) for brk in near}
    left = dict(texts)
    found = []
    for brk in sorted(near, key=lambda brk: -sum(map(_size, made[brk.id]))):
        for change in inside(left, brk):  # no longer, if its lines were those of a larger break
            clean = take_out(change.before, change.after, left[change.module])
            left[change.module] = left[change.module] if clean is None else clean
            found.append(brk.id)
    return sorted(set(found))


def _size(change: Change) -> int:
    """How many lines a change takes and gives."""
    hunks = changes(change.before.splitlines(True), change.after.splitlines(True)) or []
    return sum(hunk.stop - hunk.start + len(hunk.instead) for hunk in hunks)


def _edits(module: str, text: bytes) -> tuple[ast.Module, list[Hunk]] | None:
    """The code as it was handed out and which of its lines are others now; None if none is."""
    known = original(module)
    if known is None or known == text:
        return None
    found = changes(known.splitlines(True), text.splitlines(True))
    return ast.parse(known), found or []


def _edited(rule: Rewrite, edits: tuple[ast.Module, list[Hunk]] | None) -> bool:
    """Whether something is edited where the rule would change something: asked first, for speed."""
    if edits is None:
        return False
    tree, hunks = edits
    try:
        found = scope.find(tree, rule, "")
    except Refusal:
        return False
    if isinstance(found, ast.Module):
        return True
    first = min([found, *found.decorator_list], key=lambda node: node.lineno).lineno - 1
    return any(hunk.start <= (found.end_lineno or 0) and first <= hunk.stop for hunk in hunks)


def explained(refusal: Refusal, sources: Sources, brk: Break) -> Refusal:
    """The refusal of a break that fits the library as handed out: it is the copy that differs."""
    if inside(sources, brk):
        return Refusal(
            refusal.reason,
            _("a library without %(id)s") % {"id": brk.id},
            _("that its lines are in it, and no record of them"),
            _(
                "`breaks apply %(id)s` puts it on record and changes no file; then"
                " `breaks revert %(id)s` takes it out."
            )
            % {"id": brk.id},
            refusal.where,
            code=Exit.PRECONDITION,
        )
    if effect(brk) or _ships_untold(brk):
        refusal.code = Exit.PRECONDITION
        if refusal.reason is not Reason.INVALID_SOURCE:
            refusal.todo = _(
                "The library was edited there: put those lines back. A new `breaks init DIR` has"
                " them, and in a clone `git diff minitorch` shows them."
            )
    return refusal


def _ships_untold(brk: Break) -> bool:
    """Whether the break is of the catalogue, and nobody can tell how the library was handed out."""
    from breaks.catalog import load_catalog

    untold = any(original(rule.module) is None for rule in brk.rewrites)
    return untold and brk in list(load_catalog())
