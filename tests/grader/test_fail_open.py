"""The ways in which other projects' checkers failed open, one after the other: ours do not.

Each test names the report that it answers; the tests of a missing observation and of tolerances
are in test_detectors.py.
"""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import grader
from breaks.model import Break, Family, Rewrite
from breaks.rewrite import mutate
from grader import inputs
from grader.compare import quotients
from grader.detectors import detect
from grader.difference import first_difference
from grader.observe import REFERENCES, as_job, as_text
from grader.pool import End, Report
from grader.reading import Reading
from grader.recording import PER_SCENARIO, Answer, Detector, Mode, Phase
from grader.torch_reference import from_text, read_references
from labs.load import EPSILON
from tests.grader.kit import altered, clean_text, good, job, lab02, probes, readings, set_array


def reference(scenario):
    """Torch's recorded reading of a shipped scenario."""
    sections = read_references(REFERENCES, scenario.lab)[0][scenario.digest]
    return Reading(Report(list(from_text(sections).items()), End.DONE))


def answers(scenario, reading):
    expected = reference(scenario)
    return {d: detect(d, scenario, reading, expected).answer for d in PER_SCENARIO}


def observed(scenario, *rules):
    """(answers, first difference) of rules (scope, pattern, replacement) in tensor.py."""
    rewrites = tuple(
        Rewrite("minitorch.tensor", (scope,), (pattern,), replace)
        for scope, pattern, replace in rules
    )
    brk = Break("made", {}, Family.NUMERICS, rewrites, {}, (), {}, ())
    text = as_text(mutate({k: v.encode() for k, v in clean_text().items()}, brk))
    clean, broken = readings(job(scenario), job(scenario, text))
    return answers(scenario, broken), first_difference(scenario, clean, broken, clean_text(), text)


def test_a_gradient_that_agrees_with_an_equally_wrong_value_is_seen_from_outside():
    """cs249r_book#2047: finite differences confirm it; only a reference of its own objects."""
    found, difference = observed(
        probes().scenarios["elementwise"],
        ("Tensor.tanh", "np.tanh(x.data)", "2 * np.tanh(x.data)"),
        ("Tensor.tanh", "1.0 - y * y", "2 - y * y / 2"),
    )

    assert Phase.FORWARD is difference.phase
    assert Answer.SILENT is found[Detector.GRADCHECK]
    assert Answer.FIRES is found[Detector.PYTORCH_DIFF]


def test_uniform_weights_cancel_and_irregular_ones_do_not():
    """Mnemosyne#987: ones as upstream gradient vanish inside a normalisation."""
    found, _ = observed(
        probes().scenarios["softmax-last"],
        ("Tensor.softmax", "y * (g - $S)", "7 * y * (g - $S)"),
    )

    assert Answer.SILENT is found[Detector.GRADCHECK_SUM]
    assert Answer.FIRES is found[Detector.GRADCHECK]


def test_both_sides_of_a_gradcheck_use_one_loss():
    """Odyssey#2018: two losses make right code fail, and may make wrong code pass."""
    reading = altered("created-axis", set_array("irregular", "cotangent", to=lambda c: c + 1))
    found = detect(Detector.GRADCHECK, lab02().scenarios["created-axis"], reading, "none")

    assert Answer.FIRES is found.answer


@pytest.mark.parametrize("fill", ["normal", "positive", "integers", "zeros", "ones"])
def test_no_two_entries_of_an_input_share_memory(fill):
    """pytorch#38586: one nudge moves several entries of an expanded input."""
    entry = {
        "name": "a",
        "shape": [3, 4],
        "dtype": "float64",
        "fill": fill,
        "values": None,
        "low": 0,
        "high": 5,
    }
    made = inputs.make(entry, "lab", "scenario")

    assert made.flags.writeable
    assert made.flags.c_contiguous
    assert 0 not in made.strides


