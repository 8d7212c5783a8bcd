"""What a learner says will happen: the records of a prediction and their canonical form.

A prediction is about one break of one lab.  Its canonical form is JSON with sorted keys, so that
the same answers always have the same SHA-256, however the file was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from grader.recording import Answer, Detector, Mode, Outcome, Pattern, Phase, Shape

Json = dict[str, Any]

VERSION = 1  # of the canonical form
CONFIDENCES = (20, 40, 60, 80, 95)  # what the terminal offers; a file may say any 0 … 100


class First(NamedTuple):
    """How a scenario is said to differ first from the correct library; the details may be left."""

    phase: Phase
    mode: Mode
    tensor: str = ""
    shape: Shape | None = None
    dtype: str = ""
    pattern: Pattern | None = None
    factor: float | None = None

    def to_json(self) -> Json:
        found: Json = {"phase": self.phase.value, "mode": self.mode.value}
        if self.tensor:
            found["tensor"] = self.tensor
        if self.shape is not None:
            found["shape"] = list(self.shape)
        if self.dtype:
            found["dtype"] = self.dtype
        if self.pattern is not None:
            found["pattern"] = self.pattern.value
        if self.factor is not None:
            found["factor"] = self.factor
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> First:
        shape, pattern = data.get("shape"), data.get("pattern")
        return cls(
            Phase(data["phase"]),
            Mode(data["mode"]),
            data.get("tensor", ""),
            None if shape is None else tuple(shape),
            data.get("dtype", ""),
            None if pattern is None else Pattern(pattern),
            data.get("factor"),
        )


class Said(NamedTuple):
    """Everything that is said of one scenario."""

    first: First
    detectors: Mapping[Detector, Answer] = {}  # fires or silent
    confidence: int | None = None  # percent, that phase and mode are right
    because: str = ""

    def to_json(self) -> Json:
        found: Json = {
            "first": self.first.to_json(),
            "detectors": {d.value: a.value for d, a in sorted(self.detectors.items())},
        }
        if self.confidence is not None:
            found["confidence"] = self.confidence
        if self.because:
            found["because"] = self.because
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Said:
        return cls(
            First.from_json(data["first"]),
            {Detector(d): Answer(a) for d, a in data.get("detectors", {}).items()},
            data.get("confidence"),
            data.get("because", ""),
        )


class TrainingSaid(NamedTuple):
    """What is said of training the grammar MLP; `phase` only where it is to crash."""

    outcome: Outcome
    phase: Phase | None = None

    def to_json(self) -> Json:
        found: Json = {"outcome": self.outcome.value}
        if self.phase is not None:
            found["phase"] = self.phase.value
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingSaid:
        phase = data.get("phase")
        return cls(Outcome(data["outcome"]), None if phase is None else Phase(phase))


class Prediction(NamedTuple):
    """One break of one lab: an answer for each scenario, and one for the training."""

    lab: str
    break_id: str
    scenarios: Mapping[str, Said]
    training: TrainingSaid | None = None

    def to_json(self) -> Json:
        found: Json = {
            "lab": self.lab,
            "break": self.break_id,
            "scenarios": {name: said.to_json() for name, said in self.scenarios.items()},
        }
        if self.training is not None:
            found["training"] = self.training.to_json()
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Prediction:
        training = data.get("training")
        return cls(
            data["lab"],
            data["break"],
            {name: Said.from_json(said) for name, said in data["scenarios"].items()},
            None if training is None else TrainingSaid.from_json(training),
        )

    @property
    def canonical(self) -> bytes:
        """The one way of writing these answers down."""
        return canonical({"version": VERSION, **self.to_json()})

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.canonical).hexdigest()


def canonical(document: Any) -> bytes:
    """JSON with sorted keys, no spaces, ASCII only: equal documents have equal bytes."""
    text = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return text.encode("ascii")
