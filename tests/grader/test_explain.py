"""The lesson: after the learner's own sentence, with what they believed and where it happened."""

import pytest

from breaks import i18n
from breaks.model import Break, Family, Report
from grader import explain
from tests.grader import a_lab

BRK = Break(
    id="skip-unbroadcast",
    title={"en": "The title", "es": "El título"},
    family=Family.BROADCASTING,
    rewrites=(),
    misconception={"en": "NumPy sums it", "es": "NumPy lo suma"},
    hints=(),
    explain={"en": "Broadcasting copies; " * 20, "es": "El broadcasting copia"},
    provenance=(
        Report(
            "Burn", "https://github.com/x/" + "y" * 90, {"en": "a note " * 30, "es": "una nota"}
        ),
    ),
    taxonomy="Tensors & inputs",
    equivalent=True,
    reason={"en": "Nothing can tell", "es": "Nada lo nota"},
)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    yield
    i18n.use(None)


def test_the_sentence_comes_first_then_lesson_idea_reports_and_what_is_next():
    text = explain.screen(a_lab.LAB, BRK, "my own words", "grader predict lab02.b")
    places = [
        text.index(words)
        for words in (
            "my own words", "Broadcasting copies", "Nothing can tell", "NumPy sums it", "Burn",
            "https://github.com/x/", "Tensors & inputs", "next  grader predict lab02.b",
        )
    ]  # fmt: skip

    assert places == sorted(places)


def test_without_a_sentence_there_is_no_empty_heading():

    assert "You say" not in explain.screen(a_lab.LAB, BRK, "", "grader")


def test_every_line_fits_but_an_address_stays_whole():
    text = explain.screen(a_lab.LAB, BRK, "w " * 100, "grader")

    for line in text.splitlines():
        assert len(line) <= 80 or "https://" in line


def test_the_lesson_is_in_the_reader_s_language():
    i18n.use("es")
    text = explain.screen(a_lab.LAB, BRK, "", "grader")

    assert "El broadcasting copia" in text
    assert "NumPy lo suma" in text
    assert "Burn: una nota" in text


def test_the_document_holds_both_languages():
    found = explain.document_of(a_lab.LAB, BRK, "words", "grader")

    assert set(found["explain"]) == {"en", "es"}
    assert set(found["provenance"][0]["note"]) == {"en", "es"}
    assert found["because"] == "words"
