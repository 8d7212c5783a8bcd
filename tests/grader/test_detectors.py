"""Each detector objects to what it must see, and never passes on what it did not see.

The second half goes through the ways in which checkers of other projects failed open.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grader import pool
from grader.compare import Verdict, compare, quotients
from grader.detectors import detect
from grader.reading import Reading
from grader.recording import PER_SCENARIO, Answer, Detector
from tests.grader.kit import altered, good, lab02, set_array

NAME = "created-axis"
SHAPE, SUM, CHECK, TORCH, PROPERTY = PER_SCENARIO
GRADS = {SHAPE: "program", SUM: "ones", CHECK: "irregular", TORCH: "program"}


def answer(detector, reading, name=NAME, reference=None):
    found = detect(detector, lab02().scenarios[name], reading, reference or good(name))
    return found.answer


@pytest.mark.parametrize("detector", PER_SCENARIO)
@pytest.mark.parametrize("name", list(lab02().scenarios))
def test_a_detector_is_silent_on_the_correct_library_and_says_what_it_checked(detector, name):
    result = detect(detector, lab02().scenarios[name], good(name), good(name))

    assert result.answer is Answer.SILENT
    assert result.evidence["checked"] > 0
    assert result.cases


WRONG = {
    "another sign": lambda g: -g,
    "a factor of 2": lambda g: 2 * g,
    "a factor of 1.01": lambda g: 1.01 * g,
    "zeros": lambda g: 0 * g,
    "one entry": lambda g: np.where(np.arange(g.size).reshape(g.shape) == 1, g + 0.01, g),
    "NaN in one entry": lambda g: np.where(np.arange(g.size).reshape(g.shape) == 1, np.nan, g),
    "infinity": lambda g: g + np.inf,
    "a shape that broadcasts": lambda g: g[None],
    "fewer entries": lambda g: g[:1],
    "no entry": lambda g: g[:0],
}


@pytest.mark.parametrize("detector", [SUM, CHECK, TORCH])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_gradient_makes_it_fire(detector, wrong):
    for leaf in ("a", "b"):
        reading = altered(NAME, set_array(GRADS[detector], "grads", leaf, to=WRONG[wrong]))

        assert answer(detector, reading) is Answer.FIRES


CONTRACT = {
    "another shape": lambda g: g[None],
    "another dtype": lambda g: g.astype(np.float32),
    "integers": lambda g: g.astype(np.int64),
    "a float": lambda g: 4.0,
    "a NumPy number": lambda g: np.float64(4.0),
    "nothing": lambda g: None,
    "a list": lambda g: [4.0, 4.0, 4.0],
}


@pytest.mark.parametrize("wrong", CONTRACT)
def test_a_gradient_against_the_contract_makes_shape_invariant_fire(wrong):
    reading = altered(NAME, set_array("program", "grads", "a", to=CONTRACT[wrong]))

    assert answer(SHAPE, reading) is Answer.FIRES


def test_the_contract_holds_inside_the_graph_too():
    def change(sections):
        node = next(n for n in sections["program"]["nodes"] if n["name"] == "y")
        node["grad"]["shape"] = [12]

    assert answer(SHAPE, altered(NAME, change)) is Answer.FIRES


def test_a_result_of_another_dtype_makes_shape_invariant_fire():
    reading = altered(NAME, set_array("program", "y", to=lambda y: y.astype(np.float32)))

    assert answer(SHAPE, reading) is Answer.FIRES


@pytest.mark.parametrize("what", ["y", "loss"])
def test_a_wrong_value_makes_pytorch_diff_fire(what):
    reading = altered(NAME, set_array("program", what, to=lambda y: y * 1.001))

    assert answer(TORCH, reading) is Answer.FIRES


def test_a_parameter_that_ends_elsewhere_makes_pytorch_diff_fire():
    reading = altered("bias-trained", set_array("step", "data", "b", to=lambda p: p + 0.01))

    assert answer(TORCH, reading, "bias-trained") is Answer.FIRES


def test_ones_are_blind_to_what_a_sum_hides_and_irregular_weights_are_not():
    swap = set_array("irregular", "grads", "b", to=lambda g: g[::-1].copy())

    assert answer(SUM, altered(NAME, swap)) is Answer.SILENT
    assert answer(CHECK, altered(NAME, swap)) is Answer.FIRES


def test_without_torch_and_without_reference_it_says_how_to_install_it():
    result = detect(TORCH, lab02().scenarios[NAME], good(NAME), "torch is not installed")

    assert result.answer is Answer.UNAVAILABLE
    assert "breaklabs[torch]" in result.evidence["install"]


def test_inside_the_dead_band_nothing_is_claimed():
    reading = altered(NAME, set_array("irregular", "grads", "a", to=lambda g: g * (1 + 1e-5)))

    assert answer(CHECK, reading) is Answer.UNAVAILABLE


# -------------------------------------------------------------------- how checkers fail open


@pytest.mark.parametrize("detector", PER_SCENARIO)
def test_nothing_observed_is_no_pass(detector):
    """chainer#3542, autograd#412, AiDotNet#1966: an early return, a test that never ran."""
    for report in (pool.Report(), pool.Report(end=pool.End.DONE, frames=[("done", True)])):
        assert answer(detector, Reading(report)) is Answer.FIRES


