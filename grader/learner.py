"""What a learner has done: checks, own sentences, lessons read, and what they add up to.

Each event is a line of `.breaks/progress.jsonl` with a version.  Lines are only ever added, and
what this version does not know is left alone, so that the record survives upgrades either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from breaks.workspace import Workspace
from grader import lines
from grader.score import Calibration, calibration

Json = dict[str, Any]
FILE = "progress.jsonl"
VERSION = 1
AGAIN_BELOW = 6.0  # a score under this asks for a second attempt


class Event(StrEnum):
    """What can have happened."""

    CHECKED = "checked"  # a committed prediction was judged
    SENTENCE = "sentence"  # the learner's own words, before the lesson
    EXPLAINED = "explained"  # the lesson was shown
    GIVEN_UP = "given-up"  # the lesson was shown before a check
    LOOKED = "looked"  # what happens was shown without a committed prediction


class Stage(StrEnum):
    """How far a lab and a break have come."""

    NEW = "new"
    PREDICTED = "predicted"
    CHECKED = "checked"
    EXPLAINED = "explained"


class Checked(NamedTuple):
    """The last check of one committed prediction."""

    lab: str
    break_id: str
    time: str
    commit: str  # the hash of the commit
    score: float | None
    misses: int
    answers: tuple[tuple[int, bool], ...]  # confidence, hit


class Record(NamedTuple):
    """Everything that happened in a workspace, in order."""

    events: tuple[Json, ...]

    @property
    def checks(self) -> tuple[Checked, ...]:
        """One per commit: the first check of each counts, so that a score is what it was."""
        found: dict[str, Checked] = {}
        for event in self.events:
            if event.get("kind") == Event.CHECKED and (one := _checked(event)) is not None:
                found.setdefault(one.commit, one)
        return tuple(found.values())

    def check_of(self, lab: str, break_id: str) -> Checked | None:
        """The latest commit's check of a lab and a break."""
        for one in reversed(self.checks):
            if (one.lab, one.break_id) == (lab, break_id):
                return one
        return None

    def sentence(self, lab: str, break_id: str) -> str:
        """The learner's own words about a break, the last ones."""
        return str(self._last(Event.SENTENCE, lab, break_id).get("text", ""))

    def explained(self, lab: str, break_id: str) -> bool:
        """Whether the lesson has been read."""
        return bool(
            self._last(Event.EXPLAINED, lab, break_id) or self._last(Event.GIVEN_UP, lab, break_id)
        )

    def gave_up(self, lab: str, break_id: str) -> bool:
        """Whether the lesson was read before a check."""
        return bool(self._last(Event.GIVEN_UP, lab, break_id))

    def looked(self, break_id: str) -> bool:
        """Whether what a break does was shown before it was predicted."""
        return any(
            event.get("kind") in (Event.LOOKED, Event.GIVEN_UP) and event.get("break") == break_id
            for event in self.events
        )

    def _last(self, kind: Event, lab: str, break_id: str) -> Json:
        for event in reversed(self.events):
            if (event.get("kind"), event.get("lab"), event.get("break")) == (kind, lab, break_id):
                return event
        return {}

    @property
    def calibration(self) -> Calibration:
        """How sure the learner was over all checks, beside how often they were right."""
        return calibration(pair for one in self.checks for pair in one.answers)


def _checked(event: Json) -> Checked | None:
    try:
        score = event["score"]
        return Checked(
            str(event["lab"]),
            str(event["break"]),
            str(event["time"]),
            str(event["commit"]),
            None if score is None else float(score),
            int(event["misses"]),
            tuple((int(sure), bool(hit)) for sure, hit in event["answers"]),
        )
    except (KeyError, TypeError, ValueError):
        return None  # a line that this version does not understand


def load(ws: Workspace) -> Record:
    """What is on record in a workspace."""
    rows = lines.read(ws, FILE)
    return Record(tuple(row.document for row in rows if row.document is not None))


def note(ws: Workspace, kind: Event, lab: str, break_id: str, **more: Any) -> Json:
    """Puts one event on record."""
    event = {
        "version": VERSION,
        "kind": kind.value,
        "time": lines.now(),
        "lab": lab,
        "break": break_id,
        **more,
    }
    return lines.append(ws, FILE, lambda _rows: event)


def note_check(
    ws: Workspace,
    commit: str,
    lab: str,
    break_id: str,
    *,
    score: float | None,
    misses: int,
    answers: Iterable[tuple[int, bool]],
) -> None:
    """Puts the first check of a commit on record; a repeated one changes nothing."""
    if any(one.commit == commit for one in load(ws).checks):
        return
    pairs = [[sure, hit] for sure, hit in answers]
    note(ws, Event.CHECKED, lab, break_id, commit=commit, score=score, misses=misses, answers=pairs)


class Row(NamedTuple):
    """One break of one lab in the overview: its first attempt, and its variant."""

    lab: str
    break_id: str
    stage: Stage
    score: float | None
    variant: float | None  # the score of the second attempt
    again: bool  # worth a second attempt
    peeked: bool

    def to_json(self) -> Json:
        return {
            "lab": self.lab,
            "break": self.break_id,
            "stage": self.stage.value,
            "score": self.score,
            "variant": self.variant,
            "again": self.again,
            "peeked": self.peeked,
        }


def overview(
    labs: Mapping[str, Sequence[str]],
    record: Record,
    predicted: Mapping[tuple[str, str], bool],
) -> tuple[Row, ...]:
    """A row per lab and break.  `predicted`: (lab, break) → whether it was peeked at before."""
    return tuple(_row(lab, brk, record, predicted) for lab in labs for brk in labs[lab])


def _row(lab: str, brk: str, record: Record, predicted: Mapping[tuple[str, str], bool]) -> Row:
    first, second = record.check_of(lab, brk), record.check_of(f"{lab}.b", brk)
    score = None if first is None else first.score
    variant = None if second is None else second.score
    if record.explained(lab, brk):
        stage = Stage.EXPLAINED
    elif first is not None:
        stage = Stage.CHECKED
    else:
        stage = Stage.PREDICTED if (lab, brk) in predicted else Stage.NEW
    best = max((one for one in (score, variant) if one is not None), default=None)
    again = (best is not None and best < AGAIN_BELOW) or (
        first is None and record.gave_up(lab, brk)
    )
    return Row(lab, brk, stage, score, variant, again, predicted.get((lab, brk), False))


def done(rows: Iterable[Row], lab: str) -> bool:
    """Whether every break of a lab was checked."""
    mine = [row for row in rows if row.lab == lab]
    return bool(mine) and all(row.score is not None for row in mine)
