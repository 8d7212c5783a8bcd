"""What a workspace remembers: which breaks are applied, and what is under way.

One JSON file, `.breaks/journal.json`, replaced in one instant, so it is never half written, and
gone while nothing is applied.  It holds the texts before and after each break: what was there can
be read even without this program.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from breaks import i18n
from breaks.errors import BreaksError, Exit
from breaks.workspace import JOURNAL

_ = i18n.gettext
VERSION = 1
FILE = JOURNAL


class Change(NamedTuple):
    """What one break did to one module."""

    module: str
    before: bytes
    after: bytes


class Applied(NamedTuple):
    """A break in the working copy: its changes, and when it was made."""

    id: str
    when: str
    changes: tuple[Change, ...]


class Unfinished(NamedTuple):
    """An intention: files to change, and what will be applied once they are."""

    action: str  # apply | revert
    ids: tuple[str, ...]
    when: str
    files: tuple[Change, ...]
    then: tuple[Applied, ...]


class Record(NamedTuple):
    """What is applied, in order, and at most one intention."""

    applied: tuple[Applied, ...] = ()
    unfinished: Unfinished | None = None

    def intending(self, unfinished: Unfinished) -> Record:
        return self._replace(unfinished=unfinished)

    @property
    def empty(self) -> bool:
        return not self.applied and self.unfinished is None

    def settled(self, applied: tuple[Applied, ...]) -> Record:
        return Record(applied)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def version(folder: Path) -> tuple[object, object]:
    """Something that is another after every change of the record.

    A record that is empty has no file: that one came and went shows in the folder.
    """
    return _stamp(folder / FILE), _stamp(folder)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except FileNotFoundError:
        return None
    return info.st_ino, info.st_mtime_ns


def load(folder: Path) -> Record:
    """The record in a state folder; an empty one where nothing was ever applied."""
    path = folder / FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Record()
    try:
        return _decoded(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BreaksError(
            _("the journal of this workspace"),
            _("a file that cannot be read: %(error)s") % {"error": repr(error)},
            _("Keep a copy of it: the original texts are in it. Then move it away."),
            code=Exit.PRECONDITION,
            where=str(path),
        ) from None


def dump(record: Record) -> bytes:
    """The record as the bytes of its file."""
    texts: dict[str, bytes] = {}
    unfinished = record.unfinished
    document = {
        "about": "What `breaks` changed in this workspace. `breaks revert` needs it: keep it.",
        "version": VERSION,
        "applied": [_applied(item, texts) for item in record.applied],
        "unfinished": unfinished
        and {
            "action": unfinished.action,
            "ids": unfinished.ids,
            "when": unfinished.when,
            "files": [_change(change, texts) for change in unfinished.files],
            "then": [_applied(item, texts) for item in unfinished.then],
        },
        "texts": {key: _text(content) for key, content in texts.items()},
    }
    return json.dumps(document, indent=1).encode()


def _applied(item: Applied, texts: dict[str, bytes]) -> dict[str, Any]:
    changes = [_change(change, texts) for change in item.changes]
    return {"id": item.id, "when": item.when, "changes": changes}


def _change(change: Change, texts: dict[str, bytes]) -> dict[str, str]:
    keys = {}
    for name, content in (("before", change.before), ("after", change.after)):
        keys[name] = digest(content)
        texts[keys[name]] = content
    return {"module": change.module, **keys}


def _text(content: bytes) -> str | dict[str, str]:
    """A text as it is, so that a person can read it; other bytes in base64."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _decoded(document: Mapping[str, Any]) -> Record:
    if document["version"] != VERSION:
        raise ValueError(f"version {document['version']}, this program reads {VERSION}")
    texts = {key: _bytes(key, value) for key, value in document["texts"].items()}

    def change(item: Mapping[str, str]) -> Change:
        return Change(item["module"], texts[item["before"]], texts[item["after"]])

    def applied(item: Mapping[str, Any]) -> Applied:
        return Applied(item["id"], item["when"], tuple(map(change, item["changes"])))

    found = document["unfinished"]
    unfinished = found and Unfinished(
        found["action"],
        tuple(found["ids"]),
        found["when"],
        tuple(map(change, found["files"])),
        tuple(map(applied, found["then"])),
    )
    return Record(tuple(map(applied, document["applied"])), unfinished)


def _bytes(key: str, value: str | Mapping[str, str]) -> bytes:
    content = value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])
    if digest(content) != key:
        raise ValueError(f"text {key[:12]} is damaged")
    return content
