"""Every op on every hard input: torch's values and gradients, and the slope of the op itself."""

import numpy as np
import pytest

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
