"""The first difference: phase, mode, pattern; and where it starts."""

import numpy as np
import pytest

from breaks.rewrite import mutate
from grader.arrays import Recorded
from grader.difference import all_changed_lines as changes
from grader.difference import (
    array_difference,
    changed_lines,
    first_difference,
    how_many,
    reached,
    replaced_lines,
)
from grader.observe import as_text
from grader.recording import Mode, Pattern, Phase, Reach
from labs.load import load_labs
from tests.grader.kit import SKIP, clean_text, good, job, lab02, made_break, probes, readings


def recorded(array):
    array = np.asarray(array)
    return Recorded("ndarray", array.dtype.name, array.shape, array)


RIGHT = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
PATTERNS = {
    "zero": (0 * RIGHT, Pattern.ZERO, None),
    "sign": (-RIGHT, Pattern.SIGN_FLIPPED, -1.0),
    "factor": (2.5 * RIGHT, Pattern.SCALED, 2.5),
    "a third": (RIGHT / 3, Pattern.SCALED, 0.333333333),
    "permuted": (RIGHT[::-1], Pattern.PERMUTED, None),
    "offset": (RIGHT + 0.25, Pattern.OFFSET, 0.25),
    "partial": (RIGHT * [[1, 1, 2], [1, 1, 1]], Pattern.PARTIAL, None),
    "other": (RIGHT**2 + 0.1, Pattern.OTHER, None),
}


@pytest.mark.parametrize("what", PATTERNS)
def test_wrong_values_have_a_pattern(what):
    found, pattern, factor = PATTERNS[what]
    difference = array_difference("a", recorded(found), recorded(RIGHT), Phase.BACKWARD)

    assert difference.mode is Mode.WRONG_VALUES
    assert (pattern, factor) == (difference.pattern, difference.factor)
    assert difference.evidence["max_error"] > 0


MODES = {
    "shape before dtype": (np.ones((1, 2, 3), np.float32), Mode.WRONG_SHAPE),
    "dtype before values": (5 * RIGHT.astype(np.float32), Mode.WRONG_DTYPE),
    "nan before values": (5 * RIGHT * [[np.nan, 1, 1], [1, 1, 1]], Mode.NAN_OR_INF),
}


@pytest.mark.parametrize("what", MODES)
def test_modes_are_compared_in_their_order(what):
    found, mode = MODES[what]

    assert mode is array_difference("a", recorded(found), recorded(RIGHT), Phase.BACKWARD).mode


def test_rounding_is_no_difference():
    found = recorded(RIGHT * (1 + 1e-14))

    assert array_difference("a", found, recorded(RIGHT), Phase.BACKWARD) is None


def test_no_gradient_where_there_should_be_one_is_missing():
    difference = array_difference("a", None, recorded(RIGHT), Phase.BACKWARD)

    assert (Mode.WRONG_VALUES, Pattern.MISSING) == (difference.mode, difference.pattern)


def test_something_that_is_no_array_is_a_wrong_dtype():
    found = Recorded("float", "float64", (2, 3), RIGHT)

    assert Mode.WRONG_DTYPE is array_difference("a", found, recorded(RIGHT), Phase.STEP).mode


def observed(brk, scenario):
    """(difference, reach) of a break in a scenario."""
    text = as_text(mutate({k: v.encode() for k, v in clean_text().items()}, brk))
    clean, broken = readings(job(scenario), job(scenario, text))
    difference = first_difference(scenario, clean, broken, clean_text(), text)
    return difference, reached(difference, clean, broken, changes(clean_text(), text))


LAB02 = {
    "created-axis": (Phase.BACKWARD, Mode.WRONG_SHAPE, "a", (4, 3), (3,)),
    "length-1-axis": (Phase.BACKWARD, Mode.WRONG_SHAPE, "a", (3, 5), (3, 1)),
    "twice-add-last": (Phase.BACKWARD, Mode.CRASH, "", None, None),
    "twice-add-first": (Phase.BACKWARD, Mode.WRONG_SHAPE, "a", (3, 5), (3, 1)),
    "equal-shapes": (Phase.NOWHERE, Mode.UNAFFECTED, "", None, None),
    "bias-trained": (Phase.BACKWARD, Mode.WRONG_SHAPE, "b", (4, 2), (2,)),
}


@pytest.mark.parametrize("name", LAB02)
def test_a_skipped_unbroadcast_fails_differently_on_different_shapes(name):
    found, _ = observed(SKIP, lab02().scenarios[name])

    assert LAB02[name] == (found.phase, found.mode, found.tensor, found.shape, found.expected_shape)


def test_the_origin_is_the_line_that_the_break_changed():
    for name in ("created-axis", "twice-add-last"):
        origin = observed(SKIP, lab02().scenarios[name])[0].origin

        assert "minitorch.tensor" == origin.module
        assert "a.grad += g" == origin.text


