"""A change leaves an edited text where there is one way to do it, and otherwise not at all."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from breaks.untangle import Place, changes, place, take_out

BEFORE = b"one\ntwo\nthree\nfour\nfive\nsix\n"
AFTER = b"one\ntwo\nBROKEN\nfour\nfive\nsix\n"


def text(*lines):
    return b"".join(line.encode() + b"\n" for line in lines)


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        pytest.param(AFTER, BEFORE, id="not edited"),
        pytest.param(b"new\n" + AFTER, b"new\n" + BEFORE, id="a line on top"),
        pytest.param(AFTER + b"new", BEFORE + b"new", id="a line at the end, without newline"),
        pytest.param(
            AFTER.replace(b"BROKEN\n", b"BROKEN\nprint()\n"),
            BEFORE.replace(b"three\n", b"three\nprint()\n"),
            id="a line right below",
        ),
        pytest.param(
            AFTER.replace(b"BROKEN\n", b"print()\nBROKEN\n"),
            BEFORE.replace(b"three\n", b"print()\nthree\n"),
            id="a line right above",
        ),
        pytest.param(
            AFTER.replace(b"two", b"2").replace(b"four", b"4"),
            BEFORE.replace(b"two", b"2").replace(b"four", b"4"),
            id="both neighbours changed",
        ),
        pytest.param(b"BROKEN\n", b"three\n", id="all the rest deleted"),
        pytest.param(
            AFTER.replace(b"\n", b"\r\n"), BEFORE.replace(b"\n", b"\r\n"), id="all endings changed"
        ),
        pytest.param(AFTER + b"\xff\xfe\n", BEFORE + b"\xff\xfe\n", id="an edit that is not UTF-8"),
    ],
)
def test_edits_elsewhere_stay(current, expected):

    assert expected == take_out(BEFORE, AFTER, current)


@pytest.mark.parametrize(
    "current",
    [
        pytest.param(AFTER.replace(b"BROKEN", b"BROKEN  # why?"), id="a comment on the line"),
        pytest.param(AFTER.replace(b"BROKEN\n", b""), id="the line deleted"),
        pytest.param(AFTER.replace(b"BROKEN\n", b"BROKEN\nBROKEN\n"), id="the line doubled"),
        pytest.param(AFTER.replace(b"BROKEN\n", b"") + b"BROKEN\n", id="the line moved away"),
        pytest.param(b"", id="an empty file"),
        pytest.param(b"something else\n", id="another file"),
    ],
)
def test_edits_of_the_changed_line_are_not_guessed_at(current):

    assert take_out(BEFORE, AFTER, current) is None


def test_a_deleted_line_comes_back_between_its_neighbours():
    before, after = text("a", "gone", "b"), text("a", "b")

    assert text("x", "a", "gone", "b") == take_out(before, after, text("x", "a", "b"))
    assert text("A", "gone", "b") == take_out(before, after, text("A", "b"))
    assert text("a", "gone", "B") == take_out(before, after, text("a", "B"))
    assert take_out(before, after, text("a", "new", "b")) is None  # above or below it?


def test_a_change_of_two_lines_leaves_both_or_none():
    before, after = text("a", "b", "c", "d", "e"), text("a", "B", "c", "D", "e")

    assert text("a", "b", "C", "d", "e") == take_out(before, after, text("a", "B", "C", "D", "e"))
    assert take_out(before, after, text("a", "B", "c", "d", "e")) is None
    assert place(before, after, text("a", "B", "c", "d", "e")) is Place.TANGLED


def test_the_same_line_elsewhere_is_not_mistaken_for_the_changed_one():
    before = text("def f", "  g", "def h", "  unb(g)", "def i", "  g")
    after = text("def f", "  g", "def h", "  g", "def i", "  g")
    current = text("import x", "def f", "  g", "def h", "  g", "def i", "  g", "def j")

    expected = text("import x", "def f", "  g", "def h", "  unb(g)", "def i", "  g", "def j")
    assert expected == take_out(before, after, current)


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (AFTER, Place.IN),
        (BEFORE, Place.OUT),
        (b"x\n" + AFTER, Place.IN),
        (b"x\n" + BEFORE, Place.OUT),
        (AFTER.replace(b"BROKEN", b"mine"), Place.TANGLED),
        (AFTER.replace(b"BROKEN", b"BROKEN\nthree"), Place.TANGLED),
    ],
)
def test_a_change_is_in_or_out_or_tangled(current, expected):

    assert expected is place(BEFORE, AFTER, current)


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"  a\n"]), max_size=12)


@given(source=LINES, target=LINES)
def test_hunks_make_one_text_of_the_other(source, target):
    result, done = [], 0
    for hunk in changes(source, target):
        result += [*source[done : hunk.start], *hunk.instead]
        done = hunk.stop

    assert target == result + source[done:]


def longest(source, target):
    """The number of common lines, by the book."""
    row = [0] * (len(target) + 1)
    for line in source:
        above = row
        row = [0]
        for k, other in enumerate(target):
            row.append(above[k] + 1 if line == other else max(above[k + 1], row[-1]))
    return row[-1]


@given(source=LINES, target=LINES)
def test_hunks_are_as_few_as_can_be(source, target):
    hunks = changes(source, target)
    kept = len(source) - sum(hunk.stop - hunk.start for hunk in hunks)

    assert longest(source, target) == kept


def every_way(source, target, i=0, k=0):
    """All sets of kept lines, by trying everything: slow and plain."""
    if i == len(source) or k == len(target):
        yield ()
        return
    if source[i] == target[k]:
        for rest in every_way(source, target, i + 1, k + 1):
            yield ((i, k), *rest)
    yield from every_way(source, target, i + 1, k)
    yield from every_way(source, target, i, k + 1)


SHORT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n"]), min_size=1, max_size=5)


@given(before=SHORT, after=SHORT, current=SHORT)
def test_what_is_taken_out_stands_at_the_same_place_in_every_shortest_way(before, after, current):
    assume(before != after and after != current)
    hunks = [hunk for hunk in changes(after, before) if hunk.start < hunk.stop]
    ways = list(every_way(after, current))
    most = max(map(len, ways))
    kept = {way for way in ways if len(way) == most}
    for hunk in hunks:
        lines = range(hunk.start, hunk.stop)
        places = {tuple(dict(way).get(i) for i in lines) for way in kept}
        whole = [p for p in places if None not in p and p == tuple(range(p[0], p[0] + len(p)))]
        if len(places) != 1 or not whole:
            assert take_out(*map(b"".join, (before, after, current))) is None


@given(data=st.data())
def test_unique_lines_edited_elsewhere_always_come_apart(data):
    count = data.draw(st.integers(3, 30))
    before = [b"line %d\n" % n for n in range(count)]
    broken = data.draw(st.integers(0, count - 1))
    after = [*before[:broken], b"broken\n", *before[broken + 1 :]]
    edits = data.draw(
        st.lists(
            st.tuples(st.integers(0, count - 1), st.sampled_from(["drop", "change", "insert"])),
            max_size=6,
            unique_by=lambda pair: pair[0],
        )
    )
    expected, current = list(before), list(after)
    for where, kind in sorted(edits, reverse=True):
        if where == broken:
            continue
        for lines in (expected, current):
            if kind == "drop":
                del lines[where]
            elif kind == "change":
                lines[where] = b"edited %d\n" % where
            else:
                lines.insert(where, b"new %d\n" % where)

    assert b"".join(expected) == take_out(*map(b"".join, (before, after, current)))


def test_a_long_file_is_compared_in_good_time():
    before = b"".join(b"line %d\n" % (n % 700) for n in range(5000))
    after = before.replace(b"line 77\n", b"broken\n", 1)
    current = b"new\n" + after + b"end\n"

    assert b"new\n" + before + b"end\n" == take_out(before, after, current)


def test_texts_with_nothing_in_common_are_given_up():
    before = b"".join(b"line %d\n" % n for n in range(4000))
    after = before.replace(b"line 77\n", b"broken\n", 1)
    current = b"".join(b"other %d\n" % n for n in range(4000))

    assert take_out(before, after, current) is None
