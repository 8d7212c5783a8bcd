"""The kill matrix of the whole catalogue, reviewed as text.

`make matrix` writes tests/kill_matrix.txt and docs/blind-spots.md; the first test makes them anew
and compares.  The others read the snapshot, which is therefore true.
"""

import difflib
import re
from functools import cache

import pytest

from breaks.catalog import load_catalog
from grader.blind import page
from grader.matrix import matrix
from grader.matrix_text import snapshot
from grader.recording import Detector
from labs.load import load_labs, load_probes
from tests.tree import ROOT

SNAPSHOT = ROOT / "tests" / "kill_matrix.txt"
PAGES = {"en": ROOT / "docs" / "blind-spots.md", "es": ROOT / "docs" / "blind-spots.es.md"}


def made():
    """What the files should hold today."""
    catalogue, labs, probes = load_catalog(), load_labs(), load_probes()
    found = matrix(catalogue, labs, probes, use_cache=False)
    breaks = {one.id: one for one in catalogue}
    places = [*labs.values(), probes]
    pages = {path: page(found, breaks, places, language) for language, path in PAGES.items()}
    return {SNAPSHOT: snapshot(found), **pages}


def changes(texts):
    """The difference between the files and what they should hold."""
    lines = []
    for path, text in texts.items():
        old = path.read_text("utf-8") if path.exists() else ""
        pair = (old.splitlines(), text.splitlines())
        lines += difflib.unified_diff(*pair, path.name, "today", lineterm="", n=0)
    return lines


def test_the_matrix_and_the_pages_are_todays():
    found = changes(made())

    assert not found, "\n".join([*found[:40], "", "`make matrix` writes them; review the change."])


def test_a_change_is_found(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")

    assert [] == changes({tmp_path / "a.txt": "one\ntwo\n"})
    assert "-two" in changes({tmp_path / "a.txt": "one\n"})
    assert changes({tmp_path / "missing.txt": "one\n"})


# --- what the catalogue promises


def sections_of(text):
    """The lists of a snapshot, by title."""
    found = {}
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        head, *rest = part.split("\n")
        title, _, count = head.rpartition(": ")
        if title:
            found[title] = [line for line in rest if line]
            assert int(count) == len(found[title]), head
    return found


@cache
def sections():
    return sections_of(SNAPSHOT.read_text("utf-8"))


EMPTY = ["seen by nothing", "declared equivalent, and seen", "detectors that see nothing"]


@pytest.mark.parametrize("title", EMPTY)
def test_no_row_is_empty_no_column_is_empty_and_what_is_equivalent_is_not_seen(title):
    assert [] == sections()[title]


LEAST = {
    "declared equivalent": 2,
    "the broken library trains better": 3,
    "run in ordinary scenarios, and both checks of the notes miss it": 10,
}


@pytest.mark.parametrize("title", LEAST)
def test_there_are_enough_breaks_that(title):
    assert LEAST[title] <= len(sections()[title])


# gradcheck is covered by property-test and pytorch-diff: docs/blind-spots.md says how far, and why.
@pytest.mark.parametrize("detector", [d for d in Detector if d is not Detector.GRADCHECK])
def test_each_detector_sees_something_that_no_other_does(detector):
    assert sections()[f"seen by {detector.value} alone"]


def test_that_gradcheck_sees_nothing_alone_is_what_the_page_says():
    assert [] == sections()["seen by gradcheck alone"]
    assert "`gradcheck` sees nothing alone" in PAGES["en"].read_text("utf-8")


def test_there_are_false_alarms_on_the_correct_library():
    labs = [*load_labs().values(), load_probes()]
    alarmed = [one.name for lab in labs for one in lab.scenarios.values() if one.false_alarms]

    assert 2 <= len(alarmed)


def test_a_count_that_is_not_that_of_the_list_is_found():
    with pytest.raises(AssertionError):
        sections_of("## seen by nothing: 2\none\n")


if __name__ == "__main__":
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