def test_of_two_wrong_gradients_the_origin_is_of_the_one_that_is_shown():
    halved = made_break(
        "made", "minitorch.tensor", "unbroadcast($G, $S)", "unbroadcast($G / 2, $S)",
        scope="Tensor.__add__", matches=2,
    )  # fmt: skip
    found, _ = observed(halved, lab02().scenarios["equal-shapes"])

    assert ("a", ["b"]) == (found.tensor, found.evidence["also"])
    assert "a.grad += unbroadcast(g / 2, a.shape)" == found.origin.text
    assert found.origin.changed


def test_a_line_that_the_break_leaves_alone_is_not_said_to_be_changed():
    gathered = made_break(
        "made", "minitorch.indexing", "np.add.at($W, $P, $G)", "$W[$P] = $G", scope="scatter_add"
    )
    scenario = load_labs()["lab04"].scenarios["row-taken-again"]
    origin = observed(gathered, scenario)[0].origin

    assert origin.text.startswith("x.grad += scatter_add")
    assert not origin.changed


INSIDE = {
    "exp": ("Tensor.exp", "x.grad += g * y", "x.grad += g + y", "elementwise", "x.grad += g + y"),
    "forward": ("Tensor.tanh", "np.tanh(x.data)", "np.sin(x.data)", "elementwise", "np.sin"),
    "matmul": ("Tensor.matmul", "rows.mT @ g", "rows.mT @ g * 2",
               "matmul-square", "b.grad"),
}  # fmt: skip


@pytest.mark.parametrize("what", INSIDE)
def test_the_origin_names_the_op_the_line_and_both_values(what):
    scope, pattern, replace, name, text = INSIDE[what]
    brk = made_break("made", "minitorch.tensor", pattern, replace, scope=scope)
    difference, reach = observed(brk, probes().scenarios[name])

    assert Reach.PROPAGATED is reach
    assert text in difference.origin.text
    assert difference.origin.found != difference.origin.expected


def test_how_far_a_fault_comes():
    scenarios = lab02().scenarios

    assert Reach.NOT_INFECTED is observed(SKIP, scenarios["equal-shapes"])[1]
    assert Reach.UNREACHED is observed(SKIP, probes().scenarios["matmul-dot"])[1]
    assert Reach.PROPAGATED is observed(SKIP, scenarios["created-axis"])[1]


def test_a_crash_while_loading_is_a_crash_in_the_forward_phase():
    text = {**clean_text(), "minitorch.optim": "raise RuntimeError('at once')"}
    scenario = lab02().scenarios["created-axis"]
    [broken] = readings(job(scenario, text))
    difference = first_difference(scenario, good("created-axis"), broken, clean_text(), text)

    assert (Phase.FORWARD, Mode.CRASH) == (difference.phase, difference.mode)
    assert "RuntimeError: at once" == difference.error
    assert ("minitorch.optim", 1) == (difference.origin.module, difference.origin.line)


def test_a_fault_of_the_step_is_found_in_the_step():
    brk = made_break(
        "made", "minitorch.optim", "p.data - lr * v", "p.data + lr * v", scope="SGD.step"
    )
    difference, _ = observed(brk, lab02().scenarios["bias-trained"])

    assert (Phase.STEP, Mode.WRONG_VALUES) == (difference.phase, difference.mode)
    assert "p.data + lr * v" in difference.origin.text


def test_changed_lines_are_those_of_the_new_text():
    assert frozenset({2}) == changed_lines("a\nb\nc\n", "a\nB\nc\n")
    assert frozenset({2, 3}) == changed_lines("a\nb\nc\n", "a\nB\nD\nc\n")
    assert frozenset({2}) == changed_lines("a\nb\nc\n", "a\nc\n")
    assert frozenset() == changed_lines("a\nb", "a\nb")


@pytest.mark.parametrize(
    ("broken", "lines"),
    [("a\nX\nc\n", {2}), ("a\nc\n", {2}), ("a\nb\nnew\nc\n", {2}), ("a\nb\nc\n", set())],
    ids=["replaced", "deleted", "inserted", "equal"],
)
def test_replaced_lines_are_those_of_the_old_text(broken, lines):
    assert lines == replaced_lines("a\nb\nc\n", broken)


@pytest.mark.parametrize(
    ("broken", "count"),
    [("a\nX\nc\n", 1), ("a\n", 2), ("a\n1\n2\nb\nc\n", 2), ("1\n2\n3\n4\n", 4), ("a\nb\nc\n", 0)],
    ids=["replaced", "deleted", "inserted", "longer", "equal"],
)
def test_as_many_lines_differ_as_the_longer_side_has(broken, count):
    assert count == how_many({"m": "a\nb\nc\n"}, {"m": broken})
