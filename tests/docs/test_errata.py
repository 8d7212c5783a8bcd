"""The errata of the lecture notes: each claim has one verdict and is run; the tally is counted."""

import re
from collections import Counter

import pytest

from tests.docs.page import Page
from tests.tree import ROOT

PAGE = Page.read(ROOT / "docs" / "notes-errata.md", ROOT)
CLAIM = re.compile(r"^### (\d+)\. .* \((?:[MDB], )*[MDB]\)$")
VERDICT = re.compile(r"^\*\*(Right only if|Right|Wrong)\b", re.MULTILINE)


def claims(page: Page) -> dict[int, str]:
    """The text below the heading of each claim, by its number."""
    parts = re.split(r"^(###? .*)$", page.text, flags=re.MULTILINE)
    found = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading.startswith("### "):
            number = CLAIM.match(heading)
            assert number, f"a claim is `### N. … (M)`; found {heading}"
            found[int(number[1])] = body
    return found


def unproved(page: Page) -> list[int]:
    """Claims without exactly one verdict, or without anything that is run."""
    return [
        number
        for number, body in claims(page).items()
        if len(VERDICT.findall(body)) != 1 or not Page("", body).examples()
    ]


def tally(page: Page) -> str:
    """How many claims there are of each kind, in the words of the page."""
    found = [VERDICT.findall(body)[0] for body in claims(page).values()]
    n = Counter(found)
    return (
        f"Of {len(found)} claims, {n['Right']} are right, {n['Wrong']} are wrong and "
        f"{n['Right only if']} are right only if."
    )


def test_claims_are_numbered_in_order():
    assert list(range(1, 1 + len(claims(PAGE)))) == list(claims(PAGE))


# The only claim that is about time: times are measured, not tested.
MEASURED = [number for number, body in claims(PAGE).items() if "times are not tested" in body]


def test_each_claim_has_one_verdict_and_something_that_is_run():
    assert MEASURED == unproved(PAGE)
    assert 1 == len(MEASURED)


def test_the_tally_is_counted():
    assert tally(PAGE) in " ".join(PAGE.text.split())


RUN = "\n```pycon\n>>> 1\n1\n```\n"


@pytest.mark.parametrize(
    "body",
    ["Right." + RUN, "**Right.**", f"**Right.** **But\n**Wrong.**{RUN}"],
    ids=["no verdict", "nothing is run", "two verdicts"],
)
def test_a_claim_that_is_not_proved_is_found(body):
    page = Page("x.md", f"### 1. It is so (M)\n\n{body}\n### 2. And so (D)\n\n**Wrong.**{RUN}")

    assert [1] == unproved(page)


def test_a_claim_that_names_no_note_is_refused():
    with pytest.raises(AssertionError, match="a claim is"):
        claims(Page("x.md", "### 1. It is so\n"))
