"""Nothing is hidden: the index leads to every page, the list of decisions to every decision."""

import re

import pytest

from tests.docs.page import pages
from tests.tree import ROOT, files

DOCS = ROOT / "docs"
HEADINGS = ["Context", "Decision", "Measurement", "Consequence"]
DECISIONS = sorted((DOCS / "adr").glob("[0-9]*.md"))


def unlisted(index: str, names: list[str]) -> list[str]:
    """Names to which the index does not link."""
    return [name for name in names if f"]({name})" not in index]


def test_every_markdown_file_of_the_repository_is_a_page_whose_claims_are_run():
    run = [path.relative_to(ROOT).as_posix() for path in pages(ROOT)]

    assert [name for name in files() if name.endswith(".md")] == sorted(run)


@pytest.mark.parametrize("index", ["index.md", "index.es.md"])
def test_the_index_of_a_language_leads_to_every_page_in_it(index):
    spanish = index.endswith(".es.md")
    names = [p.name for p in DOCS.glob("*.md") if p.name.endswith(".es.md") is spanish]
    names.remove(index)

    assert names
    assert [] == unlisted((DOCS / index).read_text("utf-8"), names)


def test_the_list_of_decisions_is_complete_and_in_order():
    index = (DOCS / "adr" / "README.md").read_text("utf-8")

    assert [p.name for p in DECISIONS] == re.findall(r"^\| \[\d+\]\((\S+)\)", index, re.MULTILINE)


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_number_and_the_four_headings(path):
    text = path.read_text("utf-8")

    assert text.startswith(f"# {path.name[:4]}. ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS


def test_a_page_that_is_not_listed_is_found():
    assert ["b.md"] == unlisted("See [a](a.md) and `b.md`.", ["a.md", "b.md"])
