"""Prediction × observation → verdict, as a table of cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.judge import Mark, Why, judge
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Difference,
    Mode,
    Outcome,
    Pattern,
    Phase,
)
from tests.grader import made

B, F, N = Phase.BACKWARD, Phase.FORWARD, Phase.NOWHERE
DTYPE = Difference(F, Mode.WRONG_DTYPE, "y", dtype="float64", expected_dtype="float32")
FLIPPED = Difference(B, Mode.WRONG_VALUES, "a", pattern=Pattern.SIGN_FLIPPED, factor=-1.0)
OFFSET = Difference(B, Mode.WRONG_VALUES, "a", pattern=Pattern.OFFSET, factor=1.0)
PERMUTED = Difference(B, Mode.WRONG_VALUES, "a", pattern=Pattern.PERMUTED)
OTHER = Difference(B, Mode.WRONG_VALUES, "a", pattern=Pattern.OTHER)


def predict(first, detectors=None, **more):
    said = Said(first, detectors or {}, **more)
    return Prediction("lab02", "skip-unbroadcast", {"s": said})


def verdict(first, difference, *words):
    return judge(predict(first), made.observed(made.seen("s", difference, *words))).scenarios[0]


CASES = {
    # said, happened, marks of the facets in order, points
    "all right": (
        First(B, Mode.WRONG_SHAPE, "a", (4, 3)), made.WRONG_SHAPE,
        {"phase": "right", "mode": "right", "tensor": "right", "shape": "right"}, 6, 6,
    ),
    "wrong mode, right tensor": (
        First(B, Mode.CRASH, "a"), made.WRONG_SHAPE,
        {"phase": "right", "mode": "wrong", "tensor": "right", "shape": "open"}, 3, 6,
    ),
    "right mode in the wrong phase": (
        First(F, Mode.WRONG_SHAPE, "b", (3,)), made.WRONG_SHAPE,
        {"phase": "wrong", "mode": "right", "tensor": "wrong", "shape": "wrong"}, 2, 6,
    ),
    "details left": (
        First(B, Mode.WRONG_SHAPE), made.WRONG_SHAPE,
        {"phase": "right", "mode": "right", "tensor": "open", "shape": "open"}, 4, 6,
    ),
    "a shape of a crash is no detail": (
        First(B, Mode.CRASH, "a", (4, 3)), made.CRASH,
        {"phase": "right", "mode": "right", "tensor": "right"}, 5, 5,
    ),
    "unaffected, said so": (
        First(N, Mode.UNAFFECTED), made.NOTHING, {"phase": "right", "mode": "right"}, 4, 4,
    ),
    "unaffected, said otherwise": (
        First(B, Mode.CRASH, "a"), made.NOTHING, {"phase": "wrong", "mode": "wrong"}, 0, 4,
    ),
    "dtype": (
        First(F, Mode.WRONG_DTYPE, "y", dtype="float64"), DTYPE,
        {"phase": "right", "mode": "right", "tensor": "right", "dtype": "right"}, 6, 6,
    ),
    "scaled with its factor": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.SCALED, factor=5), made.SCALED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "scaled, factor alone": (
        First(B, Mode.WRONG_VALUES, "a", factor=5.01), made.SCALED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "scaled, another factor": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.SCALED, factor=4), made.SCALED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "partly"}, 5.5, 6,
    ),
    "scaled, factor left": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.SCALED), made.SCALED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "partly"}, 5.5, 6,
    ),
    "another pattern with the right number": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.OFFSET, factor=5), made.SCALED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "wrong"}, 5, 6,
    ),
    "sign flipped by name": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.SIGN_FLIPPED), FLIPPED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "sign flipped as a factor": (
        First(B, Mode.WRONG_VALUES, "a", factor=-1), FLIPPED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "offset": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.OFFSET, factor=1), OFFSET,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "permuted": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.PERMUTED), PERMUTED,
        {"phase": "right", "mode": "right", "tensor": "right", "values": "right"}, 6, 6,
    ),
    "values without a pattern have no detail": (
        First(B, Mode.WRONG_VALUES, "a", pattern=Pattern.ZERO), OTHER,
        {"phase": "right", "mode": "right", "tensor": "right"}, 5, 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("said", "seen", "marks", "points", "possible"), CASES.values(), ids=CASES)
def test_each_facet_is_judged_by_itself(said, seen, marks, points, possible):
    one = verdict(said, seen)

    assert {f.name: f.mark.value for f in one.facets} == marks
    assert (one.points, one.possible) == (points, possible)


def test_what_lies_in_a_dead_band_is_not_scored():
    doubtful = made.SCALED._replace(evidence={"uncertain": "max error 1e-6"})
    one = verdict(First(N, Mode.UNAFFECTED), doubtful)

    assert {f.why for f in one.facets} == {Why.UNCERTAIN}
    assert one.possible == 0
    assert one.hit is None


def test_a_detector_that_could_not_look_is_not_scored():
    words = (made.FIRES, made.FIRES, made.FIRES, made.UNAVAILABLE, made.SILENT)
    seen = made.observed(made.seen("s", made.WRONG_SHAPE, *words))
    said = dict.fromkeys(PER_SCENARIO, Answer.FIRES)
    one = judge(predict(First(B, Mode.CRASH), said), seen)

    assert [f.mark.value for f in one.scenarios[0].detectors] == [
        "right", "right", "right", "unscored", "wrong",
    ]  # fmt: skip
    assert Detector.PYTORCH_DIFF.value not in [d.detector for d in one.detectors]


def test_a_scenario_that_is_another_one_by_now_is_not_scored():
    seen = made.observed(made.seen("s", made.WRONG_SHAPE))
    one = judge(predict(First(B, Mode.WRONG_SHAPE)), seen, changed=["s"])

    assert one.score is None
    assert one.scenarios[0].facets[0].why is Why.CHANGED


TRAINING = {
    "crash in its phase": (TrainingSaid(Outcome.CRASH, B), Outcome.CRASH, B, ["right", "right"], 5),
    "stopped elsewhere": (TrainingSaid(Outcome.CRASH, F), Outcome.CRASH, B, ["right", "wrong"], 4),
    "crash, phase left": (TrainingSaid(Outcome.CRASH), Outcome.CRASH, B, ["right", "open"], 4),
    "slower": (TrainingSaid(Outcome.SLOWER), Outcome.SLOWER, N, ["right"], 4),
    "slower for flat": (TrainingSaid(Outcome.SLOWER), Outcome.FLAT, N, ["wrong"], 0),
    "left": (None, Outcome.SAME, N, ["open"], 0),
    "uncertain": (TrainingSaid(Outcome.SAME), Outcome.UNCERTAIN, N, ["unscored"], 0),
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "outcome", "phase", "marks", "points"), TRAINING.values(), ids=TRAINING
)
def test_training_is_judged_by_outcome_and_where_it_stopped(said, outcome, phase, marks, points):
    seen = made.observed(trained=made.training(outcome, phase))
    one = judge(Prediction("lab02", "skip-unbroadcast", {}, said), seen)

    assert [f.mark.value for f in one.training] == marks
    assert one.points == points


def test_the_most_confident_miss_comes_first():
    seen = made.observed(*(made.seen(name, made.WRONG_SHAPE) for name in "abcd"))
    said = {
        "a": Said(First(B, Mode.WRONG_SHAPE), confidence=95),
        "b": Said(First(B, Mode.CRASH), confidence=40),
        "c": Said(First(B, Mode.CRASH), confidence=95),
        "d": Said(First(B, Mode.CRASH)),
    }
    one = judge(Prediction("lab02", "skip-unbroadcast", said), seen)

    assert [s.scenario for s in one.by_surprise] == ["c", "b", "d", "a"]
    assert one.answers == ((95, True), (40, False), (95, False))


def test_without_a_prediction_nothing_is_scored():
    one = judge(None, made.observed(made.seen("s", made.CRASH), trained=made.training()))

    assert one.score is None
    assert {f.mark for f in one.scenarios[0].facets} == {Mark.OPEN}


def test_a_detail_left_open_is_no_miss_but_a_detector_is():
    seen = made.observed(made.seen("s", made.WRONG_SHAPE))

    assert judge(predict(First(B, Mode.WRONG_SHAPE)), seen).misses == len(PER_SCENARIO)


firsts = st.builds(
    First,
    st.sampled_from(Phase),
    st.sampled_from(Mode),
    st.sampled_from(["", "a", "b", "y"]),
    st.sampled_from([None, (3,), (4, 3)]),
    st.sampled_from(["", "float32", "float64"]),
    st.one_of(st.none(), st.sampled_from(Pattern)),
    st.sampled_from([None, -1.0, 0.0, 5.0]),
)
seens = st.sampled_from(
    [made.WRONG_SHAPE, made.CRASH, made.SCALED, made.NOTHING, DTYPE, FLIPPED, OFFSET, PERMUTED]
)
guesses = st.dictionaries(
    st.sampled_from(PER_SCENARIO), st.sampled_from([Answer.FIRES, Answer.SILENT])
)
truths = st.lists(st.sampled_from(Answer), min_size=5, max_size=5)


@given(firsts, seens, guesses, truths)
def test_no_answer_ever_costs_points(first, difference, detectors, words):
    seen = made.observed(made.seen("s", difference, *words))
    full = judge(predict(first, detectors), seen)
    bare = judge(predict(First(first.phase, first.mode), {}), seen)

    assert 0 <= bare.points <= full.points <= full.possible
    assert bare.possible == full.possible


@given(firsts, seens, guesses, truths)
def test_the_verdict_depends_on_nothing_but_what_goes_in(first, difference, detectors, words):
    seen = made.observed(made.seen("s", difference, *words))

    assert (
        judge(predict(first, detectors), seen).to_json()
        == judge(predict(first, detectors), seen).to_json()
    )
