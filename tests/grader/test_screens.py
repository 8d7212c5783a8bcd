"""What is printed about a check: everything that surprises, nothing that does not fit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breaks import i18n
from breaks.layout import cells
from grader import ask, plot, predicting, screens, words
from grader.dialogue import explained
from grader.graph import GraphNode, Value, path
from grader.judge import Why, judge
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import (
    PER_SCENARIO,
    Answer,
    Detector,
    Mode,
    Outcome,
    Pattern,
    Phase,
    Result,
)
from grader.score import calibration
from labs.model import Input
from tests.grader import a_lab, made

LAB, B = a_lab.LAB, Phase.BACKWARD


def node(name, op, parents, clean, broken=None):
    value = Value(clean, clean if broken is None else broken, broken is not None)
    return GraphNode(name, op, parents, True, Value("1", "1", False), value)


INPUTS = [
    (Input("a", (3, 5)), "(3, 5)"),
    (Input("x", (4, 3), constant=True), "(4, 3) constant"),
    (Input("i", (4,), dtype="int64", values=(2, 0, 2, 2)), "[2, 0, 2, 2]"),
    (Input("i", (60,), dtype="int64", values=(0,) * 60), "(60,) int64"),
    (Input("a", (2,), values=(0.5, 2.0)), "(2,)"),
]


@pytest.mark.parametrize(("one", "expected"), INPUTS)
def test_an_input_is_shown_by_its_shape_and_a_few_indices_by_themselves(one, expected):

    assert expected == screens.input_text(one)


GRAPH = (
    node("a", "", (), "[4 4 4] (3,)", "[1 1 1 1 1 1 …] (4, 3)"),
    node("b", "", (), "[1 1 1 1 1 1 …] (4, 3)"),
    node("y", "+", (0, 1), "[1 1 1 1 1 1 …] (4, 3)"),
    node("loss", "sum", (2,), "1"),
)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    yield
    i18n.use(None)


def all_alike(first, answer=Answer.FIRES, confidence=95, because="so I think"):
    said = Said(first, dict.fromkeys(PER_SCENARIO, answer), confidence, because)
    scenarios = dict.fromkeys(LAB.breaks["skip-unbroadcast"], said)
    return Prediction(
        "lab02", "skip-unbroadcast", scenarios, TrainingSaid(Outcome.CRASH, Phase.STEP)
    )


def observed(**more):
    return made.observed(
        made.seen("created-axis", made.WRONG_SHAPE)._replace(graph=GRAPH),
        made.seen("equal", made.NOTHING, made.SILENT),
        made.seen("trained", made.SCALED),
        trained=made.training(),
        **more,
    )


def screen(prediction, seen=None, **more):
    seen = seen or observed()
    return screens.check(LAB, judge(prediction, seen), seen, **more)


def test_said_stands_beside_what_happened():
    text = screen(all_alike(First(B, Mode.CRASH, "a")))
    row = next(line for line in text.splitlines() if "first differs" in line)

    assert row.split() == [
        "first",
        "differs",
        "backward",
        "crash",
        "~",
        "backward",
        "wrong-shape",
        "2/4",
    ]


def test_a_confident_miss_says_so_and_an_unsure_one_does_not():

    assert "You were 95 % sure" in screen(all_alike(First(B, Mode.CRASH)))
    assert "sure" not in screen(all_alike(First(B, Mode.CRASH), confidence=60)).replace(
        "how sure", ""
    )


def test_what_was_written_is_shown_beside_what_happened():

    assert "You wrote: so I think" in screen(all_alike(First(B, Mode.CRASH)))


def test_the_graph_goes_from_the_leaf_back_to_where_the_fault_starts():
    lines = screens.gradients(observed().observations[0]).splitlines()

    assert [line.split()[:2] for line in lines[1:]] == [["-", "a"], ["+", "a"], ["y", "="]]
    assert "here" in lines[2]
    assert "loss" not in "\n".join(lines[1:])


def test_the_graph_of_a_line_that_the_break_leaves_alone_is_not_said_to_start_the_fault():
    origin = made.ORIGIN._replace(changed=False)
    seen = made.seen("created-axis", made.WRONG_SHAPE._replace(origin=origin))._replace(graph=GRAPH)

    assert "where the fault starts" in screens.gradients(observed().observations[0])
    assert "fault starts" not in screens.gradients(seen)
    assert "back to the first wrong one" in screens.gradients(seen)


def test_the_way_through_a_graph_prefers_what_is_wrong():
    nodes = (
        node("a", "", (), "1", "2"),
        node("+#1", "+", (0,), "1"),
        node("*#2", "*", (0,), "1", "2"),
        node("loss", "+", (1, 2), "1"),
    )

    assert path(nodes, "a") == (0, 2, 3)
    assert path(nodes, "nobody") == ()


def test_a_deep_or_wide_graph_is_walked_once():
    chain = [node("a", "", (), "1", "2")]
    chain += [node(f"+#{i}", "+", (i - 1, i - 1), "1", "2") for i in range(1, 200)]

    assert len(path(chain, "a")) == 200


def test_detectors_that_are_right_take_one_row_and_others_one_each():
    answers = (Answer.FIRES, Answer.SILENT, Answer.FIRES, Answer.UNAVAILABLE, Answer.FIRES)
    seen = made.observed(made.seen("created-axis", made.WRONG_SHAPE, *answers))
    text = screen(all_alike(First(B, Mode.WRONG_SHAPE)), seen)

    assert "the others" in text
    assert "gradcheck-sum" in text
    assert "not scored" in text
    assert "all detectors" in screen(all_alike(First(B, Mode.WRONG_SHAPE)))


def test_the_smallest_failing_case_and_the_one_that_hides_are_shown():
    one = made.seen("created-axis", made.WRONG_SHAPE)
    evidence = {"why": "a (1,)  b (1, 1): a shape", "revealing": {"a": [1]}, "hiding": {"a": [2]}}
    results = dict(one.detectors)
    results[Detector.PROPERTY_TEST] = Result(Detector.PROPERTY_TEST, Answer.FIRES, evidence)
    seen = made.observed(one._replace(detectors=results))
    text = screen(all_alike(First(B, Mode.CRASH)), seen)

    assert "smallest failing case: a (1,) b (1, 1): a shape" in " ".join(text.split())
    assert "with a (2,) it hides" in " ".join(text.split())


def test_a_draft_is_told_what_it_would_score():

    assert "if it were committed" in screen(all_alike(First(B, Mode.CRASH)), scored=False)


def test_without_a_prediction_what_happened_stands_alone():
    text = screens.check(LAB, judge(None, observed()), observed())

    assert "you said" not in text
    assert "nothing is scored" in text


def test_calibration_appears_after_five_answers():
    few, many = calibration([(80, True)] * 4), calibration([(80, True)] * 5)

    assert "Calibration" not in screen(all_alike(First(B, Mode.CRASH)), calibration=few)
    assert "Calibration" in screen(all_alike(First(B, Mode.CRASH)), calibration=many)


firsts = st.builds(
    First,
    st.sampled_from(Phase),
    st.sampled_from(Mode),
    st.sampled_from(["", "a", "y"]),
    st.sampled_from([None, (3,), (1000, 1000, 1000)]),
    st.sampled_from(["", "float32"]),
    st.one_of(st.none(), st.sampled_from(Pattern)),
    st.sampled_from([None, -1.0, 1.23456789e-9]),
)


@settings(deadline=None, max_examples=60)
@given(firsts, st.sampled_from(["en", "es"]), st.sampled_from([60, 80]), st.text(max_size=90))
def test_no_line_is_wider_than_the_terminal(first, language, width, because):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setenv("NO_COLOR", "1")
        i18n.use(language)
        because = "".join(char if char.isprintable() else " " for char in because)
        text = screen(all_alike(first, because=because), calibration=calibration([(80, True)] * 5))
        widest = max(cells(line) for line in text.splitlines())

    assert widest <= width


@pytest.mark.parametrize(
    "word",
    [w for kind in (Phase, Mode, Outcome, Pattern, Answer, Detector, Why) for w in kind],
    ids=lambda word: f"{type(word).__name__}-{word.value}",
)
def test_every_word_has_a_meaning_of_its_own(word):

    assert words.meaning(word)


# --- curves -------------------------------------------------------------------------------------

curves = st.lists(st.one_of(st.none(), st.floats(-1e9, 1e9)), max_size=300)


@given(curves, st.integers(2, 40))
def test_a_sparkline_is_no_wider_than_asked(curve, width):

    assert len(plot.sparkline(curve, width, 0.0, 2.0)) <= width


@given(curves, curves, st.one_of(st.none(), st.floats(0, 2)))
def test_any_two_curves_can_be_plotted_in_the_room_there_is(broken, clean, floor):
    lines = plot.plot(broken, clean, width=80, height=9, floor=floor).splitlines()

    assert len(lines) == 9


def test_a_plot_shows_where_curves_start_and_end():
    lines = plot.plot([2.0, 1.0, 0.5], [2.0, 1.5, 1.0], width=40, height=5, floor=0.5).splitlines()

    assert "●" in lines[0]
    assert lines[-1].rstrip().endswith("●")


def test_a_loss_that_is_not_finite_is_marked():

    assert plot.sparkline([1.0, None], 10, 0.0, 1.0).endswith("!")


# --- asking -------------------------------------------------------------------------------------


def answer_all(pick=lambda question: ""):
    """Answers every question; what `pick` leaves open gets the first choice."""
    answers = {}
    while (question := ask.following(LAB, "skip-unbroadcast", answers)) is not None:
        typed = pick(question)
        if not typed and not question.optional:
            typed = "50" if question.free else question.choices[0].word
        answers[question.key] = question.parse(typed)
    return answers


def is_phase(question):
    return question.key.endswith("/phase") and not question.key.startswith("training")


def test_which_questions_there_are_depends_on_the_answers():
    crash = list(answer_all(lambda q: "crash" if q.key.endswith("mode") else ""))
    shape = list(answer_all(lambda q: "wrong-shape" if q.key.endswith("mode") else ""))
    nowhere = list(answer_all(lambda q: "nowhere" if is_phase(q) else ""))

    assert not any(key.endswith("/shape") for key in crash)
    assert any(key.endswith("/shape") for key in shape)
    assert len(nowhere) < len(crash) < len(shape)


def test_a_step_can_only_be_named_where_there_is_one():

    assert Phase.STEP not in ask.phases(LAB.scenarios["equal"])
    assert Phase.STEP in ask.phases(LAB.scenarios["trained"])


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("1", "crash"),
        ("CRASH", "crash"),
        ("c", "crash"),
        ("wrong-s", "wrong-shape"),
        (" hang ", "hang"),
    ],
)
def test_an_answer_is_a_number_a_word_or_its_beginning(typed, expected):
    mode = next(q for q in ask.questions(LAB, "skip-unbroadcast", {}) if q.key.endswith("/mode"))

    assert mode.parse(typed) == expected


@pytest.mark.parametrize(
    "typed", ["", "wrong", "0", "99", "x", "²", "-1", "crash hang", "9" * 5000]
)
def test_what_is_no_answer_is_not_understood(typed):
    mode = next(q for q in ask.questions(LAB, "skip-unbroadcast", {}) if q.key.endswith("/mode"))

    with pytest.raises(ask.UnclearError):
        mode.parse(typed)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("none", "none"), ("0", "none"), ("all", " ".join(d.value for d in PER_SCENARIO)),
        ("gradcheck", "gradcheck"), ("gradcheck-s", "gradcheck-sum"),
        ("3 1", "shape-invariant gradcheck"), ("prop, pyt", "pytorch-diff property-test"),
    ],
)  # fmt: skip
def test_several_detectors_are_named_in_one_line(typed, expected):
    asked = ask.questions(LAB, "skip-unbroadcast", {})
    detectors = next(q for q in asked if q.key.endswith("/detectors"))

    assert detectors.parse(typed) == expected


@pytest.mark.parametrize(
    ("parse", "typed", "expected"),
    [
        (ask.shape_of, "(4, 3)", "4 3"), (ask.shape_of, "4x3", "4 3"), (ask.shape_of, "()", "()"),
        (ask.number_of, "1/3", repr(1 / 3)), (ask.number_of, "-2", "-2.0"),
        (ask.percent_of, "80%", "80"), (ask.percent_of, "4", "80"), (ask.percent_of, "0", "0"),
        (ask.line_of, "a\x1b[2Jb", "a[2Jb"),
    ],
)  # fmt: skip
def test_free_answers_are_understood(parse, typed, expected):

    assert parse(typed) == expected


@pytest.mark.parametrize(
    ("parse", "typed"),
    [
        (ask.shape_of, "four"), (ask.shape_of, "-1"), (ask.shape_of, "1 " * 9),
        (ask.number_of, "nan"), (ask.number_of, "inf"), (ask.number_of, "1/0"),
        (ask.number_of, "1e999"), (ask.percent_of, "101"), (ask.percent_of, "half"),
    ],
)  # fmt: skip
def test_free_answers_that_are_none_are_not_understood(parse, typed):

    with pytest.raises(ask.UnclearError):
        parse(typed)


def test_complete_answers_are_a_prediction_and_saved_ones_are_taken_up_as_they_were():
    answers = answer_all()

    assert ask.prediction(LAB, "skip-unbroadcast", answers).training.outcome is Outcome.CRASH
    assert ask.sane(LAB, "skip-unbroadcast", answers) == answers


@given(
    st.dictionaries(st.text(max_size=9), st.text(max_size=9) | st.integers())
    | st.lists(st.integers())
    | st.none()
    | st.sampled_from([{"created-axis/phase": "sideways"}, {"created-axis/phase": 3}])
)
def test_a_damaged_draft_loses_only_what_is_damaged(saved):

    assert ask.sane(LAB, "skip-unbroadcast", saved) == {}


def test_help_explains_one_word_or_all_of_them():
    phase = next(ask.questions(LAB, "skip-unbroadcast", {}))

    assert "gradients are computed" in explained(phase, "ba")
    assert len(explained(phase, "").splitlines()) == len(phase.choices)


def test_every_question_fits_the_screen():
    answers, shown = {}, None
    while (question := ask.following(LAB, "skip-unbroadcast", answers)) is not None:
        text = predicting.asking(LAB, "skip-unbroadcast", question, shown)
        assert max(map(len, text.splitlines())) <= 80
        shown = question
        typed = "wrong-values" if question.key.endswith("/mode") else ""
        if not typed and not question.optional:
            typed = "50" if question.free else question.choices[0].word
        answers[question.key] = question.parse(typed)