@pytest.mark.parametrize("detector", [SHAPE, SUM, CHECK, TORCH])
def test_no_gradient_at_all_is_no_pass(detector):
    """AiDotNet#1966: a loop over returned gradients passes when none are returned."""
    reading = altered(NAME, lambda s: s[GRADS[detector]].__setitem__("grads", {}))

    assert answer(detector, reading) is Answer.FIRES


@pytest.mark.parametrize("detector", [SUM, CHECK])
def test_no_differences_are_no_pass(detector):
    """glow#1559, stan#1224: the comparison that compares nothing."""
    for value in ({}, {"a": []}, {"a": [None, None]}, None):
        reading = altered(NAME, lambda s, v=value: s["differences"].__setitem__("moved", v or {}))

        assert answer(detector, reading) is Answer.FIRES


def test_no_entry_compared_is_not_agreement():
    assert compare(np.zeros(0), np.zeros(0), rtol=1.0).verdict is Verdict.NOTHING


def test_a_property_test_without_examples_is_no_pass():
    def change(sections):
        sections["property"].update(shapes=[], laws=[])

    assert answer(PROPERTY, altered(NAME, change)) is Answer.UNAVAILABLE


@given(arrays.arrays(float, (3,), elements=st.floats(1e-12, 1e-3)))
def test_small_gradients_are_not_lost_in_an_absolute_tolerance(expected):
    """warp#508, Paddle#4054, mlpack#2549: 4x off passed below an absolute tolerance."""
    assert compare(4 * expected, expected, rtol=1e-6).verdict is Verdict.DIFFERS
    assert compare(1.1 * expected, expected, rtol=1e-6).verdict is Verdict.DIFFERS


def test_a_nan_is_never_within_a_tolerance():
    for found, expected in ((np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0), (-np.inf, np.inf)):
        result = compare([found], [expected], rtol=1.0, noise=np.inf)

        assert result.verdict is Verdict.DIFFERS


@pytest.mark.parametrize("noise", [np.inf, np.nan, -1.0])
def test_noise_that_is_none_allows_nothing(noise):
    assert compare([1.0, 1.0], [1.0, 2.0], rtol=1e-6, noise=noise).at == (1,)
    assert compare([1.0, 1.0], [1.0, 2.0], rtol=1e-6, noise=noise).verdict is Verdict.DIFFERS


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 0.0, 1e308])
def test_an_entry_agrees_with_itself_whatever_it_is(value):
    result = compare([value, 2.0], [value, 2.0], rtol=1e-6)

    assert (Verdict.AGREES, 2) == (result.verdict, result.checked)


def test_shapes_are_compared_before_values():
    """allclose broadcasts, and hides exactly the fault that is looked for."""
    assert compare(np.ones((4, 3)), np.ones(3), rtol=1.0).verdict is Verdict.DIFFERS
    assert compare(np.ones((1, 3)), np.ones(3), rtol=1.0).verdict is Verdict.DIFFERS


def test_integers_do_not_make_integer_quotients():
    """chainer#1247."""
    numeric, _ = quotients(np.array([[3]]), np.array([[2]]), np.array([1]), 1.0)

    assert [0.5] == numeric.tolist()


@pytest.mark.parametrize("detector", [SUM, CHECK])
def test_a_value_that_is_not_finite_is_rejected(detector):
    """chainer#6947: differences of infinities are meaningless."""
    reading = altered(NAME, set_array("differences", "y", to=lambda y: y + np.inf))

    assert answer(detector, reading) is Answer.FIRES


def test_every_entry_is_compared():
    """A check of one index, or of one projection, misses a single wrong entry."""
    sizes = {"a": 3, "b": 12}
    for leaf, size in sizes.items():
        for i in range(size):

            def wrong(g, i=i):
                g.reshape(-1)[i] *= 1.01
                return g

            reading = altered(NAME, set_array("irregular", "grads", leaf, to=wrong))

            assert answer(CHECK, reading) is Answer.FIRES


@pytest.mark.parametrize("detector", [SHAPE, SUM, CHECK, TORCH, PROPERTY])
def test_an_error_in_the_recording_is_no_pass(detector):
    def change(sections):
        for section in ("program", "ones", "irregular", "differences", "property"):
            sections[section]["error"] = {"phase": "backward", "type": "E", "message": "m"}

    assert answer(detector, altered(NAME, change)) is Answer.FIRES


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5))
def test_a_recording_that_is_nonsense_is_no_pass(nonsense):
    for section in ("program", "ones", "irregular", "differences", "property"):
        reading = altered(NAME, lambda s, n=section: s.__setitem__(n, nonsense))
        answers = {answer(d, reading) for d in PER_SCENARIO}

        assert Answer.FIRES in answers


def test_a_reference_that_is_broken_is_no_pass():
    """sdc#94: the printed reference was wrong as well."""
    refused = altered(NAME, lambda s: s["program"].__setitem__("error", {"type": "E"}))

    assert answer(Detector.PYTORCH_DIFF, good(NAME), reference=refused) is Answer.UNAVAILABLE
