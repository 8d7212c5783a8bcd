"""Prediction × observation → verdict.  Pure: no files, no clock, no chance.

Each facet is judged by itself and earns its own points: a right tensor counts beside a wrong mode.
Nothing is ever subtracted.  What could not be observed, or lies inside a dead band, is not scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Difference,
    Mode,
    Observation,
    Observed,
    Outcome,
    Pattern,
    Phase,
    Shape,
    TrainingObservation,
)
from grader.score import DetectorScore, detector_score

Json = dict[str, Any]

PHASE, MODE, DETAIL = 2.0, 2.0, 1.0  # points of the facets of a scenario
OUTCOME, STOPPED = 4.0, 1.0  # points of the training: what happened, and where it stopped
NEAR = 0.01  # two factors within one percent are the same factor


class Mark(StrEnum):
    """How one facet of a prediction went."""

    RIGHT = "right"
    PARTLY = "partly"  # half of it is right
    WRONG = "wrong"
    OPEN = "open"  # not answered
    UNSCORED = "unscored"  # nothing to compare with; `why` says the reason


class Why(StrEnum):
    """Why a facet is not scored."""

    UNAVAILABLE = "unavailable"  # the detector could not look
    UNCERTAIN = "uncertain"  # inside a dead band
    CHANGED = "changed"  # the scenario is another one since the prediction was made
    NOT_ASKED = "not-asked"  # there is no prediction, or nothing was observed


class Facet(NamedTuple):
    """One thing said beside what happened."""

    name: str  # phase, mode, tensor, shape, dtype, values, outcome, or a detector
    said: str
    happened: str
    mark: Mark
    points: float = 0.0
    possible: float = 0.0
    why: Why | None = None

    def to_json(self) -> Json:
        return {
            "name": self.name,
            "said": self.said,
            "happened": self.happened,
            "mark": self.mark.value,
            "points": round(self.points, 3),
            "possible": round(self.possible, 3),
            "why": None if self.why is None else self.why.value,
        }


class ScenarioVerdict(NamedTuple):
    """One scenario: the first difference with its details, and what each detector did."""

    scenario: str
    facets: tuple[Facet, ...]
    detectors: tuple[Facet, ...]  # their points are given over all scenarios together
    confidence: int | None
    because: str = ""

    def facet(self, name: str) -> Facet | None:
        return next((one for one in self.facets if one.name == name), None)

    @property
    def hit(self) -> bool | None:
        """Whether phase and mode are right: what the confidence is about.  None if not judged."""
        marks = [one.mark for one in self.facets if one.name in ("phase", "mode")]
        if any(mark in (Mark.OPEN, Mark.UNSCORED) for mark in marks):
            return None
        return all(mark is Mark.RIGHT for mark in marks)

    @property
    def points(self) -> float:
        return sum(one.points for one in self.facets)

    @property
    def possible(self) -> float:
        return sum(one.possible for one in self.facets)

    @property
    def misses(self) -> int:
        return _misses((*self.facets, *self.detectors))

    def to_json(self) -> Json:
        return {
            "scenario": self.scenario,
            "facets": [one.to_json() for one in self.facets],
            "detectors": [one.to_json() for one in self.detectors],
            "confidence": self.confidence,
            "hit": self.hit,
            "because": self.because,
        }


class Verdict(NamedTuple):
    """One break of one lab, judged."""

    lab: str
    break_id: str
    scenarios: tuple[ScenarioVerdict, ...]  # in the order asked
    training: tuple[Facet, ...]
    detectors: tuple[DetectorScore, ...]  # each detector over all scenarios
    predicted: bool

    @property
    def points(self) -> float:
        return sum(part.points for part in self._parts())

    @property
    def possible(self) -> float:
        return sum(part.possible for part in self._parts())

    def _parts(self) -> Iterable[ScenarioVerdict | Facet | DetectorScore]:
        return (*self.scenarios, *self.training, *self.detectors)

    @property
    def score(self) -> float | None:
        """From 0 to 10, one decimal.  None where nothing was scored."""
        if not self.predicted or self.possible == 0:
            return None
        return round(10 * self.points / self.possible, 1)

    @property
    def misses(self) -> int:
        """How many answers are not right; a detail left open is none."""
        return sum(one.misses for one in self.scenarios) + _misses(self.training)

    @property
    def by_surprise(self) -> tuple[ScenarioVerdict, ...]:
        """Misses first, the most confident one before the others; then the order asked."""

        def surprise(one: ScenarioVerdict) -> tuple[bool, int]:
            missed = one.hit is False
            return (not missed, -(one.confidence or 0) if missed else 0)

        return tuple(sorted(self.scenarios, key=surprise))

    @property
    def answers(self) -> tuple[tuple[int, bool], ...]:
        """Each (confidence, hit) of this verdict, for the calibration table."""
        return tuple(
            (one.confidence, one.hit)
            for one in self.scenarios
            if one.confidence is not None and one.hit is not None
        )

    def to_json(self) -> Json:
        return {
            "lab": self.lab,
            "break": self.break_id,
            "predicted": self.predicted,
            "score": self.score,
            "points": round(self.points, 3),
            "possible": round(self.possible, 3),
            "misses": self.misses if self.predicted else None,
            "scenarios": [one.to_json() for one in self.scenarios],
            "training": [one.to_json() for one in self.training],
            "detectors": [one.to_json() for one in self.detectors],
        }


def judge(
    prediction: Prediction | None, observed: Observed, *, changed: Iterable[str] = ()
) -> Verdict:
    """The verdict on a prediction; without one, what happened beside empty answers.

    `changed` names scenarios that are no longer those which the prediction was made for.
    """
    skip = frozenset(changed)
    said = {} if prediction is None else prediction.scenarios
    scenarios = tuple(
        _scenario(one, said.get(one.scenario), one.scenario in skip)
        for one in observed.observations
    )
    training = () if observed.training is None else _training(prediction, observed.training)
    verdict = Verdict(
        observed.lab, observed.break_id, scenarios, training, (), prediction is not None
    )
    return verdict._replace(detectors=tuple(_detector_scores(scenarios)))


def _misses(facets: Iterable[Facet]) -> int:
    missed = (Mark.WRONG, Mark.PARTLY)
    return sum(
        one.mark in missed or (one.mark is Mark.OPEN and one.name in _REQUIRED) for one in facets
    )


_REQUIRED = frozenset({"phase", "mode", "outcome", *(d.value for d in Detector)})


def _scenario(seen: Observation, said: Said | None, changed: bool) -> ScenarioVerdict:
    first = None if said is None else said.first
    facets = tuple(_first(first, seen.difference))
    detectors = tuple(
        _detector(detector, None if said is None else said.detectors.get(detector), seen)
        for detector in PER_SCENARIO
        if detector in seen.detectors
    )
    if changed:
        facets = tuple(_unscored(one, Why.CHANGED) for one in facets)
        detectors = tuple(_unscored(one, Why.CHANGED) for one in detectors)
    return ScenarioVerdict(
        seen.scenario,
        facets,
        detectors,
        None if said is None else said.confidence,
        "" if said is None else said.because,
    )


def _unscored(facet: Facet, why: Why) -> Facet:
    return facet._replace(mark=Mark.UNSCORED, points=0.0, possible=0.0, why=why)


def _first(said: First | None, seen: Difference) -> Iterable[Facet]:
    """Phase and mode always; a detail where there is one to be seen."""
    facets = [
        _compare("phase", said.phase.value if said else "", seen.phase.value, PHASE),
        _compare("mode", said.mode.value if said else "", seen.mode.value, MODE),
    ]
    if seen.mode is not Mode.UNAFFECTED:
        facets += _details(said, seen)
    if seen.evidence.get("uncertain"):
        return [_unscored(one, Why.UNCERTAIN) for one in facets]
    return facets


def _details(said: First | None, seen: Difference) -> Iterable[Facet]:
    if seen.tensor:
        named = said.tensor if said else ""
        others = seen.evidence.get("also", ())  # they differ just as much: as good an answer
        yield _compare("tensor", named, named if named in others else seen.tensor, DETAIL)
    if seen.mode is Mode.WRONG_SHAPE and seen.shape is not None:
        shape = said.shape if said else None
        yield _compare(
            "shape", None if shape is None else shape_text(shape), shape_text(seen.shape), DETAIL
        )
    if seen.mode is Mode.WRONG_DTYPE and seen.dtype:
        yield _compare("dtype", said.dtype if said else "", seen.dtype, DETAIL)
    if seen.mode is Mode.WRONG_VALUES and seen.pattern not in (None, Pattern.OTHER):
        yield _values(said, seen)


def _compare(name: str, said: str | None, happened: str, points: float) -> Facet:
    if not said:
        return Facet(name, "", happened, Mark.OPEN, 0.0, points)
    if said == happened:
        return Facet(name, said, happened, Mark.RIGHT, points, points)
    return Facet(name, said, happened, Mark.WRONG, 0.0, points)


def _values(said: First | None, seen: Difference) -> Facet:
    """The pattern of wrong values: half for the pattern, the rest for its number, if it has one."""
    happened = values_text(seen.pattern, seen.factor)
    said_text = values_text(said.pattern, said.factor) if said else ""
    if said is None or not said_text:
        return Facet("values", "", happened, Mark.OPEN, 0.0, DETAIL)
    right_number = _same_number(said.factor, seen.factor)
    if seen.pattern is Pattern.SIGN_FLIPPED:  # its number is -1: either way of saying it will do
        right = said.pattern is Pattern.SIGN_FLIPPED or _same_number(said.factor, -1.0)
        share = 1.0 if right else 0.0
    elif said.pattern is not None and said.pattern is not seen.pattern:
        share = 0.0
    elif seen.factor is None:
        share = 1.0 if said.pattern is seen.pattern else 0.0
    elif right_number:
        share = 1.0
    else:
        share = 0.5 if said.pattern is seen.pattern else 0.0
    mark = {1.0: Mark.RIGHT, 0.5: Mark.PARTLY, 0.0: Mark.WRONG}[share]
    return Facet("values", said_text, happened, mark, share * DETAIL, DETAIL)


def _same_number(said: float | None, seen: float | None) -> bool:
    if said is None or seen is None:
        return False
    return abs(said - seen) <= NEAR * max(abs(seen), 1e-12)


def _detector(detector: Detector, said: Answer | None, seen: Observation) -> Facet:
    happened = seen.detectors[detector].answer
    said_text = "" if said is None else said.value
    if happened is Answer.UNAVAILABLE:
        facet = Facet(detector.value, said_text, happened.value, Mark.UNSCORED)
        return facet._replace(why=Why.UNAVAILABLE)
    return _compare(detector.value, said_text, happened.value, 1.0)._replace(points=0, possible=0)


def _training(prediction: Prediction | None, seen: TrainingObservation) -> tuple[Facet, ...]:
    said: TrainingSaid | None = prediction.training if prediction else None
    outcome = _compare("outcome", said.outcome.value if said else "", seen.outcome.value, OUTCOME)
    if seen.outcome is Outcome.UNCERTAIN:
        return (_unscored(outcome, Why.UNCERTAIN),)
    others = [run.outcome for run in seen.runs if run.outcome is not Outcome.SAME]
    if outcome.mark is Mark.WRONG and said and said.outcome in others:  # so it went in one form
        outcome = outcome._replace(mark=Mark.PARTLY, points=OUTCOME / 2)
    if seen.outcome is Outcome.CRASH and seen.phase is not Phase.NOWHERE:
        phase = said.phase if said else None
        return (
            outcome,
            _compare("stopped", "" if phase is None else phase.value, seen.phase.value, STOPPED),
        )
    return (outcome,)


def _detector_scores(scenarios: tuple[ScenarioVerdict, ...]) -> Iterable[DetectorScore]:
    rows: Mapping[str, list[Facet]] = {d.value: [] for d in PER_SCENARIO}
    for scenario in scenarios:
        for facet in scenario.detectors:
            if facet.mark is not Mark.UNSCORED:
                rows[facet.name].append(facet)
    for name, facets in rows.items():
        if facets:
            pairs = [(one.said, one.happened) for one in facets]
            yield detector_score(name, pairs)


def shape_text(shape: Shape) -> str:
    """A shape as Python writes it: (3,) or (4, 3)."""
    return str(tuple(shape))


def values_text(pattern: Pattern | None, number: float | None) -> str:
    """What is said of wrong values in one short word: "scaled × 5", "offset + 1", "permuted"."""
    sign = "+" if pattern is Pattern.OFFSET else "×"
    if number is None or pattern is Pattern.SIGN_FLIPPED:
        return "" if pattern is None else pattern.value
    word = (pattern or Pattern.SCALED).value
    return f"{word} {sign} {number:.4g}"
