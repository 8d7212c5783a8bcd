"""The glossary: each word once, in one sentence, and no token without one."""

import re
from collections import Counter
from enum import StrEnum

import pytest

import grader.recording
from breaks.model import Family
from tests.tree import ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
SPANISH = (ROOT / "docs" / "glossary.es.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.*)$", re.MULTILINE)
HOUSE_WORDS = """
fault, error, failure, break, mutant, control, sentinel, probe, oracle, observation, killed,
survived, equivalent, kill matrix, failure mode, verdict, upstream gradient, local derivative,
VJP, leaf, interior, accumulate, unbroadcast, lab, scenario, variant, prediction, commit, peek,
workspace, detector
"""
TOKENS = [
    *(enum for enum in vars(grader.recording).values() if isinstance(enum, type)),
    Family,
]


def entries(text: str) -> list[tuple[str, str]]:
    """Each term with its sentence."""
    return ENTRY.findall(text)


def poor(sentence: str) -> bool:
    """Whether it is not exactly one sentence."""
    return (
        not re.fullmatch(r"[^a-záéíóúñ\s].*\.", sentence)
        or re.search(r"[.!?] +[A-ZÁÉÍÓÚÑ¿¡]", sentence) is not None
    )


def missing(text: str, tokens: list[str]) -> list[str]:
    """Tokens that are no terms."""
    return sorted(set(tokens) - {term.strip("`") for term, _ in entries(text)})


def in_english(text: str) -> list[str]:
    """The terms as they are in English: `muerto (killed)` is killed."""
    return [re.sub(r"^.*\((.*)\)$", r"\1", term) for term, _ in entries(text)]


def test_every_word_of_the_house_has_a_sentence():
    assert [] == missing(TEXT, re.split(r",\s+", HOUSE_WORDS.strip()))


@pytest.mark.parametrize(
    "enum",
    [e for e in TOKENS if issubclass(e, StrEnum) and e is not StrEnum],
    ids=lambda e: e.__name__,
)
def test_every_token_has_a_sentence(enum):
    assert [] == missing(TEXT, [f"{member}" for member in enum])


both_pages = pytest.mark.parametrize("text", [TEXT, SPANISH], ids=["en", "es"])


@both_pages
def test_each_term_stands_once(text):
    counted = Counter(term.strip("`").lower() for term, _ in entries(text))

    assert [] == [term for term, n in counted.items() if n > 1]


@both_pages
def test_each_term_has_exactly_one_sentence(text):
    assert [] == [term for term, sentence in entries(text) if poor(sentence)]


def test_the_spanish_page_has_the_same_terms_in_the_same_order():
    assert [term for term, _ in entries(TEXT)] == in_english(SPANISH)


def test_the_checks_object():
    text = "- **`crash`**: It stops.\n- **leaf**: a tensor. It is a leaf.\n- **x**: No end\n"

    assert ["hang"] == missing(text, ["crash", "hang"])
    assert ["leaf", "x"] == [term for term, sentence in entries(text) if poor(sentence)]
    assert poor("Se para. Último.")
    assert ["leaf", "VJP"] == in_english("- **hoja (leaf)**: Un tensor.\n- **VJP**: Un producto.\n")
