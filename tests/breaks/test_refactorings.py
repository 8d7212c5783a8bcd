"""A break that meets a refactored library makes the same change, or is refused by name.

`make refactorings` writes the measured table into docs/refactorings.md.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Mapping

import pytest

from breaks.catalog import load_catalog
from breaks.library import load_library, shipped_sources
from breaks.match import same
from breaks.model import Break
from breaks.rewrite import Refusal, mutate
from tests.breaks.behaviour import behaviour
from tests.breaks.refactorings import REFACTORINGS
from tests.tree import ROOT

SOURCES = shipped_sources()
BREAKS = list(load_catalog())
SAME = "same"
PAGE = ROOT / "docs" / "refactorings.md"


def refactored(name: str, sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """Every module that a break may touch, refactored."""
    touched = {rule.module for brk in BREAKS for rule in brk.rewrites}
    return {
        module: REFACTORINGS[name](text.decode()).encode() if module in touched else text
        for module, text in sources.items()
    }


def outcomes(name: str) -> dict[str, str]:
    """For every break with a module that the refactoring changes: same, or why it is refused."""
    clean = refactored(name, SOURCES)
    return {
        brk.id: outcome(name, brk, clean)
        for brk in BREAKS
        if any(clean[rule.module] != SOURCES[rule.module] for rule in brk.rewrites)
    }


def outcome(name: str, brk: Break, clean: Mapping[str, bytes]) -> str:
    """What becomes of one break.  Fails where it silently does something else."""
    try:
        found = mutate(clean, brk)
    except Refusal as refusal:
        return refusal.reason.value
    broken = broken_by(brk.id)
    if not same_program(found, refactored(name, broken)):
        assert behaviour(load_library(found, label="refactored")) == behaviour(
            load_library(broken, label="broken")
        ), f"{brk.id} silently does something else"
    return SAME


@functools.cache
def broken_by(break_id: str) -> dict[str, bytes]:
    return mutate(SOURCES, next(brk for brk in BREAKS if brk.id == break_id))


def same_program(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    return all(
        one[name] == other[name] or same(ast.parse(one[name]), ast.parse(other[name]))
        for name in one
    )


def test_there_are_22():
    assert 22 == len(REFACTORINGS)


@pytest.mark.parametrize("name", REFACTORINGS)
def test_a_refactoring_keeps_what_the_library_does(name):
    clean = refactored(name, SOURCES)

    assert clean != SOURCES
    assert behaviour(load_library(clean, label="refactored")) == clean_behaviour()


@functools.cache
def clean_behaviour() -> list[object]:
    return behaviour(load_library(SOURCES, label="clean"))


@pytest.mark.parametrize("name", REFACTORINGS)
def test_a_break_makes_the_same_change_or_is_refused_by_name(name):
    assert row(name, Counter(outcomes(name).values())) in rows(), "run: make refactorings"


def test_the_page_adds_up_and_most_breaks_apply():
    numbers = [re.search(r"\| (\d+) of (\d+) \|", line) for line in rows()]
    applied = sum(int(found[1]) for found in numbers if found)
    all_ = sum(int(found[2]) for found in numbers if found)

    assert len(REFACTORINGS) == sum(found is not None for found in numbers)
    assert f"**{applied} of {all_} ({100 * applied / all_:.0f} %)**" in rows()[-1]
    assert applied >= 0.85 * all_


def rows() -> list[str]:
    """The lines of the table on the page."""
    return [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]


def row(name: str, count: Counter[str]) -> str:
    """How many breaks apply, and why others do not."""
    refused = [f"{n} {reason}" for reason, n in sorted(count.items()) if reason != SAME]
    return f"| {name} | {count[SAME]} of {count.total()} | {', '.join(refused)} |"


def table() -> str:
    """The table of today."""
    counts = {name: Counter(outcomes(name).values()) for name in REFACTORINGS}
    total = sum(counts.values(), Counter[str]())
    share = f"{total[SAME]} of {total.total()} ({100 * total[SAME] / total.total():.0f} %)"
    head = ["| refactoring | the same change | refused |", "| --- | ---: | --- |"]
    last = f"| **all** | **{share}** |{row('', total).split('|')[3]}|"
    return "\n".join([*head, *(row(name, count) for name, count in counts.items()), last])


def test_a_change_that_is_another_one_is_noticed():
    other = broken_by("skip-unbroadcast")

    assert not same_program(SOURCES, other)
    assert clean_behaviour() != behaviour(load_library(other, label="other"))


def write() -> None:
    """Puts the table of today in the place of the one on the page."""
    before, _table, after = re.split(r"(?m)((?:^\|.*\n)+)", PAGE.read_text("utf-8"), maxsplit=1)
    PAGE.write_text(f"{before}{table()}\n{after}", "utf-8")


if __name__ == "__main__":
    write()
