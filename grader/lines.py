"""Files of JSON lines in `.breaks/` that only ever grow.

A line is added by replacing the whole file in one instant, so that no line is half written and
none that is there changes: what a newer version wrote, known or not, stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from breaks import durable, lock
from breaks.drafts import save
from breaks.workspace import Workspace

Json = dict[str, Any]


class Line(NamedTuple):
    """One line of a file; `document` is None where it is no JSON object."""

    number: int
    document: Json | None


def read(ws: Workspace, name: str) -> list[Line]:
    """The lines of a file, first to last; none where there is no file."""
    return _lines(_content(ws, name))


def append(ws: Workspace, name: str, make: Callable[[Sequence[Line]], Json]) -> Json:
    """Adds the object that `make` makes of the lines so far; nobody comes in between."""
    durable.make_folder(ws.state)
    with lock.held(ws.state / "grader.lock"):
        old = _content(ws, name)
        document = make(_lines(old))
        if old and not old.endswith(b"\n"):
            old += b"\n"
        text = json.dumps(document, sort_keys=True, ensure_ascii=True, allow_nan=False)
        save(ws, ws.state / name, old + text.encode("ascii") + b"\n")
    return document


def now() -> str:
    """The time of day for a record, in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _content(ws: Workspace, name: str) -> bytes:
    try:
        return (ws.state / name).read_bytes()
    except FileNotFoundError:
        return b""


def _lines(content: bytes) -> list[Line]:
    rows = content.split(b"\n")
    return [Line(n, _object(row)) for n, row in enumerate(rows, start=1) if row.strip()]


def _object(row: bytes) -> Json | None:
    try:
        document = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
