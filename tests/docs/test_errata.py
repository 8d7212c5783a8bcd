"""The errata of the notes: each claim has one verdict and is run; two languages, one page."""

import re
from collections import Counter

import pytest

from tests.docs.page import Page
from tests.tree import ROOT

EN = Page.read(ROOT / "docs" / "notes-errata.md", ROOT)
ES = Page.read(ROOT / "docs" / "notes-errata.es.md", ROOT)
CLAIM = re.compile(r"^### (\d+)\. .* \(((?:[MDB], )*[MDB])\)$")
WORDS = {  # right, wrong, right only if; and the sentence that counts them
    "en": ("Right", "Wrong", "Right only if"),
    "es": ("Correcto", "Falso", "Correcto solo si"),
}
TALLY = {
    "en": "Of {} claims, {} are right, {} are wrong and {} are right only if.",
    "es": "De {} afirmaciones, {} son correctas, {} son falsas y {} son correctas solo si.",
}
# The only claim that is about time: times are measured, not tested.
MEASURED = [38]

in_both_languages = pytest.mark.parametrize("page", [EN, ES], ids=["en", "es"])


def claims(page: Page) -> dict[int, tuple[str, str]]:
    """The notes that make each claim, and the text below its heading, by its number."""
    parts = re.split(r"^(###? .*)$", page.text, flags=re.MULTILINE)
    found = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading.startswith("### "):
            claim = CLAIM.match(heading)
            assert claim, f"a claim is `### N. … (M)`; found {heading}"
            found[int(claim[1])] = (claim[2], body)
    return found


def verdicts(page: Page, body: str) -> list[int]:
    """0 for each right, 1 for each wrong, 2 for each right only if."""
    words = WORDS[page.language]
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return [words.index(w) for w in re.findall(rf"^\*\*({longest_first})\b", body, re.MULTILINE)]


def unproved(page: Page) -> list[int]:
    """Claims without exactly one verdict, or without anything that is run."""
    return [
        number
        for number, (_, body) in claims(page).items()
        if len(verdicts(page, body)) != 1 or not Page("", body).examples()
    ]


@in_both_languages
def test_claims_are_numbered_in_order(page):
    assert list(range(1, 1 + len(claims(page)))) == list(claims(page))


@in_both_languages
def test_each_claim_has_one_verdict_and_something_that_is_run(page):
    assert MEASURED == unproved(page)


@in_both_languages
def test_the_tally_is_counted(page):
    n = Counter(verdict for _, body in claims(page).values() for verdict in verdicts(page, body))
    expected = TALLY[page.language].format(n.total(), n[0], n[1], n[2])

    assert expected in " ".join(page.text.split())


def test_both_languages_say_the_same():
    def facts(page):
        return {n: (notes, verdicts(page, body)) for n, (notes, body) in claims(page).items()}

    def code(page):
        return [(block.kind, block.lines) for block in page.blocks()]

    assert facts(EN) == facts(ES)
    assert code(EN) == code(ES)


RUN = "\n```pycon\n>>> 1\n1\n```\n"


@pytest.mark.parametrize(
    "body",
    ["Right." + RUN, "**Right.**", f"**Right.** But\n**Wrong.**{RUN}"],
    ids=["no verdict", "nothing is run", "two verdicts"],
)
def test_a_claim_that_is_not_proved_is_found(body):
    page = Page("x.md", f"### 1. It is so (M)\n\n{body}\n### 2. And so (D)\n\n**Wrong.**{RUN}")

    assert [1] == unproved(page)


def test_a_claim_that_names_no_note_is_refused():
    with pytest.raises(AssertionError, match="a claim is"):
        claims(Page("x.md", "### 1. It is so\n"))
