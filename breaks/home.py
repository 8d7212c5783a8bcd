"""The first screen: where you are, and the one thing to do next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from breaks import __version__, console, here, i18n
from breaks.create import lab_folders
from breaks.errors import BreaksError
from breaks.workspace import Workspace

_ = i18n.gettext


class Look(NamedTuple):
    """What the first screen tells."""

    workspace: str | None
    library: str  # shipped | edited | unreadable | none
    applied: tuple[str, ...]
    labs: tuple[str, ...]
    checked: tuple[str, ...]
    unrecorded: tuple[str, ...] = ()

    @property
    def following(self) -> str:
        """The next command."""
        if self.workspace is None:
            return "breaks init my-lab"
        if self.applied:
            return "breaks revert"
        if self.unrecorded:
            return "breaks status"
        if self.checked:
            return "grader"  # knows how far each lab has come
        return f"grader predict {self.labs[0]}" if self.labs else "grader labs"

    def as_json(self) -> dict[str, Any]:
        return {
            "version": __version__,
            "workspace": self.workspace,
            "library": self.library,
            "applied": list(self.applied),
            "unrecorded": list(self.unrecorded),
            "labs": list(self.labs),
            "checked": list(self.checked),
            "next": self.following,
        }


def look(ws: Workspace | None) -> Look:
    """The state of a workspace, or of being in none."""
    known = {folder.name.split("_")[0] for folder in lab_folders()}
    if ws is not None:
        known.update(_own_labs(ws))
    labs = tuple(sorted(known))
    if ws is None:
        return Look(None, "none", (), labs, ())
    return Look(str(ws.root), _library(ws), _applied(ws), labs, _checked(ws), here.strays(ws))


def _own_labs(ws: Workspace) -> Iterator[str]:
    """The ids of the labs that the workspace adds; whether they are well formed, `grader` says."""
    for folder in ws.config.labs:
        for file in folder.glob("*/lab.yaml"):
            with suppress(OSError):
                text = file.read_text("utf-8", "replace")
                if found := re.search(r"^id:\s*([\w-]+)", text, re.MULTILINE):
                    yield found[1]


def _applied(ws: Workspace) -> tuple[str, ...]:
    if ws.untouched:
        return ()
    from breaks import journal

    return journal.status(ws).applied


def _correct(ws: Workspace) -> dict[str, bytes]:
    if ws.untouched:
        return ws.sources()
    from breaks import journal

    return journal.pristine_sources(ws)


def _library(ws: Workspace) -> str:
    """Whether the library, its breaks taken out, is the one that ships."""
    from breaks.library import shipped_sources

    try:
        mine = _correct(ws)
    except BreaksError:
        return "unreadable"
    if any(folder.is_relative_to(ws.root) for folder in lab_folders()):
        return "clone"  # the shipped one is this very copy
    return "shipped" if mine == shipped_sources() else "edited"


def _checked(ws: Workspace) -> tuple[str, ...]:
    """The labs of which some prediction has been checked."""
    try:
        lines = (ws.state / "progress.jsonl").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    found = set()
    for line in lines:
        try:
            event = json.loads(line)
            if event["kind"] == "checked":
                found.add(str(event["lab"]).split(".")[0])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return tuple(sorted(found))


def screen(state: Look) -> str:
    """The first screen, four short lines."""
    words = {
        "shipped": _("minitorch, as shipped"),
        "clone": _("minitorch, of this clone"),
        "edited": _("minitorch, with edits of yours"),
        "unreadable": _("minitorch, edited where it is broken"),
        "none": _("no workspace here"),
    }
    head = console.style(f"breaklabs {__version__}", "title")
    done = _("%(done)d of %(all)d begun") % {"done": len(state.checked), "all": len(state.labs)}
    applied = " ".join(state.applied) or _("none")
    if state.unrecorded:
        strays = " ".join(state.unrecorded)
        applied += _("; without a record: %(ids)s") % {"ids": strays}
    broken = state.applied and state.library == "shipped"
    rows = [
        [_("library"), _("minitorch, broken on purpose") if broken else words[state.library]],
        [_("applied"), console.style(applied, "bad") if state.applied else applied],
        [_("labs"), done],
        [_("next"), console.style(state.following, "command")],
    ]
    return head + "   " + _("learn autograd by breaking it") + "\n" + console.table(rows)
