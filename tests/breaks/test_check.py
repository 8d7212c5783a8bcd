"""`breaks check` objects to everything that makes a break unfit."""

import pytest

from breaks.catalog import load_catalog
from breaks.check import Point, check_break, check_file
from breaks.library import shipped_sources
from breaks.model import Report, Rewrite

SOURCES = shipped_sources()
GOOD = load_catalog().get("skip-unbroadcast")


def points(brk, seen=None):
    return [one.point for one in check_break(brk, SOURCES, seen).findings]


def with_rule(**changes):
    return GOOD._replace(rewrites=(GOOD.rewrites[0]._replace(**changes),))


def big():
    lines = "\n".join(f"x{i} = {i}" for i in range(20))
    rule = Rewrite("minitorch.tensor", ("Tensor.exp",), ("y = np.exp(x.data)",), lines)
    return GOOD._replace(rewrites=(rule,))


UNFIT = {
    "another number of matches": (with_rule(matches=1), Point.MATCHES),
    "an unknown scope": (with_rule(scopes=("Tensor.plus",)), Point.MATCHES),
    "an unknown module": (with_rule(module="minitorch.nothing"), Point.MATCHES),
    "a large diff": (big(), Point.DIFF),
    "two hints": (GOOD._replace(hints=GOOD.hints[:2]), Point.TEXTS),
    "no Spanish title": (GOOD._replace(title={"en": "x"}), Point.TEXTS),
    "no lesson": (GOOD._replace(explain={}), Point.TEXTS),
    "a report in English only": (
        GOOD._replace(provenance=(Report("Burn", "https://burn.dev", {"en": "x"}),)),
        Point.TEXTS,
    ),
    "no provenance": (GOOD._replace(provenance=()), Point.PROVENANCE),
}


@pytest.mark.parametrize(("brk", "point"), UNFIT.values(), ids=UNFIT)
def test_what_is_unfit_is_found(brk, point):
    assert points(brk) == [point]


def test_a_break_that_nothing_sees_is_found():
    assert points(GOOD, {}) == [Point.LIVE]
    assert points(GOOD, {GOOD.id: ["gradcheck in created-axis"]}) == []


def test_an_equivalent_break_that_is_seen_is_found():
    equivalent = GOOD._replace(equivalent=True, reason={"en": "x", "es": "x"})

    assert points(equivalent, {}) == []
    assert points(equivalent, {GOOD.id: ["gradcheck in created-axis"]}) == [Point.LIVE]


def test_nobody_looked_is_not_the_same_as_nobody_saw():
    assert check_break(GOOD, SOURCES).seen is None
    assert check_break(GOOD, SOURCES, {}).seen == ()


def test_a_file_that_is_no_break_is_a_finding_and_no_error(tmp_path):
    path = tmp_path / "nonsense.yaml"
    path.write_text("nonsense: [")

    assert [one.point for one in check_file(path, SOURCES).findings] == [Point.SCHEMA]


def test_of_a_break_that_cannot_be_applied_nobody_says_that_nobody_saw_it():
    checked = check_break(with_rule(matches=1), SOURCES, {})

    assert [Point.MATCHES] == [one.point for one in checked.findings]
    assert checked.seen is None
