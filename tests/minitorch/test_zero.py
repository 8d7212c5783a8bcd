"""Where a gradient starts: the number 0.0, whose += is a copy of what comes."""

import numpy as np
import pytest

from minitorch.zero import ZERO

FIRST = {
    "an array": np.arange(6.0).reshape(2, 3),
    "float32": np.ones((2, 3), dtype=np.float32),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "a view of one number": np.broadcast_to(np.float64(2.0), (2, 3)),
    "a transposed view": np.arange(6.0).reshape(2, 3).T,
    "no entry": np.empty((0, 3)),
    "no axis": np.array(2.0),
    "a NumPy scalar": np.float32(2.0),
    "a negative zero": np.array([-0.0]),
    "nan and infinity": np.array([np.nan, np.inf]),
}


@pytest.mark.parametrize("what", FIRST)
def test_the_first_contribution_becomes_a_writable_array_of_its_own(what):
    g, grad = FIRST[what], ZERO
    grad += g

    assert type(grad) is np.ndarray
    assert (g.shape, g.dtype) == (grad.shape, grad.dtype)
    assert np.array_equal(g, grad, equal_nan=True)
    assert np.array_equal(np.signbit(g), np.signbit(grad))
    assert grad.flags.writeable
    assert not np.shares_memory(g, grad)


def test_it_is_the_number_everywhere_else():
    grad = ZERO
    grad += np.ones(3)

    assert isinstance(ZERO, float)
    assert 0.0 == ZERO
    assert np.array_equal(ZERO + np.ones(3), np.ones(3))
    assert np.array_equal(ZERO * np.ones(3), np.zeros(3))
    assert "0.0" == repr(ZERO)


def test_the_order_of_a_right_and_a_wrong_shape_decides_what_is_heard():
    wrong, right = np.ones((4, 3)), np.ones(3)
    grad = ZERO
    grad += wrong
    grad += right
    assert (4, 3) == grad.shape

    grad = ZERO
    grad += right
    with pytest.raises(ValueError, match="broadcast"):
        grad += wrong
