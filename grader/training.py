"""Training the grammar MLP on a broken library, and saying how it went beside the correct one.

The loss of each step is measured here, around the model's own loss, not taken from what `fit`
returns.  Outcomes are fractions of the progress that the correct library makes in the same number
of steps; between two outcomes lies a dead band in which nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from grader.recording import Form, Json, Outcome, Phase, TrainingObservation, TrainingRun

STEPS = {Form.ONE_HOT: 200, Form.EMBEDDING: 60}
SETTINGS: dict[Form, dict[str, float]] = {
    Form.ONE_HOT: {"lr": 0.5},
    Form.EMBEDDING: {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-3},
}

SAME = 1e-3  # of the correct library's progress: up to here it is the same curve
DIFFERENT = 2e-2  # from here on it is another one; between the two nothing is claimed
FLAT = (1e-2, 1e-1)  # of that progress: below the first it is flat, above the second it moves
HIGHER = (1e-2, 1e-1)  # of that progress, upwards: above the second it diverges


# ------------------------------------------------------------------ in the child


def record(lib: Any, job: Json, send: Any, describe: Callable[..., Json]) -> None:
    """Trains both forms and sends a section for each."""
    for form in Form:
        if form.value in job.get("forms", list(Form)):
            send("phase", f"{form.value}:forward")
            send(form.value, train(lib, form, job.get("seed", 7), describe))


def train(lib: Any, form: Form, seed: int, describe: Callable[..., Json]) -> Json:
    """The curve of one form, and how it ended."""
    from labs import grammar

    cells, held_out = grammar.split()
    curve: list[float] = []
    now = Phase.FORWARD
    out: Json = {"error": None, "accuracy": None, "validation": None}

    def loss(part: tuple[Any, ...]) -> Any:
        nonlocal now
        now = Phase.FORWARD
        value = model.loss(part)
        share = len(part) / len(cells)
        if part is pieces[0]:
            curve.append(0.0)
        curve[-1] += float(value.data) * share
        now = Phase.BACKWARD
        return value

    def step() -> None:
        nonlocal now
        now = Phase.STEP
        take_step()

    try:
        model = grammar.GrammarMLP(lib, form.value, seed)
        # Two pieces of unequal size, in one form: gradients must be accumulated and averaged.
        pieces = [cells] if form is Form.ONE_HOT else [cells[:40], cells[40:]]
        optimizer = lib.SGD(model.parameters, **SETTINGS[form])
        take_step, optimizer.step = optimizer.step, step
        lib.fit(loss, [pieces] * STEPS[form], optimizer)
        now = Phase.FORWARD
        curve.append(float(model.loss(cells).data))
    except BaseException as error:
        out["error"] = describe(error, now.value)
    else:
        try:
            out["accuracy"] = model.accuracy(held_out)
        except BaseException as error:
            out["validation"] = describe(error, now.value)
    out["losses"] = [value if math.isfinite(value) else None for value in curve]
    return out


# ------------------------------------------------------------------ in the parent


def judge(
    clean: Json | None, broken: Json | None, form: Form, failure: str, floor: float
) -> TrainingRun:
    """How one form went.  `broken` is None, and `failure` says why, if nothing came back."""
    if broken is None:
        return TrainingRun(
            form, Outcome.CRASH, Phase.NOWHERE, (), None, None, floor, None, None, failure
        )
    losses = tuple(broken["losses"])
    error = broken["error"]
    first, last = (losses[0], losses[-1]) if losses else (None, None)
    outcome, phase = Outcome.CRASH, Phase.NOWHERE
    text = ""
    if error is not None:
        phase, text = Phase(error["phase"]), f"{error['type']}: {error['message']}"
    elif len(losses) != STEPS[form] + 1:
        text = f"{len(losses)} losses instead of {STEPS[form] + 1}"
    else:
        outcome = compare(None if clean is None else clean["losses"], losses)
    distance = None if last is None else last - floor
    held_out = broken["validation"]
    validation = f"{held_out['type']}: {held_out['message']}" if held_out else ""
    accuracy = broken["accuracy"]
    return TrainingRun(
        form, outcome, phase, losses, first, last, floor, distance, accuracy, text, validation
    )


def compare(clean: Any, losses: Any) -> Outcome:
    """The outcome of a complete curve beside the correct library's (None: it is that one)."""
    if any(value is None for value in losses):
        return Outcome.NAN
    if clean is None:
        return Outcome.SAME
    progress = clean[0] - clean[-1]
    deviation = max(abs(a - b) for a, b in zip(clean, losses, strict=True)) / progress
    if deviation <= SAME:
        return Outcome.SAME
    fall = (losses[0] - losses[-1]) / progress
    swing = (max(losses) - min(losses)) / progress
    if fall < -HIGHER[1]:
        return Outcome.DIVERGES
    if swing <= FLAT[0]:
        return Outcome.FLAT
    if fall < FLAT[1]:
        return Outcome.UNCERTAIN
    later = (losses[-1] - clean[-1]) / progress
    if later >= DIFFERENT:
        return Outcome.SLOWER
    if later <= -DIFFERENT:
        return Outcome.FASTER
    return Outcome.UNCERTAIN


def observe(clean: Any, broken: Any, break_id: str) -> TrainingObservation:
    """Both forms, from pool reports (`clean` is None for the correct library itself)."""
    from labs import grammar

    floor = grammar.floor()
    sections = broken.sections()
    before = {} if clean is None else clean.sections()
    runs = []
    for form in Form:
        section = sections.get(form.value)
        failure = "" if section else why_nothing(broken, sections)
        runs.append(judge(before.get(form.value), section, form, failure, floor))
    return TrainingObservation(break_id, tuple(runs))


def why_nothing(report: Any, sections: Json) -> str:
    """Why a section is missing, in a few words."""
    load = sections.get("load")
    if load and load["error"]:
        return f"{load['error']['type']}: {load['error']['message']}"
    return f"the process ended by {report.end.value} ({report.status})"
