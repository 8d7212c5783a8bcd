"""Evidence keeps its numbers and exceptions whatever the language; only its phrases change."""

import re

import pytest

from breaks import i18n
from grader import evidence


@pytest.fixture
def capitals(monkeypatch):
    """A language that says everything in capital letters."""
    monkeypatch.setattr(evidence.i18n, "language", lambda: "es")

    def shout(text):
        return "".join(
            part if part.startswith("%(") else part.upper()
            for part in re.split(r"(%\(\w+\)s)", text)
        )

    monkeypatch.setattr(evidence, "_", shout)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a.grad: shape (3, 5) instead of (3, 1)", "a.grad: SHAPE (3, 5) INSTEAD OF (3, 1)"),
        ("a (1,)  b (1, 1): a.grad has shape (1, 1) instead of (1,)",
         "a (1,)  b (1, 1): a.grad HAS SHAPE (1, 1) INSTEAD OF (1,)"),
        ("y: float64 instead of float32", "y: float64 INSTEAD OF float32"),
        ("b.grad: 6.25 instead of -1e-05", "b.grad: 6.25 INSTEAD OF -1e-05"),
        ("w.grad: None, nothing arrived", "w.grad: NONE, NOTHING ARRIVED"),
        ("a.grad: a float, not an ndarray", "a.grad: A float, NOT AN NDARRAY"),
        ("the time limit passed", "THE TIME LIMIT PASSED"),
        ("killed by SIGSEGV", "KILLED BY SIGSEGV"),
        ("ValueError: no broadcast", "ValueError: no broadcast"),
    ],
)  # fmt: skip
def test_phrases_are_translated_and_facts_are_not(capitals, written, expected):

    assert evidence.localised(written) == expected


def test_in_english_nothing_is_touched():
    i18n.use("en")

    assert evidence.localised("shape (1,) instead of (2,)") == "shape (1,) instead of (2,)"
    i18n.use(None)


def test_each_phrase_names_the_groups_that_it_uses():
    for pattern, phrase in evidence._PHRASES:
        assert set(re.compile(pattern).groupindex) == set(re.findall(r"%\((\w+)\)s", phrase))
