"""Observations made by hand, for the tests of what judges, prints and draws them."""

from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Difference,
    Form,
    Mode,
    Observation,
    Observed,
    Origin,
    Outcome,
    Pattern,
    Phase,
    Proofs,
    Result,
    TrainingObservation,
    TrainingRun,
)

FIRES, SILENT, UNAVAILABLE = Answer.FIRES, Answer.SILENT, Answer.UNAVAILABLE

ORIGIN = Origin(
    "a",
    "+",
    Phase.BACKWARD,
    "minitorch.tensor",
    131,
    "a.grad += g",
    "(3, 5) [[1, 1, 1, 1, 1], …]",
    "(3, 1) [[5], [5], [5]]",
)
WRONG_SHAPE = Difference(
    Phase.BACKWARD,
    Mode.WRONG_SHAPE,
    "a",
    (4, 3),
    (3,),
    "float64",
    "float64",
    evidence={"found": "ones", "expected": "[4, 4, 4]"},
    origin=ORIGIN,
)
CRASH = Difference(
    Phase.BACKWARD,
    Mode.CRASH,
    "a",
    error="ValueError: non-broadcastable output operand with shape (3,)",
)
SCALED = Difference(Phase.BACKWARD, Mode.WRONG_VALUES, "a", pattern=Pattern.SCALED, factor=5.0)
NOTHING = Difference(Phase.NOWHERE, Mode.UNAFFECTED)


def answers(*words: Answer) -> dict[Detector, Result]:
    """The five detectors of a scenario with these answers; one word stands for all of them."""
    given = words * len(PER_SCENARIO) if len(words) == 1 else words
    return {d: Result(d, a) for d, a in zip(PER_SCENARIO, given, strict=True)}


def seen(scenario: str, difference: Difference, *words: Answer) -> Observation:
    return Observation(
        "lab02", "skip-unbroadcast", scenario, difference, answers(*(words or (FIRES,)))
    )


def run(
    outcome: Outcome = Outcome.CRASH,
    phase: Phase = Phase.BACKWARD,
    form: Form = Form.ONE_HOT,
    losses: tuple[float | None, ...] = (1.7, 1.6, 1.5),
) -> TrainingRun:
    last = losses[-1]
    distance = None if last is None else last - 0.2
    error = "ValueError: shapes" if outcome is Outcome.CRASH else ""
    return TrainingRun(
        form, outcome, phase, losses, losses[0], last, 0.2, distance, 0.1333, error, 0.02
    )


def training(
    outcome: Outcome = Outcome.CRASH, phase: Phase = Phase.BACKWARD
) -> TrainingObservation:
    return TrainingObservation(
        "skip-unbroadcast", (run(outcome, phase), run(outcome, phase, Form.EMBEDDING))
    )


CLEAN = TrainingObservation(
    "", (run(Outcome.SAME, Phase.NOWHERE), run(Outcome.SAME, Phase.NOWHERE, Form.EMBEDDING))
)
PROOFS = Proofs(24, 6, 3, {"minitorch.tensor": "0" * 64}, 2)


def observed(*observations: Observation, trained: TrainingObservation | None = None) -> Observed:
    return Observed(
        "lab02",
        "skip-unbroadcast",
        observations,
        trained,
        CLEAN if trained else None,
        PROOFS,
        {"python": "3.11.9", "numpy": "2.0.0", "torch": "2.13.0"},
        7,
        seconds=1.25,
    )
