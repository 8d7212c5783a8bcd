"""What an answer is worth: information for detectors, Brier for confidence.  Pure arithmetic.

A right answer about a detector is worth −log2 of how often that answer is true over the scenarios
asked.  The sum is then rescaled between the best constant answer, which earns nothing, and the
perfect one, which earns all.  A detector that answers the same everywhere is worth nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

CALIBRATION_AFTER = 5  # answers before the table is shown
LEVELS = (20, 40, 60, 80, 95)
BIT = 0.5  # points for one bit: the five detectors often agree, and must not outweigh the rest


class DetectorScore(NamedTuple):
    """One detector over all scenarios."""

    detector: str
    right: int
    asked: int
    constant: str  # the answer that is true most often
    constant_right: int  # how often
    points: float
    possible: float  # by the information in its answers; 0 where they are all the same

    def to_json(self) -> dict[str, Any]:
        return {
            "detector": self.detector,
            "right": self.right,
            "asked": self.asked,
            "constant": self.constant,
            "constant_right": self.constant_right,
            "points": round(self.points, 3),
            "possible": round(self.possible, 3),
        }


def information(happened: Sequence[str]) -> dict[str, float]:
    """−log2 of how often each answer occurs, in bits."""
    counts = Counter(happened)
    return {answer: -math.log2(n / len(happened)) + 0.0 for answer, n in counts.items()}


def detector_score(detector: str, pairs: Sequence[tuple[str, str]]) -> DetectorScore:
    """The points for (said, happened) of one detector in each scenario; an empty `said` is open."""
    happened = [truth for _said, truth in pairs]
    counts = Counter(happened)
    bits = information(happened)
    constant, constant_right = max(counts.items(), key=lambda item: (item[1], item[0]))
    earned = sum(bits[truth] for said, truth in pairs if said == truth)
    perfect = sum(bits[truth] for truth in happened)
    dull = max(bits[answer] * n for answer, n in counts.items())  # the best constant answer
    varies = len(counts) > 1
    share = max(0.0, (earned - dull) / (perfect - dull)) if varies else 0.0
    return DetectorScore(
        detector,
        sum(said == truth for said, truth in pairs),
        len(pairs),
        constant,
        constant_right,
        BIT * share * perfect if varies else 0.0,
        BIT * perfect if varies else 0.0,
    )


def brier(confidence: int, hit: bool) -> float:
    """The squared distance between how sure one was and what came of it; 0 is best, 1 worst."""
    return (confidence / 100 - hit) ** 2


class CalibrationRow(NamedTuple):
    """All answers given with about the same confidence."""

    level: int
    answers: int
    hits: int

    @property
    def rate(self) -> float:
        return self.hits / self.answers

    def to_json(self) -> dict[str, Any]:
        return {"level": self.level, "answers": self.answers, "hits": self.hits}


class Calibration(NamedTuple):
    """How sure a learner is, beside how often they are right."""

    rows: tuple[CalibrationRow, ...]
    answers: int
    brier: float | None  # the mean; None before the first answer

    @property
    def ready(self) -> bool:
        return self.answers >= CALIBRATION_AFTER

    def to_json(self) -> dict[str, Any]:
        return {
            "answers": self.answers,
            "brier": None if self.brier is None else round(self.brier, 4),
            "rows": [row.to_json() for row in self.rows],
        }


def calibration(answers: Iterable[tuple[int, bool]]) -> Calibration:
    """The table over (confidence, hit) pairs, each counted at the nearest level offered."""
    given = list(answers)
    tally: Counter[int] = Counter()
    hits: Counter[int] = Counter()
    for confidence, hit in given:
        level = min(LEVELS, key=lambda one: (abs(one - confidence), one))
        tally[level] += 1
        hits[level] += hit
    rows = tuple(CalibrationRow(level, tally[level], hits[level]) for level in sorted(tally))
    mean = sum(brier(c, h) for c, h in given) / len(given) if given else None
    return Calibration(rows, len(given), mean)
