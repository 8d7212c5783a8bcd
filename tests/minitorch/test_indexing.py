"""A list of rows too long for one cacheful of places: every piece of it is added, once."""

import numpy as np
import pytest

import minitorch as mt
from minitorch.indexing import PLACES, pieces
from tests.minitorch.oracle import irregular

LONG = {
    "rows": ((50, 64), 3 * PLACES // 64 + 5),
    "rows that fill whole pieces": ((50, 64), 2 * PLACES // 64),
    "rows longer than a cacheful": ((4, PLACES + 1), 3),
    "numbers": ((7,), 2 * PLACES + 1),
    "slabs of a cube": ((6, 8, 16), PLACES // 100),
}


@pytest.mark.parametrize("what", LONG)
def test_a_long_list_of_rows_is_added_up_as_numpy_does_row_by_row(what):
    shape, n = LONG[what]
    index = np.random.default_rng(0).integers(-shape[0], shape[0], n)
    x = mt.Tensor(irregular(shape), requires_grad=True)
    g = irregular((n, *shape[1:]), seed=1)
    places = np.arange(x.data.size).reshape(shape)
    assert len(list(pieces(places, (index,), g))) > 1

    x[index].backward(g)

    expected = np.zeros(shape)
    np.add.at(expected, index, g)
    assert np.array_equal(expected, x.grad)


def test_rows_of_no_entry_have_a_gradient_of_none():
    x = mt.Tensor(np.empty((3, 0)), requires_grad=True)

    x[[0, 0, 2]].backward(np.empty((3, 0)))

    assert (3, 0) == x.grad.shape