def test_an_operand_that_is_changed_is_the_difference_and_no_drift():
    """warp#1726: differences drift when the function under test mutates its input."""
    found, difference = observed(
        lab02().scenarios["equal-shapes"],
        ("Tensor.__add__", "y = a.data + b.data", "y = a.data + b.data\na.data *= 2"),
    )

    assert (Phase.FORWARD, Mode.WRONG_VALUES) == (difference.phase, difference.mode)
    assert ("a", 2.0) == (difference.tensor, difference.factor)
    assert Answer.SILENT is found[Detector.GRADCHECK]


@pytest.mark.parametrize("name", ["float32-arithmetic", "float32-functions", "float32-loss"])
def test_single_precision_is_judged_by_differences_in_double(name):
    """pytorch#5351, #8175, jax#39821, Paddle#4283: float32 differences are noise."""
    scenario = probes().scenarios[name]
    [reading] = readings({**job(scenario), "assignments": None})

    assert {Answer.SILENT} == set(answers(scenario, reading).values())
    assert "float64" == reading.array("differences", "y").dtype
    assert "float32" == reading.array("irregular", "y").dtype


def test_a_small_fault_in_single_precision_is_seen():
    found, _ = observed(
        probes().scenarios["float32-functions"],
        ("Tensor.tanh", "g * (1.0 - y * y)", "g * (1.01 - y * y)"),
    )

    assert Answer.FIRES is found[Detector.GRADCHECK]
    assert Answer.FIRES is found[Detector.PYTORCH_DIFF]


def test_quotients_are_float64_whatever_they_are_made_from():
    numeric, noise = quotients(
        np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32), np.ones(3, np.float32), 0.5
    )

    assert (np.float64, np.float64) == (numeric.dtype, noise.dtype)


@pytest.mark.parametrize("shape", [(1,), (2, 3), (4, 4, 4), (200,), (20, 30)])
def test_no_two_numbers_are_as_close_as_the_step(shape):
    """tf-fast-rcnn#12, CrypTen#90: max changes its winner inside the difference quotient."""
    numbers = np.sort(inputs.irregular(shape, "any").reshape(-1))
    apart = np.diff(numbers).min(initial=1.0)

    assert apart > 10 * EPSILON
    assert np.abs(numbers).min() > 0.2


def test_a_reference_that_is_wrong_makes_the_correct_library_object():
    """sdc-issue-reports#94: an autograder with wrong reference gradients."""
    scenario = lab02().scenarios["created-axis"]
    wrong = altered("created-axis", set_array("program", "grads", "a", to=lambda g: g * 1.01))
    found = detect(Detector.PYTORCH_DIFF, scenario, good("created-axis"), wrong)

    assert Answer.FIRES is found.answer


OBSERVERS = (
    "arrays cache child compare detectors difference inputs judge matrix observe pool "
    "property_test reading recording score torch_reference training"
)


def modules():
    home = Path(grader.__file__).parent
    return [home / f"{name}.py" for name in OBSERVERS.split()]


@pytest.mark.parametrize("path", modules(), ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_no_check_is_an_assert_that_an_option_strips(path):
    """braintrace#174: guards written as assert vanish under -O; zip drops what is left over."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}"
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip":
            assert "strict" in {keyword.arg for keyword in node.keywords}, f"line {node.lineno}"


def test_the_detectors_object_under_minus_o_too():
    code = (
        "from tests.grader.kit import altered, set_array, lab02, good\n"
        "from grader.detectors import detect\n"
        "from grader.recording import PER_SCENARIO\n"
        "r = altered('created-axis', set_array('irregular', 'grads', 'a', to=lambda g: 2 * g))\n"
        "s = lab02().scenarios['created-axis']\n"
        "print(*(detect(d, s, r, good('created-axis')).answer for d in PER_SCENARIO))\n"
    )
    home = Path(__file__).parents[2]
    out = subprocess.run(
        [sys.executable, "-O", "-c", code], cwd=home, capture_output=True, text=True, check=True
    ).stdout

    assert "silent silent fires fires silent\n" == out


def test_the_sentinel_and_the_jobs_are_data_that_json_can_hold():
    import json

    for scenario in probes().scenarios.values():
        assert json.loads(json.dumps(as_job(scenario)))["name"] == scenario.name
