"""Committed predictions, each chained to the one before by its SHA-256.

Whoever edits, removes or reorders a line breaks the chain, and every check looks.  That makes later
edits evident.  It is no proof: whoever can write the file can also write a new chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from breaks.workspace import Workspace
from grader import lines
from grader.prediction import Prediction, canonical

Json = dict[str, Any]
FILE = "commits.jsonl"
VERSION = 1
START = "0" * 64  # what the first commit follows


class Damage(StrEnum):
    """What is wrong with a line of the chain."""

    UNREADABLE = "unreadable"  # no JSON, or not the fields of a commit
    EDITED = "edited"  # the line does not give its own hash
    OUT_OF_CHAIN = "out-of-chain"  # it does not follow the line before it
    NEWER = "newer"  # intact, but written by a newer version


class Commit(NamedTuple):
    """One committed prediction."""

    number: int  # the line in the file
    time: str
    attempt: int  # how many of this lab and break, from 1
    prediction: Prediction
    scenarios: Mapping[str, str]  # name → digest of the scenario that was asked
    peeked: bool  # the break had been applied by hand before
    hash: str

    @property
    def lab(self) -> str:
        return self.prediction.lab

    @property
    def break_id(self) -> str:
        return self.prediction.break_id

    def changed(self, digests: Mapping[str, str]) -> tuple[str, ...]:
        """The scenarios that are other ones by now."""
        return tuple(name for name, digest in digests.items() if self.scenarios.get(name) != digest)


class Fault(NamedTuple):
    """A line of the chain that is not as it was written."""

    number: int
    damage: Damage
    lab: str = ""
    break_id: str = ""

    def to_json(self) -> Json:
        return {
            "line": self.number,
            "damage": self.damage.value,
            "lab": self.lab,
            "break": self.break_id,
        }


class Chain(NamedTuple):
    """All commits that are intact, and every line that is not."""

    commits: tuple[Commit, ...]
    faults: tuple[Fault, ...]
    head: str  # the hash that the next commit follows

    @property
    def intact(self) -> bool:
        return all(fault.damage is Damage.NEWER for fault in self.faults)

    def find(self, lab: str, break_id: str) -> Commit | None:
        """The last prediction of a lab and a break."""
        for commit in reversed(self.commits):
            if (commit.lab, commit.break_id) == (lab, break_id):
                return commit
        return None

    def fault_of(self, lab: str, break_id: str) -> Fault | None:
        """The damage to the last prediction of a lab and a break, if it came after any good one."""
        good = self.find(lab, break_id)
        for fault in reversed(self.faults):
            if (fault.lab, fault.break_id) == (lab, break_id):
                return fault if good is None or fault.number > good.number else None
        return None


def load(ws: Workspace) -> Chain:
    """The chain of a workspace, each line verified."""
    return verify(lines.read(ws, FILE))


def verify(rows: Sequence[lines.Line]) -> Chain:
    """Follows the chain from its start."""
    commits: list[Commit] = []
    faults: list[Fault] = []
    head = START
    for row in rows:
        document = row.document
        if document is None or not isinstance(document.get("hash"), str):
            faults.append(Fault(row.number, Damage.UNREADABLE))
            continue
        follows = document.get("previous") == head
        head = document["hash"]
        lab, break_id = str(document.get("lab", "")), str(document.get("break", ""))
        if seal(document) != document["hash"]:
            faults.append(Fault(row.number, Damage.EDITED, lab, break_id))
        elif (commit := _commit(row.number, document)) is None:
            newer = isinstance(document.get("version"), int) and document["version"] > VERSION
            damage = Damage.NEWER if newer else Damage.UNREADABLE
            faults.append(Fault(row.number, damage, lab, break_id))
        else:
            commits.append(commit)
            if not follows:
                faults.append(Fault(row.number, Damage.OUT_OF_CHAIN))
    return Chain(tuple(commits), tuple(faults), head)


def seal(document: Mapping[str, Any]) -> str:
    """The SHA-256 of everything in a line but the hash itself."""
    rest = {key: value for key, value in document.items() if key != "hash"}
    try:
        return hashlib.sha256(canonical(rest)).hexdigest()
    except (ValueError, RecursionError):  # NaN, or nested beyond reason: nobody here wrote that
        return ""


def _commit(number: int, document: Json) -> Commit | None:
    try:
        prediction = Prediction.from_json(document["prediction"])
        if prediction.digest != document["digest"]:
            return None
        return Commit(
            number,
            str(document["time"]),
            int(document["attempt"]),
            prediction,
            {str(name): str(value) for name, value in document["scenarios"].items()},
            bool(document["peeked"]),
            document["hash"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def commit(
    ws: Workspace, prediction: Prediction, digests: Mapping[str, str], *, peeked: bool
) -> Commit:
    """Adds a prediction to the chain, for good."""

    def make(rows: Sequence[lines.Line]) -> Json:
        chain = verify(rows)
        same = [
            c for c in chain.commits if (c.lab, c.break_id) == (prediction.lab, prediction.break_id)
        ]
        document: Json = {
            "version": VERSION,
            "time": lines.now(),
            "lab": prediction.lab,
            "break": prediction.break_id,
            "attempt": len(same) + 1,
            "prediction": prediction.to_json(),
            "digest": prediction.digest,
            "scenarios": {name: digests[name] for name in prediction.scenarios},
            "peeked": peeked,
            "previous": chain.head,
        }
        return {**document, "hash": seal(document)}

    document = lines.append(ws, FILE, make)
    made = _commit(0, document)
    if made is None:
        raise AssertionError("a commit that cannot be read back")
    return made
