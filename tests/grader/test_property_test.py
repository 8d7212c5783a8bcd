"""Hypothesis chooses once, and what every library says of its choice is read in that order."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breaks.library import load_library, shipped_sources
from grader import observe, property_test
from grader.cache import Cache
from grader.child import Program
from grader.errors import GraderError, last_line
from grader.observe import Run, as_job
from grader.property_test import MOST_SHAPES, Asked, drawn, laws, tried_in_order
from tests.grader.kit import SKIP, clean_text, lab02, question

SHAPES = [{"a": [n]} for n in (1, 2, 3, 4)]
AGREES, DOUBTFUL, DIFFERS = ("agrees", ""), ("doubtful", "near"), ("differs", "wrong")
CASES = {
    "all agree": ([AGREES] * 4, [3, 0, 1, 2], [1, 2, 3, 4], None, None),
    "the first that is tried differs": (
        [AGREES, DIFFERS, AGREES, DIFFERS],
        [3, 0, 1, 2],
        [4],
        2,
        1,
    ),
    "what comes after is not tried": ([AGREES, DIFFERS, AGREES, AGREES], [2, 1, 0], [2, 3], 2, 1),
    "all differ": ([DIFFERS] * 4, [0], [1], 1, None),
    "numbers go round": ([AGREES, AGREES, DIFFERS, AGREES], [4, 6], [1, 3], 3, 1),
    "what is not tried is not told": (
        [AGREES, AGREES, AGREES, DIFFERS],
        [0, 1],
        [1, 2],
        None,
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_shapes_are_tried_in_the_order_of_the_numbers(case):
    said, numbers, tried, revealing, hiding = CASES[case]
    found = tried_in_order(SHAPES, said, numbers)

    def shape(n):
        return None if n is None else {"a": [n]}

    assert [shape(n) for n in tried] == found["tried"]
    assert shape(revealing) == found["revealing"]
    assert shape(hiding) == found["hiding"]
    assert ("" if revealing is None else "wrong") == found["why"]


def test_a_shape_in_doubt_is_told():
    found = tried_in_order(SHAPES, [AGREES, DOUBTFUL, AGREES, AGREES], range(4))

    assert [SHAPES[1]] == found["doubtful"]


NOT_VERDICTS = {
    "a verdict less": [AGREES] * 3,
    "another word": [AGREES] * 3 + [("fine", "")],
    "no pair": [AGREES] * 3 + ["agrees"],
}


@pytest.mark.parametrize("what", NOT_VERDICTS)
def test_what_is_no_verdict_on_each_shape_is_refused(what):
    with pytest.raises(ValueError, match=r"verdict|unpack"):
        tried_in_order(SHAPES, NOT_VERDICTS[what], range(4))


@given(st.lists(st.integers(0, MOST_SHAPES - 1)))
def test_without_a_difference_nothing_is_revealed_whatever_is_drawn(numbers):
    found = tried_in_order(SHAPES, [AGREES] * 4, numbers)

    assert found["revealing"] is None
    assert {n % 4 for n in numbers} == {shape["a"][0] - 1 for shape in found["tried"]}


BODIES = {
    "that raises": "if len(x.data) == 1:\n        raise ValueError('short')\n    return x * 2.0",
    "that is not finite": "return x * (1.0 if len(x.data) > 1 else float('inf'))",
    "without a gradient": "return x * 2.0 if len(x.data) > 1 else lib.Tensor(x.data)",
    "without an entry": "return x[1:] * 2.0",
}


def program(body):
    entry = as_job(lab02().scenarios["equal-shapes"])["inputs"][0]
    job = {
        **as_job(lab02().scenarios["equal-shapes"]),
        "source": f"def f(lib, x):\n    {body}\n",
        "function": "f",
        "inputs": [{**entry, "name": "x", "shape": [3]}],
    }
    return Program(load_library(shipped_sources(), label="library"), job, 7)


@pytest.mark.parametrize("what", BODIES)
def test_the_correct_library_leaves_out_the_shapes_with_a_result(what):
    one = program(BODIES[what])
    found = laws(one, None, vary=True)

    assert [{"x": [n]} for n in (2, 3, 4)] == found["shapes"]
    assert {"agrees"} == {verdict for verdict, _ in found["laws"]}


@pytest.mark.parametrize("what", ["that raises", "that is not finite", "without a gradient"])
def test_a_broken_library_cannot_leave_out_a_shape(what):
    found = laws(program(BODIES[what]), [{"x": [1]}, {"x": [2]}], vary=True)

    assert ["differs", "agrees"] == [verdict for verdict, _ in found["laws"]]


def test_where_no_shape_is_of_the_kind_the_last_is_judged_all_the_same():
    found = laws(program("raise ValueError('never')"), None, vary=True)

    assert [{"x": [4]}] == found["shapes"]
    assert [("differs", "ValueError: never")] == found["laws"]


def test_hypothesis_draws_every_shape_and_the_same_in_every_process():
    asked = Asked()
    try:
        assert drawn() == asked.answer()
    finally:
        asked.stop()
    assert set(range(MOST_SHAPES)) == set(drawn())


def run():
    sources = {name: text.encode() for name, text in clean_text().items()}
    return Run([question(SKIP, "created-axis")], sources)


def test_what_it_draws_is_kept_and_hypothesis_is_not_started_again(tmp_path):
    first, second = run(), run()
    first.cache = second.cache = Cache(tmp_path)
    asked = first.ask_hypothesis()
    try:
        numbers = first.drawn(asked)
    finally:
        asked.stop()

    assert second.ask_hypothesis() is None
    assert list(numbers) == list(second.drawn(None))


@pytest.mark.parametrize("kept", [[], ["1"], {"a": 1}, 7, None, [1.5]])
def test_what_was_kept_and_is_no_list_of_numbers_is_asked_again(tmp_path, kept):
    one = run()
    one.cache = Cache(tmp_path)
    one.cache.put(observe.hypothesis_key(), kept)
    asked = one.ask_hypothesis()

    assert asked is not None
    asked.stop()


@pytest.mark.parametrize(
    ("said", "last"),
    [
        (b"Traceback\n  line 1\nImportError: gone\n\n", "ImportError: gone"),
        (b"one", "one"),
        (b"\n", "no output"),
        (b"", "no output"),
        (b"\xff", "\ufffd"),
    ],
)
def test_of_what_a_process_said_the_last_line_counts(said, last):
    assert last == last_line(said)


def test_a_library_that_writes_into_what_it_is_given_does_not_reach_the_numbers():
    one = program("x.data += 1; return x")
    one.lib.Tensor.__init__.__globals__["np"] = SimpleNamespace(array=lambda data: data)
    numbers = one.numbers()
    before = numbers["x"].copy()
    arguments = one.arguments(numbers)
    one.evaluate(arguments)

    assert (before + 1 == arguments["x"].data).all()
    assert (before == numbers["x"]).all()


SILENT = ["raise SystemExit(3)", "print('[1, null]')", "print('x')", "import time; time.sleep(600)"]


@pytest.mark.parametrize("code", SILENT)
def test_a_hypothesis_that_does_not_answer_is_no_pass(monkeypatch, code):
    monkeypatch.setattr(property_test, "PATIENCE", 0.5)
    real = subprocess.Popen

    def popen(command, **options):
        return real([sys.executable, "-c", code], **options)

    monkeypatch.setattr(property_test.subprocess, "Popen", popen)
    with pytest.raises(GraderError, match="Hypothesis") as caught:
        run().answers()

    assert 5 == caught.value.code
