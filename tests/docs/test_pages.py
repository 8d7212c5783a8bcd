"""Every page shows what its commands print: nothing in the documents is typed by hand."""

import pytest

from tests.docs.compare import difference, shows
from tests.docs.page import Page, pages
from tests.docs.session import same_for, session
from tests.tree import ROOT


def failures(page: Page) -> list[str]:
    """For each example that prints something else than the page shows, the difference."""
    examples = page.examples()
    if not examples:
        return []
    with session(page) as place:
        printed = [place.run(example) for example in examples]
    return [
        difference(one.shown, lines, f"{page.name}:{one.start}", one.source)
        for one, lines in zip(examples, printed, strict=True)
        if not shows(one.shown, lines, same_for(one))
    ]


@pytest.mark.parametrize("path", pages(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_shows_what_its_commands_print(path):
    found = failures(Page.read(path, ROOT))

    assert not found, "\n\n".join(found)
