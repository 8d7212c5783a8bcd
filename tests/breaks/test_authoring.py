"""What `breaks check` asks the detectors: every break that can be applied, all in one run."""

import pytest

from breaks import authoring
from breaks.authoring import chosen, examined, witnessed
from breaks.check import Point
from breaks.errors import BreaksError
from breaks.library import shipped_sources

SOURCES = shipped_sources()


@pytest.fixture
def asked(monkeypatch):
    """The ids of each question that the detectors get."""
    questions = []

    def look(breaks, _sources):
        questions.append([one.id for one in breaks])
        return {one.id: ["gradcheck in lab02/created-axis"] for one in breaks}

    monkeypatch.setattr(authoring, "observer", lambda: look)
    return questions


def test_all_breaks_are_asked_about_at_once(asked):
    paths = chosen(["skip-unbroadcast", "tanh-forgets-upstream"], ())
    results = list(examined(paths, SOURCES, witnessed(paths, SOURCES)))

    assert [["skip-unbroadcast", "tanh-forgets-upstream"]] == asked
    assert [("gradcheck in lab02/created-axis",)] * 2 == [one.seen for one in results]


def test_what_cannot_be_read_or_applied_is_not_asked_about(asked, tmp_path):
    good = chosen(["skip-unbroadcast"], ())[0]
    stale, odd = tmp_path / "stale.yaml", tmp_path / "odd.yaml"
    text = good.read_text("utf-8").replace("id: skip-unbroadcast", "id: stale")
    stale.write_text(text.replace("unbroadcast($G, $S)", "nowhere($G)"), "utf-8")
    odd.write_text("id: [")
    paths = [good, stale, odd]
    results = list(examined(paths, SOURCES, witnessed(paths, SOURCES)))

    assert [["skip-unbroadcast"]] == asked
    assert [(), Point.MATCHES, Point.SCHEMA] == [
        one.findings[0].point if one.findings else () for one in results
    ]


def test_nothing_to_ask_is_no_question(asked, tmp_path):
    (tmp_path / "odd.yaml").write_text("id: [")

    assert {} == witnessed([tmp_path / "odd.yaml"], SOURCES)
    assert [] == asked


def test_detectors_that_come_to_no_answer_are_a_finding(monkeypatch):
    def look(_breaks, _sources):
        raise BreaksError("a control that is silent", "an alarm", "Report it.", code=5)

    monkeypatch.setattr(authoring, "observer", lambda: look)
    paths = chosen(["skip-unbroadcast"], ())
    (result,) = examined(paths, SOURCES, witnessed(paths, SOURCES))

    assert [Point.LIVE] == [one.point for one in result.findings]
    assert "a control that is silent" in result.findings[0].text
