"""What an answer is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.score import brier, calibration, detector_score, information

truths = st.lists(st.sampled_from(["fires", "silent"]), min_size=1, max_size=12)
words = st.sampled_from(["fires", "silent", ""])


def test_an_answer_that_is_true_half_of_the_time_carries_one_bit():

    assert information(["fires", "silent"]) == {"fires": 1.0, "silent": 1.0}


def test_the_rarer_answer_carries_more():

    assert information(["fires"] * 3 + ["silent"]) == pytest.approx(
        {"fires": 0.415, "silent": 2}, abs=1e-3
    )


@given(truths, st.sampled_from(["fires", "silent"]))
def test_always_the_same_answer_earns_nothing(happened, constant):
    score = detector_score("gradcheck", [(constant, truth) for truth in happened])

    assert score.points == 0


@given(truths)
def test_the_perfect_answer_earns_everything(happened):
    score = detector_score("gradcheck", [(truth, truth) for truth in happened])

    assert score.points == pytest.approx(score.possible)
    assert score.right == score.asked == len(happened)


@given(truths)
def test_a_detector_is_worth_something_exactly_where_its_answer_varies(happened):
    score = detector_score("gradcheck", [("", truth) for truth in happened])

    assert (score.possible > 0) == (len(set(happened)) > 1)


@given(st.data(), truths)
def test_points_stay_between_nothing_and_what_is_possible(data, happened):
    said = data.draw(st.lists(words, min_size=len(happened), max_size=len(happened)))
    score = detector_score("gradcheck", list(zip(said, happened, strict=True)))

    assert 0 <= score.points <= score.possible + 1e-12


@given(st.data(), truths)
def test_one_more_right_answer_never_costs_points(data, happened):
    said = data.draw(st.lists(words, min_size=len(happened), max_size=len(happened)))
    place = data.draw(st.integers(0, len(happened) - 1))
    better = [*said[:place], happened[place], *said[place + 1 :]]

    before = detector_score("gradcheck", list(zip(said, happened, strict=True)))
    after = detector_score("gradcheck", list(zip(better, happened, strict=True)))

    assert after.points >= before.points - 1e-12


def test_the_exception_must_be_known_to_earn_anything():
    happened = ["fires"] * 4 + ["silent"]
    knows_it = [*["fires"] * 3, "silent", "silent"]  # one wrong, but not the exception
    score = detector_score("gradcheck", list(zip(knows_it, happened, strict=True)))

    assert (score.constant, score.constant_right, score.right) == ("fires", 4, 4)
    assert 0 < score.points < score.possible


@pytest.mark.parametrize(
    ("confidence", "hit", "expected"),
    [(95, True, 0.0025), (95, False, 0.9025), (20, False, 0.04), (50, True, 0.25), (100, True, 0)],
)
def test_brier_is_the_squared_distance(confidence, hit, expected):

    assert brier(confidence, hit) == pytest.approx(expected)


def test_the_calibration_table_counts_at_the_nearest_level():
    table = calibration([(95, True), (99, False), (21, False), (60, True), (61, True)])

    assert [(r.level, r.answers, r.hits) for r in table.rows] == [
        (20, 1, 0),
        (60, 2, 2),
        (95, 2, 1),
    ]
    assert table.ready


def test_the_calibration_table_waits_for_five_answers():

    assert not calibration([(80, True)] * 4).ready
    assert calibration([]).brier is None
