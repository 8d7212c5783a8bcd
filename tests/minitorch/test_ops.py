"""Every op on every hard input: torch's values and gradients, and the slope of the op itself."""

import numpy as np
import pytest

import minitorch as mt
from tests.minitorch.cases import CASES
from tests.minitorch.oracle import agree, differences, irregular, mine

CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", ""))


@CASE
def test_an_op_has_torchs_value_and_gradients(case):
    agree(case.program, *case.arrays)


@CASE
def test_a_gradient_is_the_slope_for_an_irregular_cotangent(case):
    if case.kink:
        return  # max-ties: torch's answer is a convention, see above
    leaves, y = mine(case.program, case.arrays)
    c = irregular(y.shape, seed=1)
    y.backward(c)

    for leaf, slope in zip(leaves, differences(case.program, case.arrays, c), strict=True):
        assert leaf.grad.shape == slope.shape
        np.testing.assert_allclose(leaf.grad, slope, rtol=1e-7, atol=1e-8)


AXES = {  # how an axis may be written, and what it means
    "an integer of NumPy": (np.int64(1), 1),
    "a negative one": (np.int8(-1), 1),
    "a 0-d array": (np.array(0), 0),
    "a list": ([0, 1], (0, 1)),
    "a list of NumPy's": ([np.int64(-1)], 1),
    "a tuple of NumPy's": ((np.int64(0), np.intp(-1)), (0, 1)),
    "no axis in a tuple": ((), None),
    "no axis in a list": ([], None),
}


@pytest.mark.parametrize("op", ["sum", "mean", "max"])
@pytest.mark.parametrize("what", AXES)
def test_an_axis_may_be_written_in_any_way_that_numpy_takes(what, op):
    written, meant = AXES[what]
    x = irregular((2, 3))
    found, expected = (mt.Tensor(x, requires_grad=True) for _ in range(2))
    y, z = getattr(found, op)(written), getattr(expected, op)(meant)
    y.backward(np.ones(y.shape))
    z.backward(np.ones(z.shape))

    assert np.array_equal(z.data, y.data)
    assert np.array_equal(expected.grad, found.grad)
