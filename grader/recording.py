"""What was observed, as plain data: the words of the grader and the records that use them.

Nothing here imports NumPy: a cached answer is read, judged and printed without it.  Every record
has `to_json()` and `from_json()`; JSON holds tokens, numbers, strings, lists and objects only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from grader.graph import GraphNode

Json = dict[str, Any]


class Detector(StrEnum):
    """Who looks: a column of the kill matrix each."""

    SHAPE_INVARIANT = "shape-invariant"  # every gradient has its tensor's shape and dtype
    GRADCHECK_SUM = "gradcheck-sum"  # differences against ones as cotangent: blind on purpose
    GRADCHECK = "gradcheck"  # differences against an irregular cotangent, every entry
    PYTORCH_DIFF = "pytorch-diff"  # values and gradients of torch float64
    PROPERTY_TEST = "property-test"  # Hypothesis over shapes of the scenario's kind
    TRAINING = "training"  # the grammar MLP learns as it does on the correct library


PER_SCENARIO: tuple[Detector, ...] = tuple(d for d in Detector if d is not Detector.TRAINING)


class Answer(StrEnum):
    """What a detector says."""

    FIRES = "fires"  # it objects
    SILENT = "silent"  # it looked at everything it should, and found nothing
    UNAVAILABLE = "unavailable"  # it could not look; says why


class Mode(StrEnum):
    """How the broken library first differs; compared in this order."""

    CRASH = "crash"  # an exception, an exit, a signal, memory exhausted
    HANG = "hang"  # the time limit passed
    WRONG_SHAPE = "wrong-shape"  # an array of another shape
    WRONG_DTYPE = "wrong-dtype"  # the right shape in another dtype
    NAN_OR_INF = "nan-or-inf"  # not finite where the correct library is finite
    WRONG_VALUES = "wrong-values"  # the right kind of array with other numbers, or none at all
    UNAFFECTED = "unaffected"  # no difference


class Phase(StrEnum):
    """When the broken library first differs."""

    FORWARD = "forward"  # while the expression is evaluated
    BACKWARD = "backward"  # while gradients are computed
    STEP = "step"  # while parameters are updated
    NOWHERE = "nowhere"  # never


class Outcome(StrEnum):
    """How training the grammar MLP went, beside the correct library."""

    CRASH = "crash"  # it stopped with an error, or was stopped
    NAN = "nan"  # the loss or a parameter became NaN or infinite
    DIVERGES = "diverges"  # the loss ends higher than it started
    FLAT = "flat"  # the loss does not move
    SLOWER = "slower"  # it learns, and ends farther from the floor
    SAME = "same"  # the same curve
    FASTER = "faster"  # it ends nearer to the floor
    UNCERTAIN = "uncertain"  # inside a dead band: never scored


class Pattern(StrEnum):
    """What can be said about wrong values."""

    MISSING = "missing"  # there is no array at all (`.grad` is None)
    ZERO = "zero"  # zeros where there should be numbers
    SIGN_FLIPPED = "sign-flipped"  # every entry times -1
    SCALED = "scaled"  # every entry times one factor
    PERMUTED = "permuted"  # the right numbers in other places
    OFFSET = "offset"  # every entry plus one constant
    PARTIAL = "partial"  # some entries are right, others are not
    OTHER = "other"  # none of these


class Reach(StrEnum):
    """How far the fault came in a scenario: why it shows, or why it does not."""

    UNREACHED = "unreached"  # no changed line was executed
    NOT_INFECTED = "not-infected"  # a changed line was executed, and every value is as it should be
    NOT_PROPAGATED = "not-propagated"  # a value inside is wrong; what comes out is right
    PROPAGATED = "propagated"  # what comes out is wrong


class Form(StrEnum):
    """The two forms of the grammar MLP."""

    ONE_HOT = "one-hot"  # the verb as a row of zeros with a one
    EMBEDDING = "embedding"  # the verb as an index into a table (getitem)


Shape = tuple[int, ...]


def _shape(value: Any) -> Shape | None:
    return None if value is None else tuple(int(n) for n in value)


class Origin(NamedTuple):
    """Where the fault starts: the first node of the graph that differs."""

    node: str  # the leaf's name, or op#index in topological order
    op: str  # the op that wrote the wrong value (its backward, in phase backward)
    phase: Phase
    module: str  # "minitorch.tensor"
    line: int  # 1-based, in the broken text; 0 if unknown
    text: str  # the source line, stripped
    found: str  # the value there, short
    expected: str  # the correct library's value, short
    changed: bool = True  # whether the break changed this line; else it only shows here first

    def to_json(self) -> Json:
        return {
            "node": self.node,
            "op": self.op,
            "phase": self.phase.value,
            "module": self.module,
            "line": self.line,
            "text": self.text,
            "found": self.found,
            "expected": self.expected,
            "changed": self.changed,
        }

    @classmethod
    def from_json(cls, data: Json) -> Origin:
        return cls(**{**data, "phase": Phase(data["phase"])})


class Difference(NamedTuple):
    """The first difference between the correct and the broken library in one scenario."""

    phase: Phase
    mode: Mode
    tensor: str = ""  # a leaf's name (its gradient, in phase backward), "y" or "loss"
    shape: Shape | None = None
    expected_shape: Shape | None = None
    dtype: str = ""
    expected_dtype: str = ""
    pattern: Pattern | None = None
    factor: float | None = None  # for scaled and sign-flipped; the constant, for offset
    error: str = ""  # "ValueError: …" for a crash; the limit, for a hang
    evidence: Mapping[str, Any] = {}  # found, expected, max_error, …
    origin: Origin | None = None

    def to_json(self) -> Json:
        return {
            "phase": self.phase.value,
            "mode": self.mode.value,
            "tensor": self.tensor,
            "shape": None if self.shape is None else list(self.shape),
            "expected_shape": None if self.expected_shape is None else list(self.expected_shape),
            "dtype": self.dtype,
            "expected_dtype": self.expected_dtype,
            "pattern": None if self.pattern is None else self.pattern.value,
            "factor": self.factor,
            "error": self.error,
            "evidence": dict(self.evidence),
            "origin": None if self.origin is None else self.origin.to_json(),
        }

    @classmethod
    def from_json(cls, data: Json) -> Difference:
        return cls(
            phase=Phase(data["phase"]),
            mode=Mode(data["mode"]),
            tensor=data["tensor"],
            shape=_shape(data["shape"]),
            expected_shape=_shape(data["expected_shape"]),
            dtype=data["dtype"],
            expected_dtype=data["expected_dtype"],
            pattern=None if data["pattern"] is None else Pattern(data["pattern"]),
            factor=data["factor"],
            error=data["error"],
            evidence=data["evidence"],
            origin=None if data["origin"] is None else Origin.from_json(data["origin"]),
        )


UNAFFECTED = Difference(Phase.NOWHERE, Mode.UNAFFECTED)


class Result(NamedTuple):
    """The answer of one detector, with what it looked at."""

    detector: Detector
    answer: Answer
    evidence: Mapping[str, Any] = {}  # numbers and strings; "why" for a person
    cases: tuple[
        Mapping[str, Any], ...
    ] = ()  # each case that ran: {"name", "checked", "answer", …}

    @property
    def fires(self) -> bool:
        return self.answer is Answer.FIRES

    def to_json(self) -> Json:
        return {
            "detector": self.detector.value,
            "answer": self.answer.value,
            "evidence": dict(self.evidence),
            "cases": [dict(case) for case in self.cases],
        }

    @classmethod
    def from_json(cls, data: Json) -> Result:
        return cls(
            Detector(data["detector"]),
            Answer(data["answer"]),
            data["evidence"],
            tuple(data["cases"]),
        )


class Observation(NamedTuple):
    """Everything that was seen of one break in one scenario."""

    lab: str
    break_id: str
    scenario: str
    difference: Difference
    detectors: Mapping[Detector, Result]
    notes: tuple[str, ...] = ()  # "output truncated", "NumPy was changed: …"
    graph: tuple[GraphNode, ...] = ()  # every gradient, clean beside broken
    reach: Reach = Reach.PROPAGATED

    @property
    def phase(self) -> Phase:
        return self.difference.phase

    @property
    def mode(self) -> Mode:
        return self.difference.mode

    @property
    def tensor(self) -> str:
        return self.difference.tensor

    @property
    def shape(self) -> Shape | None:
        return self.difference.shape

    @property
    def expected_shape(self) -> Shape | None:
        return self.difference.expected_shape

    @property
    def dtype(self) -> str:
        return self.difference.dtype

    @property
    def pattern(self) -> Pattern | None:
        return self.difference.pattern

    @property
    def factor(self) -> float | None:
        return self.difference.factor

    @property
    def evidence(self) -> Mapping[str, Any]:
        return self.difference.evidence

    @property
    def origin(self) -> Origin | None:
        return self.difference.origin

    def to_json(self) -> Json:
        return {
            "lab": self.lab,
            "break": self.break_id,
            "scenario": self.scenario,
            "difference": self.difference.to_json(),
            "detectors": {d.value: r.to_json() for d, r in self.detectors.items()},
            "notes": list(self.notes),
            "graph": [node.to_json() for node in self.graph],
            "reach": self.reach.value,
        }

    @classmethod
    def from_json(cls, data: Json) -> Observation:
        return cls(
            data["lab"],
            data["break"],
            data["scenario"],
            Difference.from_json(data["difference"]),
            {Detector(d): Result.from_json(r) for d, r in data["detectors"].items()},
            tuple(data["notes"]),
            tuple(GraphNode.from_json(node) for node in data["graph"]),
            Reach(data["reach"]),
        )


class TrainingRun(NamedTuple):
    """One form of the grammar MLP, trained on one library."""

    form: Form
    outcome: Outcome
    phase: Phase  # where it stopped, for a crash; where nothing stopped: nowhere
    losses: tuple[float | None, ...]  # before each step; None where the loss was not finite
    first: float | None
    last: float | None
    floor: float  # the conditional entropy of label given input
    distance: float | None  # last - floor
    accuracy: float | None  # on the validation cells
    error: str = ""  # what stopped the training
    validation: str = ""  # what stopped the validation, after a training that came to its end

    def to_json(self) -> Json:
        return {
            "form": self.form.value,
            "outcome": self.outcome.value,
            "phase": self.phase.value,
            "losses": list(self.losses),
            "first": self.first,
            "last": self.last,
            "floor": self.floor,
            "distance": self.distance,
            "accuracy": self.accuracy,
            "error": self.error,
            "validation": self.validation,
        }

    @classmethod
    def from_json(cls, data: Json) -> TrainingRun:
        return cls(
            **{
                **data,
                "form": Form(data["form"]),
                "outcome": Outcome(data["outcome"]),
                "phase": Phase(data["phase"]),
                "losses": tuple(data["losses"]),
            }
        )


class TrainingObservation(NamedTuple):
    """Both forms of the grammar MLP under one break (`break_id` is "" for the correct library)."""

    break_id: str
    runs: tuple[TrainingRun, ...]

    @property
    def decisive(self) -> TrainingRun:
        """The form that decides: the first that differs; a doubtful one only if no other does."""
        doubtful = (Outcome.SAME, Outcome.UNCERTAIN)
        for run in self.runs:
            if run.outcome not in doubtful:
                return run
        for run in self.runs:
            if run.outcome is not Outcome.SAME:
                return run
        return self.runs[0]

    @property
    def outcome(self) -> Outcome:
        return self.decisive.outcome

    @property
    def phase(self) -> Phase:
        return self.decisive.phase

    @property
    def result(self) -> Result:
        """The training column of the kill matrix."""
        run = self.decisive
        evidence = {
            "form": run.form.value,
            "outcome": run.outcome.value,
            "last": run.last,
            "distance": run.distance,
        }
        answer = {Outcome.SAME: Answer.SILENT, Outcome.UNCERTAIN: Answer.UNAVAILABLE}.get(
            run.outcome, Answer.FIRES
        )
        cases = tuple({"name": r.form.value, "outcome": r.outcome.value} for r in self.runs)
        return Result(Detector.TRAINING, answer, evidence, cases)

    def to_json(self) -> Json:
        return {"break": self.break_id, "runs": [run.to_json() for run in self.runs]}

    @classmethod
    def from_json(cls, data: Json) -> TrainingObservation:
        return cls(data["break"], tuple(TrainingRun.from_json(run) for run in data["runs"]))


class Proofs(NamedTuple):
    """Why the answers may be believed; each was checked in the run that gave them."""

    control: int  # detector answers on the correct library, each as it must be
    sentinel: int  # detectors that saw the break that must be seen
    live: int  # probes whose answer the break changed (0 only for a declared equivalent)
    provenance: Mapping[str, str]  # module → sha256 of the broken text that was executed
    changed_lines: int  # lines of the library that the break changed

    def to_json(self) -> Json:
        return {
            "control": self.control,
            "sentinel": self.sentinel,
            "live": self.live,
            "provenance": dict(self.provenance),
            "changed_lines": self.changed_lines,
        }

    @classmethod
    def from_json(cls, data: Json) -> Proofs:
        return cls(**data)


class Observed(NamedTuple):
    """One break of one lab, in all the scenarios asked for, with the proofs of the run."""

    lab: str
    break_id: str
    observations: tuple[Observation, ...]  # in the order asked
    training: TrainingObservation | None  # None where it was not asked for
    clean_training: TrainingObservation | None
    proofs: Proofs
    versions: Mapping[str, str]  # python, numpy, scipy, hypothesis, torch (of the references)
    seed: int
    live: bool = False  # torch was asked in this run
    cached: bool = False
    seconds: float = 0.0

    def observation(self, scenario: str) -> Observation:
        """The observation of one scenario.  Raises KeyError for a scenario not asked for."""
        for one in self.observations:
            if one.scenario == scenario:
                return one
        raise KeyError(scenario)

    def to_json(self) -> Json:
        return {
            "lab": self.lab,
            "break": self.break_id,
            "observations": [one.to_json() for one in self.observations],
            "training": None if self.training is None else self.training.to_json(),
            "clean_training": None
            if self.clean_training is None
            else self.clean_training.to_json(),
            "proofs": self.proofs.to_json(),
            "versions": dict(self.versions),
            "seed": self.seed,
            "live": self.live,
            "cached": self.cached,
            "seconds": self.seconds,
        }

    @classmethod
    def from_json(cls, data: Json) -> Observed:
        def training(value: Json | None) -> TrainingObservation | None:
            return None if value is None else TrainingObservation.from_json(value)

        return cls(
            lab=data["lab"],
            break_id=data["break"],
            observations=tuple(Observation.from_json(one) for one in data["observations"]),
            training=training(data["training"]),
            clean_training=training(data["clean_training"]),
            proofs=Proofs.from_json(data["proofs"]),
            versions=data["versions"],
            seed=data["seed"],
            live=data["live"],
            cached=data["cached"],
            seconds=data["seconds"],
        )
