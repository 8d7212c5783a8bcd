"""A bar appears after a moment, and another one where something else begins."""

from contextlib import contextmanager

import pytest

from grader import session


@pytest.fixture
def bars(monkeypatch):
    """The bars that are shown: label, of how many, and what each was told."""
    shown = []

    @contextmanager
    def advancing(label, total):
        shown.append((label, total, []))
        yield shown[-1][2].append
        shown[-1][2].append("closed")

    monkeypatch.setattr(session.console, "advancing", advancing)
    return shown


def test_a_bar_goes_as_far_as_what_is_done(bars, monkeypatch):
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    with session.progressing("training") as tell:
        for done in (1, 2, 4):
            tell(done, 5, f"until {done}")

    assert [("training", 5, ["until 1", "until 2", "until 4", "until 4", "closed"])] == bars


def test_another_number_to_be_done_is_another_bar(bars, monkeypatch):
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    with session.progressing("observing") as tell:
        tell(1, 2, "look")
        tell(1, 9, "record")
        tell(2, 9, "record")

    assert [
        ("observing", 2, ["look", "closed"]),
        ("observing", 9, ["record", "record", "closed"]),
    ] == bars


def test_what_is_done_in_a_moment_has_no_bar(bars):
    with session.progressing("training") as tell:
        tell(1, 2, "")
        tell(2, 2, "")

    assert [] == bars
