"""What a learner has done, and that it survives upgrades."""

import json

import pytest

from breaks.workspace import Config, Workspace
from grader import learner
from grader.learner import Event, Stage

LABS = {"lab01": ["first"], "lab02": ["second", "third"]}


@pytest.fixture
def ws(tmp_path):
    return Workspace(tmp_path, Config())


def checked(
    ws, lab="lab01", brk="first", commit="c1", score=7.5, answers=((80, True), (95, False))
):
    learner.note_check(ws, commit, lab, brk, score=score, misses=1, answers=answers)


def rows(ws, predicted=None):
    return {row.break_id: row for row in learner.overview(LABS, learner.load(ws), predicted or {})}


def test_nothing_is_on_record_at_first(ws):

    assert rows(ws)["first"].stage is Stage.NEW
    assert learner.load(ws).calibration.answers == 0


def test_a_check_is_on_record_with_its_score(ws):
    checked(ws)

    assert rows(ws)["first"].stage is Stage.CHECKED
    assert rows(ws)["first"].score == 7.5
    assert learner.load(ws).calibration.answers == 2


def test_the_first_check_of_a_commit_counts(ws):
    checked(ws, score=3.0)
    checked(ws, score=9.0)

    assert rows(ws)["first"].score == 3.0


def test_a_low_score_asks_for_a_second_attempt_until_the_variant_goes_better(ws):
    checked(ws, score=3.0)
    before = rows(ws)["first"].again
    checked(ws, "lab01.b", commit="c2", score=9.0)

    assert before
    assert not rows(ws)["first"].again
    assert rows(ws)["first"].variant == 9.0


def test_a_prediction_without_a_check_is_predicted_and_its_peek_is_noted(ws):
    row = rows(ws, {("lab02", "third"): True})["third"]

    assert row.stage is Stage.PREDICTED
    assert row.peeked


def test_giving_up_is_on_record_and_asks_for_a_second_attempt(ws):
    learner.note(ws, Event.GIVEN_UP, "lab02", "second")

    assert rows(ws)["second"].stage is Stage.EXPLAINED
    assert rows(ws)["second"].again


def test_the_last_sentence_counts(ws):
    learner.note(ws, Event.SENTENCE, "lab01", "first", text="because")
    learner.note(ws, Event.SENTENCE, "lab01", "first", text="because of the copies")

    assert learner.load(ws).sentence("lab01", "first") == "because of the copies"
    assert learner.load(ws).sentence("lab02", "second") == ""


def test_lines_of_a_newer_version_are_kept_to_the_byte_and_do_no_harm(ws):
    checked(ws)
    path = ws.state / learner.FILE
    newer = json.dumps({"version": 9, "kind": "checked", "lab": "lab01", "stars": 5})
    path.write_text(path.read_text() + newer + "\nnot json\n" + '{"kind": "danced"}')
    before = path.read_text()
    learner.note(ws, Event.EXPLAINED, "lab01", "first")

    assert path.read_text().startswith(before)
    assert rows(ws)["first"].stage is Stage.EXPLAINED


def test_unknown_fields_in_a_known_event_do_no_harm(ws):
    learner.note(
        ws, Event.CHECKED, "lab01", "first",
        commit="c", score=1.0, misses=0, answers=[[20, False]], stars=5,
    )  # fmt: skip

    assert rows(ws)["first"].score == 1.0


def test_a_lab_is_done_when_every_break_of_it_was_checked(ws):
    checked(ws, "lab02", "second", "c2")
    half = learner.overview(LABS, learner.load(ws), {})
    checked(ws, "lab02", "third", "c3")
    whole = learner.overview(LABS, learner.load(ws), {})

    assert not learner.done(half, "lab02")
    assert learner.done(whole, "lab02")
