"""Which breaks were applied by hand, and when: a note for whoever grades, not a prohibition."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from breaks.drafts import draft
from breaks.record import Unfinished
from breaks.workspace import Workspace

FILE = "peeks.jsonl"


class Peek(NamedTuple):
    """A break applied by hand at some time."""

    id: str
    when: datetime


def peeks(ws: Workspace) -> list[Peek]:
    """The breaks that were applied by hand, oldest first."""
    try:
        lines = (ws.state / FILE).read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            item = json.loads(line)
            found.append(Peek(str(item["id"]), datetime.fromisoformat(item["time"])))
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # a line cut short by a power failure, or no line of ours
    return found


def prepared(ws: Workspace, intention: Unfinished) -> Path | None:
    """The list of breaks that were applied by hand, these too; None if it stays as it is."""
    if intention.action != "apply":
        return None
    path = ws.state / FILE
    old = path.read_bytes() if path.exists() else b""
    lines = [json.dumps({"id": name, "time": intention.when}).encode() for name in intention.ids]
    new = [line + b"\n" for line in lines if line not in old]
    if not new:
        return None
    return draft(ws, old + b"".join(new))
