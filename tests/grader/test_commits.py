"""The chain of committed predictions: any later edit is evident."""

import json
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breaks.workspace import Config, Workspace
from grader import commits
from grader.commits import Damage
from grader.prediction import First, Prediction, Said, TrainingSaid
from grader.recording import Answer, Detector, Mode, Outcome, Phase

DIGESTS = {"created-axis": "d" * 64, "length-1-axis": "e" * 64}


def prediction(lab="lab02", brk="skip-unbroadcast", mode=Mode.CRASH):
    said = Said(First(Phase.BACKWARD, mode, "a"), {Detector.GRADCHECK: Answer.FIRES}, 80, "why, ñ")
    scenarios = dict.fromkeys(DIGESTS, said)
    return Prediction(lab, brk, scenarios, TrainingSaid(Outcome.CRASH, Phase.STEP))


@pytest.fixture
def ws(tmp_path):
    return Workspace(tmp_path, Config())


@pytest.fixture
def three(ws):
    for lab in ("lab01", "lab02", "lab03"):
        commits.commit(ws, prediction(lab), DIGESTS, peeked=False)
    return ws


def rows(ws):
    return (ws.state / commits.FILE).read_text().splitlines()


def write(ws, lines):
    (ws.state / commits.FILE).write_text("".join(line + "\n" for line in lines))


def damages(ws):
    return {(fault.number, fault.damage) for fault in commits.load(ws).faults}


def test_a_commit_is_read_back_as_it_was_made(ws):
    made = commits.commit(ws, prediction(), DIGESTS, peeked=True)
    found = commits.load(ws).find("lab02", "skip-unbroadcast")

    assert found.prediction == prediction()
    assert (found.hash, found.peeked, found.attempt) == (made.hash, True, 1)
    assert found.scenarios == DIGESTS


def test_an_untouched_chain_is_intact(three):
    chain = commits.load(three)

    assert chain.intact
    assert len(chain.commits) == 3


def test_no_file_is_an_empty_chain(ws):

    assert commits.load(ws) == commits.Chain((), (), commits.START)


def test_an_edited_answer_is_evident_and_is_no_commit_any_more(three):
    lines = rows(three)
    write(three, [lines[0], lines[1].replace('"crash"', '"hang"'), lines[2]])

    assert damages(three) == {(2, Damage.EDITED)}
    assert commits.load(three).find("lab02", "skip-unbroadcast") is None
    assert commits.load(three).fault_of("lab02", "skip-unbroadcast").number == 2


def test_an_answer_edited_together_with_its_hash_breaks_the_next_line(three):
    lines = rows(three)
    document = json.loads(lines[1])
    document["prediction"]["training"]["outcome"] = "nan"
    document["digest"] = Prediction.from_json(document["prediction"]).digest
    document["hash"] = commits.seal(document)
    write(three, [lines[0], json.dumps(document), lines[2]])

    assert damages(three) == {(3, Damage.OUT_OF_CHAIN)}


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 2], {(2, Damage.OUT_OF_CHAIN)}),
        ([1, 2], {(1, Damage.OUT_OF_CHAIN)}),
        ([0, 2, 1], {(2, Damage.OUT_OF_CHAIN), (3, Damage.OUT_OF_CHAIN)}),
        ([0, 1, 1, 2], {(3, Damage.OUT_OF_CHAIN)}),
    ],
    ids=["one removed", "the first removed", "two swapped", "one repeated"],
)
def test_a_line_removed_moved_or_repeated_is_evident(three, order, expected):
    lines = rows(three)
    write(three, [lines[i] for i in order])

    assert damages(three) == expected


@pytest.mark.parametrize("junk", ["", "{}", "[]", "nonsense", '{"hash": 3}', "[" * 100_000, "\x00"])
def test_a_line_that_is_no_commit_is_reported_and_the_others_stay(three, junk):
    lines = rows(three)
    write(three, [*lines, junk])
    chain = commits.load(three)

    assert len(chain.commits) == 3
    assert chain.intact == (junk == "")


def test_a_line_of_a_newer_version_is_no_damage_and_stays_to_the_byte(three):
    document = {"version": 2, "lab": "lab04", "break": "x", "previous": commits.load(three).head}
    document["hash"] = commits.seal(document)
    write(three, [*rows(three), json.dumps(document)])
    before = rows(three)
    commits.commit(three, prediction("lab05"), DIGESTS, peeked=False)
    chain = commits.load(three)

    assert chain.intact
    assert [fault.damage for fault in chain.faults] == [Damage.NEWER]
    assert rows(three)[:-1] == before


def test_unknown_fields_of_a_newer_version_stay_in_the_chain(ws):
    commits.commit(ws, prediction(), DIGESTS, peeked=False)
    document = json.loads(rows(ws)[0])
    document["mood"] = "curious"
    document["hash"] = commits.seal(document)
    write(ws, [json.dumps(document)])

    assert commits.load(ws).intact


def test_the_digest_does_not_depend_on_the_order_of_answers():
    one = prediction()
    other = Prediction(
        one.lab, one.break_id, dict(reversed(list(one.scenarios.items()))), one.training
    )

    assert one.digest == other.digest
    assert prediction(mode=Mode.HANG).digest != one.digest


def test_a_scenario_that_changed_since_is_named(ws):
    commit = commits.commit(ws, prediction(), DIGESTS, peeked=False)

    assert commit.changed({**DIGESTS, "length-1-axis": "f" * 64}) == ("length-1-axis",)
    assert commit.changed(DIGESTS) == ()


def test_commits_made_at_once_make_one_chain(ws):
    def work(number):
        commits.commit(ws, prediction(f"lab{number:02}"), DIGESTS, peeked=False)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chain = commits.load(ws)

    assert len(chain.commits) == 8
    assert chain.intact


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_no_single_changed_character_goes_unnoticed(three, data):
    text = (three.state / commits.FILE).read_text()
    place = data.draw(st.integers(0, len(text) - 2).filter(lambda i: text[i] != "\n"))
    new = data.draw(st.sampled_from("0aZ{}\"',:[ ").filter(lambda c: c != text[place]))
    changed = text[:place] + new + text[place + 1 :]
    parsed = [commits.lines._object(line.encode()) for line in changed.splitlines()]
    if parsed == [json.loads(line) for line in text.splitlines()]:
        return  # a space between two tokens says the same
    chain = commits.verify(
        [commits.lines.Line(n, document) for n, document in enumerate(parsed, start=1)]
    )

    assert not chain.intact or chain.head != commits.load(three).head
