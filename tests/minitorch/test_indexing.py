"""A list of rows is added a cacheful at a time and in pairs: every piece of it once, in order."""

import numpy as np
import pytest

import minitorch as mt
from minitorch.indexing import CACHEFUL, pieces
from tests.minitorch.oracle import irregular

LONG = {  # the shape of the table, and how many rows are taken
    "rows of an even length": ((50, 64), CACHEFUL // 10),
    "rows that fill whole pieces": ((50, 64), CACHEFUL // 16),
    "rows of an odd length": ((50, 63), CACHEFUL // 10),
    "rows longer than a cacheful": ((4, 2 * CACHEFUL + 2), 3),
    "numbers": ((8,), 2 * CACHEFUL + 1),
    "slabs of a cube": ((6, 8, 16), CACHEFUL // 50),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f8", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("what", LONG)
def test_a_long_list_of_rows_is_added_up_as_numpy_does_row_by_row(what, order, dtype):
    shape, n = LONG[what]
    index = np.random.default_rng(0).integers(-shape[0], shape[0], n)
    x = mt.Tensor(irregular(shape).astype(dtype, order), requires_grad=True)
    g = irregular((n, *shape[1:]), seed=1).astype(dtype, order)
    assert len(list(pieces(x.data, (index,), g))) > 1

    x[index].backward(g)

    expected = np.zeros(shape, dtype)
    np.add.at(expected, index, g)
    assert np.array_equal(expected, x.grad)
    assert dtype == x.grad.dtype


def test_what_is_not_finite_stays_in_its_place():
    x = mt.Tensor(np.zeros((2, 4)), requires_grad=True)

    with np.errstate(invalid="ignore"):
        x[[0, 0, 1]].backward([[np.inf, 1, np.nan, 2], [-np.inf, 3, 1, -np.inf], [0, -0.0, 0, 1]])

    assert np.array_equal(x.grad, [[np.nan, 4, np.nan, -np.inf], [0, 0, 0, 1]], equal_nan=True)


def test_rows_of_no_entry_have_a_gradient_of_none():
    x = mt.Tensor(np.empty((3, 0)), requires_grad=True)

    x[[0, 0, 2]].backward(np.empty((3, 0)))

    assert (3, 0) == x.grad.shape
